// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_probe.cc - probes: back-off, readmission, pacing, ticks that wrap.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "ev_rig.h"

namespace {

constexpr u64 kTick = 1ull << MRC_TICK_SHIFT;

using probe = ev_rig;

TEST_F(probe, intervals_double_to_the_cap_and_answers_readmit)
{
    std::vector<u64> at;

    make(4, 1, 1, 2);
    u64 lost = now;
    sign(3, MRC_SIGN_LOST);
    EXPECT_TRUE(probes().empty());
    while (at.size() < 8) {
        ASSERT_NE(s.next_probe_ns, MRC_TIME_NEVER);
        now = s.next_probe_ns;
        for (u16 i : probes()) {
            EXPECT_EQ(i, 3);
            at.push_back(now);
        }
    }
    EXPECT_GE(at[0], lost + 100 * kUs);
    EXPECT_LE(at[0], lost + 100 * kUs + kTick);
    for (size_t i = 1; i < at.size(); i++) {
        u64 want = std::min(100 * kUs << (i - 1), 1 * kMs);

        EXPECT_GE(at[i] - at[i - 1], want);
        EXPECT_LE(at[i] - at[i - 1], want + 2 * kTick) << "probe " << i;
    }
    EXPECT_EQ(s.stats.probes, 8u);
    EXPECT_EQ(s.stats.probes_lost, 7u);
    mrc_evset_probe_answer(&s, 3, false, now);
    EXPECT_EQ(state(3), MRC_EV_ASSUMED_BAD);
    EXPECT_EQ(probes(), (std::vector<u16>{3})) << "the second question comes at once";
    mrc_evset_probe_answer(&s, 3, false, now);
    EXPECT_EQ(state(3), MRC_EV_SKIP);
    EXPECT_EQ(s.next_probe_ns, MRC_TIME_NEVER);
    EXPECT_EQ(s.stats.readmissions, 1u);
}

TEST_F(probe, a_marked_answer_readmits_to_skip)
{
    make(4, 1, 1, 1);
    sign(3, MRC_SIGN_LOST);
    now += 200 * kUs;
    ASSERT_EQ(probes().size(), 1u);
    mrc_evset_probe_answer(&s, 3, true, now);
    EXPECT_EQ(state(3), MRC_EV_SKIP);
}

TEST_F(probe, a_lost_probe_starts_the_count_again)
{
    make(4, 1, 1, 3);
    sign(3, MRC_SIGN_LOST);
    now = s.next_probe_ns + kTick;
    for (int i = 0; i < 2; i++) {
        ASSERT_EQ(probes().size(), 1u);
        mrc_evset_probe_answer(&s, 3, false, now);
    }
    ASSERT_EQ(probes().size(), 1u);
    now += 1 * kMs;                     // no answer to the third
    for (int i = 0; i < 2; i++) {
        ASSERT_EQ(probes().size(), 1u);
        mrc_evset_probe_answer(&s, 3, false, now);
        EXPECT_EQ(state(3), MRC_EV_ASSUMED_BAD);
    }
    ASSERT_EQ(probes().size(), 1u);
    mrc_evset_probe_answer(&s, 3, false, now);
    EXPECT_EQ(state(3), MRC_EV_SKIP);
}

TEST_F(probe, an_answer_counts_once)
{
    make(4, 1, 1, 3);
    sign(3, MRC_SIGN_LOST);
    mrc_evset_probe_answer(&s, 3, false, now);
    EXPECT_EQ(s.ev[3].good, 0u) << "not asked yet";
    now += 200 * kUs;
    ASSERT_EQ(probes().size(), 1u);
    for (int i = 0; i < 10; i++)
        mrc_evset_probe_answer(&s, 3, false, now);
    EXPECT_EQ(s.ev[3].good, 1u);
    EXPECT_EQ(state(3), MRC_EV_ASSUMED_BAD);
}

TEST_F(probe, unknown_answers_do_no_harm)
{
    make(4, 1);
    for (u16 id : {0, 3, 4, 4095, 0xffff})
        mrc_evset_probe_answer(&s, id, true, now);
    for (u16 i = 0; i < 4; i++)
        EXPECT_EQ(state(i), MRC_EV_GOOD);
    EXPECT_EQ(s.proven[0], MRC_NONE16);
}

// Answers that come after the next probe was sent: 100 us asked for, 350 us needed.
TEST_F(probe, a_round_trip_longer_than_the_interval_readmits)
{
    std::vector<std::pair<u64, u16>> answers;

    make(4, 1, 1, 3);
    sign(3, MRC_SIGN_LOST);
    for (u64 end = now + 20 * kMs; now < end && state(3) > MRC_EV_SKIP; now += kTick) {
        for (u16 i : probes())
            answers.push_back({now + 350 * kUs, i});
        while (!answers.empty() && answers.front().first <= now) {
            mrc_evset_probe_answer(&s, answers.front().second, false, now);
            answers.erase(answers.begin());
        }
    }
    EXPECT_EQ(state(3), MRC_EV_SKIP);
}

TEST_F(probe, evs_on_a_plane_that_is_down_are_not_probed)
{
    make(8, 2);
    sign(1, MRC_SIGN_LOST);
    sign(5, MRC_SIGN_LOST);
    mrc_evset_local_planes(&s, 2, now);
    now += 1 * kMs;
    EXPECT_EQ(probes(), (std::vector<u16>{5}));
    mrc_evset_local_planes(&s, 0, now);
    now += 5 * kMs;
    EXPECT_TRUE(probes().empty());
    EXPECT_EQ(s.next_probe_ns, MRC_TIME_NEVER);
}

// A timer that calls for a probe which cannot leave would be in the past for ever.
TEST_F(probe, a_late_answer_of_a_plane_that_went_down_makes_nothing_due)
{
    make(8, 2, 1, 3);
    sign(1, MRC_SIGN_LOST);
    now += 1 * kMs;
    ASSERT_EQ(probes(), (std::vector<u16>{1}));
    mrc_evset_local_planes(&s, 0, now);
    ASSERT_EQ(s.next_probe_ns, MRC_TIME_NEVER);
    mrc_evset_probe_answer(&s, 1, false, now);
    EXPECT_EQ(s.next_probe_ns, MRC_TIME_NEVER);
}

// ---- pacing ----

TEST_F(probe, a_whole_set_that_is_due_does_not_come_at_once)
{
    std::map<u16, int> seen;
    size_t most = 0;

    make(MRC_EVS_MAX, 8);
    for (u16 i = 0; i < MRC_EVS_MAX - 1; i++)
        sign(i, MRC_SIGN_LOST);
    ASSERT_EQ(s.bad, MRC_EVS_MAX - 1);
    now += 50 * kMs;
    idle = true;
    for (u64 end = now + 20 * kMs; now < end; now += 10 * kUs) {
        mrc_evset_earn(&s, 500);
        auto v = probes();

        most = std::max(most, v.size());
        for (u16 i : v)
            seen[i]++;
    }
    EXPECT_LE(most, MRC_PROBE_BURST);
    EXPECT_EQ(seen.size(), MRC_EVS_MAX - 1u) << "all had their turn";
    for (auto &[i, n] : seen)
        EXPECT_LE(n, 5) << "EV " << i;
}

// ---- the clock ----

struct probe_clock : ev_rig {
    // How long the probe of @i just sent may take.
    u64 wait_of(u16 i)
    {
        const mrc_evplane &pl = s.plane[s.ev[i].plane];
        u64 wait = std::max<u64>(s.probe_ns, 2ull * pl.srtt_ns + 8ull * pl.var_ns);

        return std::min(wait << std::min(s.ev[i].out - 1u, 10u), s.probe_max_ns);
    }
    // Longest silence of a bad EV that is polled at its deadlines, from @start on.
    void run(u64 start, u64 for_ns)
    {
        std::map<u16, u64> last;

        now = start;
        make(16, 2);
        for (u16 i = 0; i < 8; i++) {
            sign(i, MRC_SIGN_LOST);
            last[i] = now;
        }
        for (u64 end = now + for_ns; now < end;) {
            for (u16 i : probes()) {
                EXPECT_GE(now - last[i], 100 * kUs) << "too early at " << now;
                EXPECT_LE(now - last[i], 1 * kMs + 10 * kTick) << "too late at " << now;
                last[i] = now;
            }
            ASSERT_GT(s.next_probe_ns, now);
            ASSERT_LE(s.next_probe_ns, now + 1 * kMs + kTick);
            now = s.next_probe_ns;
        }
    }
};

TEST_F(probe_clock, goes_on_over_every_wrap)
{
    run(0, 3 * kMs);
    run((1ull << 29) - 2 * kMs, 4 * kMs);       // the tick's sign, and
    run((1ull << 29) * 7 / 2 - 2 * kMs, 4 * kMs);
    run((1ull << 29) * 1000 - 2 * kMs, 4 * kMs);    // its wrap
    run((1ull << 32) - 2 * kMs, 4 * kMs);
    run((1ull << 48) - 2 * kMs, 4 * kMs);
    run(123456789, 1200 * kMs);
}

// Nobody called for so long: all are due, whatever their ticks look like.
TEST_F(probe_clock, long_silence_makes_all_due)
{
    for (u64 silence : {100 * kMs, 134 * kMs, 135 * kMs, 200 * kMs, 267 * kMs, 268 * kMs,
                        269 * kMs, 300 * kMs, 400 * kMs, 536 * kMs, 537 * kMs, 538 * kMs,
                        800 * kMs, 1000 * kMs, 60000 * kMs}) {
        now = 777 * kMs;
        make(16, 2);
        for (u16 i = 0; i < 8; i++)
            sign(i, MRC_SIGN_LOST);
        now += silence;
        std::vector<u16> v = probes();
        EXPECT_EQ(v.size(), 8u) << "after " << silence / kMs << " ms";
    }
}

// ... also when some of them were probed on the way, and with the longest intervals.
TEST_F(probe_clock, silence_in_the_middle)
{
    for (u64 silence = 210 * kMs; silence < 1100 * kMs; silence += 10 * kMs) {
        now = 5 * kMs + silence * 17;
        make(16, 2);
        s.probe_max_ns = 200 * kMs;
        for (u16 i = 0; i < 8; i++) {
            sign(i, MRC_SIGN_LOST);
            now += 3 * kMs;
            probes();
        }
        now += silence;
        EXPECT_EQ(probes().size(), 8u) << "after " << silence / kMs << " ms";
    }
}

// Random calls against the same rules in 64 bits.
TEST_F(probe_clock, ticks_agree_with_64_bits)
{
    std::mt19937_64 rnd(7);
    std::map<u16, u64> due;

    now = (1ull << 29) - 3 * kMs;
    make(64, 4, 1);
    s.probe_max_ns = 200 * kMs;
    for (u8 p = 0; p < 4; p++)          // known, so that no answer changes what is waited
        mrc_evset_rtt(&s, p, 10 * kUs, now);
    for (int n = 0; n < 20000; n++) {
        u16 i = static_cast<u16>(rnd() % 64);

        if (rnd() % 4 == 0 && state(i) <= MRC_EV_SKIP && s.usable > s.min_active) {
            sign(i, MRC_SIGN_LOST);
            due[i] = now + s.probe_ns;
        }
        now += rnd() % 50 ? rnd() % (400 * kUs) : rnd() % (130 * kMs);
        u64 was = now;
        // So many calls that pacing is no excuse.
        for (int k = 0; k < 12; k++, now += 16 * kUs)
            for (u16 p : probes()) {
                ASSERT_TRUE(due.contains(p));
                ASSERT_LE(due[p], now) << "early";
                due[p] = now + wait_of(p);
                if (rnd() % 8)
                    continue;
                mrc_evset_probe_answer(&s, p, false, now);
                due[p] = now;
                if (state(p) <= MRC_EV_SKIP)
                    due.erase(p);
            }
        std::erase_if(due, [&](auto &d) { return state(d.first) <= MRC_EV_SKIP; });
        for (auto &[p, at] : due)
            ASSERT_GE(at + kTick, was) << "EV " << p << " forgotten";
        ASSERT_EQ(mrc_evset_check(&s), 0);
    }
    EXPECT_GT(s.stats.readmissions, 50u);
}

// A plane's round trip is waited for, however short the interval.
TEST_F(probe, the_second_one_waits_for_what_a_round_trip_takes)
{
    make(8, 2);
    for (int i = 0; i < 50; i++)
        mrc_evset_rtt(&s, 0, 10 * kMs, now);
    mrc_evset_sign(&s, 0, MRC_SIGN_BAD, now);
    now += 200 * kUs;
    ASSERT_EQ(probes(), std::vector<u16>{0});
    u64 first = now;
    while (probes().empty())
        now += 100 * kUs;
    EXPECT_GE(now - first, 20 * kMs);
}

} // namespace
