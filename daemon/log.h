// SPDX-License-Identifier: GPL-2.0
// log.h - log lines on stderr. The service manager adds time and unit.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace mrcd {

class Log {
public:
    enum class Level { kSilent, kNormal, kVerbose };

    Log(std::string node, Level level) : node_(std::move(node)), level_(level) {}

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
        if (level_ == Level::kVerbose)
            line("<7>", "", fmt::format(f, std::forward<A>(a)...));
    }
    // Prints @text to stdout, unchanged.
    void print(const std::string &text) const
    {
        if (level_ != Level::kSilent)
            fmt::print("{}\n", text);
    }

private:
    // Adds levels of sd-daemon(3) if the journal reads stderr.
    void line(const char *level, const char *word, const std::string &text) const
    {
        static const bool journal = std::getenv("JOURNAL_STREAM") != nullptr;
        if (level_ == Level::kSilent)
            return;
        const auto out = fmt::format("{}mrcd: {}: {}{}\n", journal ? level : "", node_, word, text);
        std::fwrite(out.data(), 1, out.size(), stderr);
    }

    std::string node_;
    Level level_;
};

}   // namespace mrcd
