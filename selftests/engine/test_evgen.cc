// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_evgen.cc - EVs generated from fields, against the rule written out bit by bit.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

extern "C" {
#include "wire/mrc_evgen.h"
}

#include <gtest/gtest.h>

namespace {

using bytes = std::array<u8, MRC_EV_BYTES>;

mrc_ev_gen make(mrc_ev_fmt fmt, const std::vector<u8> &widths,
                const std::vector<mrc_ev_field> &fields)
{
    mrc_ev_gen g = {};

    g.fmt = fmt;
    g.n_fmt = static_cast<u8>(widths.size());
    g.n = static_cast<u8>(fields.size());
    std::copy(widths.begin(), widths.end(), g.fmt_width);
    std::copy(fields.begin(), fields.end(), g.field);
    return g;
}

mrc_evgen_err check(const mrc_ev_gen &g, int want_field = -1)
{
    u8 field = 99;      // or copy
    mrc_evgen_err err = mrc_evgen_check(&g, &field);

    if (want_field >= 0) {
        EXPECT_EQ(field, want_field);
    }
    return err;
}

bytes expand(const mrc_ev_gen &g, u32 i)
{
    bytes ev;

    ev.fill(0xa5);
    mrc_evgen_expand(&g, i, ev.data());
    return ev;
}

std::string hex(const bytes &ev, size_t n = MRC_EV_BYTES)
{
    std::string s;
    char two[3];

    for (size_t i = 0; i < n; i++) {
        snprintf(two, sizeof(two), "%02x", ev[i]);
        s += two;
    }
    return s;
}

// A field that is always the same.
mrc_ev_field fixed(u32 width, u32 value) { return {width, value, 0, 0, 0}; }

// The rule, slowly: strings of '0' and '1', all loops written out.
std::string slow_bits(u64 v, u32 width)
{
    std::string s;

    for (u32 i = 0; i < width; i++)
        s.insert(s.begin(), v >> i & 1 ? '1' : '0');
    return s;
}

std::string slow_field(const mrc_ev_field &f, u64 v, u8 fmt_width)
{
    std::string out = slow_bits(f.init_val, f.width), mask = slow_bits(f.mask, f.width);
    size_t ones = static_cast<size_t>(std::count(mask.begin(), mask.end(), '1'));
    std::string number = slow_bits(v, static_cast<u32>(ones));
    size_t next = 0;

    for (size_t i = 0; i < mask.size(); i++)    // from the most significant
        if (mask[i] == '1')
            out[i] = number[next++];
    return std::string(fmt_width - f.width, '0') + out;
}

// All EVs by nested loops, the first field outermost.
void slow_all(const mrc_ev_gen &g, u8 n, const std::string &head, std::vector<std::string> *out)
{
    if (n == g.n) {
        out->push_back(head + std::string(MRC_EV_BYTES * 8 - head.size(), '0'));
        return;
    }
    for (u64 v = g.field[n].min_val; v <= g.field[n].max_val; v++)
        slow_all(g, static_cast<u8>(n + 1), head + slow_field(g.field[n], v, g.fmt_width[n]), out);
}

std::string bits(const bytes &ev)
{
    std::string s;

    for (u8 b : ev)
        s += slow_bits(b, 8);
    return s;
}

bytes wire_of(const mrc_ev_gen &g, std::initializer_list<u8> name)
{
    bytes from = {}, ev;

    std::copy(name.begin(), name.end(), from.begin());
    ev.fill(0xa5);
    mrc_evgen_wire(&g, from.data(), ev.data());
    return ev;
}

bytes name_of(const mrc_ev_gen &g, const bytes &ev)
{
    bytes name;

    name.fill(0x5a);
    mrc_evgen_name_of(&g, ev.data(), name.data());
    return name;
}

TEST(evgen, a_name_is_the_bits_of_the_masks)
{
    const mrc_ev_gen g = make(MRC_EV_FMT_STEV, {16, 16}, {{16, 0x100, 0, 15, 0xf}, {16, 0x200, 0, 15, 0xf}});
    const bytes ev = wire_of(g, {0xa4});

    EXPECT_EQ(mrc_evgen_name_width(&g), 8u);
    EXPECT_EQ(hex(ev, 5), "010a020400");
    EXPECT_EQ(hex(name_of(g, ev), 3), "a40000");
}

TEST(evgen, full_masks_are_the_identity)
{
    const mrc_ev_gen g = make(MRC_EV_FMT_STEV, {8, 24}, {{8, 0, 0, 0, 0xff}, {24, 0, 0, 0, 0xffffff}});
    const bytes ev = wire_of(g, {0x12, 0x34, 0x56, 0x78});

    EXPECT_EQ(mrc_evgen_name_width(&g), 32u);
    EXPECT_EQ(hex(ev, 5), "1234567800");
    EXPECT_EQ(hex(name_of(g, ev), 5), "1234567800");
}

// A locator that is fixed is no part of the name: the uSIDs behind it are.
TEST(evgen, a_fixed_locator_leaves_the_usids)
{
    const mrc_ev_gen g = make(MRC_EV_FMT_SRV6, {32, 16, 16},
                              {fixed(32, 0xfcbb0000), {16, 0, 0, 0xffff, 0xffff}, {16, 0xe000, 0, 0xff, 0xff}});
    const bytes ev = wire_of(g, {0x01, 0x02, 0x33, 0xff});

    EXPECT_EQ(mrc_evgen_name_width(&g), 24u);
    EXPECT_EQ(hex(ev, 9), "fcbb00000102e03300") << "what a name has beyond its width is nobody's";
    EXPECT_EQ(hex(name_of(g, ev), 5), "0102330000");
}

// Field that is narrower than the format's, masks with holes: there and back again.
TEST(evgen, names_lead_back)
{
    const mrc_ev_gen g = make(MRC_EV_FMT_STEV, {12, 20}, {{9, 0x1ff, 1, 5, 0x145}, {18, 0x2aaaa, 3, 6, 0x20041}});
    std::set<std::string> names;

    for (u32 i = 0; i < mrc_evgen_count(&g); i++) {
        bytes name, ev;
        mrc_evgen_name(&g, i, name.data());
        mrc_evgen_wire(&g, name.data(), ev.data());
        EXPECT_EQ(hex(ev), hex(expand(g, i)));
        EXPECT_EQ(hex(name_of(g, ev)), hex(name));
        EXPECT_EQ(bits(name).find('1', mrc_evgen_name_width(&g)), std::string::npos);
        names.insert(hex(name));
    }
    EXPECT_EQ(names.size(), mrc_evgen_count(&g));
}

// Values over ports: each pair once at most, ports as even as can be, and all there are when all are wanted.
TEST(evgen, values_dealt_over_ports)
{
    for (u32 count = 1; count <= 9; count++)
        for (u32 ports = 1; ports <= 5; ports++)
            for (u32 take = 1; take <= count * ports; take++) {
                std::set<std::pair<u32, u32>> pairs;
                std::vector<u32> on(ports), of(count);
                for (u32 i = 0; i < take; i++) {
                    u32 value = ~0u, port = ~0u;
                    mrc_evgen_deal(count, take, ports, i, &value, &port);
                    ASSERT_LT(value, count);
                    ASSERT_LT(port, ports);
                    on[port]++;
                    of[value]++;
                    EXPECT_TRUE(pairs.emplace(value, port).second);
                }
                EXPECT_LE(*std::max_element(on.begin(), on.end()) - *std::min_element(on.begin(), on.end()), 1u);
                EXPECT_LE(*std::max_element(of.begin(), of.end()) - *std::min_element(of.begin(), of.end()), 1u);
            }
}

TEST(evgen, fewer_than_values_are_at_even_distances)
{
    const std::vector<std::pair<u32, u32>> want = {{0, 0}, {3, 1}, {6, 2}, {9, 0}};
    u32 value, port;

    for (u32 i = 0; i < want.size(); i++) {
        mrc_evgen_deal(12, 4, 3, i, &value, &port);
        EXPECT_EQ(std::make_pair(value, port), want[i]);
    }
    // 2^32 - 1 values, the last of 4,096.
    mrc_evgen_deal(~0u, 4096, 4, 4095, &value, &port);
    EXPECT_EQ(value, 4293918719u);
    EXPECT_EQ(port, 3u);
}

TEST(evgen, widths_of_the_formats)
{
    EXPECT_EQ(mrc_ev_fmt_width(MRC_EV_FMT_UDP), 16u);
    EXPECT_EQ(mrc_ev_fmt_width(MRC_EV_FMT_STEV), 32u);
    EXPECT_EQ(mrc_ev_fmt_width(MRC_EV_FMT_SRV6), 256u);
    for (u8 f : {0, 3, 5, 6, 7, 8, 255})
        EXPECT_EQ(mrc_ev_fmt_width(f), 0u);
}

TEST(evgen, every_restriction_is_an_error)
{
    mrc_ev_field f = {16, 0x1234, 0, 3, 0x3};
    mrc_ev_gen ok = make(MRC_EV_FMT_STEV, {16, 16}, {f, f}), g;

    EXPECT_EQ(check(ok), MRC_EVGEN_OK);
    g = ok, g.fmt = 3;
    EXPECT_EQ(check(g), MRC_EVGEN_FORMAT);
    g = ok, g.n = 0;
    EXPECT_EQ(check(g), MRC_EVGEN_COUNT);
    g = ok, g.n = 3;
    EXPECT_EQ(check(g), MRC_EVGEN_COUNT) << "more fields than the format";
    g = ok, g.n_fmt = MRC_EV_FIELDS_MAX + 1;
    EXPECT_EQ(check(g), MRC_EVGEN_COUNT);
    g = ok, g.n_fmt = 255, g.n = 255;
    EXPECT_EQ(check(g), MRC_EVGEN_COUNT);
    g = ok, g.fmt_width[1] = 17;
    EXPECT_EQ(check(g), MRC_EVGEN_TOTAL);
    g = ok, g.field[1].width = 17;
    EXPECT_EQ(check(g, 1), MRC_EVGEN_WIDTH) << "wider than its format field";
    g = ok, g.field[0].width = 0;
    EXPECT_EQ(check(g, 0), MRC_EVGEN_WIDTH);
    g = make(MRC_EV_FMT_SRV6, {64}, {fixed(33, 0)});
    EXPECT_EQ(check(g, 0), MRC_EVGEN_WIDTH) << "wider than its values";
    g = ok, g.field[1].init_val = 0x10000;
    EXPECT_EQ(check(g, 1), MRC_EVGEN_INIT);
    g = ok, g.field[1].mask = 0x10003;
    EXPECT_EQ(check(g, 1), MRC_EVGEN_MASK);
    g = ok, g.field[1].max_val = 4;
    EXPECT_EQ(check(g, 1), MRC_EVGEN_RANGE) << "two bits hold 3";
    g = ok, g.field[1].min_val = 4;
    EXPECT_EQ(check(g, 1), MRC_EVGEN_RANGE);
    g = ok, g.field[1].mask = 0;
    EXPECT_EQ(check(g, 1), MRC_EVGEN_RANGE) << "a fixed field has min, max and mask 0";
    g = ok, g.n = 1;
    EXPECT_EQ(check(g), MRC_EVGEN_OK) << "fewer fields than the format";
}

TEST(evgen, total_width_per_format)
{
    std::vector<u8> sixteen16(16, 16);
    std::vector<mrc_ev_field> sixteen(16, fixed(16, 1));

    EXPECT_EQ(check(make(MRC_EV_FMT_UDP, {16}, {fixed(16, 1)})), MRC_EVGEN_OK);
    EXPECT_EQ(check(make(MRC_EV_FMT_UDP, {8, 8}, {fixed(8, 1)})), MRC_EVGEN_OK);
    EXPECT_EQ(check(make(MRC_EV_FMT_UDP, {17}, {fixed(16, 1)})), MRC_EVGEN_TOTAL);
    EXPECT_EQ(check(make(MRC_EV_FMT_UDP, {16, 1}, {fixed(16, 1)})), MRC_EVGEN_TOTAL);
    EXPECT_EQ(check(make(MRC_EV_FMT_STEV, {32}, {fixed(32, ~0u)})), MRC_EVGEN_OK);
    EXPECT_EQ(check(make(MRC_EV_FMT_STEV, {32, 1}, {fixed(32, 1)})), MRC_EVGEN_TOTAL);
    EXPECT_EQ(check(make(MRC_EV_FMT_SRV6, sixteen16, sixteen)), MRC_EVGEN_OK) << "256 bits";
    sixteen16[3] = 17;
    EXPECT_EQ(check(make(MRC_EV_FMT_SRV6, sixteen16, sixteen)), MRC_EVGEN_TOTAL);
    EXPECT_EQ(check(make(MRC_EV_FMT_SRV6, std::vector<u8>(16, 255), sixteen)), MRC_EVGEN_TOTAL);
}

TEST(evgen, mask_bits_take_the_number_from_the_most_significant)
{
    // mask 1010'0100, init 0101'1111: bits 7, 5 and 2 are the number's 2, 1 and 0.
    mrc_ev_gen g = make(MRC_EV_FMT_UDP, {16}, {{8, 0x5f, 1, 6, 0xa4}});
    const u8 want[] = {0x5f, 0x7b, 0x7f, 0xdb, 0xdf, 0xfb};

    ASSERT_EQ(check(g), MRC_EVGEN_OK);
    ASSERT_EQ(mrc_evgen_count(&g), 6u);
    for (u32 i = 0; i < 6; i++) {
        bytes ev = expand(g, i);

        EXPECT_EQ(ev[0], 0) << "filled with zeros on the left";
        EXPECT_EQ(ev[1], want[i]) << "number " << i + 1;
    }
}

TEST(evgen, the_first_field_varies_slowest)
{
    mrc_ev_gen g = make(MRC_EV_FMT_STEV, {8, 16, 8},
                        {{8, 0, 0, 1, 1}, {16, 0xab00, 0, 2, 3}, {8, 0, 4, 5, 7}});
    const char *want[] = {"00ab0004", "00ab0005", "00ab0104", "00ab0105", "00ab0204", "00ab0205",
                          "01ab0004", "01ab0005", "01ab0104", "01ab0105", "01ab0204", "01ab0205"};

    ASSERT_EQ(check(g), MRC_EVGEN_OK);
    ASSERT_EQ(mrc_evgen_count(&g), 12u);
    for (u32 i = 0; i < 12; i++)
        EXPECT_EQ(hex(expand(g, i), 4), want[i]);
}

// 32-bit block and four uSIDs: 96 bits of the outer destination.
TEST(evgen, srv6_with_four_usids)
{
    mrc_ev_gen g = make(MRC_EV_FMT_SRV6, {32, 16, 16, 16, 16},
                        {fixed(32, 0xfc000001), {16, 0x1100, 0, 7, 0x00e0}, {16, 0x2200, 0, 3, 0x3},
                         fixed(16, 0x3333), fixed(16, 0x4444)});

    ASSERT_EQ(check(g), MRC_EVGEN_OK);
    ASSERT_EQ(mrc_evgen_count(&g), 32u);
    EXPECT_EQ(hex(expand(g, 0)).substr(0, 32), "fc000001110022003333444400000000");
    EXPECT_EQ(hex(expand(g, 1)).substr(0, 32), "fc000001110022013333444400000000");
    EXPECT_EQ(hex(expand(g, 4)).substr(0, 32), "fc000001112022003333444400000000");
    EXPECT_EQ(hex(expand(g, 31)).substr(0, 32), "fc00000111e022033333444400000000");
    EXPECT_EQ(hex(expand(g, 31)).substr(32), std::string(32, '0')) << "no SRH";
}

TEST(evgen, srv6_with_six_usids_fills_the_address)
{
    mrc_ev_gen g = make(MRC_EV_FMT_SRV6, {32, 16, 16, 16, 16, 16, 16},
                        {fixed(32, 0xfc000001), fixed(16, 0x1111), fixed(16, 0x2222),
                         fixed(16, 0x3333), fixed(16, 0x4444), fixed(16, 0x5555),
                         {16, 0, 0, 0xffff, 0xffff}});

    ASSERT_EQ(check(g), MRC_EVGEN_OK);
    ASSERT_EQ(mrc_evgen_count(&g), 65536u);
    EXPECT_EQ(hex(expand(g, 0xbeef)).substr(0, 32), "fc00000111112222333344445555beef");
}

// 128 bits and an SRH segment of 32 + 4 x 16: 224 bits.
TEST(evgen, srv6_with_a_segment)
{
    std::vector<mrc_ev_field> f = {fixed(32, 0xfc000001)};
    std::vector<u8> w = {32, 16, 16, 16, 16, 16, 16, 32, 16, 16, 16, 16};

    for (u32 i = 1; i <= 6; i++)
        f.push_back(fixed(16, i * 0x1111));
    f.push_back(fixed(32, 0xfc000002));
    for (u32 i = 7; i <= 9; i++)
        f.push_back(fixed(16, i * 0x1111));
    f.push_back({16, 0xaa00, 0, 255, 0x00ff});
    mrc_ev_gen g = make(MRC_EV_FMT_SRV6, w, f);
    ASSERT_EQ(check(g), MRC_EVGEN_OK);
    ASSERT_EQ(mrc_evgen_count(&g), 256u);
    EXPECT_EQ(hex(expand(g, 0x5c)), "fc000001111122223333444455556666"
                                    "fc000002777788889999aa5c00000000");
}

TEST(evgen, counts_saturate)
{
    mrc_ev_field all = {32, 0, 0, ~0u, ~0u}, half = {16, 0, 0, 0xffff, 0xffff};
    mrc_ev_gen g = make(MRC_EV_FMT_STEV, {32}, {all});

    EXPECT_EQ(check(g), MRC_EVGEN_OK);
    EXPECT_EQ(mrc_evgen_count(&g), ~0u);
    EXPECT_EQ(hex(expand(g, 0x89abcdef), 4), "89abcdef");
    EXPECT_EQ(hex(expand(g, ~0u), 4), "ffffffff");
    g = make(MRC_EV_FMT_SRV6, {32, 32, 32, 32}, {all, all, all, all});
    EXPECT_EQ(mrc_evgen_count(&g), ~0u);
    EXPECT_EQ(hex(expand(g, 0x89abcdef), 16), "00000000000000000000000089abcdef");
    g = make(MRC_EV_FMT_STEV, {16, 16}, {half, half});
    EXPECT_EQ(mrc_evgen_count(&g), ~0u);
    EXPECT_EQ(hex(expand(g, 0x89abcdef), 4), "89abcdef");
    half.max_val = 0xfffe;
    g = make(MRC_EV_FMT_STEV, {16, 16}, {half, half});
    EXPECT_EQ(mrc_evgen_count(&g), 0xffffu * 0xffffu);
}

// Random profiles: as many as the product says, each as the slow rule has it, no two alike.
TEST(evgen, random_profiles_agree_with_the_rule)
{
    std::mt19937 rnd(11);
    const mrc_ev_fmt fmts[] = {MRC_EV_FMT_UDP, MRC_EV_FMT_STEV, MRC_EV_FMT_SRV6};
    int tried = 0;

    while (tried < 300) {
        mrc_ev_gen g = {};
        u64 product = 1;
        u32 left;

        g.fmt = fmts[rnd() % 3];
        left = mrc_ev_fmt_width(g.fmt);
        while (left && g.n_fmt < MRC_EV_FIELDS_MAX && rnd() % 8) {
            u8 w = static_cast<u8>(1 + rnd() % std::min(left, 40u));

            g.fmt_width[g.n_fmt++] = w;
            left -= w;
        }
        for (u8 i = 0; i < g.n_fmt && (!i || rnd() % 8); i++) {
            mrc_ev_field &f = g.field[g.n++];

            f.width = 1 + rnd() % std::min<u32>(g.fmt_width[i], 32);
            u32 low = static_cast<u32>((1ull << f.width) - 1);
            f.init_val = rnd() & low;
            f.mask = rnd() & rnd() & rnd() & low;
            u64 values = 1ull << __builtin_popcount(f.mask);
            f.min_val = static_cast<u32>(rnd() % values);
            f.max_val = static_cast<u32>(f.min_val + rnd() % std::min<u64>(values - f.min_val, 9));
            product *= static_cast<u64>(f.max_val) - f.min_val + 1;
        }
        if (!g.n || product > 5000)
            continue;
        tried++;
        ASSERT_EQ(check(g), MRC_EVGEN_OK);
        ASSERT_EQ(mrc_evgen_count(&g), product);
        std::vector<std::string> want;
        std::set<std::string> seen;
        slow_all(g, 0, "", &want);
        ASSERT_EQ(want.size(), product);
        for (u32 i = 0; i < product; i++) {
            std::string got = bits(expand(g, i));

            ASSERT_EQ(got, want[i]) << "EV " << i << " of " << product;
            ASSERT_TRUE(seen.insert(got).second);
        }
    }
}

// Whatever was not checked first: no crash, nothing written outside.
TEST(evgen, garbage_is_refused_or_harmless)
{
    std::mt19937 rnd(5);
    int fine = 0;

    for (int n = 0; n < 200000; n++) {
        mrc_ev_gen g = {};

        g.fmt = static_cast<u8>(rnd() % 5);
        g.n_fmt = static_cast<u8>(rnd() % 18);
        g.n = static_cast<u8>(rnd() % 18);
        for (auto &w : g.fmt_width)
            w = static_cast<u8>(rnd() % 33);
        for (auto &f : g.field) {
            f.width = rnd() % 20;
            f.init_val = rnd() >> rnd() % 32;
            f.mask = rnd() >> (12 + rnd() % 20);
            f.min_val = rnd() % 4;
            f.max_val = rnd() % 8;
        }
        if (check(g) != MRC_EVGEN_OK)
            continue;
        fine++;
        u32 count = mrc_evgen_count(&g);
        ASSERT_GT(count, 0u);
        expand(g, 0);
        expand(g, count - 1);
        expand(g, rnd());
    }
    EXPECT_GT(fine, 100);
}

} // namespace
