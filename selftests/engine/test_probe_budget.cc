// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_probe_budget.cc - what probes cost, answers that are late, EVs judged together.
#include <algorithm>
#include <deque>
#include <vector>

#include "ev_rig.h"

namespace {

constexpr u64 kTick = 1ull << MRC_TICK_SHIFT;

class budget : public ev_rig {
protected:
    // A network of @rtt that loses nothing (or all: dead), @pps packets a second besides.
    void live(u64 for_ns, u64 rtt, u64 pps)
    {
        for (u64 end = now + for_ns; now < end;) {
            u64 next = std::min(end, std::max(now + 1, s.next_probe_ns));

            if (!answers.empty())
                next = std::min(next, answers.front().first);
            next = std::min(next, now + 20 * kUs);
            earned += static_cast<double>(next - now) * static_cast<double>(pps) / 1e9;
            now = next;
            if (s32 n = static_cast<s32>(earned)) {
                mrc_evset_earn(&s, n);
                earned -= n;
                packets += static_cast<u64>(n);
            }
            while (!answers.empty() && answers.front().first <= now) {
                mrc_evset_probe_answer(&s, answers.front().second, false, now);
                answers.pop_front();
            }
            for (u16 i : probes())
                if (!dead(i))
                    answers.push_back({now + rtt, i});
            ASSERT_GT(s.next_probe_ns, now);
            for (u16 i = 0; i < dead_below; i++)    // what is sent by it is lost
                if (state(i) <= MRC_EV_SKIP)
                    sign(i, MRC_SIGN_LOST);
        }
    }
    void all_bad()
    {
        for (u16 i = 0; i < s.n; i++)
            sign(i, MRC_SIGN_LOST);
    }
    void start(u16 n, u8 planes)
    {
        make(n, planes);
        answers.clear();
        s.probe_max_ns = 100 * kMs;     // as the module has it
        idle = true;
    }
    bool dead(u16 i) const { return i < dead_below; }

