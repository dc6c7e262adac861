// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "qos.h"

#include <set>

#include "../words/nearest.h"
#include "reader.h"

namespace mrcfab {

namespace {

constexpr unsigned kDscpMax = 63, kClassMax = 7;
constexpr std::uint32_t kQueueMax = 256000000;           // bytes: the smallest limit of a switch
constexpr unsigned kTrimMin = 192, kTrimMax = 1024, kTrimUnit = 4;   // all headers fit

const std::set<std::string> &names()
{
    static const std::set<std::string> all = [] {
        std::set<std::string> s = {"be", "le", "va", "ef"};
        for (unsigned i = 0; i <= 7; i++)
            s.insert(fmt::format("cs{}", i));
        for (unsigned i = 1; i <= 4; i++)
            for (unsigned k = 1; k <= 3; k++)
                s.insert(fmt::format("af{}{}", i, k));
        return s;
    }();
    return all;
}

void dscp(Reader &r, const char *key, std::uint8_t &value)
{
    if (!r.optional(key))
        return;
    const auto name = r.string_or_none(key);
    if (!name) {
        value = static_cast<std::uint8_t>(r.number(key, 0, kDscpMax));
        return;
    }
    const auto number = dscp_of(*name);
    if (!number) {
        const auto near = words::nearest(*name, names());
        r.bad(key, "\"{}\" is no DSCP, {}expected 0 to {}, or a name such as \"cs1\", \"af11\", \"ef\"", *name,
              near.empty() ? "" : "did you mean \"" + near + "\"? ", kDscpMax);
    }
    value = *number;
}

// A number of the file, and what it is for: numbers for different purposes differ.
struct Item {
    const char *key;
    std::uint8_t &value;
    int purpose;
};

template <std::size_t N> void apart(Reader &r, const Item (&items)[N])
{
    r.finish();
    for (const Item &a : items)
        for (const Item &b : items) {
            if (a.purpose >= b.purpose || a.value != b.value)
                continue;
            const Item &wrong = r.has(b.key) ? b : a, &other = r.has(b.key) ? a : b;
            r.bad(wrong.key, "{} is that of \"{}\", too: expected another one", wrong.value, other.key);
        }
}

// Where nothing is trimmed, data is data.
void dscps(Reader r, Dscps &d, bool trims)
{
    const Item items[] = {{"data", d.data, 0}, {"rtx", d.rtx, 0}, {"no_trim", d.no_trim, trims ? 1 : 0},
                          {"control", d.control, 2}, {"trimmed", d.trimmed, 3},
                          {"trimmed_lasthop", d.trimmed_lasthop, 4}};
    for (const Item &i : items)
        dscp(r, i.key, i.value);
    apart(r, items);
}

void classes(Reader r, Classes &c)
{
    const Item items[] = {{"data", c.data, 0}, {"no_trim", c.no_trim, 1}, {"trimmed", c.trimmed, 2},
                          {"control", c.control, 3}};
    for (const Item &i : items)
        if (r.optional(i.key))
            i.value = static_cast<std::uint8_t>(r.number(i.key, 0, kClassMax));
    apart(r, items);
}

void ecn(Reader r, Ecn &e)
{
    if (r.optional("min"))
        e.min = static_cast<std::uint32_t>(r.number("min", 1, kQueueMax));
    if (r.optional("max"))
        e.max = static_cast<std::uint32_t>(r.number("max", 1, kQueueMax));
    if (r.optional("percent"))
        e.percent = static_cast<std::uint8_t>(r.number("percent", 1, 100));
    r.finish();
    if (e.min > e.max)
        r.bad(r.has("max") ? "max" : "min", "marking would begin at {} bytes and be full at {}: expected min <= max",
              e.min, e.max);
}

}   // namespace

std::optional<std::uint8_t> dscp_of(std::string_view s)
{
    if (s == "be" || s == "default")
        return 0;
    if (s == "le")
        return 1;
    if (s == "va")
        return 44;
    if (s == "ef")
        return 46;
    if (!names().count(std::string(s)))
        return std::nullopt;
    const auto digit = [&](std::size_t i) { return static_cast<unsigned>(s[i] - '0'); };
    return static_cast<std::uint8_t>(s[0] == 'c' ? 8 * digit(2) : 8 * digit(2) + 2 * digit(3));
}

Qos read_qos(Reader &root)
{
    Reader r = root.table("qos");
    Qos q;

    if (r.optional("trim_size")) {
        q.trim_size = static_cast<unsigned>(r.number("trim_size", 0, kTrimMax));
        if (q.trim_size && (q.trim_size < kTrimMin || q.trim_size % kTrimUnit))
            r.bad("trim_size", "{} is wrong, expected 0, or {} to {} in steps of {}", q.trim_size, kTrimMin, kTrimMax,
                  kTrimUnit);
        q.trim_nack = q.trim_size != 0;
    }
    dscps(r.table_or_empty("dscp"), q.dscp, q.trim_size);
    classes(r.table_or_empty("class"), q.classes);
    ecn(r.table_or_empty("ecn"), q.ecn);
    r.finish();
    return q;
}

}   // namespace mrcfab
