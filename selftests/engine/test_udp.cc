// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_udp.cc - at which UDP port a peer listens.
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
#include "mrc_udp.h"
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

TEST(udp, who_was_heard_is_answered_where_it_was_heard)
{
    const mrc_pkt data = packet(MRC_OPC_WRITE_ONLY), again = packet(MRC_OPC_WRITE_ONLY, true);
    mrc_udp u = {};

    mrc_udp_heard(&u, MRC_UDP_PORT_ALT);
    EXPECT_EQ(dest(u, MRC_UDP_PORT, data), MRC_UDP_PORT_ALT);
    EXPECT_EQ(dest(u, MRC_UDP_PORT, again), MRC_UDP_PORT_ALT);
    mrc_udp_heard(&u, MRC_UDP_PORT);
    EXPECT_EQ(dest(u, MRC_UDP_PORT, data), MRC_UDP_PORT) << "the device's own comes first";
    EXPECT_EQ(dest(u, MRC_UDP_PORT_ALT, data), MRC_UDP_PORT_ALT);
}

TEST(udp, a_port_of_its_own)
{
    const mrc_pkt data = packet(MRC_OPC_WRITE_ONLY);
    mrc_udp u = {};

    mrc_udp_heard(&u, kOther);
    EXPECT_EQ(dest(u, kOther, data), kOther);
    EXPECT_EQ(dest(u, MRC_UDP_PORT_ALT, data), MRC_UDP_PORT) << "heard at another than ours";
}

} // namespace
