// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_nscc.cc - NSCC: each rule by itself: its first window, quadrants, fast increase.
#include "nscc_rig.h"

namespace {

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
    cfg.nscc.gamma_q16 = 1u << 16;
    init();
    warm();
    for (int i = 0; i < 400; i++) // average far above the target
        ack(1, base + 30 * target, true);
    now += base;
    set_wnd(200000);
    ack(1, base + 3 * target, true);
    u32 once = cc->cwnd_bytes;
    EXPECT_GE(once, 100000u);
    EXPECT_LE(once, 102000u);
    for (int i = 0; i < 100; i++)
        ack(1, base + 3 * target, true);
    EXPECT_EQ(cc->cwnd_bytes, once);
}

// A marked delay counts as two targets at most, so only a shallower limit than half shows.
TEST_F(nscc, no_cut_is_deeper_than_max_md_jump)
{
    cfg.nscc.disable_qa = true;
    cfg.nscc.gamma_q16 = 1u << 16;
    cfg.nscc.max_md_jump_q16 = 3u << 14; // three quarters stay
    init();
    warm();
    for (int i = 0; i < 400; i++)
        ack(1, base + 30 * target, true);
    now += base;
    set_wnd(200000);
    ack(1, base + 3 * target, true);
    EXPECT_GE(cc->cwnd_bytes, 150000u);
    EXPECT_LE(cc->cwnd_bytes, 152000u);
}

// The longest delay counts as two targets: it is one packet's, of one path.
TEST_F(nscc, no_single_delay_decides)
{
    u32 left[2];

    for (u32 n : {2, 60}) {
        cfg.nscc.disable_qa = true;
        init();
        warm();
        for (int i = 0; i < 400; i++)
            ack(1, base + n * target, true);
        now += base;
        set_wnd(200000);
        ack(1, base + 2 * target, true);
        left[n > 2] = cc->cwnd_bytes;
    }
    EXPECT_EQ(left[0], left[1]);
    EXPECT_NEAR(left[0], 0.6 * 200000, 2000); // 1 - gamma / 2
}

// A SACK for a mark also acknowledges packets that had none.
TEST_F(nscc, marks_have_no_more_votes_than_packets)
{
    u32 left[2];

    for (u32 n : {1, 4}) {
        cfg.nscc.disable_qa = true;
        init();
        warm();
        for (int i = 0; i < 400; i++) {
            set_wnd(200000);
            ack(n * pkt - 200, base + 3 * target / 2, true);
        }
        now += base;
        set_wnd(200000);
        ack(n * pkt - 200, base + 3 * target / 2, true);
        left[n > 1] = cc->cwnd_bytes;
    }
    EXPECT_LT(left[0], 180000u) << "each packet was marked";
    EXPECT_GE(left[1], 200000u) << "one of four was";
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
            ASSERT_LE(cc->hold_until_ns, now + (1u << 28)) << "held for ever";
        }
    }
}

// A plane of five times the round trip, and no queue on it: its marks cut nothing.
TEST_F(nscc, delay_is_what_its_own_plane_adds)
{
    warm();
    set_wnd(100000);
    for (int i = 0; i < 200; i++, now += 2000) {
        mrc_cc_sample s = sample();

        s.acked_bytes = pkt;
        s.rtt_ns = s.base_ns = 5 * base;
        s.mean_base_ns = base;
        s.ecn = true;
        mrc_nscc.on_ack(cc, &s);
    }
    EXPECT_GE(cc->cwnd_bytes, 100000u);
}

} // namespace
