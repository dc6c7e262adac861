// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_nscc.cc - NSCC: each rule by itself, on the reference network (100 Gb/s, 12 us).
#include "cc_rig.h"

#include <gtest/gtest.h>

namespace {

constexpr u32 pkt = 4160, max_wnd = 225000;
constexpr u64 base = 12000, target = 9000; // with trimming: 0.75 base

struct nscc : testing::Test {
    void SetUp() override
    {
        cfg.mtu = pkt;
        cfg.rate_mbps = 100000;
        cfg.trimming = true;
        init();
    }
    void init()
    {
        mem.assign(mrc_nscc.size / 8 + 1, ~0ull);
        cc = reinterpret_cast<mrc_cc*>(mem.data());
        now = 1000000;
        mrc_cc_init(cc, &mrc_nscc, &cfg, now);
    }
    // The base RTT is known, quick adapt and all periods have begun anew.
    void warm()
    {
        ack(pkt, base);
        now += 100000;
    }
    mrc_cc_sample sample()
    {
        mrc_cc_sample s{};

        s.now_ns = now;
        s.inflight_bytes = cc->cwnd_bytes;
        return s;
    }
    void ack(u32 bytes, u64 rtt, bool ecn = false, u8 pen = 0, bool restore = false)
    {
        mrc_cc_sample s = sample();

        s.acked_bytes = bytes;
        s.rtt_ns = rtt;
        s.ecn = ecn;
        s.rcv_cwnd_pen = pen;
        s.restore_cwnd = restore;
        mrc_nscc.on_ack(cc, &s);
    }
    void nack(u32 bytes, bool trimmed = true, u64 rtt = 0, bool last_hop = true)
    {
        mrc_cc_sample s = sample();

        s.lost_bytes = bytes;
        s.trimmed = trimmed;
        s.last_hop = last_hop;
        s.rtt_ns = rtt;
        mrc_nscc.on_nack(cc, &s);
    }
    void loss(u32 bytes)
    {
        mrc_cc_sample s = sample();

        s.lost_bytes = bytes;
        mrc_nscc.on_loss(cc, &s);
    }
    void timeout(u32 bytes = 0)
    {
        mrc_cc_sample s = sample();

        s.lost_bytes = bytes;
        mrc_nscc.on_timeout(cc, &s);
    }
    // One window's worth of packets, spread over one round trip.
    void round(u64 rtt, bool ecn = false, u8 pen = 0)
    {
        u32 n = std::max(cc->cwnd_bytes / pkt, 1u);

        for (u32 i = 0; i < n; i++) {
            now += rtt / n;
            ack(pkt, rtt, ecn, pen);
        }
    }
    void set_wnd(u32 bytes) { cc->cwnd_bytes = bytes; }

