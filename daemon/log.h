// SPDX-License-Identifier: GPL-2.0
// log.h - lines to stderr; the service manager adds time and place.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>

namespace mrcd {

class Log {
public:
    Log(std::string node, bool verbose) : node_(std::move(node)), verbose_(verbose) {}

    template <typename... A> void error(fmt::format_string<A...> f, A &&...a) const
    {
        line("<3>", "error: ", fmt::format(f, std::forward<A>(a)...));
    }
    template <typename... A> void warning(fmt::format_string<A...> f, A &&...a) const
    {
        line("<4>", "warning: ", fmt::format(f, std::forward<A>(a)...));
    }
    template <typename... A> void info(fmt::format_string<A...> f, A &&...a) const
    {
        line("<6>", "", fmt::format(f, std::forward<A>(a)...));
    }
    template <typename... A> void debug(fmt::format_string<A...> f, A &&...a) const
    {
        if (verbose_)
            line("<7>", "", fmt::format(f, std::forward<A>(a)...));
    }

private:
    // sd-daemon(3) levels, where the journal reads stderr.
    void line(const char *level, const char *word, const std::string &text) const
    {
        static const bool journal = std::getenv("JOURNAL_STREAM") != nullptr;
        const auto out = fmt::format("{}mrcd: {}: {}{}\n", journal ? level : "", node_, word, text);
        std::fwrite(out.data(), 1, out.size(), stderr);
    }

    std::string node_;
    bool verbose_;
};

}   // namespace mrcd
