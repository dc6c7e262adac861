// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_nscc_base.cc - which delay is no congestion: jitter, and answers that are late together.
#include "nscc_rig.h"

extern "C" {
#include "cc/mrc_nscc_state.h"
}

namespace {

struct nscc_base : nscc {
    const mrc_nscc_state& state() const { return *reinterpret_cast<const mrc_nscc_state*>(cc); }
    u32 largest() const { return state().p.max_cwnd; }
    u32 base_rtt() const { return state().p.base_rtt_ns; }
    void warm()
    {
        nscc::warm();
        spare = 0;
        reinterpret_cast<mrc_nscc_state*>(cc)->round.samples = 0;
    }
    // @n rounds of 40 samples, each by @more longer than the base, and by up to @jitter.
    void rounds(u32 n, u32 more, u32 jitter, bool ecn = false)
    {
        for (u32 i = 0; i < 40 * n; i++) {
            u32 late = i * 7 % 40 * jitter / 39; // each of 40 steps once

            now += base_rtt() / 39 + 1;
            ack(pkt, base + more + late, ecn && !(i % 40));
        }
    }
};

TEST_F(nscc_base, jitter_makes_room_for_itself)
{
    warm();
    spare = 2;
    rounds(40, 0, 48000);
    // The mean is longer by 24 us, of which a quarter of the base counts as bursts.
    EXPECT_NEAR(state().jitter_ns, 21000, 1500);
    EXPECT_EQ(base_rtt(), base + state().jitter_ns);
    EXPECT_NEAR(largest(), 150000.0 * 33 / 12 * 1.5, 40000);
    EXPECT_EQ(state().p.target_delay_ns, base_rtt() * 3 / 4);
    EXPECT_GT(cc->cwnd_bytes, max_wnd) << "and the window grows into it";
}

TEST_F(nscc_base, usual_jitter_is_no_delay)
{
    warm();
    rounds(40, 0, 48000);
    mrc_cc_sample s = sample();
    auto& n = *reinterpret_cast<mrc_nscc_state*>(cc);

    s.rtt_ns = base + state().jitter_ns;
    EXPECT_EQ(mrc_nscc_base_delay(&n, &s), 0u);
    s.rtt_ns += 5000;
    EXPECT_EQ(mrc_nscc_base_delay(&n, &s), 5000u);
    s.rtt_ns = base + 100;
    EXPECT_EQ(mrc_nscc_base_delay(&n, &s), 0u);
}

// All of its packets wait in it, the fastest, too (CoDel).
TEST_F(nscc_base, a_queue_that_stands_is_no_jitter)
{
    warm();
    rounds(40, 30000, 0);
    EXPECT_EQ(state().jitter_ns, 0u);
    EXPECT_EQ(largest(), max_wnd);
}

TEST_F(nscc_base, bursts_are_no_jitter)
{
    warm();
    rounds(40, 0, base / 2);
    EXPECT_EQ(state().jitter_ns, 0u);
}

TEST_F(nscc_base, signs_of_congestion_end_it)
{
    warm();
    rounds(40, 0, 48000);
    u32 was = state().jitter_ns;
    rounds(1, 0, 48000, true);
    EXPECT_NEAR(state().jitter_ns, was - was / 8, 4);
    was = state().jitter_ns;
    nack(pkt);
    rounds(1, 0, 48000);
    EXPECT_NEAR(state().jitter_ns, was - was / 8, 4);
    rounds(1, 0, 48000);
    EXPECT_GT(state().jitter_ns, was - was / 8) << "that sign was the round's before";
    rounds(60, 0, 48000, true);
    EXPECT_LT(state().jitter_ns, 100u);
}

TEST_F(nscc_base, losses_are_signs_where_nothing_trims)
{
    cfg.trimming = false;
    init();
    warm();
    rounds(40, 0, 48000);
    u32 was = state().jitter_ns;
    loss(pkt);
    rounds(1, 0, 48000);
    EXPECT_LT(state().jitter_ns, was);
}

TEST_F(nscc_base, few_samples_are_no_round)
{
    warm();
    for (u32 i = 0; i < 15; i++) {
        now += 10 * base;
        ack(pkt, base + (i & 1 ? 48000 : 0));
    }
    EXPECT_EQ(state().jitter_ns, 0u);
    ack(pkt, base);
    EXPECT_GT(state().jitter_ns, 0u);
}

TEST_F(nscc_base, a_round_takes_as_long_as_the_base)
{
    warm();
    for (u32 i = 0; i < 100; i++)
        ack(pkt, base + (i & 1 ? 48000 : 0));
    EXPECT_EQ(state().jitter_ns, 0u);
}

TEST_F(nscc_base, one_that_is_given_has_no_jitter)
{
    cfg.nscc.base_rtt_ns = base;
    init();
    warm();
    rounds(40, 0, 48000);
    rounds(40, 0, 0);
    EXPECT_EQ(base_rtt(), base);
    EXPECT_EQ(largest(), max_wnd);
}

// The latest of a batch is what is sampled: it waited least.
TEST_F(nscc_base, time_that_no_sample_shows_is_found_by_a_full_window)
{
    warm();
    set_wnd(max_wnd);
    rounds(1, 0, 0);
    EXPECT_EQ(state().hidden_ns, base / 8);
    EXPECT_NEAR(largest(), max_wnd * 9 / 8, 10);
    EXPECT_EQ(base_rtt(), base) << "what is seen of it stays";
    rounds(20, 0, 0);
    EXPECT_GT(largest(), 2 * max_wnd);
    u32 was = state().hidden_ns;
    set_wnd(largest());
    rounds(3, base / 6, 0);
    EXPECT_EQ(state().hidden_ns, was) << "a queue begins";
    rounds(3, base / 3, 0);
    EXPECT_LT(state().hidden_ns, was) << "one stands";
    was = state().hidden_ns;
    rounds(1, 0, 0, true);
    EXPECT_EQ(state().hidden_ns, was / 2) << "a mark";
}

// Interrupts of the sender: acknowledgements wait for up to 48 us, and its window has to last that long.
TEST_F(nscc_base, the_longest_wait_is_hidden_behind_the_mean)
{
    warm();
    rounds(40, 0, 48000);
    EXPECT_GT(state().hidden_ns, 20000u);
    u32 was = state().hidden_ns;
    set_wnd(largest());
    rounds(1, base_rtt() / 3, 48000);
    EXPECT_LT(state().hidden_ns, was) << "the fastest waits, too";
}

TEST_F(nscc_base, and_by_no_other)
{
    warm();
    set_wnd(max_wnd);
    spare = 2;
    rounds(10, 0, 0);
    EXPECT_EQ(state().hidden_ns, 0u) << "not all of the window is out";
    spare = 0;
    set_wnd(max_wnd / 4);
    rounds(1, 0, 0);
    EXPECT_EQ(state().hidden_ns, 0u) << "the window is not the largest";
}

TEST_F(nscc_base, hidden_time_has_an_end)
{
    warm();
    set_wnd(max_wnd);
    rounds(2000, 0, 0);
    EXPECT_EQ(state().hidden_ns, 1u << 20);
}

} // namespace