    mrc_cc_cfg cfg{};
    std::vector<u64> mem;
    mrc_cc* cc = nullptr;
    u64 now = 0;
};

// ---- window at the beginning, largest window ----

TEST_F(nscc, starts_with_one_and_a_half_bdp)
{
    EXPECT_EQ(cc->cwnd_bytes, max_wnd);
}

TEST_F(nscc, first_window_can_be_given)
{
    cfg.window_bytes = 50000;
    init();
    EXPECT_EQ(cc->cwnd_bytes, 50000u);
    cfg.window_bytes = ~0u;
    init();
    EXPECT_EQ(cc->cwnd_bytes, max_wnd);
    cfg.window_bytes = 1;
    init();
    EXPECT_EQ(cc->cwnd_bytes, pkt);
}

TEST_F(nscc, unknown_rate_is_the_reference)
{
    cfg.rate_mbps = 0;
    init();
    EXPECT_EQ(cc->cwnd_bytes, max_wnd);
}

TEST_F(nscc, base_rtt_is_the_smallest_seen_and_limits_the_window)
{
    ack(pkt, 8000);
    EXPECT_EQ(cc->cwnd_bytes, 150000u);
    ack(pkt, 4000);
    EXPECT_EQ(cc->cwnd_bytes, 75000u);
    ack(pkt, 6000);
    EXPECT_LE(cc->cwnd_bytes, 75000u) << "does not rise again";
}

TEST_F(nscc, base_rtt_above_the_first_guess_does_not_jump_but_lets_grow)
{
    u32 before = cc->cwnd_bytes;

    ack(pkt, 50000);
    EXPECT_LE(cc->cwnd_bytes, before + pkt);
    for (int i = 0; i < 200; i++)
        round(50000);
    EXPECT_EQ(cc->cwnd_bytes, 937500u);
}

TEST_F(nscc, base_rtt_from_the_answer_to_a_trimmed_packet)
{
    ack(pkt, 30000);
    nack(pkt, true, 6000);
    round(6000);
    for (int i = 0; i < 100; i++)
        round(6000);
    EXPECT_EQ(cc->cwnd_bytes, 112500u);
}

TEST_F(nscc, base_rtt_that_is_given_is_not_measured)
{
    cfg.nscc.base_rtt_ns = 24000;
    init();
    EXPECT_EQ(cc->cwnd_bytes, 2 * max_wnd);
    ack(pkt, 1000);
    EXPECT_EQ(cc->cwnd_bytes, 2 * max_wnd);
}

TEST_F(nscc, largest_window_that_is_given)
{
    cfg.nscc.max_cwnd = 100000;
    init();
    EXPECT_EQ(cc->cwnd_bytes, 100000u);
    for (int i = 0; i < 50; i++)
        round(base);
    EXPECT_EQ(cc->cwnd_bytes, 100000u);
}

// ---- quadrants, Table 8-1 ----

TEST_F(nscc, no_mark_below_target_grows_with_what_is_left_of_it)
{
    u32 grown[3];
    int i = 0;

    for (u64 delay : {1500, 4500, 8500}) {
        init();
        warm();
        set_wnd(50000);
        round(base + delay);
        round(base + delay);
        grown[i++] = cc->cwnd_bytes - 50000;
    }
    EXPECT_GT(grown[0], grown[1]);
    EXPECT_GT(grown[1], grown[2]);
    EXPECT_GT(grown[2], 0u);
    // alpha: 4 MTU a b per round trip at no delay, here 4 x 4160 x 0.75 x 5/6 twice
    EXPECT_NEAR(grown[0], 2 * 10400, 6000);
}

TEST_F(nscc, no_mark_above_target_grows_alike)
{
    warm();
    set_wnd(50000);
    round(base + 2 * target);
    u32 small = cc->cwnd_bytes - 50000;
    init();
    warm();
    set_wnd(100000);
    round(base + 2 * target);
    u32 large = cc->cwnd_bytes - 100000;

    // fi: 5 MTU a per round trip, whatever the window
    EXPECT_NEAR(small, 5 * pkt, 1.5 * pkt);
    EXPECT_NEAR(large, 5 * pkt, 1.5 * pkt);
}

TEST_F(nscc, mark_below_target_changes_nothing_but_the_path)
{
    warm();
    set_wnd(100000);
    round(base + 3000, true);
    // eta, once per period, is all
    EXPECT_GE(cc->cwnd_bytes, 100000u);
    EXPECT_LE(cc->cwnd_bytes, 100000u + 3 * pkt * 15 / 100 + 1);
}

TEST_F(nscc, mark_above_target_shrinks_once_the_average_says_so)
{
    warm();
    set_wnd(200000);
    ack(pkt, base + 2 * target, true);
    EXPECT_GE(cc->cwnd_bytes, 200000u) << "one sample is no average";
    for (int i = 0; i < 20; i++)
        round(base + 2 * target, true);
    EXPECT_LT(cc->cwnd_bytes, 100000u);
}

TEST_F(nscc, shrinks_at_most_by_half_and_once_per_base_rtt)
{
    cfg.nscc.disable_qa = true;
    init();
    warm();
    for (int i = 0; i < 400; i++) // average far above the target
        ack(1, base + 30 * target, true);
    now += base;
    set_wnd(200000);
    ack(1, base + 3 * target, true);
    u32 once = cc->cwnd_bytes;
    EXPECT_GE(once, 100000u);
    EXPECT_LE(once, 101000u);
    for (int i = 0; i < 100; i++)
        ack(1, base + 3 * target, true);
    EXPECT_EQ(cc->cwnd_bytes, once);
}

TEST_F(nscc, spikes_without_a_mark_do_not_move_the_average)
{
    cfg.nscc.disable_qa = true;
    init();
    warm();
    for (int i = 0; i < 400; i++)
        ack(1, base + 30 * target, false);
    now += base;
    set_wnd(200000);
    ack(1, base + 2 * target, true);
    EXPECT_GE(cc->cwnd_bytes, 200000u);
}

// ---- fast increase ----

TEST_F(nscc, fast_increase_after_a_window_without_delay)
{
    warm();
    set_wnd(40000);
    round(base + 500);
    u32 after_one = cc->cwnd_bytes;
    round(base + 500);
    u32 after_two = cc->cwnd_bytes;

    EXPECT_GT(after_two - after_one, after_one / 5) << "by a quarter per round trip";
    for (int i = 0; i < 12; i++)
        round(base + 500);
    EXPECT_EQ(cc->cwnd_bytes, max_wnd);
}

TEST_F(nscc, fast_increase_ends_with_the_first_delay)
{
    warm();
    set_wnd(40000);
    for (int i = 0; i < 2; i++)
        round(base);
    u32 before = cc->cwnd_bytes;
    ack(pkt, base + 2000);
    ack(pkt, base); // a whole window has to pass again
    EXPECT_LE(cc->cwnd_bytes, before + pkt);
}

// ---- trims, losses, quick adapt ----

TEST_F(nscc, trim_takes_its_bytes_off)
{
    warm();
    ack(pkt, base);
    u32 before = cc->cwnd_bytes;
    nack(pkt);
    EXPECT_EQ(cc->cwnd_bytes, before - pkt);
}

TEST_F(nscc, nack_for_want_of_resources_changes_nothing)
{
    warm();
    u32 before = cc->cwnd_bytes;
    nack(pkt, false);
    EXPECT_EQ(cc->cwnd_bytes, before);
}

TEST_F(nscc, with_trimming_a_loss_without_a_trim_is_no_congestion)
{
    warm();
    ack(pkt, base);
    u32 before = cc->cwnd_bytes;
    for (int i = 0; i < 100; i++)
        loss(3 * pkt);
    EXPECT_EQ(cc->cwnd_bytes, before);
    EXPECT_LE(cc->hold_until_ns, now);
}

TEST_F(nscc, inferred_loss_takes_its_bytes_off)
{
    cfg.trimming = false;
    init();
    warm();
    ack(pkt, base);
    u32 before = cc->cwnd_bytes;
    loss(3 * pkt);
    EXPECT_EQ(cc->cwnd_bytes, before - 3 * pkt);
    for (int i = 0; i < 100; i++)
        loss(3 * pkt);
    EXPECT_EQ(cc->cwnd_bytes, pkt);
}

TEST_F(nscc, timeout_halves_once_per_round_trip)
{
    warm();
    set_wnd(200000);
    timeout(pkt);
    EXPECT_EQ(cc->cwnd_bytes, 100000u);
    timeout(pkt); // another connection's
    EXPECT_EQ(cc->cwnd_bytes, 100000u);
    now += base;
    timeout(pkt);
    EXPECT_EQ(cc->cwnd_bytes, 50000u);
}

TEST_F(nscc, quick_adapt_sets_the_window_to_what_got_through)
{
    warm();
    ack(pkt, base); // the period begins
    now += 1000;
    nack(pkt);
    ack(3 * pkt, base + target);
    now += base + target;
    ack(pkt, base + target);
    EXPECT_EQ(cc->cwnd_bytes, 4 * pkt);
}

TEST_F(nscc, quick_adapt_not_when_much_got_through)
{
    warm();
    ack(pkt, base);
    now += 1000;
    nack(pkt);
    ack(10 * pkt, base + target); // more than max_wnd / 8
    now += base + target;
    ack(pkt, base + target);
    EXPECT_GT(cc->cwnd_bytes, 20 * pkt);
}

TEST_F(nscc, quick_adapt_by_delay_alone_only_if_the_window_was_used)
{
    warm();
    ack(pkt, base);
    now += base + target;
    mrc_cc_sample s = sample();
    s.acked_bytes = pkt;
    s.rtt_ns = base + 5 * target;
    s.inflight_bytes = pkt; // little was asked for: a slow host
    mrc_nscc.on_ack(cc, &s);
    EXPECT_GT(cc->cwnd_bytes, 20 * pkt);
    now += base + target;
    s.now_ns = now;
    s.inflight_bytes = cc->cwnd_bytes;
    mrc_nscc.on_ack(cc, &s);
    EXPECT_LE(cc->cwnd_bytes, 2 * pkt);
}

TEST_F(nscc, quick_adapt_by_trim_only_if_the_window_was_used)
{
    warm();
    ack(pkt, base);
    mrc_cc_sample s = sample();
    s.inflight_bytes = 3 * pkt; // one of many that share the host's link
    s.lost_bytes = pkt;
    s.trimmed = true;
    mrc_nscc.on_nack(cc, &s);
    now += base + target;
    s = sample();
    s.inflight_bytes = 3 * pkt;
    s.acked_bytes = pkt;
    s.rtt_ns = base;
    mrc_nscc.on_ack(cc, &s);
    EXPECT_GT(cc->cwnd_bytes, 20 * pkt);
}

TEST_F(nscc, quick_adapt_can_be_turned_off)
{
    cfg.nscc.disable_qa = true;
    init();
    warm();
    ack(pkt, base);
    nack(pkt);
    now += base + target;
    ack(pkt, base + target);
    EXPECT_GT(cc->cwnd_bytes, 20 * pkt);
}

TEST_F(nscc, marks_of_the_old_flight_do_not_shrink_again)
{
    warm();
    for (int i = 0; i < 400; i++)
        ack(1, base + 30 * target, true);
    nack(pkt);
    now += base + 31 * target;
    ack(8 * pkt, base + target, true); // quick adapt: 8 packets, some 50 in flight
    now += base;
    u32 wnd = cc->cwnd_bytes;
    ASSERT_LE(wnd, 9 * pkt);
    ack(pkt, base + 3 * target, true);
    EXPECT_EQ(cc->cwnd_bytes, wnd);
}

// ---- the responder's lever, 5.3 ----

TEST_F(nscc, penalty_64_for_a_round_trip_halves)
{
    warm();
    set_wnd(50 * pkt);
    for (int i = 0; i < 50; i++)
        ack(pkt, base + 3000, false, 64);
    EXPECT_NEAR(cc->cwnd_bytes, 25 * pkt, pkt);
}

TEST_F(nscc, penalty_127_leaves_a_packet)
{
    warm();
    for (int i = 0; i < 120; i++)
        ack(pkt, base + 3000, false, 127);
    EXPECT_EQ(cc->cwnd_bytes, pkt);
}

TEST_F(nscc, penalty_takes_away_what_is_not_used)
{
    warm();
    mrc_cc_sample s = sample();
    s.inflight_bytes = 5 * pkt;
    s.rtt_ns = base;
    s.rcv_cwnd_pen = 1;
    mrc_nscc.on_ack(cc, &s);
    EXPECT_GE(cc->cwnd_bytes, 5 * pkt);
    EXPECT_LT(cc->cwnd_bytes, 6 * pkt);
}

TEST_F(nscc, penalty_1_holds_whole_packets)
{
    warm();
    set_wnd(6 * pkt);
    for (int i = 0; i < 12; i++) { // as many in flight as the window has room for
        mrc_cc_sample s = sample();

        now += 3000;
        s.now_ns = now;
        s.acked_bytes = pkt;
        s.rtt_ns = base + 2 * target;
        s.rcv_cwnd_pen = 1;
        s.inflight_bytes = cc->cwnd_bytes / pkt * pkt;
        mrc_nscc.on_ack(cc, &s);
    }
    EXPECT_LE(cc->cwnd_bytes, 6 * pkt) << "no growth";
    EXPECT_GE(cc->cwnd_bytes, 5 * pkt);
}

TEST_F(nscc, restore_gives_back_what_the_first_penalty_found)
{
    warm();
    set_wnd(150000);
    for (int i = 0; i < 120; i++)
        ack(pkt, base + 3000, false, 127);
    ASSERT_EQ(cc->cwnd_bytes, pkt);
    ack(pkt, base + 3000, false, 0, true);
    EXPECT_NEAR(cc->cwnd_bytes, 150000, pkt);
    set_wnd(10 * pkt);
    ack(1, base + 3000, false, 0, true);
    EXPECT_LT(cc->cwnd_bytes, 11 * pkt) << "only once";
}

TEST_F(nscc, restore_without_penalty_is_nothing)
{
    warm();
    set_wnd(10 * pkt);
    ack(1, base + 3000, false, 0, true);
    EXPECT_LT(cc->cwnd_bytes, 11 * pkt);
}

// ---- pacing below one packet per round trip ----

TEST_F(nscc, trims_at_the_floor_hold_the_next_packet)
{
    warm();
    set_wnd(2 * pkt);
    nack(pkt);
    EXPECT_LE(cc->hold_until_ns, now) << "above the floor";
    now += base;
    nack(pkt);
    ASSERT_EQ(cc->cwnd_bytes, pkt);
    u64 first = cc->hold_until_ns - now;
    EXPECT_EQ(first, 2 * base);
    nack(pkt); // another connection's, of the same round trip
    EXPECT_EQ(cc->hold_until_ns - now, first);
    for (int i = 0; i < 10; i++) {
        now += base;
        nack(pkt);
    }
    EXPECT_EQ(cc->hold_until_ns - now, 16 * base) << "bounded";
}

TEST_F(nscc, trims_on_the_way_do_not_pace)
{
    warm();
    set_wnd(pkt);
    for (int i = 0; i < 5; i++) {
        nack(pkt, true, 0, false);
        loss(pkt); // with trimming: a path's, not for want of room
        now += base;
    }
    EXPECT_EQ(cc->hold_until_ns, 0u);
}

TEST_F(nscc, losses_without_trimming_pace)
{
    cfg.trimming = false;
    init();
    warm();
    set_wnd(pkt);
    loss(pkt);
    EXPECT_EQ(cc->hold_until_ns - now, 2 * base);
}

TEST_F(nscc, pacing_fades_with_answers_and_ends)
{
    warm();
    set_wnd(pkt);
    nack(pkt);
    now += base;
    nack(pkt);
    u64 hold = cc->hold_until_ns - now;
    EXPECT_EQ(hold, 4 * base);
    int n = 0;
    while (cc->hold_until_ns && n++ < 100) {
        now += 5 * base;
        ack(pkt, base + 2 * target);
        EXPECT_LT(cc->hold_until_ns, now + hold);
    }
    EXPECT_GT(n, 5);
    EXPECT_LT(n, 20);
    for (int i = 0; i < 5; i++)
        round(base);
    EXPECT_GT(cc->cwnd_bytes, 2 * pkt) << "then the window grows";
}

TEST_F(nscc, pacing_fades_more_slowly_while_held_and_not_while_shrunk)
{
    u64 held = 0, shrunk = 0, off = 0;

    for (u8 pen : {0, 1, 64}) {
        init();
        warm();
        set_wnd(pkt);
        nack(pkt);
        now += base;
        nack(pkt);
        now += 10 * base;
        ack(pkt, base + 2 * target, false, pen);
        (pen == 0 ? off : pen == 1 ? held : shrunk) = cc->hold_until_ns - now;
    }
    EXPECT_LT(off, held);
    EXPECT_LT(held, shrunk);
    EXPECT_EQ(shrunk + base + 2 * target, 4 * base);
}

TEST_F(nscc, pacing_ends_soon_without_a_queue)
{
    warm();
    set_wnd(pkt);
    for (int i = 0; i < 5; i++) {
        nack(pkt);
        now += base;
    }
    for (int i = 0; i < 4; i++) {
        now += 20 * base;
        ack(pkt, base + 100);
    }
    EXPECT_EQ(cc->hold_until_ns, 0u);
}

// ---- new rate ----

TEST_F(nscc, half_of_the_planes_half_of_the_window)
{
    warm();
    set_wnd(180000);
    cfg.rate_mbps = 50000;
    mrc_nscc.set_cfg(cc, &cfg, now);
    EXPECT_EQ(cc->cwnd_bytes, 90000u);
    for (int i = 0; i < 50; i++)
        round(base);
    EXPECT_EQ(cc->cwnd_bytes, max_wnd / 2);
    cfg.rate_mbps = 100000;
    mrc_nscc.set_cfg(cc, &cfg, now);
    EXPECT_EQ(cc->cwnd_bytes, max_wnd);
}

TEST_F(nscc, new_rate_keeps_the_measured_base_rtt)
{
    ack(pkt, 6000);
    cfg.rate_mbps = 200000;
    mrc_nscc.set_cfg(cc, &cfg, now);
    for (int i = 0; i < 50; i++)
        round(6000);
    EXPECT_EQ(cc->cwnd_bytes, 225000u);
}

// ---- samples without an RTT ----

TEST_F(nscc, ambiguous_samples_count_as_bytes_only)
{
    warm();
    ack(pkt, base);
    nack(pkt);
    for (int i = 0; i < 10; i++)
        ack(pkt, 0);
    now += base + target;
    ack(pkt, 0);
    EXPECT_GT(cc->cwnd_bytes, 20 * pkt) << "they count as achieved";
}

// ---- bad input ----

TEST_F(nscc, nothing_a_peer_says_leaves_the_limits)
{
    const u64 vals[] = {0, 1, 499, 500, 4095, 4160, 12000, 1u << 20, (1u << 24) - 1, 1u << 24,
                        ~0u - 1, ~0u, 1ull << 32, 1ull << 40, ~0ull >> 1, ~0ull};
    u64 seed = 99;
    auto rnd = [&](u32 n) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        return u32(seed >> 33) % n;
    };
    auto any = [&] { return vals[rnd(std::size(vals))]; };

