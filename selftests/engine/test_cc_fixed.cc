// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_cc_fixed.cc - the fixed window where switches only drop.
#include "cc_rig.h"

#include <cmath>
#include <gtest/gtest.h>

namespace {

constexpr u32 pkt = 4160;
constexpr u32 base_ns = 10000;

// One controller with a window of 128 packets. Every call is told of a full window.
struct drops : testing::Test {
    void SetUp() override { init(false); }
    void init(bool trimming)
    {
        mrc_cc_cfg c{};

        c.mtu = pkt;
        c.window_bytes = 128 * pkt;
        c.trimming = trimming;
        mrc_cc_init(&f.cc, &mrc_cc_fixed, &c, 0);
    }
    mrc_cc_sample sample() const
    {
        mrc_cc_sample s{};

        s.now_ns = now_ns;
        s.inflight_bytes = flight ? flight * pkt : f.cc.cwnd_bytes;
        return s;
    }
    u32 ack(u32 pkts, u32 delay_ns)
    {
        mrc_cc_sample s = sample();

        s.acked_bytes = pkts * pkt;
        s.rtt_ns = base_ns + delay_ns;
        s.base_ns = base_ns;
        f.cc.ops->on_ack(&f.cc, &s);
        return f.cc.cwnd_bytes;
    }
    u32 lose(u32 pkts)
    {
        mrc_cc_sample s = sample();

        s.lost_bytes = pkts * pkt;
        f.cc.ops->on_loss(&f.cc, &s);
        return f.cc.cwnd_bytes;
    }
    u32 spurious(u32 pkts)
    {
        mrc_cc_sample s = sample();

        s.lost_bytes = pkts * pkt;
        f.cc.ops->on_spurious(&f.cc, &s);
        return f.cc.cwnd_bytes;
    }
    // A round trip, packet by packet.
    u32 round(u32 delay_ns)
    {
        for (u32 n = f.cc.cwnd_bytes / pkt; n; n--)
            ack(1, delay_ns);
        return f.cc.cwnd_bytes;
    }
    // The window is @pkts packets, there was a queue, and all that was in flight then was answered.
    void at(u32 pkts, u32 delay_ns = base_ns)
    {
        f.cc.cwnd_bytes = pkts * pkt;
        f.start_to = 0;
        f.spared = 0;
        f.queue = true;
        f.round = pkts * pkt;
        f.lost = 0;
        f.low_ns = delay_ns;
    }

