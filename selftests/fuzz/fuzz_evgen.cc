// SPDX-License-Identifier: GPL-2.0
// fuzz_evgen.cc - EV profiles as a controller may write them: what passes the check expands
// as a naive reading of mrc_ctl.h does, bit string by bit string, and no EV comes twice. What is
// copied from addresses is as in strings.
#include "bytes.h"

#include <cstring>
#include <set>
#include <string>

extern "C" {
#include "wire/mrc_evgen.h"
}

namespace {

mrc_ev_gen profile(bytes &in)
{
    const u8 fmts[] = {MRC_EV_FMT_UDP, MRC_EV_FMT_STEV, MRC_EV_FMT_SRV6};
    mrc_ev_gen g = {};

    g.fmt = in.one_in(16) ? in.any<u8>() : in.pick(fmts);
    g.n_fmt = static_cast<u8>(in.one_in(16) ? in.any<u8>() : in.between(1, 6));
    g.n = static_cast<u8>(in.one_in(8) ? in.any<u8>() : in.between(1, g.n_fmt ? g.n_fmt : 1));
    for (u32 i = 0; i < MRC_EV_FIELDS_MAX; i++) {
        mrc_ev_field &f = g.field[i];

        g.fmt_width[i] = static_cast<u8>(in.one_in(16) ? in.any<u8>() : in.between(1, 40));
        f.width = in.one_in(16) ? in.any<u32>() : in.between(1, 32);
        u32 all = static_cast<u32>((1ull << (f.width & 63)) - 1);
        f.mask = in.one_in(8) ? in.any<u32>() : in.any<u32>() & all & in.any<u32>();
        f.init_val = in.one_in(8) ? in.any<u32>() : in.any<u32>() & all;
        f.min_val = in.below(8);
        f.max_val = in.one_in(4) ? in.any<u32>() : f.min_val + in.below(8);
    }
    return g;
}

// Read behind the fields: the corpus of before describes the same ones.
void copies(bytes &in, mrc_ev_gen &g, mrc_ev_addrs &a)
{
    g.n_copy = static_cast<u8>(in.one_in(16) ? in.any<u8>() : in.below(MRC_EV_COPIES_MAX + 1));
    for (mrc_ev_copy &c : g.copy) {
        c.from = in.one_in(16) ? in.any<u32>() : in.below(2);
        c.width = in.one_in(16) ? in.any<u32>() : in.between(1, 32);
        c.bit = in.one_in(16) ? in.any<u32>() : in.below(128);
        c.at = in.one_in(16) ? in.any<u32>() : in.below(256);
    }
    for (u8 &b : a.dst)
        b = in.any<u8>();
    for (u8 &b : a.src)
        b = in.any<u8>();
}

// One field's bits, most significant first.
std::string field_bits(const mrc_ev_field &f, u32 value)
{
    std::string bits;
    u32 ones = 0, used = 0;

    for (u32 m = f.mask; m; m &= m - 1)
        ones++;
    for (u32 b = f.width; b; b--) {
        bool from_value = f.mask >> (b - 1) & 1;

        bits += '0' + (from_value ? value >> (ones - ++used) & 1 : f.init_val >> (b - 1) & 1);
    }
    return bits;
}

std::string naive(const mrc_ev_gen &g, u64 i)
{
    std::string ev;

    for (u32 n = g.n; n--;) {
        u64 values = u64{g.field[n].max_val} - g.field[n].min_val + 1;
        std::string bits =
            field_bits(g.field[n], static_cast<u32>(g.field[n].min_val + i % values));

        ev = std::string(g.fmt_width[n] - g.field[n].width, '0') + bits + ev;
        i /= values;
    }
    return ev;
}

std::string as_bits(const u8 *bits, size_t n)
{
    std::string s;

    for (size_t i = 0; i < n; i++)
        s += '0' + (bits[i / 8] >> (7 - i % 8) & 1);
    return s;
}

// The EV with all that is copied.
std::string copied(const mrc_ev_gen &g, const mrc_ev_addrs &a, std::string ev)
{
    for (u8 i = 0; i < g.n_copy; i++) {
        const mrc_ev_copy &c = g.copy[i];
        std::string from = as_bits(c.from ? a.src : a.dst, MRC_EV_ADDR_BITS);

        REQUIRE(c.bit + c.width <= from.size() && c.at + c.width <= mrc_ev_fmt_width(g.fmt));
        ev.replace(c.at, c.width, from.substr(c.bit, c.width));
    }
    return ev;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    bytes in(data, size);
    mrc_ev_gen g = profile(in);
    mrc_ev_addrs addrs;
    std::set<std::string> seen;
    u8 field = 0xff, ev[MRC_EV_BYTES];

    copies(in, g, addrs);
    if (mrc_evgen_check(&g, &field)) {
        REQUIRE(field < MRC_EV_FIELDS_MAX);
        return 0;
    }
    u32 count = mrc_evgen_count(&g);
    REQUIRE(count);
    for (u32 n = 0; n < 64; n++) {
        u32 i = n < 32 ? n : in.below(2) ? count - 1 - (n - 32) : in.any<u32>();

        if (i >= count)
            continue;
        mrc_evgen_expand(&g, i, ev);
        std::string want = naive(g, i);
        REQUIRE(want.size() <= mrc_ev_fmt_width(g.fmt));
        std::string whole = want + std::string(8 * MRC_EV_BYTES - want.size(), '0');
        REQUIRE(as_bits(ev, 8 * MRC_EV_BYTES) == whole);
        if (n < 32)
            REQUIRE(seen.insert(want).second);
        u8 name[MRC_EV_BYTES], again[MRC_EV_BYTES];
        mrc_evgen_name_of(&g, ev, name);
        mrc_evgen_wire(&g, name, again);
        REQUIRE(!memcmp(ev, again, sizeof(ev)));
        mrc_evgen_copy(g.copy, g.n_copy, &addrs, ev);
        REQUIRE(as_bits(ev, 8 * MRC_EV_BYTES) == copied(g, addrs, whole));
    }
    return 0;
}
