// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_verify.cc - probes of planes that carry acknowledgements only.
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ev_rig.h"

namespace {

class verify : public ev_rig {
protected:
    std::optional<u16> next()
    {
        u16 idx;

        if (!idle)
            traffic();
        if (!mrc_evset_verify_next(&s, &r, now, &idx))
            return {};
        EXPECT_TRUE(mrc_ev_usable(&s, idx));
        return idx;
    }
    void answer(u16 idx, bool ecn = false) { mrc_evset_probe_answer(&s, idx, ecn, now); }
    // Acknowledgements of one plane per 5 us, a network of 40 us, for @for_ns. @dead: a plane.
    void live(u64 for_ns, int dead, int dead_ev = -1)
    {
        for (u64 end = now + for_ns; now < end; now += 5 * kUs) {
            for (u8 p = 0; p < s.n_planes; p++)
                heard(p);
            u16 e = mrc_spray_pick_ack(&r, &s, now, false);
            acks[s.ev[e].plane]++;
            if (s.ev[e].plane == static_cast<u32>(dead))
                last_dead = now;
            if (auto idx = next(); idx && static_cast<int>(s.ev[*idx].plane) != dead && *idx != dead_ev)
                answers.push_back({now + 40 * kUs, *idx});
            while (!answers.empty() && answers.front().first <= now) {
                answer(answers.front().second);
                answers.erase(answers.begin());
            }
            ASSERT_EQ(mrc_evset_check(&s), 0);
        }
    }

