// SPDX-License-Identifier: GPL-2.0
// events.cc - see events.h.
#include "events.h"

#include <arpa/inet.h>
#include <linux/mrc.h>

#include <ctime>
#include <system_error>

#include "../tools/lib/words/log_words.h"

namespace mrcd {

namespace {

std::string address(mrcnl::bytes bytes)
{
    char buf[INET6_ADDRSTRLEN];

    return bytes.size() >= 16 && inet_ntop(AF_INET6, bytes.data(), buf, sizeof(buf)) ? buf : "";
}

// Does an administrator have to look at the event? Not at a recovery.
bool bad(const Event &e)
{
    return e.kind == "plane-down" || e.kind == "port-down" || e.kind == "ev-bad" || e.kind == "hint";
}

std::string moment(std::uint64_t ns)
{
    const auto at = static_cast<std::time_t>(ns / 1000000000);
    char text[32];
    std::tm t{};

    gmtime_r(&at, &t);
    std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &t);
    return fmt::format("{}.{:06}Z", text, ns % 1000000000 / 1000);
}

// Escapes a name: netdev names may contain nearly any byte.
std::string quoted(const std::string &s)
{
    std::string out = "\"";

    for (const char c : s) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
            out += '\\';
        if (byte < 0x20 || byte >= 0x7f)
            out += fmt::format("\\u{:04x}", byte);
        else
            out += c;
    }
    return out + '"';
}

}   // namespace

Event parse_event(const mrcnl::table &t)
{
    const mrcnl::table l(t[MRC_A_LOG]);
    Event e;

    e.dev = t[MRC_A_DEV_NAME].str();
    e.kind = words::log_kind_name(l[MRC_A_LOG_KIND].num());
    e.cause = words::log_cause_name(l[MRC_A_LOG_CAUSE].num());
    e.peer = address(l[MRC_A_LOG_GID].bytes());
    e.id = l[MRC_A_LOG_ID].num();
    e.boot_ns = l[MRC_A_LOG_BOOT].num();
    e.last_ns = l[MRC_A_LOG_LAST].num();
    e.real_ns = l[MRC_A_LOG_REAL].num();
    e.count = l[MRC_A_LOG_COUNT].num();
    e.plane = static_cast<unsigned>(l[MRC_A_LOG_PLANE].num());
    e.has_ev = static_cast<bool>(l[MRC_A_LOG_EV]);
    e.ev = static_cast<std::uint32_t>(l[MRC_A_LOG_EV].num());
    e.entropy = static_cast<std::uint32_t>(l[MRC_A_LOG_ENTROPY].num());
    return e;
}

std::string event_text(const Event &e)
{
    auto text = fmt::format("{}: {}", e.dev, e.kind);

    if (e.plane)
        text += fmt::format(" plane {}", e.plane);
    if (!e.peer.empty())
        text += fmt::format(" peer {}", e.peer);
    if (e.has_ev)
        text += fmt::format(" ev {}", e.ev);
    text += fmt::format(": {}", e.cause);
    return e.count > 1 ? fmt::format("{} ({} times)", text, e.count) : text;
}

JournalFields event_fields(const Event &e)
{
    JournalFields f = {{"MESSAGE", event_text(e)},
                       {"PRIORITY", bad(e) ? "5" : "6"},
                       {"SYSLOG_IDENTIFIER", "mrcd"},
                       {"MRC_DEV", e.dev},
                       {"MRC_EVENT", e.kind},
                       {"MRC_CAUSE", e.cause},
                       {"MRC_COUNT", std::to_string(e.count)},
                       {"MRC_ID", std::to_string(e.id)},
                       {"MRC_TIME", moment(e.real_ns)},
                       {"MRC_BOOT_NS", std::to_string(e.boot_ns)}};

    if (e.plane)
        f.emplace_back("MRC_PLANE", std::to_string(e.plane));
    if (!e.peer.empty())
        f.emplace_back("MRC_PEER", e.peer);
    if (e.has_ev) {
        f.emplace_back("MRC_EV", std::to_string(e.ev));
        f.emplace_back("MRC_ENTROPY", fmt::format("{:#010x}", e.entropy));
    }
    return f;
}

std::string event_json(const Event &e)
{
    auto out = fmt::format(R"({{"time":"{}","boot_ns":{},"id":{},"event":"{}","dev":{})", moment(e.real_ns),
                           e.boot_ns, e.id, e.kind, quoted(e.dev));

    if (e.plane)
        out += fmt::format(R"(,"plane":{})", e.plane);
    if (!e.peer.empty())
        out += fmt::format(R"(,"peer":"{}")", e.peer);
    if (e.has_ev)
        out += fmt::format(R"(,"ev":{},"entropy":{})", e.ev, e.entropy);
    return out + fmt::format(R"(,"cause":"{}","count":{},"last_ns":{}}})", e.cause, e.count, e.last_ns);
}

Events::Events(const std::string &path, const Log &log) : log_(log), path_(path)
{
    if (!path.empty())
        file_ = std::make_unique<EventFile>(path);
}

void Events::take(const mrcnl::table &t)
{
    if (!t[MRC_A_LOG])
        return;
    const auto e = parse_event(t);

    write(event_fields(e), event_json(e));
}

void Events::write(const JournalFields &fields, const std::string &json)
{
    if (!journal_.send(fields))
        log_.debug("{}", fields.front().second);
    const int code = file_ ? file_->append(json) : 0;
    if (code && code != failed_)
        log_.error("{}: {}; trying again", path_, std::generic_category().message(code));
    failed_ = code;
}

void Events::lost()
{
    log_.warning("too many records at once: some of the module's log are missing here, mrcctl log has them");
}

}   // namespace mrcd
