// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// The largest and the smallest messages, end to end.
#include "pair_rig.h"

namespace {

using conn_sizes = pair_rig;

constexpr u32 two_gib = 0x80000000u;

rig_cfg wide()
{
    rig_cfg k = defaults();

    k.conn.mpr_max = 8;
    k.rx.mtu = 4096;
    k.tx.cwnd_bytes = 8u << 20;
    return k;
}

TEST_F(conn_sizes, a_write_of_two_gib)
{
    rig_cfg k = wide();

    k.tx_psn = MRC_PSN_MASK - 1000; // wraps on its way
    make(k);
    ASSERT_EQ(post(a, MRC_OP_WRITE, two_gib + 1), -EINVAL);
    ASSERT_EQ(post(a, MRC_OP_WRITE_IMM, two_gib), 0);
    ASSERT_TRUE(run());
    EXPECT_EQ(a.sent_ok, 1u);
    EXPECT_EQ(b.received, 1u);
    EXPECT_EQ(b.last_recv.len, two_gib);
    EXPECT_EQ(b.placed, two_gib);
    EXPECT_EQ(a.c.stats.tx_pkts, two_gib / 4096);
}

TEST_F(conn_sizes, a_read_of_two_gib)
{
    make(wide());
    ASSERT_EQ(post(a, MRC_OP_READ, two_gib), 0);
    ASSERT_EQ(post(a, MRC_OP_WRITE, 1), 0);
    ASSERT_TRUE(run());
    EXPECT_EQ(a.sent_ok, 2u);
    EXPECT_EQ(a.placed, two_gib);
    EXPECT_EQ(b.c.stats.tx_bytes, two_gib);
}

// The most packets a message can have: 2^23, half of the PSN space.
TEST_F(conn_sizes, two_gib_in_the_smallest_packets)
{
    rig_cfg k = wide();

    k.rx.mtu = 256;
    make(k);
    ASSERT_EQ(post(a, MRC_OP_SEND, 10), 0);
    ASSERT_EQ(post(a, MRC_OP_SEND, two_gib), 0);
    ASSERT_EQ(post(a, MRC_OP_SEND, 10), 0);
    ASSERT_TRUE(run(20000));
    EXPECT_EQ(a.sent_ok, 3u);
    EXPECT_EQ(b.received, 3u);
    EXPECT_EQ(b.placed, two_gib + 20ull);
}

TEST_F(conn_sizes, nothing_at_all_of_every_kind)
{
    const mrc_op ops[] = {MRC_OP_WRITE, MRC_OP_WRITE_IMM, MRC_OP_SEND,  MRC_OP_SEND_IMM,
                          MRC_OP_READ,  MRC_OP_SEND_INV,  MRC_OP_LOCAL, MRC_OP_READ};

    make();
    for (mrc_op op : ops)
        ASSERT_EQ(post(a, op, 0), 0);
    ASSERT_TRUE(run());
    EXPECT_EQ(a.sent_ok, 8u);
    EXPECT_EQ(b.received, 4u);
    EXPECT_EQ(a.placed + b.placed, 0u);
    EXPECT_EQ(a.c.stats.tx_pkts, 7u);
    EXPECT_EQ(b.c.stats.tx_pkts, 2u);
}

TEST_F(conn_sizes, around_the_packet_size)
{
    const u32 lens[] = {1, 255, 256, 257, 511, 512, 513, 1};
    rig_cfg k = defaults();
    u64 bytes = 0;

    k.rx.mtu = 256;
    make(k);
    for (u32 len : lens) {
        ASSERT_EQ(post(a, MRC_OP_SEND, len), 0);
        ASSERT_EQ(post(a, MRC_OP_READ, len), 0);
        bytes += len;
    }
    ASSERT_TRUE(run());
    EXPECT_EQ(a.sent_ok, 16u);
    EXPECT_EQ(b.placed, bytes);
    EXPECT_EQ(a.placed, bytes);
    // Requests that found no slot were put off and came again.
    EXPECT_EQ(a.c.stats.tx_pkts, 13u + 8u + a.c.stats.rtx_nack);
}

} // namespace
