// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_selfprobe.cc - one test of a path: each probe counts once, and what was not sent counts nowhere.
#include <set>

extern "C" {
#include "probe/mrc_selfprobe.h"
#include "wire/mrc_selfmsg.h"
}

#include <gtest/gtest.h>

namespace {

constexpr u64 ms = 1'000'000, secret = 0x5ec2e7;

struct selfprobe : testing::Test {
    void SetUp() override
    {
        mrc_selfprobe_cfg cfg = {};

        cfg.id = 7;
        cfg.interval_us = 1000;
        cfg.plane = 2;
        mrc_selfprobe_init(&t, &cfg, secret);
    }

    u32 send(bool full = false) { return mrc_selfprobe_send(&t, full, now); }
    mrc_selfprobe_arrival came(u32 seq)
    {
        mrc_selfprobe_arrival c = {};

        c.id = 7;
        c.seq = seq;
        c.secret = secret;
        c.plane = 2;
        return c;
    }
    mrc_selfprobe_verdict rx(const mrc_selfprobe_arrival &c) { return mrc_selfprobe_rx(&t, &c, now, &rtt); }
    mrc_selfprobe_verdict rx(u32 seq) { return rx(came(seq)); }
    void lose() { mrc_selfprobe_expire(&t, now, now); }
    void expect_sum()
    {
        const mrc_selfprobe_count &n = t.count;
        EXPECT_EQ(n.sent, n.received + n.lost + n.corrupt + n.other_plane + n.voided + hweight64(t.waiting));
    }