    u16 dead_below = 0;
    std::deque<std::pair<u64, u16>> answers;
    double earned = 0;
    u64 packets = 0;
};

// Seen on the real module: 13 ms of round trip, answers asked for in 100 us.
TEST_F(budget, a_path_of_13_ms_comes_back_and_is_not_flooded)
{
    start(16, 4);
    all_bad();
    ASSERT_EQ(s.bad, 15);
    live(200 * kMs, 13 * kMs, 2000);
    EXPECT_EQ(s.bad, 0);
    EXPECT_LE(s.stats.probes, 15u * 4 + 2);
    for (u8 p = 0; p < 4; p++) {
        EXPECT_GE(mrc_evset_srtt_ns(&s, p), 12 * kMs) << "learnt by probes alone";
        EXPECT_LE(mrc_evset_srtt_ns(&s, p), 27 * kMs);
    }
    // And again, known now: no probe is given up before its answer.
    u64 lost = s.stats.probes_lost, sent = s.stats.probes;
    all_bad();
    live(100 * kMs, 13 * kMs, 2000);
    EXPECT_EQ(s.bad, 0);
    EXPECT_EQ(s.stats.probes_lost, lost);
    EXPECT_LE(s.stats.probes, sent + 15 * 4);
    EXPECT_GE(s.stats.probes, sent + 4);
}

TEST_F(budget, a_late_answer_is_an_answer)
{
    make(4, 1, 1, 1);
    sign(3, MRC_SIGN_LOST);
    now += 150 * kUs;
    ASSERT_EQ(probes().size(), 1u);
    for (int i = 0; i < 3; i++) {
        now = s.next_probe_ns;
        now += kTick;
        ASSERT_EQ(probes().size(), 1u);
    }
    EXPECT_EQ(s.stats.probes_lost, 3u);
    mrc_evset_probe_answer(&s, 3, false, now);
    EXPECT_EQ(state(3), MRC_EV_SKIP);
    EXPECT_EQ(s.stats.probes_late, 1u);
}

TEST_F(budget, ten_a_second_when_nothing_else_is_sent)
{
    start(64, 4);
    dead_below = 64;
    all_bad();
    live(1000 * kMs, 20 * kUs, 0);
    u64 first = s.stats.probes;
    EXPECT_GE(first, MRC_PROBE_BURST);
    EXPECT_LE(first, MRC_PROBE_BURST + 11u);
    live(10000 * kMs, 20 * kUs, 0);
    EXPECT_GE(s.stats.probes, first + 98);
    EXPECT_LE(s.stats.probes, first + 101);
}

TEST_F(budget, one_for_so_many_packets_sent)
{
    start(64, 4);
    dead_below = 64;
    all_bad();
    live(1000 * kMs, 20 * kUs, 10000);
    EXPECT_LE(s.stats.probes, packets / MRC_PROBE_COST + MRC_PROBE_BURST + 11);
    EXPECT_GE(s.stats.probes, packets / MRC_PROBE_COST);
}

// While there is no data nobody misses the plane. Two at once, and then each after as long as
// all before took; not one in so many more with all that was saved up.
TEST_F(budget, a_suspect_plane_is_asked_less_while_idle)
{
    start(8, 2);
    for (u8 p = 0; p < 2; p++)
        mrc_evset_rtt(&s, p, 40 * kUs, now);
    mrc_evset_delivered(&s, 1, 4, mrc_ev_tick(now), now);
    ASSERT_TRUE(mrc_evset_overdue(&s, 0, mrc_ev_tick(now) - 1000, now));
    auto silent = [&](u64 for_ns, s32 data) {
        u64 before = s.stats.probes, end = now + for_ns;

        for (; now < end; now = std::min(std::max(now + 1, s.next_probe_ns), end)) {
            mrc_evset_earn(&s, data);
            probes();
        }
        return s.stats.probes - before;
    };
    u64 n = silent(2000 * kMs, 0);
    EXPECT_GE(n, 14u);
    EXPECT_LE(n, 20u) << "ten a second";
    silent(250 * kMs, 1);
    n = silent(400 * kMs, 1); // after each probe, data: a 64th of 2.25 s apart
    EXPECT_GE(n, 9u);
    EXPECT_LE(n, 13u);
}

// It is told when time pays for the probe, and the packet that does sooner wakes it.
TEST_F(budget, what_is_not_paid_for_is_not_due)
{
    start(64, 1);
    dead_below = 64;
    all_bad();
    live(5 * kMs, 20 * kUs, 0);
    ASSERT_EQ(s.stats.probes, MRC_PROBE_BURST);
    EXPECT_GT(s.next_probe_ns, now + 80 * kMs);
    EXPECT_LE(s.next_probe_ns, now + 100 * kMs);
    mrc_evset_earn(&s, 1);
    mrc_evset_earn(&s, 1);
    mrc_evset_earn(&s, -1);
    EXPECT_GT(s.next_probe_ns, now + 80 * kMs);
    mrc_spray r = {};
    u16 idx;
    EXPECT_FALSE(mrc_evset_verify_next(&s, &r, now, &idx)); // another who looks at what there is
    for (u32 i = 0; i < MRC_PROBE_COST; i++)
        mrc_evset_earn(&s, 1);
    EXPECT_LE(s.next_probe_ns, now);
    EXPECT_EQ(probes().size(), 1u);
}

TEST_F(budget, saved_up_is_a_burst_and_no_more)
{
    start(64, 1);
    dead_below = 64;
    mrc_evset_earn(&s, 1000000);
    now += 1000000 * kMs;
    all_bad();
    now += 200 * kUs;
    EXPECT_EQ(probes().size(), MRC_PROBE_BURST);
}

// ---- judged together ----

// A large set, all of it called bad at once and well: the budget pays for a part of the answers.
TEST_F(budget, a_set_that_is_well_heals_within_a_second_if_idle)
{
    start(512, 4);
    all_bad();
    ASSERT_EQ(s.bad, 511);
    live(100 * kMs, 200 * kUs, 0);
    EXPECT_EQ(s.bad, 0);
    EXPECT_LE(s.stats.probes, MRC_PROBE_BURST + 2u);
}

// Two EVs a plane, and nothing that pays for probes: planes speak for each other (seed 554).
TEST_F(budget, planes_that_answer_one_after_the_other_heal_the_set)
{
    start(16, 8);
    all_bad();
    s.credit.units = 0;
    s.credit.at_ns = now;
    live(950 * kMs, 20 * kUs, 0);
    EXPECT_EQ(s.bad, 0);
}

// What goes unanswered ends the run.
TEST_F(budget, a_run_over_planes_ends_with_a_dead_path)
{
    start(16, 8);
    all_bad();
    dead_below = 2; // plane 0
    live(20 * kMs, 20 * kUs, 0);
    ASSERT_NE(s.ev[0].out, 0u);
    s.answered = 0xfe;
    for (u32 lost = static_cast<u32>(s.stats.probes_lost); s.stats.probes_lost == lost && now < 10000 * kMs;)
        live(50 * kMs, 20 * kUs, 0);
    EXPECT_EQ(s.answered, 0u);
}

// But not for one of which nothing answered.
TEST_F(budget, nor_for_a_plane_that_does_not)
{
    start(16, 4);
    all_bad();
    dead_below = 4; // plane 0
    live(3000 * kMs, 20 * kUs, 0);
    EXPECT_EQ(s.bad, 4);
    EXPECT_EQ(s.bad_on[0], 4);
}

// The disturbance goes on for a while: probes are lost, too. Once over, all heals.
TEST_F(budget, heals_within_a_second_of_the_end)
{
    for (u64 pps : {0, 1000, 20000}) {
        start(64, 4);
        all_bad();
        dead_below = 64;
        live(3000 * kMs, 20 * kUs, pps);
        EXPECT_EQ(s.bad, 63);
        dead_below = 0;
        live((pps ? 1000 : 5000) * kMs, 20 * kUs, pps);
        EXPECT_EQ(s.bad, 0) << pps << " packets a second";
    }
}

// Asked in vain for long, then each answers once: who answered himself needs the word of others
// no less than who was hardly asked.
TEST_F(budget, an_answer_of_its_own_counts_where_others_answer)
{
    make(8, 1);
    sign(0, MRC_SIGN_LOST);
    sign(1, MRC_SIGN_LOST);
    for (int i = 0; i < 6; i++) {
        now = s.next_probe_ns + kTick;
        probes();
    }
    ASSERT_GE(s.ev[0].out, 3);
    ASSERT_GE(s.ev[1].out, 3);
    mrc_evset_probe_answer(&s, 0, false, now);
    EXPECT_EQ(state(0), MRC_EV_ASSUMED_BAD);
    mrc_evset_probe_answer(&s, 1, false, now);
    EXPECT_EQ(state(0), MRC_EV_SKIP);
    EXPECT_EQ(state(1), MRC_EV_SKIP);
}

// Ten a second are all there is, and each EV of a plane of its own: one answer has to do.
TEST_F(budget, where_questions_are_rare_one_answer_will_do)
{
    start(8, 8);
    dead_below = 8;
    all_bad();
    live(3000 * kMs, 20 * kUs, 0);
    ASSERT_EQ(s.bad, 7);
    dead_below = 0;
    live(1000 * kMs, 20 * kUs, 0);
    EXPECT_EQ(s.bad, 0);
}

// It flapped, which would take 16 answers where there are many questions: 1.6 s of rare ones.
TEST_F(budget, where_questions_are_rare_two_will_do_for_what_flapped)
{
    start(8, 1);
    sign(3, MRC_SIGN_LOST);
    s.ev[3].flaps = 3;
    s.credit.units = 0;
    live(100 * kMs, 20 * kUs, 0);
    EXPECT_EQ(state(3), MRC_EV_ASSUMED_BAD) << "one is not enough";
    live(400 * kMs, 20 * kUs, 0);
    EXPECT_LE(state(3), MRC_EV_SKIP);
}

TEST_F(budget, the_dead_are_not_forgiven_with_the_living)
{
    start(64, 2);
    dead_below = 8;
    all_bad();
    live(2000 * kMs, 20 * kUs, 50000);
    EXPECT_EQ(s.bad, 8);
    for (u16 i = 0; i < 8; i++)
        EXPECT_EQ(state(i), MRC_EV_ASSUMED_BAD);
    EXPECT_LE(s.stats.forgiven, 64u) << "but for once or twice";
    EXPECT_GE(s.stats.forgiven + s.stats.readmissions, 55u);
}

TEST_F(budget, what_the_peer_called_bad_has_to_answer_for_itself)
{
    start(64, 1);
    for (u16 i = 0; i < 63; i++)
        sign(i, MRC_SIGN_BAD);
    live(50 * kMs, 20 * kUs, 0);
    EXPECT_EQ(s.stats.forgiven, 0u);
    EXPECT_GE(s.stats.probes, MRC_PROBE_BURST) << "answers there were";
    EXPECT_GE(s.bad, 63 - MRC_PROBE_BURST / 2 - 1);
}

} // namespace