    for (int round_no = 0; round_no < 300; round_no++) {
        cfg = {};
        cfg.mtu = rnd(2) ? pkt : u32(any());
        cfg.rate_mbps = rnd(2) ? 100000 : u32(any());
        cfg.window_bytes = u32(any());
        cfg.trimming = rnd(2);
        if (!rnd(3)) {
            cfg.nscc.qa_gate = u8(any());
            cfg.nscc.qa_threshold_ns = u32(any());
            cfg.nscc.target_delay_ns = u32(any());
            cfg.nscc.base_rtt_ns = u32(any());
            cfg.nscc.max_cwnd = u32(any());
            cfg.nscc.adjust_bytes = u32(any());
            cfg.nscc.adjust_period_ns = u32(any());
            cfg.nscc.eta_q8 = u32(any());
            cfg.nscc.fi_q8 = u32(any());
            cfg.nscc.fi_scale_q16 = u32(any());
            cfg.nscc.gamma_q16 = u32(any());
            cfg.nscc.max_md_jump_q16 = u32(any());
        }
        init();
        for (int i = 0; i < 500; i++) {
            mrc_cc_sample s{};

            now += rnd(4) ? rnd(20000) : any() >> 20;
            s.now_ns = now;
            s.acked_bytes = u32(any());
            s.lost_bytes = u32(any());
            s.inflight_bytes = u32(any());
            s.rtt_ns = any();
            s.ecn = rnd(2);
            s.trimmed = rnd(2);
            s.last_hop = rnd(2);
            s.rcv_cwnd_pen = rnd(2) ? 0 : u8(any());
            s.restore_cwnd = rnd(2);
            switch (rnd(12)) {
            case 0:
                mrc_nscc.on_nack(cc, &s);
                break;
            case 1:
                mrc_nscc.on_loss(cc, &s);
                break;
            case 2:
                mrc_nscc.on_timeout(cc, &s);
                break;
            case 3:
                cfg.rate_mbps = u32(any());
                mrc_nscc.set_cfg(cc, &cfg, now);
                break;
            default:
                mrc_nscc.on_ack(cc, &s);
            }
            ASSERT_GE(cc->cwnd_bytes, cc->mtu);
            ASSERT_LE(cc->cwnd_bytes, u32{MRC_CC_WND_MAX});
            if (!cfg.nscc.max_cwnd && !cfg.nscc.base_rtt_ns && cfg.rate_mbps == 100000) {
                // 1.5 x 100 Gb/s x the largest RTT that is believed
                ASSERT_LE(cc->cwnd_bytes, 314572800u);
            }
            ASSERT_LE(cc->hold_until_ns, now + 16ull * ((1u << 24) - 1)) << "held for ever";
        }
    }
}

} // namespace
