// SPDX-License-Identifier: GPL-2.0
// metrics.cc - see metrics.h.
#include "metrics.h"

#include <cerrno>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../lib/health/exposition.h"
#include "values.h"

namespace mrcctl {

namespace {

using mrcnl::error;

bool write_all(int fd, std::string_view text)
{
    while (!text.empty()) {
        ssize_t n = write(fd, text.data(), text.size());
        if (n < 0 && errno != EINTR)
            return false;
        text.remove_prefix(n < 0 ? 0 : static_cast<size_t>(n));
    }
    return true;
}

// Replaces a file as a whole: a reader sees the old one or the new one. O_EXCL: a file or link
// under the temporary name belongs to somebody else.
error replace_file(const std::string &path, const std::string &text)
{
    std::string first = fmt::format("{}.{}", path, getpid());
    int fd = open(first.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0)
        return error::make(errno, first);
    bool written = write_all(fd, text) && fchmod(fd, 0644) == 0;
    if ((close(fd) == 0) & written && rename(first.c_str(), path.c_str()) == 0)
        return {};
    auto e = error::make(errno, path);
    unlink(first.c_str());
    return e;
}

} // namespace

error metrics(context &ctx, const arguments &args)
{
    if (ctx.opt.as_json)
        throw bad_value("metrics have Prometheus' text format; mrcctl -j status is JSON");
    auto opened = ctx.connect();
    auto m = health::measure(ctx.nl, opened);
    std::string text = health::exposition(m, MRC_VERSION);
    if (auto path = args.get("to")) {
        if (auto e = replace_file(*path, text))
            return e;
    } else {
        fmt::print("{}", text);
    }
    return m.trouble; // the metrics have it, too
}

} // namespace mrcctl
