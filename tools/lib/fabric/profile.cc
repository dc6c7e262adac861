// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// profile.cc - see profile.h.
#include "profile.h"

#include <linux/mrc.h>

#include <bit>

namespace mrcfab {

namespace {

// The bits of @mask are filled from the most significant one of @number down.
std::uint32_t field_value(const GenField &f, std::uint32_t number)
{
    std::uint32_t value = f.init & ~f.mask;
    unsigned left = static_cast<unsigned>(std::popcount(f.mask));

    for (unsigned bit = 32; bit-- > 0;)
        if (f.mask >> bit & 1)
            value |= (number >> --left & 1) << bit;
    return value;
}

Ev one(const Profile &p, const Generator &g, const std::vector<std::uint32_t> &numbers,
       const Ip6 &dst, const Ip6 &own)
{
    Ev ev{{}, g.port};
    unsigned at = 0;

    for (std::size_t i = 0; i < g.fields.size(); i++) {
        const unsigned end = at + p.widths[i];
        put_bits(ev.outer_dst, end - g.fields[i].width, g.fields[i].width,
                 field_value(g.fields[i], numbers[i]));
        at = end;
    }
    for (const GenCopy &c : g.copies)
        put_bits(ev.outer_dst, c.at, c.width,
                 get_bits(c.from == MRC_COPY_DST ? dst : own, c.bit, c.width));
    return ev;
}

// The last field varies fastest. False: that was the last number.
bool next(const Generator &g, std::vector<std::uint32_t> &numbers)
{
    for (std::size_t i = numbers.size(); i-- > 0;) {
        if (numbers[i] < g.fields[i].last) {
            numbers[i]++;
            return true;
        }
        numbers[i] = g.fields[i].first;
    }
    return false;
}

}   // namespace

std::vector<Ev> expand(const Profile &p, const Ip6 &dst, const Ip6 &own)
{
    std::vector<Ev> evs = p.evs;

    for (const Generator &g : p.gens) {
        std::vector<std::uint32_t> numbers;
        for (const GenField &f : g.fields)
            numbers.push_back(f.first);
        do {
            if (evs.size() == kEvsMax)
                return evs;
            evs.push_back(one(p, g, numbers, dst, own));
        } while (next(g, numbers));
    }
    return evs;
}

const Profile *profile_for(const std::vector<Profile> &profiles, const Ip6 &dst)
{
    const Profile *best = nullptr;

    for (const Profile &p : profiles)
        if ((!best || p.key.len > best->key.len) && Prefix6{p.key.dst, p.key.len}.contains(dst))
            best = &p;
    return best;
}

}   // namespace mrcfab
