// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_entropy.cc - what an EV is on the wire: as configured, or made up.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

extern "C" {
#include "wire/mrc_entropy.h"
}

#include <gtest/gtest.h>

namespace {

constexpr u64 kSeed = 0x123456789abcdef0;
const u8 kValue[MRC_EV_BYTES] = { 0xc1, 0x23, 0x45, 0x67 };

mrc_entropy make(bool v4 = false, bool port_low = false)
{
    mrc_entropy e;

    mrc_entropy_init(&e, kSeed, v4, port_low);
    return e;
}

TEST(entropy, made_up_ports_are_dynamic_and_none_comes_twice)
{
    const mrc_entropy e = make();
    std::set<u32> ports;

    for (u32 i = 0; i < 1u << 14; i++)
        ports.insert(mrc_entropy_auto(&e, i, false) >> 16);
    EXPECT_EQ(ports.size(), 1u << 14);
    EXPECT_EQ(*ports.begin(), 0xc000u);
}

TEST(entropy, the_label_is_the_index_where_there_is_one)
{
    const mrc_entropy e = make(), e4 = make(true);

    EXPECT_EQ(mrc_entropy_auto(&e, 77, true) & 0xffff, 77u);
    EXPECT_EQ(mrc_entropy_auto(&e, 77, false) & 0xffff, 0u);
    EXPECT_EQ(mrc_entropy_auto(&e4, 77, true) & 0xffff, 0u) << "IPv4 cannot echo it";
}

TEST(entropy, stev_says_both_halves)
{
    const mrc_entropy e = make(), low = make(false, true);

    EXPECT_EQ(mrc_entropy_of(&e, MRC_EV_FMT_STEV, kValue, 5), 0xc1234567u);
    EXPECT_EQ(mrc_entropy_of(&low, MRC_EV_FMT_STEV, kValue, 5), 0x4567c123u);
}

TEST(entropy, ipv4_carries_the_port_only)
{
    const mrc_entropy e = make(true), low = make(true, true);

    EXPECT_EQ(mrc_entropy_of(&e, MRC_EV_FMT_STEV, kValue, 5), 0xc1230000u);
    EXPECT_EQ(mrc_entropy_of(&low, MRC_EV_FMT_STEV, kValue, 5), 0x45670000u);
}

TEST(entropy, port_0_is_another_one_on_the_wire)
{
    const mrc_entropy e = make(), low = make(false, true), e4 = make(true);
    const u8 none[MRC_EV_BYTES] = {}, label[MRC_EV_BYTES] = { 0, 0, 0x12, 0x34 }, port[MRC_EV_BYTES] = { 0, 1 };

    EXPECT_EQ(mrc_entropy_of(&e, MRC_EV_FMT_STEV, none, 5), 0xffff0000u);
    EXPECT_EQ(mrc_entropy_of(&e, MRC_EV_FMT_STEV, label, 5), 0xffff1234u) << "the label stays";
    EXPECT_EQ(mrc_entropy_of(&low, MRC_EV_FMT_STEV, label, 5), 0x12340000u) << "its port is the low half";
    EXPECT_EQ(mrc_entropy_of(&e4, MRC_EV_FMT_STEV, label, 5), 0xffff0000u);
    EXPECT_EQ(mrc_entropy_of(&e, MRC_EV_FMT_UDP, none, 5), 0xffff0000u);
    EXPECT_EQ(mrc_entropy_of(&e, MRC_EV_FMT_UDP, port, 5), 0x00010000u) << "and no other";
}

// EV i = i << 16 | i, as a published example has them: each is told from the others by what it is on the wire.
TEST(entropy, a_row_from_0_stays_a_row)
{
    const mrc_entropy e = make();
    std::set<u32> wire;

    for (u32 i = 0; i < 4096; i++) {
        const u8 value[MRC_EV_BYTES] = { static_cast<u8>(i >> 8), static_cast<u8>(i),
                                         static_cast<u8>(i >> 8), static_cast<u8>(i) };
        wire.insert(mrc_entropy_of(&e, MRC_EV_FMT_STEV, value, 5));
    }
    EXPECT_EQ(wire.size(), 4096u);
}

TEST(entropy, udp_says_the_port)
{
    const mrc_entropy e = make(), low = make(false, true);

    EXPECT_EQ(mrc_entropy_of(&e, MRC_EV_FMT_UDP, kValue, 5), 0xc1230000u);
    EXPECT_EQ(mrc_entropy_of(&low, MRC_EV_FMT_UDP, kValue, 5), 0xc1230000u);
}

TEST(entropy, srv6_leaves_it_free)
{
    const mrc_entropy e = make();

    EXPECT_EQ(mrc_entropy_of(&e, MRC_EV_FMT_SRV6, kValue, 5), mrc_entropy_auto(&e, 5, true));
}

} // namespace
