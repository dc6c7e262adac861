// SPDX-License-Identifier: GPL-2.0
// values.cc - see values.h.
#include "values.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/mrc.h>

namespace mrcctl {

namespace {

// Parses the digits at the start of @word; @end is behind them. Throws if there are none.
uint64_t number_prefix(const std::string &word, std::string_view what, const char *&end)
{
    char *stop = nullptr;
    if (word.size() > 1 && word[0] == '0' && std::isdigit(static_cast<unsigned char>(word[1])))
        throw bad_value(fmt::format("{}: \"{}\" begins with 0: decimal without it, or 0x...", what,
                                    word));
    errno = 0;
    unsigned long long v = std::strtoull(word.c_str(), &stop, 0);
    if (word.empty() || !std::isdigit(static_cast<unsigned char>(word[0])) || errno)
        throw bad_value(fmt::format("{}: \"{}\" is not a number", what, word));
    end = stop;
    return v;
}

uint64_t check_range(uint64_t v, uint64_t min, uint64_t max, const std::string &word,
                     std::string_view what)
{
    if (v < min || v > max)
        throw bad_value(fmt::format("{}: {} is not in {} ... {}", what, word, min, max));
    return v;
}

struct named_value {
    const char *name;
    uint32_t value;
};

constexpr named_value formats[] = {
    {"stev", MRC_FMT_STEV}, {"srv6", MRC_FMT_SRV6}, {"udp", MRC_FMT_UDP}};
constexpr named_value copy_froms[] = {{"dst", MRC_COPY_DST}, {"src", MRC_COPY_SRC}};
constexpr named_value modes[] = {{"auto", MRC_MODE_AUTO}, {"exp", MRC_MODE_EXP}, {"gen", MRC_MODE_GEN}};
constexpr named_value ev_states[] = {{"good", MRC_NL_EV_GOOD},
                               {"skip", MRC_NL_EV_SKIP},
                               {"assumed-bad", MRC_NL_EV_ASSUMED_BAD},
                               {"denied", MRC_NL_EV_DENIED}};
// enum ib_qp_state
constexpr named_value qp_states[] = {{"RESET", 0}, {"INIT", 1}, {"RTR", 2}, {"RTS", 3},
                               {"SQD", 4},   {"SQE", 5},  {"ERR", 6}};

uint32_t by_name(std::span<const named_value> list, const std::string &word, std::string_view what)
{
    for (auto &n : list)
        if (word == n.name)
            return n.value;
    std::string all;
    for (auto &n : list)
        all += fmt::format("{}{}", all.empty() ? "" : ", ", n.name);
    throw bad_value(fmt::format("{}: \"{}\" is none of {}", what, word, all));
}

std::string by_value(std::span<const named_value> list, uint32_t value)
{
    for (auto &n : list)
        if (value == n.value)
            return n.name;
    return std::to_string(value);
}

void put_be(ev_value &out, uint64_t v, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        out[i] = static_cast<uint8_t>(v >> (8 * (bytes - 1 - i)));
}

gid parse_ipv6(const std::string &word, std::string_view what)
{
    gid g{};
    if (inet_pton(AF_INET6, word.c_str(), g.data()) != 1)
        throw bad_value(fmt::format("{}: \"{}\" is not an IPv6 address", what, word));
    return g;
}

} // namespace

uint64_t parse_number(const std::string &word, uint64_t min, uint64_t max, std::string_view what)
{
    const char *end = nullptr;
    uint64_t v = number_prefix(word, what, end);
    if (*end)
        throw bad_value(fmt::format("{}: \"{}\" is not a number", what, word));
    return check_range(v, min, max, word, what);
}

uint64_t parse_size(const std::string &word, uint64_t min, uint64_t max, std::string_view what)
{
    const char *end = nullptr;
    uint64_t v = number_prefix(word, what, end);
    unsigned shift = 0;
    std::string unit = end;
    if (unit == "k" || unit == "K")
        shift = 10;
    else if (unit == "m" || unit == "M")
        shift = 20;
    else if (unit == "g" || unit == "G")
        shift = 30;
    else if (!unit.empty())
        throw bad_value(fmt::format("{}: \"{}\" is not a size", what, word));
    if (v > (UINT64_MAX >> shift))
        throw bad_value(fmt::format("{}: {} is not in {} ... {}", what, word, min, max));
    return check_range(v << shift, min, max, word, what);
}

uint64_t parse_time(const std::string &word, std::string_view unit, uint64_t min, uint64_t max, std::string_view what,
                    std::string_view bare)
{
    static constexpr struct {
        std::string_view name;
        uint64_t ns;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
    auto ns_of = [](std::string_view name) {
        for (auto &u : units)
            if (u.name == name)
                return u.ns;
        return uint64_t{0};
    };
    const char *end = nullptr;
    uint64_t v = number_prefix(word, what, end);
    uint64_t asked = ns_of(unit), given = ns_of(*end ? end : bare.empty() ? unit : bare);
    if (!given)
        throw bad_value(fmt::format("{}: \"{}\" is no time: 10ns, 10us, 10ms or 10s", what, word));
    if (v > UINT64_MAX / given)
        throw bad_value(fmt::format("{}: {} is not in {}{} ... {}{}", what, word, min, unit, max, unit));
    uint64_t in_units = v * given / asked;
    if (in_units < min || in_units > max)
        throw bad_value(fmt::format("{}: {} is not in {}{} ... {}{}", what, word, min, unit, max, unit));
    if (v && in_units * asked != v * given)
        throw bad_value(fmt::format("{}: {} is no whole number of {}", what, word, unit));
    return in_units;
}

// Names of RFC 2474, 2597, 3246, 5865 and 8622.
uint8_t parse_dscp(const std::string &word, std::string_view what)
{
    static constexpr named_value others[] = {{"default", 0}, {"be", 0}, {"le", 1}, {"va", 44}, {"ef", 46}};
    auto digit = [&](size_t i, char most) {
        return word.size() > i && word[i] >= '0' && word[i] <= most ? word[i] - '0' : -1;
    };
    for (auto &n : others)
        if (word == n.name)
            return static_cast<uint8_t>(n.value);
    if (word.starts_with("cs") && word.size() == 3 && digit(2, '7') >= 0)
        return static_cast<uint8_t>(8 * digit(2, '7'));
    if (word.starts_with("af") && word.size() == 4 && digit(2, '4') > 0 && digit(3, '3') > 0)
        return static_cast<uint8_t>(8 * digit(2, '4') + 2 * digit(3, '3'));
    if (!word.empty() && !std::isdigit(static_cast<unsigned char>(word[0])))
        throw bad_value(fmt::format("{}: \"{}\" is no DSCP: 0 ... 63, cs0 ... cs7, af11 ... af43, ef, va, le", what,
                                    word));
    return static_cast<uint8_t>(parse_number(word, 0, 63, what));
}

uint32_t parse_fixed(const std::string &word, unsigned bits, uint64_t max, std::string_view what)
{
    size_t point = word.find('.');
    std::string whole = word.substr(0, point);
    std::string part = point == std::string::npos ? "" : word.substr(point + 1);
    auto digits = [](const std::string &s) {
        return std::all_of(s.begin(), s.end(), [](unsigned char c) { return std::isdigit(c); });
    };
    constexpr size_t digits_max = 9;
    if (whole.empty() || !digits(whole) || !digits(part) || part.size() > digits_max ||
        whole.size() > digits_max || (point != std::string::npos && part.empty()))
        throw bad_value(fmt::format("{}: \"{}\" is not a decimal number", what, word));
    uint64_t scale = 1, v = 0;
    for (char c : part) {
        v = v * 10 + static_cast<uint64_t>(c - '0');
        scale *= 10;
    }
    v = (std::stoull(whole) << bits) + ((v << bits) + scale / 2) / scale;
    if (v > max)
        throw bad_value(fmt::format("{}: {} is not in 0 ... {}", what, word,
                                    format_fixed(static_cast<uint32_t>(max), bits)));
    return static_cast<uint32_t>(v);
}

std::vector<uint64_t> parse_list(const std::string &word, size_t max_n, std::string_view what)
{
    std::vector<uint64_t> out;
    for (size_t at = 0; at <= word.size();) {
        size_t end = std::min(word.find(',', at), word.size());
        if (out.size() == max_n)
            throw bad_value(fmt::format("{}: \"{}\" has more than {} numbers", what, word, max_n));
        out.push_back(parse_number(word.substr(at, end - at), 0, UINT32_MAX, what));
        at = end + 1;
    }
    return out;
}

bool parse_on_off(const std::string &word, std::string_view what)
{
    if (word == "on" || word == "1")
        return true;
    if (word == "off" || word == "0")
        return false;
    throw bad_value(fmt::format("{}: \"{}\" is neither on nor off", what, word));
}

gid parse_address(const std::string &word, std::string_view what)
{
    gid g{};
    if (inet_pton(AF_INET, word.c_str(), g.data() + 12) == 1) {
        g[10] = g[11] = 0xff;
        return g;
    }
    if (inet_pton(AF_INET6, word.c_str(), g.data()) == 1)
        return g;
    throw bad_value(fmt::format("{}: \"{}\" is not an address", what, word));
}

prefix parse_prefix(const std::string &word, std::string_view what)
{
    size_t slash = word.find('/');
    if (slash == std::string::npos)
        return {parse_address(word, what), 128};
    std::string address = word.substr(0, slash);
    bool v4 = address.find(':') == std::string::npos;
    prefix p = {parse_address(address, what), 0};
    p.length = static_cast<uint8_t>(
        parse_number(word.substr(slash + 1), 1, v4 ? 32 : 128, fmt::format("{} length", what)));
    if (v4)
        p.length += 96;
    gid rest = p.address;
    for (size_t i = 0; i < 128; i++)
        if (i >= p.length && (rest[i / 8] & 128 >> i % 8)) {
            for (; i < 128; i++)
                rest[i / 8] &= static_cast<uint8_t>(~(128 >> i % 8));
            throw bad_value(fmt::format("{}: \"{}\" has bits beyond its length: {}?", what, word,
                                        format_prefix(rest, p.length)));
        }
    return p;
}

copy_rule parse_copy(const std::string &word)
{
    std::vector<std::string> parts;
    for (size_t at = 0; at <= word.size();) {
        size_t end = std::min(word.find(':', at), word.size());
        parts.push_back(word.substr(at, end - at));
        at = end + 1;
    }
    if (parts.size() != 4)
        throw bad_value(fmt::format("copy: \"{}\" is not dst|src:BIT:WIDTH:AT", word));
    copy_rule c;
    c.from = by_name(copy_froms, parts[0], "copy");
    c.bit = static_cast<uint32_t>(parse_number(parts[1], 0, 127, "copy: first bit"));
    c.width = static_cast<uint32_t>(parse_number(parts[2], 1, 32, "copy: width"));
    c.at = static_cast<uint32_t>(parse_number(parts[3], 0, 255, "copy: bit of the EV"));
    return c;
}

gid parse_sid(const std::string &word)
{
    if (auto slash = word.find('/'); slash != std::string::npos)
        throw bad_value(fmt::format("sid: a SID has no length: {}", word.substr(0, slash)));
    gid g = parse_address(word, "sid");
    static constexpr uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    if (std::equal(std::begin(mapped), std::end(mapped), g.begin()))
        throw bad_value(fmt::format("sid: \"{}\" is an IPv4 address, a SID is IPv6: fcbb:bb00:1201::",
                                    word));
    return g;
}

uint32_t parse_fmt(const std::string &word)
{
    return by_name(formats, word, "fmt");
}

uint32_t parse_mode(const std::string &word)
{
    return by_name(modes, word, "mode");
}

uint32_t parse_ev_state(const std::string &word)
{
    return by_name(ev_states, word, "state");
}

uint32_t parse_ev_order(const std::string &word)
{
    static constexpr named_value orders[] = {{"good", MRC_NL_EV_GOOD}, {"denied", MRC_NL_EV_DENIED}};
    return by_name(orders, word, "state");
}

ev_value parse_ev(uint32_t fmt, const std::string &word)
{
    ev_value v{};
    switch (fmt) {
    case MRC_FMT_UDP:
        put_be(v, parse_number(word, 0, UINT16_MAX, "udp EV"), 2);
        return v;
    case MRC_FMT_STEV:
        put_be(v, parse_number(word, 0, UINT32_MAX, "stev EV"), 4);
        return v;
    }
    size_t comma = word.find(',');
    gid dst = parse_ipv6(word.substr(0, comma), "srv6 EV");
    std::copy(dst.begin(), dst.end(), v.begin());
    if (comma != std::string::npos) {
        gid seg = parse_ipv6(word.substr(comma + 1), "srv6 EV segment");
        std::copy(seg.begin(), seg.end(), v.begin() + 16);
    }
    return v;
}

std::string format_address(std::span<const uint8_t> bytes)
{
    char buf[INET6_ADDRSTRLEN];
    if (bytes.size() < 16 || !inet_ntop(AF_INET6, bytes.data(), buf, sizeof(buf)))
        return "?";
    return buf;
}

std::string format_prefix(std::span<const uint8_t> bytes, uint64_t length)
{
    std::string s = format_address(bytes);
    return length == 128 ? s : fmt::format("{}/{}", s, length);
}

std::string copy_from_name(uint64_t from)
{
    return by_value(copy_froms, static_cast<uint32_t>(from));
}

std::string format_ev(uint32_t fmt, std::span<const uint8_t> b)
{
    if (b.size() < std::tuple_size_v<ev_value>)
        return "?";
    auto used = [&](size_t from, size_t to) {
        return std::any_of(b.begin() + static_cast<std::ptrdiff_t>(from),
                           b.begin() + static_cast<std::ptrdiff_t>(to),
                           [](uint8_t x) { return x != 0; });
    };
    if (!fmt)
        fmt = used(4, 32) ? MRC_FMT_SRV6 : used(2, 4) ? MRC_FMT_STEV : MRC_FMT_UDP;
    if (fmt == MRC_FMT_UDP)
        return std::to_string(b[0] << 8 | b[1]);
    if (fmt == MRC_FMT_STEV)
        return fmt::format("0x{:02x}{:02x}{:02x}{:02x}", b[0], b[1], b[2], b[3]);
    std::string s = format_address(b.first(16));
    if (used(16, 32))
        s += "," + format_address(b.subspan(16, 16));
    return s;
}

std::string format_fixed(uint32_t v, unsigned bits)
{
    // Five decimals distinguish all values of 16 bits.
    constexpr uint64_t scale = 100000;
    uint64_t all = (v * scale + (1ull << bits) / 2) >> bits;
    std::string s = fmt::format("{}.{:05}", all / scale, all % scale);
    s.erase(s.find_last_not_of('0') + 1);
    if (s.back() == '.')
        s.pop_back();
    return s;
}

std::string fmt_name(uint32_t fmt)
{
    return by_value(formats, fmt);
}

std::string mode_name(uint32_t mode)
{
    return by_value(modes, mode);
}

std::string ev_state_name(uint32_t state)
{
    return by_value(ev_states, state);
}

std::string qp_state_name(uint32_t state)
{
    return by_value(qp_states, state);
}

} // namespace mrcctl