    mrc_fixed_state f;
    u64 now_ns = 1000000;
    u32 flight = 0; // packets; 0: a window
};

TEST_F(drops, begins_with_ten_packets_and_doubles_up_to_the_window)
{
    EXPECT_EQ(f.cc.cwnd_bytes, 10 * pkt);
    EXPECT_EQ(round(0), 20 * pkt);
    EXPECT_EQ(round(0), 40 * pkt);
    EXPECT_EQ(round(0), 80 * pkt);
    EXPECT_EQ(round(0), 128 * pkt);
    EXPECT_EQ(round(0), 128 * pkt) << "and no more";
}

TEST_F(drops, begins_with_all_where_the_fabric_trims_and_losses_are_a_paths)
{
    init(true);
    EXPECT_EQ(f.cc.cwnd_bytes, 128 * pkt);
    EXPECT_EQ(lose(100), 128 * pkt);
}

TEST_F(drops, a_queue_ends_the_doubling)
{
    round(0);
    round(base_ns);
    u32 was = f.cc.cwnd_bytes;
    EXPECT_LE(round(base_ns), was + pkt);
    EXPECT_LT(round(0), was + was / 4) << "and for good";
}

TEST_F(drops, what_is_not_used_does_not_grow)
{
    flight = 4;
    EXPECT_EQ(round(0), 10 * pkt);
    flight = 5;
    EXPECT_GT(round(0), 10 * pkt);
}

TEST_F(drops, a_loss_with_a_queue_halves_once_a_flight)
{
    at(64);
    EXPECT_EQ(lose(1), 32 * pkt);
    EXPECT_EQ(lose(1), 32 * pkt);
    for (u32 i = 0; i < 61; i++)
        EXPECT_EQ(ack(1, base_ns), 32 * pkt);
    EXPECT_EQ(lose(1), 32 * pkt) << "the last of that flight";
    EXPECT_EQ(lose(1), 16 * pkt);
}

TEST_F(drops, few_losses_without_a_queue_are_a_bad_cable)
{
    at(64, 0);
    ack(1, 0);
    u32 was = f.cc.cwnd_bytes;
    EXPECT_EQ(lose(2), was);
    EXPECT_EQ(lose(1), was / 2) << "more than one in 32";
}

TEST_F(drops, one_late_packet_is_no_queue_nor_is_a_little_delay)
{
    at(64, 0);
    ack(1, 10 * base_ns);
    EXPECT_EQ(lose(1), f.cc.cwnd_bytes);
    EXPECT_GT(f.cc.cwnd_bytes, 63 * pkt);
    at(64, base_ns / 8);
    EXPECT_GT(lose(1), 63 * pkt);
    at(64, base_ns / 8 + 1);
    EXPECT_LT(lose(1), 33 * pkt);
}

TEST_F(drops, a_storm_leaves_what_got_through)
{
    at(64);
    EXPECT_EQ(lose(32), 32 * pkt);
    EXPECT_EQ(lose(20), 12 * pkt);
    EXPECT_EQ(lose(11), pkt);
    at(64);
    flight = 2; // the end of a message says nothing of the window
    EXPECT_EQ(lose(1), 32 * pkt);
    EXPECT_EQ(lose(1), 32 * pkt);
}

TEST_F(drops, with_a_queue_growth_is_gentle)
{
    for (u32 w : {1, 2, 4, 9, 16, 25, 36}) {
        at(w);
        u32 step = round(base_ns) - w * pkt, want = static_cast<u32>(pkt * std::pow(w, 1.5) / 256);

        EXPECT_NEAR(step, want, want / 16 + 16) << w;
    }
    for (u32 w : {41, 64, 127}) {
        at(w);
        EXPECT_EQ(round(base_ns), (w + 1) * pkt);
    }
}

TEST_F(drops, without_a_queue_by_an_eighth_or_a_quarter_after_losses_that_had_one)
{
    at(64, 0);
    f.queue = false;
    EXPECT_EQ(round(0), 72 * pkt);
    EXPECT_EQ(round(0), 81 * pkt);
    f.seen = true;
    EXPECT_EQ(round(0), 81 * pkt + 81 * (pkt / 4));
    EXPECT_TRUE(f.calm);
}

TEST_F(drops, below_one_packet_time_takes_the_windows_place)
{
    ack(1, base_ns);
    at(1);
    lose(1);
    EXPECT_EQ(f.cc.cwnd_bytes, pkt);
    EXPECT_EQ(f.cc.hold_until_ns, now_ns + 2 * f.rtt_ns);
    for (u32 i = 0; i < 10; i++)
        lose(1);
    EXPECT_EQ(f.pace_ns, 16 * f.rtt_ns) << "no slower";
    u32 was = f.pace_ns;
    ack(1, base_ns);
    EXPECT_NEAR(f.pace_ns, was - was / 16, was / 50) << "with a queue";
    EXPECT_EQ(f.cc.cwnd_bytes, pkt);
    f.low_ns = MRC_FIXED_NO_SAMPLE;
    was = f.pace_ns;
    ack(1, 0);
    EXPECT_EQ(f.pace_ns, was - was / 8);
    ack(0, 0);
    EXPECT_EQ(f.pace_ns, was - was / 8) << "the answer to a probe";
    for (u32 i = 0; i < 30; i++)
        ack(1, 0);
    EXPECT_EQ(f.pace_ns, 0u);
    EXPECT_EQ(f.cc.hold_until_ns, 0u);
}

TEST_F(drops, what_cannot_be_halved_is_paced)
{
    ack(1, base_ns);
    at(2);
    lose(1);
    EXPECT_EQ(f.pace_ns, 0u);
    at(2);
    f.cc.cwnd_bytes--;
    lose(1);
    EXPECT_EQ(f.pace_ns, 2 * f.rtt_ns);
}

TEST_F(drops, losses_that_were_none_give_all_back)
{
    at(64);
    lose(2);
    lose(2);
    EXPECT_EQ(spurious(3), 32 * pkt);
    EXPECT_EQ(spurious(1), 64 * pkt);
    EXPECT_EQ(spurious(9), 64 * pkt) << "once";
}

TEST_F(drops, a_timeout_begins_anew_and_doubles_up_to_half)
{
    mrc_cc_sample s = sample();

    at(64);
    s.lost_bytes = pkt;
    f.cc.ops->on_timeout(&f.cc, &s);
    EXPECT_EQ(f.cc.cwnd_bytes, pkt);
    for (u32 w = 2; w <= 32; w *= 2)
        EXPECT_EQ(round(0), w * pkt);
    EXPECT_LT(round(0), 41 * pkt);
    EXPECT_GE(spurious(1), 64 * pkt) << "the peer had paused";
}

// Samples that no honest peer would send.
TEST_F(drops, property_the_window_stays_within_its_limits)
{
    u64 rand = 1;

    for (u32 i = 0; i < 200000; i++) {
        mrc_cc_sample s{};

        rand = rand * 6364136223846793005ull + 1442695040888963407ull;
        s.now_ns = now_ns += rand >> 50;
        s.acked_bytes = static_cast<u32>(rand >> 20) >> (rand & 31);
        s.lost_bytes = static_cast<u32>(rand >> 24) >> (rand >> 5 & 31);
        s.inflight_bytes = static_cast<u32>(rand >> 28) >> (rand >> 10 & 31);
        s.rtt_ns = rand >> 8 >> (rand >> 15 & 63);
        s.base_ns = static_cast<u32>(rand >> 16) >> (rand >> 21 & 31);
        s.trimmed = s.trimmed_again = rand >> 40 & 1;
        switch (rand >> 41 & 7) {
        case 0: f.cc.ops->on_nack(&f.cc, &s); break;
        case 1: f.cc.ops->on_timeout(&f.cc, &s); break;
        case 2: f.cc.ops->on_spurious(&f.cc, &s); break;
        case 3: case 4: f.cc.ops->on_loss(&f.cc, &s); break;
        default: f.cc.ops->on_ack(&f.cc, &s); break;
        }
        ASSERT_GE(f.cc.cwnd_bytes, pkt);
        ASSERT_LE(f.cc.cwnd_bytes, 128 * pkt);
        ASSERT_LE(f.pace_ns, 16u << 24);
        if (f.cc.hold_until_ns) {
            ASSERT_LE(f.cc.hold_until_ns, now_ns + (16u << 24));
        }
    }
}

} // namespace
