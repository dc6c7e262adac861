// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_udp.cc - at which UDP port a peer listens.
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
#include "peer/mrc_udp.h"
}

#include <gtest/gtest.h>

namespace {

constexpr u16 kOther = 5000;

mrc_pkt packet(u8 opcode, bool rtx = false)
{
    mrc_pkt p = {};

    p.opcode = opcode;
    p.rtx = rtx;
    return p;
}

u16 dest(mrc_udp &u, u16 own, const mrc_pkt &p)
{
    return mrc_udp_dest(&u, own, &p);
}

TEST(udp, what_is_new_goes_to_the_devices_port)
{
    const mrc_pkt data = packet(MRC_OPC_WRITE_ONLY);
    mrc_udp u = {};

    for (int i = 0; i < 4; i++)
        EXPECT_EQ(dest(u, MRC_UDP_PORT, data), MRC_UDP_PORT);
    EXPECT_EQ(dest(u, kOther, data), kOther);
}

TEST(udp, who_was_never_heard_is_looked_for_by_turns)
{
    for (const mrc_pkt &p : { packet(MRC_OPC_WRITE_ONLY, true), packet(MRC_OPC_PROBE),
                              packet(MRC_OPC_EP_REQ) }) {
        mrc_udp u = {}, alt = {};

        EXPECT_EQ(dest(u, MRC_UDP_PORT, p), MRC_UDP_PORT);
        EXPECT_EQ(dest(u, MRC_UDP_PORT, p), MRC_UDP_PORT_ALT);
        EXPECT_EQ(dest(u, MRC_UDP_PORT, p), MRC_UDP_PORT);
        EXPECT_EQ(dest(alt, MRC_UDP_PORT_ALT, p), MRC_UDP_PORT_ALT);
        EXPECT_EQ(dest(alt, MRC_UDP_PORT_ALT, p), MRC_UDP_PORT);
    }
}

TEST(udp, who_was_heard_is_answered_where_it_was_heard_last)
{
    const mrc_pkt data = packet(MRC_OPC_WRITE_ONLY), again = packet(MRC_OPC_WRITE_ONLY, true);
    mrc_udp u = {};

    mrc_udp_rx(&u, MRC_UDP_PORT_ALT);
    EXPECT_EQ(dest(u, MRC_UDP_PORT, data), MRC_UDP_PORT_ALT);
    EXPECT_EQ(dest(u, MRC_UDP_PORT, again), MRC_UDP_PORT_ALT);
    EXPECT_EQ(dest(u, kOther, data), MRC_UDP_PORT_ALT);
    mrc_udp_rx(&u, MRC_UDP_PORT);
    EXPECT_EQ(dest(u, MRC_UDP_PORT, data), MRC_UDP_PORT);
    EXPECT_EQ(dest(u, MRC_UDP_PORT_ALT, data), MRC_UDP_PORT) << "it may not listen at ours";
}

TEST(udp, a_port_of_its_own)
{
    const mrc_pkt data = packet(MRC_OPC_WRITE_ONLY);
    mrc_udp u = {};

    mrc_udp_rx(&u, kOther);
    EXPECT_EQ(dest(u, kOther, data), kOther);
}

// It would answer to where it was heard, and we do not listen there any more.
TEST(udp, a_port_that_is_ours_no_more)
{
    mrc_udp u = {};

    mrc_udp_rx(&u, kOther);
    for (const mrc_pkt &p : { packet(MRC_OPC_WRITE_ONLY), packet(MRC_OPC_WRITE_ONLY, true),
                              packet(MRC_OPC_PROBE), packet(MRC_OPC_SACK) })
        for (u16 own : { u16(kOther + 1), u16(MRC_UDP_PORT), u16(MRC_UDP_PORT_ALT) })
            EXPECT_EQ(dest(u, own, p), MRC_UDP_PORT);
}

// Two devices, one of which gets another port while they talk: neither loses the other.
TEST(udp, a_port_changes_under_a_connection)
{
    const mrc_pkt data = packet(MRC_OPC_WRITE_ONLY), sack = packet(MRC_OPC_SACK);
    mrc_udp us = {}, them = {};
    u16 at;

    mrc_udp_rx(&us, kOther);
    mrc_udp_rx(&them, kOther);
    at = dest(us, kOther + 1, data);
    ASSERT_EQ(at, MRC_UDP_PORT) << "they listen at it always";
    mrc_udp_rx(&them, at);
    at = dest(them, kOther, sack);
    EXPECT_EQ(at, MRC_UDP_PORT);
}

} // namespace
