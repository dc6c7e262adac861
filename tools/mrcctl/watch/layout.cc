// SPDX-License-Identifier: GPL-2.0
// layout.cc - see layout.h.
#include "layout.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>

#include <fmt/format.h>

#include "events.h"

namespace mrcctl {

namespace {

struct field {
    const char *event, *name;
    size_t offset, size;
};

#define FIELD(e, f) {"mrc_" #e, #f, offsetof(mrc_tp_##e, f), sizeof(mrc_tp_##e::f)}

const field fields[] = {
    FIELD(loss, age_ns),      FIELD(loss, qpn),       FIELD(loss, psn),
    FIELD(loss, cause),       FIELD(resend, qpn),     FIELD(resend, psn),
    FIELD(resend, cause),     FIELD(recovered, qpn),  FIELD(recovered, psn),
    FIELD(recovered, cause),  FIELD(recovered, early), FIELD(rtt, qpn),
    FIELD(rtt, rtt_ns),       FIELD(rtt, plane),      FIELD(rx, qpn),
    FIELD(rx, ahead),         FIELD(rx, plane),       FIELD(rx, verdict),
};

// The number behind @key in @line, such as "offset:8;".
std::optional<size_t> number_of(std::string_view line, std::string_view key)
{
    size_t at = line.find(key), n = 0;
    if (at == line.npos)
        return std::nullopt;
    line.remove_prefix(at + key.size());
    auto end = std::from_chars(line.data(), line.data() + line.size(), n);
    return end.ec == std::errc() ? std::optional(n) : std::nullopt;
}

// The line that describes field @name: "field:TYPE NAME;".
std::string_view line_of(std::string_view format, std::string_view name)
{
    std::string want = fmt::format(" {};", name);
    for (size_t at = 0; at < format.size();) {
        size_t end = std::min(format.find('\n', at), format.size());
        std::string_view line = format.substr(at, end - at);
        if (line.find("field:") != line.npos && line.find(want) != line.npos)
            return line;
        at = end + 1;
    }
    return {};
}

} // namespace

std::string layout_differs(std::string_view event, std::string_view format)
{
    for (auto &f : fields) {
        if (event != f.event)
            continue;
        std::string_view line = line_of(format, f.name);
        if (line.empty())
            return fmt::format("{} has no field {}", event, f.name);
        auto offset = number_of(line, "offset:"), size = number_of(line, "size:");
        if (offset != f.offset || size != f.size)
            return fmt::format("{}: {} is at {} with {} bytes, not at {} with {}", event, f.name,
                               offset.value_or(0), size.value_or(0), f.offset, f.size);
    }
    return {};
}

} // namespace mrcctl