    mrc_selfprobe t;
    u64 now = 5'000 * ms, rtt = 0;
};

TEST_F(selfprobe, a_round_trip_is_counted_and_timed)
{
    u32 seq = send();
    now += 41'500;
    EXPECT_EQ(rx(seq), MRC_SELFPROBE_TAKEN);
    EXPECT_EQ(rtt, 41'500u);
    EXPECT_EQ(t.count.sent, 1u);
    EXPECT_EQ(t.count.received, 1u);
    EXPECT_EQ(t.count.last_received_ns, now);
    EXPECT_EQ(t.count.rtt_hist[6], 1u) << "32,768 ns or more, below 65,536";
    seq = send();
    now += 20'000;
    rx(seq);
    EXPECT_EQ(t.count.rtt_low_ns, 20'000u);
    EXPECT_EQ(t.count.rtt_high_ns, 41'500u);
    EXPECT_EQ(t.count.rtt_sum_ns, 61'500u);
    expect_sum();
}

TEST_F(selfprobe, what_is_not_back_is_lost_and_may_come_late)
{
    u32 a = send(true), b = send();
    now += 1;
    u32 c = send();
    EXPECT_EQ(mrc_selfprobe_oldest_ns(&t), now - 1);
    mrc_selfprobe_expire(&t, now - 1, now);
    EXPECT_EQ(t.count.lost, 2u);
    EXPECT_EQ(t.count.full_lost, 1u);
    EXPECT_EQ(t.count.run, 2u);
    EXPECT_EQ(t.count.last_lost_ns, now);
    EXPECT_EQ(mrc_selfprobe_oldest_ns(&t), now);
    EXPECT_EQ(rx(a), MRC_SELFPROBE_LATE);
    EXPECT_EQ(t.count.late, 1u);
    EXPECT_EQ(t.count.received, 0u) << "a late one was no less lost";
    EXPECT_EQ(rx(a), MRC_SELFPROBE_DUPLICATE);
    EXPECT_EQ(t.count.run, 2u);
    EXPECT_EQ(rx(c), MRC_SELFPROBE_TAKEN);
    EXPECT_EQ(t.count.run, 0u);
    lose();
    EXPECT_EQ(t.count.lost, 2u);
    EXPECT_EQ(rx(b), MRC_SELFPROBE_LATE);
    EXPECT_EQ(mrc_selfprobe_oldest_ns(&t), MRC_TIME_NEVER);
    expect_sum();
}

TEST_F(selfprobe, a_copy_counts_once)
{
    u32 seq = send();
    EXPECT_EQ(rx(seq), MRC_SELFPROBE_TAKEN);
    EXPECT_EQ(rx(seq), MRC_SELFPROBE_DUPLICATE);
    EXPECT_EQ(rx(seq), MRC_SELFPROBE_DUPLICATE);
    EXPECT_EQ(t.count.received, 1u);
    EXPECT_EQ(t.count.duplicate, 2u);
    expect_sum();
}

TEST_F(selfprobe, what_was_not_sent_is_forged)
{
    u32 seq = send();
    auto c = came(seq);
    c.secret ^= 1;
    EXPECT_EQ(rx(c), MRC_SELFPROBE_FORGED) << "another secret";
    EXPECT_EQ(rx(seq + 1), MRC_SELFPROBE_FORGED) << "of the future";
    EXPECT_EQ(rx(seq + 0x80000000u), MRC_SELFPROBE_FORGED);
    EXPECT_EQ(rx(seq - MRC_SELFPROBE_WINDOW), MRC_SELFPROBE_FORGED) << "of the past";
    EXPECT_EQ(rx(seq - 1), MRC_SELFPROBE_DUPLICATE) << "before the first";
    EXPECT_EQ(t.count.late, 0u);
    EXPECT_EQ(t.count.received, 0u);
    EXPECT_EQ(rx(seq), MRC_SELFPROBE_TAKEN) << "and the right one is still taken";
}

TEST_F(selfprobe, an_old_one_is_replayed_in_vain)
{
    u32 first = send();
    rx(first);
    for (u32 i = 1; i < MRC_SELFPROBE_WINDOW; i++)
        rx(send());
    EXPECT_EQ(rx(first), MRC_SELFPROBE_DUPLICATE);
    rx(send());
    EXPECT_EQ(rx(first), MRC_SELFPROBE_FORGED) << "its place has another one";
    EXPECT_EQ(t.count.received, MRC_SELFPROBE_WINDOW + 1u);
    expect_sum();
}

TEST_F(selfprobe, a_place_that_is_taken_again_was_lost)
{
    for (u32 i = 0; i <= MRC_SELFPROBE_WINDOW; i++)
        send(i == 0);
    EXPECT_EQ(t.count.lost, 1u);
    EXPECT_EQ(t.count.full_lost, 1u);
    expect_sum();
}

TEST_F(selfprobe, changed_by_another_plane_trimmed_or_marked)
{
    auto c = came(send(true));
    c.corrupt = true;
    EXPECT_EQ(rx(c), MRC_SELFPROBE_TAKEN);
    EXPECT_EQ(t.count.corrupt, 1u);
    c = came(send());
    c.plane = 1;
    EXPECT_EQ(rx(c), MRC_SELFPROBE_TAKEN);
    EXPECT_EQ(t.count.other_plane, 1u);
    EXPECT_EQ(t.count.received, 0u);
    EXPECT_EQ(t.count.last_received_ns, 0u);
    c = came(send());
    c.trimmed = true;
    rx(c);
    EXPECT_EQ(t.count.trimmed, 1u);
    EXPECT_EQ(t.count.rtt_sum_ns, 0u) << "it overtook its own payload";
    EXPECT_EQ(t.count.rtt_low_ns, 0u);
    c = came(send());
    c.marked = true;
    now += 10;
    rx(c);
    EXPECT_EQ(t.count.marked, 1u);
    EXPECT_EQ(t.count.received, 2u);
    EXPECT_EQ(t.count.full_sent, 1u);
    expect_sum();
}

TEST_F(selfprobe, void_is_neither_lost_nor_received)
{
    u32 a = send();
    send();
    mrc_selfprobe_void(&t);
    lose();
    EXPECT_EQ(t.count.voided, 2u);
    EXPECT_EQ(t.count.lost, 0u);
    EXPECT_EQ(rx(a), MRC_SELFPROBE_LATE);
    EXPECT_EQ(t.count.received, 0u);
    EXPECT_EQ(t.count.rtt_sum_ns, 0u);
    expect_sum();
}

TEST_F(selfprobe, undone_it_was_never_sent)
{
    u32 a = send(), b = send(true);
    mrc_selfprobe_undo(&t, a);
    EXPECT_EQ(t.count.sent, 2u) << "not the latest";
    mrc_selfprobe_undo(&t, b);
    EXPECT_EQ(t.count.sent, 1u);
    EXPECT_EQ(t.count.full_sent, 0u);
    EXPECT_EQ(t.count.unsent, 1u);
    EXPECT_EQ(send(), b);
    rx(a);
    rx(b);
    mrc_selfprobe_undo(&t, b);
    EXPECT_EQ(t.count.received, 2u);
    expect_sum();
}

TEST(selfprobe_bucket, twice_as_far_each)
{
    EXPECT_EQ(mrc_selfprobe_bucket(0), 0u);
    EXPECT_EQ(mrc_selfprobe_bucket(1023), 0u);
    EXPECT_EQ(mrc_selfprobe_bucket(1024), 1u);
    EXPECT_EQ(mrc_selfprobe_bucket(2048), 2u);
    EXPECT_EQ(mrc_selfprobe_bucket((1u << 24) - 1), 14u);
    EXPECT_EQ(mrc_selfprobe_bucket(1u << 24), 15u);
    EXPECT_EQ(mrc_selfprobe_bucket(~0ull), 15u);
}

TEST(selfmsg, what_is_built_is_parsed)
{
    u8 buf[200], other[200];
    mrc_selfmsg m = {0x01020304, 0xa1b2c3d4, 0x1122334455667788, }, got = {};

    for (u32 len = MRC_SELFMSG_MIN; len <= 120; len++) {
        memset(buf, 0xee, sizeof(buf));
        mrc_selfmsg_build(buf, len, &m);
        EXPECT_EQ(buf[len], 0xee) << len;
        ASSERT_TRUE(mrc_selfmsg_parse(buf, len, &got));
        EXPECT_EQ(got.id, m.id);
        EXPECT_EQ(got.seq, m.seq);
        EXPECT_EQ(got.secret, m.secret);
    }
    EXPECT_EQ(get_unaligned_be32(buf + 4), 2u) << "QP 2";
    EXPECT_EQ(get_unaligned_be32(buf + 8), 0xb2c3d4u);
    m.seq++;
    mrc_selfmsg_build(other, 120, &m);
    EXPECT_NE(memcmp(buf + MRC_SELFMSG_LEN, other + MRC_SELFMSG_LEN, 8), 0) << "another payload";
    EXPECT_FALSE(mrc_selfmsg_parse(buf, MRC_SELFMSG_LEN - 1, &got));
    buf[0] = MRC_OPC_EP_REQ;
    EXPECT_FALSE(mrc_selfmsg_parse(buf, 120, &got));
}

} // namespace
