// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_evgen_copy.cc - templates: bits of addresses in EVs, against strings of '0' and '1'.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

extern "C" {
#include "wire/mrc_evgen.h"
}

#include <gtest/gtest.h>

namespace {

mrc_ev_field fixed(u32 width, u32 value) { return {width, value, 0, 0, 0}; }

// block:T0a:T1:T0b:host of 16-bit uSIDs; the T1 is the field that varies.
mrc_ev_gen long_path(const std::vector<mrc_ev_copy> &copies)
{
    const u8 widths[] = {32, 16, 16, 16, 16};
    const mrc_ev_field fields[] = {fixed(32, 0xfcbbbb00), fixed(16, 0x1001),
                                   {16, 0x1100, 1, 2, 0xf}, fixed(16, 0), fixed(16, 0)};
    mrc_ev_gen g = {};

    g.fmt = MRC_EV_FMT_SRV6;
    g.n_fmt = g.n = 5;
    std::copy(std::begin(widths), std::end(widths), g.fmt_width);
    std::copy(std::begin(fields), std::end(fields), g.field);
    g.n_copy = static_cast<u8>(copies.size());
    std::copy(copies.begin(), copies.end(), g.copy);
    return g;
}

mrc_evgen_err check(const mrc_ev_gen &g, int want_copy = -1)
{
    u8 idx = 99;
    mrc_evgen_err err = mrc_evgen_check(&g, &idx);

    if (want_copy >= 0) {
        EXPECT_EQ(idx, want_copy);
    }
    return err;
}

std::string hex(const u8 *bytes, size_t n)
{
    std::string s;
    char two[3];

    for (size_t i = 0; i < n; i++) {
        snprintf(two, sizeof(two), "%02x", bytes[i]);
        s += two;
    }
    return s;
}

mrc_ev_addrs addrs(const std::string &dst, const std::string &src)
{
    mrc_ev_addrs a = {};

    for (size_t i = 0; i < MRC_EV_ADDR_BYTES; i++) {
        a.dst[i] = static_cast<u8>(std::stoi(dst.substr(2 * i, 2), nullptr, 16));
        a.src[i] = static_cast<u8>(std::stoi(src.substr(2 * i, 2), nullptr, 16));
    }
    return a;
}

// The address half of EV @i with all that is copied.
std::string path(const mrc_ev_gen &g, u32 i, const mrc_ev_addrs &a)
{
    u8 ev[MRC_EV_BYTES];

    mrc_evgen_expand(&g, i, ev);
    mrc_evgen_copy(g.copy, g.n_copy, &a, ev);
    EXPECT_EQ(hex(ev + 16, 16), std::string(32, '0'));
    return hex(ev, 16);
}

std::string bits(const u8 *bytes, size_t n)
{
    std::string s;

    for (size_t i = 0; i < 8 * n; i++)
        s += bytes[i / 8] & 128 >> i % 8 ? '1' : '0';
    return s;
}

TEST(evgen_copy, one_template_gives_each_destination_its_paths)
{
    // T0 number: bits 96 to 111 of the address, host: the last 16; ours: T0a.
    mrc_ev_gen g = long_path({{MRC_EV_FROM_SRC, 96, 16, 32},
                              {MRC_EV_FROM_DST, 96, 16, 64},
                              {MRC_EV_FROM_DST, 112, 16, 80}});
    mrc_ev_addrs to_2 = addrs("fd006d720063000000000000" "10021202", "fd006d720063000000000000" "10031203");
    mrc_ev_addrs to_9 = addrs("fd006d720063000000000000" "10071209", "fd006d720063000000000000" "10031203");

    ASSERT_EQ(check(g), MRC_EVGEN_OK);
    ASSERT_EQ(mrc_evgen_count(&g), 2u) << "copies make no EVs";
    EXPECT_EQ(path(g, 0, to_2), "fcbbbb00100311011002120200000000");
    EXPECT_EQ(path(g, 1, to_2), "fcbbbb00100311021002120200000000");
    EXPECT_EQ(path(g, 0, to_9), "fcbbbb00100311011007120900000000");
    EXPECT_EQ(path(g, 1, to_9), "fcbbbb00100311021007120900000000");
}

TEST(evgen_copy, bits_that_are_not_copied_stay)
{
    // The plane is in the first four bits of each uSID: twelve are copied.
    mrc_ev_gen g = long_path({{MRC_EV_FROM_DST, 116, 12, 84}});

    g.field[4] = fixed(16, 0x3fff);
    mrc_ev_addrs a = addrs("ffffffffffffffffffffffffffff" "f205", std::string(32, 'f'));
    EXPECT_EQ(path(g, 0, a), "fcbbbb0010011101" "0000" "3205" "00000000");
}

TEST(evgen_copy, the_later_one_wins_where_they_overlap)
{
    mrc_ev_gen g = long_path({{MRC_EV_FROM_DST, 0, 32, 64}, {MRC_EV_FROM_SRC, 0, 8, 72}});
    mrc_ev_addrs a = addrs("12345678" + std::string(24, '0'), "ab" + std::string(30, '0'));

    ASSERT_EQ(check(g), MRC_EVGEN_OK);
    EXPECT_EQ(path(g, 0, a), "fcbbbb0010011101" "12ab5678" "00000000");
    std::swap(g.copy[0], g.copy[1]);
    EXPECT_EQ(path(g, 0, a), "fcbbbb0010011101" "12345678" "00000000");
}

TEST(evgen_copy, every_restriction_is_an_error)
{
    const mrc_ev_copy fine = {MRC_EV_FROM_DST, 0, 16, 64};
    auto with = [&](mrc_ev_copy c) { return long_path({fine, c}); };

    EXPECT_EQ(check(with({2, 0, 16, 64}), 1), MRC_EVGEN_COPY_FROM);
    EXPECT_EQ(check(with({~0u, 0, 16, 64}), 1), MRC_EVGEN_COPY_FROM);
    EXPECT_EQ(check(with({0, 0, 0, 64}), 1), MRC_EVGEN_COPY_WIDTH);
    EXPECT_EQ(check(with({0, 0, 33, 64}), 1), MRC_EVGEN_COPY_WIDTH);
    EXPECT_EQ(check(with({0, 0, ~0u, 64}), 1), MRC_EVGEN_COPY_WIDTH);
    EXPECT_EQ(check(with({0, 112, 17, 64}), 1), MRC_EVGEN_COPY_BITS);
    EXPECT_EQ(check(with({0, ~0u, 16, 64}), 1), MRC_EVGEN_COPY_BITS) << "nothing wraps";
    EXPECT_EQ(check(with({0, 127, 1, 64}), 0), MRC_EVGEN_OK);
    EXPECT_EQ(check(with({0, 0, 17, 240}), 1), MRC_EVGEN_COPY_AT);
    EXPECT_EQ(check(with({0, 0, 16, 240}), 0), MRC_EVGEN_OK);
    EXPECT_EQ(check(with({0, 0, 16, 256}), 1), MRC_EVGEN_COPY_AT);
    EXPECT_EQ(check(with({0, 0, 16, ~0u - 8}), 1), MRC_EVGEN_COPY_AT) << "nothing wraps";
    mrc_ev_gen g = with(fine);
    g.n_copy = MRC_EV_COPIES_MAX + 1;
    EXPECT_EQ(check(g), MRC_EVGEN_COPIES);
    g = long_path(std::vector<mrc_ev_copy>(MRC_EV_COPIES_MAX, fine));
    EXPECT_EQ(check(g), MRC_EVGEN_OK);
    g = with({2, 0, 16, 64});
    g.field[3].width = 17;
    EXPECT_EQ(check(g, 3), MRC_EVGEN_WIDTH) << "fields are looked at first";
}

TEST(evgen_copy, no_bit_beyond_those_of_the_format)
{
    mrc_ev_gen g = {};

    g.n_fmt = g.n = g.n_copy = 1;
    g.fmt_width[0] = 16;
    g.field[0] = fixed(16, 0xc000);
    for (auto [fmt, width] : {std::pair{MRC_EV_FMT_UDP, 16u}, {MRC_EV_FMT_STEV, 32u}}) {
        g.fmt = fmt;
        g.copy[0] = {MRC_EV_FROM_DST, 0, 8, width - 8};
        EXPECT_EQ(check(g), MRC_EVGEN_OK);
        g.copy[0].at++;
        EXPECT_EQ(check(g), MRC_EVGEN_COPY_AT);
    }
    g.fmt = MRC_EV_FMT_UDP;
    g.copy[0] = {MRC_EV_FROM_DST, 0, 32, 0};
    EXPECT_EQ(check(g), MRC_EVGEN_COPY_AT) << "wider than the whole";
}

// All sorts of sound copies over random EVs and addresses, as strings have it.
TEST(evgen_copy, random_copies_agree_with_strings)
{
    std::mt19937 rnd(23);

    for (int tried = 0; tried < 20000; tried++) {
        mrc_ev_copy copies[MRC_EV_COPIES_MAX];
        u8 n = static_cast<u8>(1 + rnd() % MRC_EV_COPIES_MAX), ev[MRC_EV_BYTES];
        mrc_ev_addrs a;

        for (u8 &b : a.dst) b = static_cast<u8>(rnd());
        for (u8 &b : a.src) b = static_cast<u8>(rnd());
        for (u8 &b : ev) b = static_cast<u8>(rnd());
        std::string want = bits(ev, sizeof(ev));
        for (u8 i = 0; i < n; i++) {
            u32 width = static_cast<u32>(1 + rnd() % 32);

            copies[i] = {static_cast<u32>(rnd() % 2), static_cast<u32>(rnd() % (129 - width)),
                         width, static_cast<u32>(rnd() % (257 - width))};
            std::string from = copies[i].from ? bits(a.src, 16) : bits(a.dst, 16);
            want.replace(copies[i].at, width, from.substr(copies[i].bit, width));
        }
        mrc_evgen_copy(copies, n, &a, ev);
        ASSERT_EQ(bits(ev, sizeof(ev)), want);
    }
}

} // namespace