    std::vector<std::pair<u64, u16>> answers;
    std::map<u32, u32> acks;
    u64 last_dead = 0;
};

TEST_F(verify, an_answer_proves_its_path_and_tells_its_round_trip)
{
    make(4, 1);
    auto idx = next();
    ASSERT_TRUE(idx);
    now += 10 * kUs;
    answer(*idx);
    EXPECT_EQ(state(*idx), MRC_EV_GOOD);
    EXPECT_EQ(s.proven[0], *idx);
    EXPECT_EQ(mrc_evset_srtt_ns(&s, 0), 9984u) << "in ticks";
    EXPECT_EQ(s.plane[0].verify_ev, MRC_NONE16);
}

// The EV, not the plane: another one of it answers.
TEST_F(verify, one_dead_ev_is_told_from_its_plane)
{
    make(32, 4);
    now = 100 * kMs;
    auto dead = next();
    ASSERT_TRUE(dead);
    u8 p = static_cast<u8>(s.ev[*dead].plane);
    live(1 * kMs, -1, *dead);
    EXPECT_EQ(state(*dead), MRC_EV_ASSUMED_BAD);
    EXPECT_EQ(s.bad, 1);
    EXPECT_FALSE(s.plane[p].suspect);
    EXPECT_EQ(s.plane[p].doubt_ev, MRC_NONE16);
    EXPECT_EQ(s.stats.suspicions, 0u);
}

// Three planes, one of 170 us: by that one the answer comes, to whatever was asked.
TEST_F(verify, an_answer_may_take_the_longest_plane)
{
    make(12, 3);
    for (u32 i = 0; i < 100; i++, now += 10 * kUs)
        for (u8 p = 0; p < 3; p++)
            mrc_evset_rtt(&s, p, p == 2 ? 170 * kUs : 20 * kUs, now);
    s.plane[2].ok = true; // data of ours went there just now: no question
    s.plane[2].ok_tick = mrc_ev_tick(now);
    auto idx = next();
    ASSERT_TRUE(idx);
    ASSERT_LT(s.ev[*idx].plane, 2u);
    for (u32 i = 0; i < 30; i++, now += 5 * kUs) {
        for (u8 p = 0; p < 3; p++)
            heard(p);
        next();
        for (u8 p = 0; p < 3; p++)
            EXPECT_EQ(s.plane[p].doubt_ev, MRC_NONE16) << i;
    }
    answer(*idx);
    EXPECT_EQ(s.stats.probes_lost, 0u);
    EXPECT_EQ(s.bad, 0u);
}

// Another EV of the plane answered, so this one was called bad; its answer was only late.
TEST_F(verify, an_answer_that_comes_after_the_verdict_undoes_it)
{
    make(32, 4);
    now = 100 * kMs;
    auto slow = next();
    ASSERT_TRUE(slow);
    while (state(*slow) != MRC_EV_ASSUMED_BAD && now < 102 * kMs)
        live(5 * kUs, -1, *slow);
    ASSERT_EQ(state(*slow), MRC_EV_ASSUMED_BAD);
    answer(*slow);
    EXPECT_EQ(state(*slow), MRC_EV_SKIP);
    EXPECT_EQ(s.stats.forgiven, 1u);
    sign(*slow, MRC_SIGN_BAD);
    answer(*slow); // once
    EXPECT_EQ(state(*slow), MRC_EV_ASSUMED_BAD);
}

// It was readmitted by its probes meanwhile, and asked again: that is answered.
TEST_F(verify, an_ev_that_is_back_answers_its_next_question)
{
    make(8, 2);
    now = 100 * kMs;
    auto slow = next();
    ASSERT_TRUE(slow);
    u8 p = static_cast<u8>(s.ev[*slow].plane);
    while (state(*slow) != MRC_EV_ASSUMED_BAD && now < 102 * kMs)
        live(5 * kUs, -1, *slow);
    answers_to_readmit(*slow);
    ASSERT_EQ(s.plane[p].mute_ev, *slow);
    bool asked = false;
    for (int i = 0; i < 1000 && !asked; i++, now += 20 * kUs) {
        heard(p);
        auto idx = next();
        if (!idx)
            continue;
        asked = *idx == *slow;
        answer(*idx);
        EXPECT_EQ(s.plane[s.ev[*idx].plane].verify_ev, MRC_NONE16);
    }
    EXPECT_TRUE(asked);
}

// Five round trips of 40 us.
TEST_F(verify, acknowledgements_leave_a_dead_plane_within_five_round_trips)
{
    for (int dead = 0; dead < 4; dead++) {
        make(32, 4);
        answers.clear();
        now += 100 * kMs;
        live(2 * kMs, -1);
        ASSERT_EQ(s.stats.suspicions, 0u);
        for (u32 p = 0; p < 4; p++)
            EXPECT_GT(acks[p], 50u);
        std::erase_if(answers, [&](auto &a) { return static_cast<int>(s.ev[a.second].plane) == dead; });
        u64 died = now;
        live(2 * kMs, dead);
        EXPECT_LE(last_dead, died + 5 * 40 * kUs) << "plane " << dead;
        EXPECT_TRUE(s.plane[dead].suspect);
        EXPECT_EQ(s.stats.suspicions, 1u);
        EXPECT_EQ(s.bad, 0) << "no EV is to blame";
    }
}

// A message each millisecond: of each plane nothing was heard for long, so none is asked alone.
TEST_F(verify, planes_of_a_peer_that_says_little_are_asked_in_turns)
{
    std::map<u32, u32> asked;

    make(32, 4);
    for (u8 p = 0; p < 4; p++)
        mrc_evset_rtt(&s, p, 40 * kUs, now);
    now += 100 * kMs;
    for (u32 m = 0; m < 80; m++, now += 1 * kMs) {
        heard(static_cast<u8>(m * 7 % 4));
        if (auto idx = next()) {
            asked[s.ev[*idx].plane]++;
            now += 40 * kUs;
            answer(*idx);
        }
    }
    for (u32 p = 0; p < 4; p++)
        EXPECT_NEAR(asked[p], 20u, 5u) << p;
}

TEST_F(verify, the_silence_of_the_peer_blames_nobody)
{
    make(32, 4);
    now = 100 * kMs;
    live(2 * kMs, -1);
    answers.clear();
    for (int i = 0; i < 1000; i++, now += 200 * kUs)
        next();
    EXPECT_EQ(s.stats.suspicions, 0u);
    EXPECT_EQ(s.watched, 0u);
    EXPECT_EQ(s.bad, 0);
}

TEST_F(verify, a_late_answer_takes_the_doubt_back)
{
    make(8, 2);
    auto idx = next();
    ASSERT_TRUE(idx);
    u8 p = static_cast<u8>(s.ev[*idx].plane);
    now += 1 * kMs;
    heard(1 - p);
    for (int i = 0; i < 2; i++, now += 200 * kUs)      // both planes have their turn
        next();
    EXPECT_EQ(s.plane[p].doubt_ev, *idx);
    for (int i = 0; i < 50; i++)
        EXPECT_NE(s.ev[mrc_spray_pick_ack(&r, &s, now, false)].plane, p);
    answer(*idx);
    EXPECT_EQ(s.plane[p].doubt_ev, MRC_NONE16);
    EXPECT_EQ(s.bad, 0);
    EXPECT_NEAR(static_cast<double>(s.plane[p].srtt_ns), 1.4e6, 100)
        << "else every question would be given up too soon, for ever";
}

// A plane of one EV is in doubt and asked again by the same: one answer is for both questions.
TEST_F(verify, a_lost_answer_of_the_only_ev_is_forgotten)
{
    make(2, 2);
    now = 100 * kMs;
    live(2 * kMs, -1);
    ASSERT_FALSE(answers.empty());
    answers.clear();
    live(20 * kMs, -1);
    EXPECT_GE(s.stats.probes_lost, 1u);
    for (u8 p = 0; p < 2; p++)
        EXPECT_LT(mrc_evset_srtt_ns(&s, p), 100 * kUs);
    EXPECT_EQ(s.watched, 0u);
}

// Seed 17320: the EV in doubt was among those by which the suspect plane was asked, 600 ms later.
TEST_F(verify, an_answer_to_a_suspect_planes_question_is_no_late_answer)
{
    make(8, 2);
    auto idx = next();
    ASSERT_TRUE(idx);
    u8 p = static_cast<u8>(s.ev[*idx].plane);
    now += 1 * kMs;
    heard(1 - p);
    for (int i = 0; i < 2; i++, now += 200 * kUs)
        next();
    ASSERT_EQ(s.plane[p].doubt_ev, *idx);
    u32 srtt = mrc_evset_srtt_ns(&s, p);
    mrc_suspect_make(&s, p, mrc_ev_tick(now), now);
    now += 600 * kMs;
    answer(*idx);
    EXPECT_FALSE(s.plane[p].suspect);
    EXPECT_EQ(s.plane[p].doubt_ev, MRC_NONE16);
    EXPECT_EQ(mrc_evset_srtt_ns(&s, p), srtt);
}

TEST_F(verify, not_where_data_was_delivered_lately)
{
    make(8, 2);
    for (u8 p = 0; p < 2; p++)
        mrc_evset_rtt(&s, p, 100 * kUs, now);
    now += kMs;
    for (int i = 0; i < 100; i++, now += 50 * kUs) {
        // A window's: sent more than two round trips ago, the ACK of a message waits for its end.
        mrc_evset_delivered(&s, 0, 1, mrc_ev_tick(now - 240 * kUs), now);
        if (auto idx = next()) {
            EXPECT_EQ(s.ev[*idx].plane, 1u);
            answer(*idx);
        }
    }
    EXPECT_GT(s.stats.probes, 10u);
}

TEST_F(verify, costs_what_is_earned)
{
    u32 sent = 0, acks_sent = 0;

    make(8, 2);
    idle = true;
    for (; acks_sent < 10000; acks_sent++, now += 10 * kUs) {
        heard(0);
        if (auto idx = next()) {
            sent++;
            answer(*idx);
        }
    }
    EXPECT_GE(sent, acks_sent / (MRC_PROBE_COST + 20));
    EXPECT_LE(sent, acks_sent / MRC_PROBE_COST + MRC_PROBE_BURST + 2);
}

TEST_F(verify, a_doubt_makes_the_next_one_due_and_proves_nothing)
{
    make(8, 2);
    mrc_evset_delivered(&s, 0, 1, 0, now);
    s.verify_ns = now + 1 * kMs;
    EXPECT_FALSE(next());
    mrc_evset_doubt(&s);
    EXPECT_EQ(s.proven[0], MRC_NONE16);
    EXPECT_TRUE(next());
}

TEST_F(verify, a_marked_answer_skips_the_path)
{
    make(4, 1);
    auto idx = next();
    ASSERT_TRUE(idx);
    answer(*idx, true);
    EXPECT_EQ(state(*idx), MRC_EV_SKIP);
}

TEST_F(verify, planes_that_change_end_all_questions)
{
    make(4, 2);
    auto idx = next();
    ASSERT_TRUE(idx);
    mrc_evset_local_planes(&s, s.ev[*idx].plane ? 1 : 2, now);
    now += 10 * kMs;
    mrc_evset_local_planes(&s, 3, now);
    heard(0);
    ASSERT_TRUE(next());
    EXPECT_EQ(s.bad, 0);
    EXPECT_EQ(s.watched, 0u);
    mrc_evset_local_planes(&s, 0, now);
    now += 10 * kMs;
    EXPECT_FALSE(next()) << "no path";
}

// Answers may overtake each other in the peer's receive rings.
TEST_F(verify, a_late_answer_behind_that_of_the_next_forgives)
{
    make(8, 2);
    auto first = next();
    ASSERT_TRUE(first);
    u8 p = static_cast<u8>(s.ev[*first].plane);
    now += 1 * kMs;
    heard(1 - p);
    std::optional<u16> second;
    for (int i = 0; i < 20 && !second; i++, now += 20 * kUs) {
        second = next();
        if (second && (s.ev[*second].plane != p || *second == *first)) {
            answer(*second);
            second.reset();
        }
    }
    ASSERT_TRUE(second);
    answer(*second);
    EXPECT_EQ(state(*first), MRC_EV_ASSUMED_BAD);
    answer(*first);
    EXPECT_EQ(state(*first), MRC_EV_SKIP);
}

TEST_F(verify, an_answer_for_a_path_that_went_bad_meanwhile)
{
    make(4, 1, 1, 1);
    auto idx = next();
    ASSERT_TRUE(idx);
    sign(*idx, MRC_SIGN_LOST);
    answer(*idx);
    EXPECT_EQ(state(*idx), MRC_EV_ASSUMED_BAD);
    EXPECT_EQ(s.proven[0], MRC_NONE16);
    now += 200 * kUs;
    ASSERT_EQ(probes(), (std::vector<u16>{*idx}));
    answer(*idx);               // probed for being bad, any answer counts
    EXPECT_EQ(state(*idx), MRC_EV_SKIP);
}

// Where no data goes, answers that are late each time are all that tells of a longer plane.
TEST_F(verify, who_relapsed_is_given_twice_the_time)
{
    make(8, 1);
    s.plane[0].relapses = 2;
    ASSERT_TRUE(next());
    now += 4 * 400 * kUs - 1 * kUs;
    heard(0);
    next();
    EXPECT_EQ(s.plane[0].doubt_ev, MRC_NONE16);
    now += 2 * kUs;
    next();
    EXPECT_NE(s.plane[0].doubt_ev, MRC_NONE16);
}

} // namespace
