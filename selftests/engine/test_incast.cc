// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_incast.cc - the receiver's penalties: when, whom, how much; and what they achieve.
#include "cc_rig.h"

#include <gtest/gtest.h>

#include <cstdio>

using cc_rig::config;
using cc_rig::rig;

namespace {

constexpr u32 pkt = 4160;

struct incast : testing::Test {
    void SetUp() override { init({}); }
    void init(const mrc_incast_cfg& cfg)
    {
        mrc_incast_init(&in, &cfg);
        for (auto& f : flows)
            f = {};
        now = 1000;
    }
    u8 note(u32 i, u32 bytes, u16 trims = 0)
    {
        mrc_incast_note n = {bytes, trims, 0};

        return mrc_incast_update(&in, &flows[i], &n, now, &restore);
    }
    // Each of @n senders is heard once; the epoch ends.
    void epoch(u32 n, u32 bytes, u16 trims = 0)
    {
        for (u32 i = 0; i < n; i++)
            note(i, bytes, trims);
        now += 20000;
    }
    u32 penalised(u32 n, u8 least = 1)
    {
        u32 k = 0;

        for (u32 i = 0; i < n; i++)
            k += flows[i].pen >= least;
        return k;
    }

    mrc_incast in;
    mrc_incast_flow flows[300] = {};
    u64 now;
    bool restore = false;
};

TEST_F(incast, many_senders_without_trims_are_left_alone)
{
    for (int i = 0; i < 100; i++) {
        epoch(64, 2 * pkt);
        EXPECT_EQ(penalised(64), 0u);
    }
}

TEST_F(incast, one_sender_with_trims_is_left_to_its_own_control)
{
    for (int i = 0; i < 100; i++) {
        epoch(1, 50 * pkt, 3);
        EXPECT_EQ(flows[0].pen, 0);
    }
}

TEST_F(incast, off_means_off)
{
    mrc_incast_cfg cfg{};

    cfg.off = true;
    init(cfg);
    for (int i = 0; i < 20; i++)
        epoch(64, pkt, 5);
    EXPECT_EQ(penalised(64), 0u);
    EXPECT_FALSE(restore);
}

TEST_F(incast, first_trim_of_several_is_answered_at_once)
{
    EXPECT_EQ(note(0, pkt), 0);
    EXPECT_EQ(note(1, pkt), 0);
    EXPECT_GT(note(2, pkt, 1), 0) << "not at the end of the epoch";
    EXPECT_GT(note(0, pkt), 0) << "nor only those who come later";
}

TEST_F(incast, shrinks_while_trimmed_then_holds)
{
    epoch(16, 4 * pkt, 2);
    epoch(16, 4 * pkt, 2);
    epoch(16, 4 * pkt);
    EXPECT_EQ(penalised(16, 16), 16u);
    epoch(16, 4 * pkt);
    EXPECT_EQ(penalised(16, 16), 0u);
    EXPECT_EQ(penalised(16), 14u) << "all but two, who look for room";
}

TEST_F(incast, small_ones_are_not_shrunk)
{
    epoch(8, 8 * pkt, 1);
    for (u32 i = 0; i < 8; i++)
        note(i, i ? 8 * pkt : pkt, 1);
    now += 20000;
    for (u32 i = 0; i < 8; i++)
        note(i, pkt);
    EXPECT_EQ(flows[0].pen, 1);
    EXPECT_EQ(penalised(8, 16), 7u);
}

TEST_F(incast, greedy_ones_give_way_while_held)
{
    epoch(8, pkt, 1);
    epoch(8, pkt, 1);
    for (u32 k = 0; k < 3; k++) {
        for (u32 i = 0; i < 8; i++)
            note(i, i == 7 ? 60 * pkt : pkt);
        now += 20000;
    }
    for (u32 i = 0; i < 8; i++)
        note(i, pkt);
    EXPECT_EQ(penalised(8, 32), 1u);
    EXPECT_GE(flows[7].pen, 32);
}

TEST_F(incast, link_that_is_not_full_lets_more_of_them_grow)
{
    for (int i = 0; i < 4; i++)
        epoch(32, 2 * pkt, 1);
    epoch(32, 2 * pkt); // full
    epoch(32, pkt);     // half
    epoch(32, pkt);
    EXPECT_LE(penalised(32), 32u - 2 - 32 * pkt / 16384);
    EXPECT_GT(penalised(32), 0u);
}

TEST_F(incast, one_sender_refills_a_link_that_is_a_quarter_empty)
{
    for (int i = 0; i < 4; i++)
        epoch(32, 2 * pkt, 1);
    epoch(32, 2 * pkt);
    epoch(32, pkt);
    u32 restored = 0;
    for (u32 i = 0; i < 32; i++) {
        note(i, pkt);
        restored += restore;
        EXPECT_TRUE(!restore || !flows[i].pen);
    }
    EXPECT_EQ(restored, 1u);
}

TEST_F(incast, last_sender_may_restore_in_one_epoch)
{
    for (int i = 0; i < 4; i++)
        epoch(8, 4 * pkt, 1);
    EXPECT_FALSE(restore);
    int epochs = 0;
    for (int i = 0; i < 10; i++) {
        note(0, 4 * pkt);
        epochs += restore;
        for (int k = 0; k < 5; k++) { // in all SACKs of the epoch: one may be lost
            bool was = restore;

            note(0, pkt);
            EXPECT_EQ(restore, was);
        }
        now += 20000;
    }
    EXPECT_EQ(epochs, 1);
    EXPECT_EQ(flows[0].pen, 0);
}

TEST_F(incast, ends_after_silence)
{
    for (int i = 0; i < 4; i++)
        epoch(8, 4 * pkt, 1);
    now += 10000000;
    epoch(8, pkt);
    EXPECT_EQ(penalised(8), 0u);
}

TEST_F(incast, ends_when_senders_no_longer_fill_the_link)
{
    for (int i = 0; i < 4; i++)
        epoch(8, 8 * pkt, 1);
    for (int i = 0; i < 40; i++)
        epoch(8, 2 * pkt);
    EXPECT_EQ(penalised(8), 0u);
    EXPECT_EQ(in.pen, 0);
}

TEST_F(incast, link_rate_that_is_known_limits_what_is_learnt)
{
    mrc_incast_cfg cfg{};

    cfg.rate_mbps = 10000; // 25,000 bytes per 20 us
    init(cfg);
    for (int i = 0; i < 4; i++)
        epoch(8, 8 * pkt, 1);
    EXPECT_LE(in.full, 25000u);
}

TEST_F(incast, counts_at_their_extremes)
{
    mrc_incast_cfg cfg{};

    for (u64 e : {0ull, 1ull, 10000000ull, ~0ull}) {
        cfg.epoch_ns = e;
        cfg.rate_mbps = ~0u;
        init(cfg);
        in.epoch = ~0u - 3;
        for (u32 i = 0; i < 3000; i++) {
            u8 pen = note(i % 300, ~0u, 0xffff);

            ASSERT_LE(pen, 127);
            now += i % 7 ? i : 1ull << (i % 50);
        }
        EXPECT_NE(in.epoch, 0u) << "0 means never";
    }
}

// ---- closed loop: N senders, 2 MB each, one 100 Gb/s last hop without ECN ----

struct outcome {
    double rtx, makespan, mean;
};

outcome run(u32 n, bool policy, u64 seed, u32 ecn = 0)
{
    constexpr u32 pkts = 490;
    config c;
    outcome o{};

    c.ecn_min = ecn / 4;
    c.ecn_max = ecn;
    c.incast = policy;
    c.seed = seed;
    rig r(c, n);
    for (u32 i = 0; i < n; i++)
        r.offer(i, pkts);
    r.run(400000000);
    EXPECT_EQ(r.delivered(), u64{n} * pkts) << n;
    double ideal = n * pkts * 0.3328e3 + 12000;
    o.rtx = double(r.rtx()) / (double(n) * pkts);
    o.makespan = double(r.makespan_ns()) / ideal;
    for (auto& f : r.flows)
        o.mean += double(f.done_ps) / 1000 / ideal / n;
    return o;
}

outcome worst(u32 n, bool policy)
{
    outcome w{};

    for (u64 seed : {1, 2, 3}) {
        outcome o = run(n, policy, seed * 7919);

        w.rtx = std::max(w.rtx, o.rtx);
        w.makespan = std::max(w.makespan, o.makespan);
        w.mean = std::max(w.mean, o.mean);
    }
    printf("# incast %3u:1 %s: retransmitted %5.1f %%, makespan %.3f of ideal, mean %.2f\n", n,
           policy ? "with policy" : "NSCC alone ", 100 * w.rtx, w.makespan, w.mean);
    return w;
}

TEST(incast_loop, two_senders_keep_the_link_full)
{
    outcome o = worst(2, true);

    EXPECT_LT(o.rtx, 0.03);
    EXPECT_LT(o.makespan, 1.03);
}

TEST(incast_loop, eight_to_one)
{
    outcome o = worst(8, true), alone = worst(8, false);

    EXPECT_LT(o.rtx, 0.10);
    EXPECT_LT(o.rtx, alone.rtx / 2);
    EXPECT_LT(o.makespan, 1.06);
}

TEST(incast_loop, thirty_two_to_one)
{
    outcome o = worst(32, true), alone = worst(32, false);

    EXPECT_LT(o.rtx, 0.10);
    EXPECT_LT(o.rtx, alone.rtx / 2);
    EXPECT_LT(o.makespan, 1.02);
}

TEST(incast_loop, hundred_and_twenty_eight_to_one)
{
    outcome o = worst(128, true), alone = worst(128, false);

    EXPECT_LT(o.rtx, 0.20);
    EXPECT_LT(o.rtx, alone.rtx / 2);
    EXPECT_LT(o.makespan, 1.01);
}

TEST(incast_loop, pacing_alone_already_tames_the_trim_storm)
{
    // The reference simulator retransmits 2.7 times per packet here.
    EXPECT_LT(worst(128, false).rtx, 0.6);
}

TEST(incast_loop, a_second_wave_meets_a_running_one)
{
    config c;

    c.ecn_min = c.ecn_max = 0;
    c.incast = true;
    rig r(c, 64);
    for (u32 i = 0; i < 64; i++)
        r.offer(i, 490, i < 32 ? 0 : 1500000);
    r.run(400000000);
    EXPECT_EQ(r.delivered(), 64u * 490);
    EXPECT_LT(double(r.rtx()), 0.15 * 64 * 490);
    EXPECT_LT(double(r.makespan_ns()), 1.03 * 64 * 490 * 332.8);
}

} // namespace
