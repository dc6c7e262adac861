// SPDX-License-Identifier: GPL-2.0
// since.cc - see since.h.
#include "since.h"

#include <cstdio>
#include <cstring>
#include <ctime>

#include <fmt/format.h>

#include "values.h"

namespace mrcctl {

namespace {

constexpr uint64_t second = 1000000000;

[[noreturn]] void refuse(const std::string &word)
{
    throw bad_value(fmt::format("since: \"{}\" is not a time: 10m, 12:03, 2026-11-29 or 2026-11-29T12:03:11", word));
}

// "10m" in ns; 0: not a duration.
uint64_t duration(const std::string &word)
{
    static constexpr struct {
        std::string_view name;
        uint64_t ns;
    } units[] = {{"ms", second / 1000}, {"s", second}, {"m", 60 * second}, {"min", 60 * second},
                 {"h", 3600 * second}, {"d", 86400 * second}};
    size_t digits = word.find_first_not_of("0123456789");
    if (digits == 0 || digits == word.npos || digits > 9)
        return 0;
    for (auto &u : units)
        if (word.substr(digits) == u.name)
            return std::stoull(word.substr(0, digits)) * u.ns;
    return 0;
}

// Does all of @word match @format, which ends in %n?
template <class... T> bool whole(const std::string &word, const char *format, T *...to)
{
    int end = 0;
    // sscanf() accepts blanks and signs before numbers; this does not.
    for (size_t i = 0; i < word.size(); i++)
        if (!strchr("0123456789", word[i]) && (i == 0 || !strchr("0123456789", word[i - 1]) || !strchr(":-T", word[i])))
            return false;
    std::sscanf(word.c_str(), format, to..., &end);
    return end > 0 && static_cast<size_t>(end) == word.size();
}

bool in_range(const tm &t)
{
    return t.tm_mon >= 0 && t.tm_mon < 12 && t.tm_mday >= 1 && t.tm_mday <= 31 && t.tm_hour >= 0 && t.tm_hour < 24 &&
           t.tm_min >= 0 && t.tm_min < 60 && t.tm_sec >= 0 && t.tm_sec < 61;
}

uint64_t moment(const std::string &word, tm t, bool utc)
{
    t.tm_isdst = -1;
    int day = t.tm_mday;
    time_t at = in_range(t) ? (utc ? timegm(&t) : mktime(&t)) : -1;
    if (at < 0 || t.tm_mday != day) // mktime() would accept 30 February
        refuse(word);
    return static_cast<uint64_t>(at) * second;
}

} // namespace

uint64_t parse_since(const std::string &word, uint64_t now_ns)
{
    if (uint64_t ns = duration(word))
        return ns < now_ns ? now_ns - ns : 0;
    time_t now = static_cast<time_t>(now_ns / second);
    tm t = {};
    localtime_r(&now, &t);
    t.tm_sec = 0;
    if (whole(word, "%2d:%2d%n", &t.tm_hour, &t.tm_min) ||
        whole(word, "%2d:%2d:%2d%n", &t.tm_hour, &t.tm_min, &t.tm_sec)) {
        tm before = t;
        uint64_t at = moment(word, t, false);
        if (at <= now_ns)
            return at;
        now -= 86400;
        localtime_r(&now, &t);
        t.tm_hour = before.tm_hour;
        t.tm_min = before.tm_min;
        t.tm_sec = before.tm_sec;
        return moment(word, t, false);
    }
    std::string stamp = word;
    bool utc = !stamp.empty() && stamp.back() == 'Z';
    if (utc)
        stamp.pop_back();
    t = {};
    if (!whole(stamp, "%4d-%2d-%2d%n", &t.tm_year, &t.tm_mon, &t.tm_mday) &&
        !whole(stamp, "%4d-%2d-%2dT%2d:%2d%n", &t.tm_year, &t.tm_mon, &t.tm_mday, &t.tm_hour, &t.tm_min) &&
        !whole(stamp, "%4d-%2d-%2dT%2d:%2d:%2d%n", &t.tm_year, &t.tm_mon, &t.tm_mday, &t.tm_hour, &t.tm_min, &t.tm_sec))
        refuse(word);
    t.tm_year -= 1900;
    t.tm_mon -= 1;
    return moment(word, t, utc);
}

std::string format_moment(uint64_t ns, bool local)
{
    time_t at = static_cast<time_t>(ns / second);
    tm t = {};
    char text[40], zone[8] = "Z";
    local ? localtime_r(&at, &t) : gmtime_r(&at, &t);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &t);
    if (local)
        strftime(zone, sizeof(zone), "%z", &t);
    return fmt::format("{}.{:06}{}", text, ns % second / 1000, zone);
}

} // namespace mrcctl
