// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_ev.cc - EV states: signs, the floor, the controller, planes, flaps, what is proven.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "ev_rig.h"

namespace {

using ev = ev_rig;

TEST_F(ev, init_refuses_what_is_out_of_range)
{
    mrc_evset_cfg cfg = {};
    u32 value[2] = {1, 2};
    u8 plane[2] = {0, 1}, bad[2] = {0, 2}, order[2] = {1, 0};
    u64 space[64];

    cfg.n = 2;
    cfg.n_planes = 2;
    EXPECT_EQ(mrc_evset_init(&s, space, &cfg, value, plane), 0);
    EXPECT_EQ(mrc_evset_init(&s, space, &cfg, value, bad), -EINVAL);
    EXPECT_EQ(mrc_evset_init(&s, space, &cfg, value, order), -EINVAL) << "not by plane";
    cfg.min_active = 3;
    EXPECT_EQ(mrc_evset_init(&s, space, &cfg, value, plane), -EINVAL);
    cfg.min_active = 0;
    for (u8 n : {0, 33}) {
        cfg.n_planes = n;
        EXPECT_EQ(mrc_evset_init(&s, space, &cfg, value, plane), -EINVAL);
    }
    cfg.n_planes = 2;
    for (u16 n : {0, MRC_EVS_MAX + 1}) {
        cfg.n = n;
        EXPECT_EQ(mrc_evset_init(&s, space, &cfg, value, plane), -EINVAL);
    }
}

TEST_F(ev, sizes)
{
    EXPECT_EQ(sizeof(mrc_ev), 8u);
    EXPECT_EQ(sizeof(mrc_ev_past), 8u);
    EXPECT_EQ(mrc_evset_mem_size(128, false), 2048u + 128u);
    EXPECT_EQ(mrc_evset_mem_size(128, true), 3072u + 128u);
    EXPECT_EQ(mrc_evset_mem_size(MRC_EVS_MAX, false), 65536u + 4096u);
    make(7, 3);     // 3, 2, 2
    EXPECT_EQ(s.start[0], 0);
    EXPECT_EQ(s.start[1], 3);
    EXPECT_EQ(s.start[2], 5);
    EXPECT_EQ(s.start[3], 7);
}

TEST_F(ev, limits_of_the_configuration)
{
    mrc_evset_cfg cfg = {};
    u32 value = 1;
    u8 plane = 0;
    u64 space[4];

    cfg.n = cfg.n_planes = 1;
    cfg.readmit = 200;
    cfg.probe_ns = cfg.probe_max_ns = ~0ull;
    ASSERT_EQ(mrc_evset_init(&s, space, &cfg, &value, &plane), 0);
    EXPECT_EQ(s.readmit, 15);
    EXPECT_EQ(s.probe_max_ns, 200000000u);
    EXPECT_EQ(s.probe_ns, 200000000u);
    cfg = {};
    cfg.n = cfg.n_planes = 1;
    ASSERT_EQ(mrc_evset_init(&s, space, &cfg, &value, &plane), 0);
    EXPECT_EQ(s.readmit, 2);
    EXPECT_EQ(s.probe_ns, 100000u);
    EXPECT_EQ(s.probe_max_ns, 100000000u);
    EXPECT_EQ(s.min_active, 1);
    EXPECT_EQ(s.count, nullptr);
}

// mrc-1.0.md 3.1, every state against every sign.
TEST_F(ev, every_sign_in_every_state)
{
    enum { G = MRC_EV_GOOD, S = MRC_EV_SKIP, B = MRC_EV_ASSUMED_BAD, D = MRC_EV_DENIED };
    const struct {
        mrc_ev_sign sign;
        int after[4];       // of G, S, B (by one loss), D
    } table[] = {
        {MRC_SIGN_ECN, {S, S, B, D}},
        {MRC_SIGN_TRIMMED, {S, S, B, D}},
        {MRC_SIGN_BAD, {B, B, B, D}},
        {MRC_SIGN_LOST, {B, B, B, D}},
        {MRC_SIGN_SPURIOUS, {G, S, S, D}},
        {MRC_SIGN_PROBE_LOST, {B, B, B, D}},
        {MRC_SIGN_PROBE_OK, {G, S, S, D}},
        {MRC_SIGN_DELIVERED, {G, S, B, D}},
    };

    for (auto &t : table)
        for (int from = G; from <= D; from++) {
            make(8, 1);
            if (from == S)
                sign(3, MRC_SIGN_ECN);
            if (from == B)
                sign(3, MRC_SIGN_LOST);
            if (from == D)
                ASSERT_EQ(mrc_evset_set_state(&s, 3, MRC_EV_DENIED, now), 0);
            ASSERT_EQ(state(3), from);
            sign(3, t.sign);
            EXPECT_EQ(state(3), t.after[from]) << "sign " << t.sign << " in state " << from;
            EXPECT_EQ(mrc_evset_check(&s), 0);
        }
}

TEST_F(ev, skips_are_counted_once)
{
    make(4, 1);
    sign(1, MRC_SIGN_TRIMMED);
    sign(1, MRC_SIGN_ECN);
    EXPECT_EQ(s.stats.skips, 1u);
    EXPECT_EQ(s.usable, 4) << "SKIP is usable";
}

TEST_F(ev, copies_of_a_value_are_independent)
{
    make(4, 1);
    s.ev[2].value = s.ev[1].value;
    sign(1, MRC_SIGN_LOST);
    EXPECT_EQ(state(1), MRC_EV_ASSUMED_BAD);
    EXPECT_EQ(state(2), MRC_EV_GOOD);
    EXPECT_EQ(mrc_evset_set_state(&s, 2, MRC_EV_DENIED, now), 0);
    EXPECT_EQ(state(1), MRC_EV_ASSUMED_BAD);
}

TEST_F(ev, counts_are_kept_apart_and_only_when_wanted)
{
    make(4, 1);
    ASSERT_NE(s.count, nullptr);
    mrc_evset_count_tx(&s, 2, 1);
    mrc_evset_count_tx(&s, 2, 1);
    mrc_evset_count_tx(&s, 2, -1);
    EXPECT_EQ(s.count[2].tx_pkts, 1u);
    sign(2, MRC_SIGN_LOST);
    sign(2, MRC_SIGN_LOST);
    EXPECT_EQ(s.count[2].lost_pkts, 2u);
    sign(2, MRC_SIGN_SPURIOUS);
    EXPECT_EQ(s.count[2].lost_pkts, 1u);
    s.count = nullptr;
    mrc_evset_count_tx(&s, 2, 1);
    sign(2, MRC_SIGN_LOST);
    sign(2, MRC_SIGN_SPURIOUS);
}

TEST_F(ev, changes_are_told_once)
{
    make(4, 1);
    mrc_evset_take_change(&s);
    sign(0, MRC_SIGN_LOST);
    EXPECT_TRUE(mrc_evset_take_change(&s));
    EXPECT_FALSE(mrc_evset_take_change(&s));
    sign(1, MRC_SIGN_ECN);
    EXPECT_FALSE(mrc_evset_take_change(&s)) << "SKIP is internal";
}

// Listeners who look rarely know by these how many changes they did not see.
TEST_F(ev, turns_are_counted_each)
{
    struct mrc_ev_turns turns = {};

    make(4, 1);
    s.turns = &turns;
    for (int i = 0; i < 3; i++) {
        sign(0, MRC_SIGN_BAD);
        EXPECT_EQ(turns.bad, i + 1u);
        mrc_evset_set_state(&s, 0, MRC_EV_GOOD, now);
        EXPECT_EQ(turns.good, i + 1u);
    }
    sign(1, MRC_SIGN_ECN);
    mrc_evset_set_state(&s, 2, MRC_EV_DENIED, now);
    EXPECT_EQ(turns.bad, 3u) << "neither SKIP nor DENIED";
    EXPECT_EQ(turns.good, 3u);
    mrc_evset_set_state(&s, 2, MRC_EV_GOOD, now);
    EXPECT_EQ(turns.good, 4u);
}

// A tail probe left by it, for nobody answered by any other.
TEST_F(ev, the_answer_to_a_tail_probe_brings_it_back_at_once)
{
    make(8, 2);
    sign(1, MRC_SIGN_LOST);
    ASSERT_EQ(state(1), MRC_EV_ASSUMED_BAD);
    sign(1, MRC_SIGN_TAIL_OK);
    EXPECT_EQ(state(1), MRC_EV_GOOD);
    EXPECT_EQ(s.proven[0], 1);
    EXPECT_EQ(s.stats.forgiven, 1u);
    sign(5, MRC_SIGN_BAD);
    sign(5, MRC_SIGN_TAIL_OK);
    EXPECT_EQ(state(5), MRC_EV_ASSUMED_BAD) << "the peer said so";
}

// ---- the floor and the controller ----

TEST_F(ev, the_floor_holds)
{
    make(8, 2, 3);
    for (u16 i = 0; i < 8; i++)
        sign(i, MRC_SIGN_LOST);
    EXPECT_EQ(s.usable, 3);
    EXPECT_EQ(s.stats.demotions, 5u);
    EXPECT_EQ(s.stats.floor_hits, 3u);
    EXPECT_EQ(s.bad, 5);
}

TEST_F(ev, denied_wins_over_everything)
{
    make(4, 1);
    sign(1, MRC_SIGN_LOST);
    EXPECT_EQ(mrc_evset_set_state(&s, 1, MRC_EV_DENIED, now), 0);
    EXPECT_EQ(s.bad, 0);
    EXPECT_EQ(s.next_probe_ns, MRC_TIME_NEVER) << "and is not probed";
    mrc_evset_probe_answer(&s, 1, false, now);
    mrc_evset_local_planes(&s, 0, now);
    mrc_evset_local_planes(&s, 1, now);
    EXPECT_EQ(state(1), MRC_EV_DENIED);
    EXPECT_EQ(mrc_evset_set_state(&s, 1, MRC_EV_GOOD, now), 0);
    EXPECT_EQ(state(1), MRC_EV_GOOD);
    EXPECT_EQ(mrc_evset_set_state(&s, 1, MRC_EV_SKIP, now), -EINVAL);
    EXPECT_EQ(mrc_evset_set_state(&s, 1, MRC_EV_ASSUMED_BAD, now), -EINVAL);
    EXPECT_EQ(mrc_evset_set_state(&s, 4, MRC_EV_GOOD, now), -EINVAL);
}

TEST_F(ev, the_controller_may_go_below_the_floor_and_losses_then_take_nothing)
{
    make(8, 1, 4);
    for (u16 i = 0; i < 6; i++)
        EXPECT_EQ(mrc_evset_set_state(&s, i, MRC_EV_DENIED, now), 0);
    EXPECT_EQ(s.usable, 2);
    sign(6, MRC_SIGN_LOST);
    sign(7, MRC_SIGN_BAD);
    EXPECT_EQ(s.usable, 2);
    EXPECT_EQ(s.stats.floor_hits, 2u);
}

// Losses took four, the controller denies more: the bad ones come back, up to the floor.
TEST_F(ev, what_losses_took_is_given_back_when_the_controller_denies)
{
    make(8, 1, 4);
    for (u16 i = 0; i < 4; i++)
        sign(i, MRC_SIGN_LOST);
    ASSERT_EQ(s.usable, 4);
    for (u16 i = 4; i < 7; i++)
        EXPECT_EQ(mrc_evset_set_state(&s, i, MRC_EV_DENIED, now), 0);
    EXPECT_EQ(s.usable, 4);
    EXPECT_EQ(s.bad, 1);
}

// ---- planes ----

TEST_F(ev, a_plane_that_returns_is_forgiven)
{
    make(8, 2);
    sign(0, MRC_SIGN_LOST);
    sign(4, MRC_SIGN_LOST);
    mrc_evset_remote_planes(&s, 2, now);
    mrc_evset_remote_planes(&s, 3, now);
    EXPECT_EQ(state(0), MRC_EV_GOOD);
    EXPECT_EQ(s.ev[0].flaps, 0u) << "the port was the fault";
    EXPECT_EQ(state(4), MRC_EV_ASSUMED_BAD) << "its plane was up all the time";
}

// The last EVs in use were on the plane that goes; the other plane has bad ones only.
TEST_F(ev, the_floor_is_kept_when_a_plane_goes)
{
    make(4, 2);
    sign(0, MRC_SIGN_LOST);
    sign(1, MRC_SIGN_LOST);
    ASSERT_EQ(s.usable, 2);
    mrc_evset_local_planes(&s, 1, now);
    EXPECT_EQ(s.usable, 1);
}

// What comes back to keep the floor comes from all planes alike.
TEST_F(ev, the_floor_is_filled_from_every_plane)
{
    make(32, 4, 8);
    for (u16 i = 0; i < 24; i++)
        sign(i, MRC_SIGN_LOST);
    ASSERT_EQ(s.usable, 8);
    mrc_evset_local_planes(&s, 7, now);     // the plane of the eight
    EXPECT_EQ(s.usable, 8);
    EXPECT_EQ(s.usable_on[0], 3);
    EXPECT_EQ(s.usable_on[1], 3);
    EXPECT_EQ(s.usable_on[2], 2);
}

TEST_F(ev, losses_on_a_plane_that_is_down_do_not_touch_the_floor)
{
    make(8, 2, 4);
    mrc_evset_local_planes(&s, 1, now);
    sign(5, MRC_SIGN_LOST);
    EXPECT_EQ(state(5), MRC_EV_ASSUMED_BAD);
    sign(0, MRC_SIGN_LOST);
    EXPECT_EQ(state(0), MRC_EV_GOOD);
    EXPECT_EQ(s.stats.floor_hits, 1u);
}

// ---- how long SKIP lasts ----

TEST_F(ev, a_sign_about_what_was_sent_before_the_first_one_says_nothing_new)
{
    make(8, 1);
    sign(3, MRC_SIGN_ECN);
    for (int i = 0; i < 4; i++) {       // met, GOOD again, not picked
        EXPECT_EQ(s.ev[3].level, 1u);
        EXPECT_EQ(s.ev[3].passes, 1u);
        EXPECT_TRUE(mrc_ev_pass_over(&s, &s.ev[3], true));
        EXPECT_EQ(s.skip_on[0], 0);
        sign(3, i % 2 ? MRC_SIGN_ECN : MRC_SIGN_TRIMMED);
    }
}

TEST_F(ev, levels_rise_with_each_sign_and_fall_with_each_clean_lap)
{
    int passes[] = {1, 4, 29, 29};      // of the last level every other one counts

    make(8, 1);
    for (int want : passes) {
        s.half = true;
        sign(3, MRC_SIGN_ECN);
        sign(3, MRC_SIGN_TRIMMED);      // says nothing new
        EXPECT_EQ(s.skip_on[0], 1);
        for (int i = 1; i < want; i++)
            EXPECT_FALSE(mrc_ev_pass_over(&s, &s.ev[3], true)) << i;
        EXPECT_FALSE(mrc_ev_pass_over(&s, &s.ev[3], false)) << "one per packet";
        EXPECT_TRUE(mrc_ev_pass_over(&s, &s.ev[3], true));
        mrc_ev_taken(&s.ev[3]);
    }
    for (u32 level : {2, 1, 0, 0}) {
        mrc_ev_taken(&s.ev[3]);
        EXPECT_EQ(s.ev[3].level, level);
        EXPECT_EQ(mrc_evset_check(&s), 0);
    }
    sign(3, MRC_SIGN_ECN);
    EXPECT_EQ(s.ev[3].passes, 1u) << "all forgotten";
}

// A mark is a queue that fills, a trim one that is full.
TEST_F(ev, a_trim_weighs_more_than_a_mark)
{
    int passes = 0;

    make(8, 1);
    sign(3, MRC_SIGN_TRIMMED);
    EXPECT_EQ(s.ev[3].level, 3u);
    while (!mrc_ev_pass_over(&s, &s.ev[3], true))
        ASSERT_LT(++passes, 40);
    EXPECT_GE(passes, 20);
    mrc_ev_taken(&s.ev[3]);
    sign(3, MRC_SIGN_TRIMMED);
    EXPECT_EQ(s.ev[3].level, 3u);
    sign(4, MRC_SIGN_ECN);
    EXPECT_EQ(s.ev[4].level, 1u);
    EXPECT_EQ(mrc_evset_check(&s), 0);
}

// Nothing is starved by EVs of the last level that are met in turn.
TEST_F(ev, all_of_the_last_level_come_back)
{
    make(16, 1);
    for (u16 i : {3, 4, 5}) {
        sign(i, MRC_SIGN_LOST);
        sign(i, MRC_SIGN_SPURIOUS);
    }
    int laps = 0;
    for (; s.skip_on[0] && laps < 100; laps++)
        for (u16 i : {3, 4, 5})
            if (state(i) == MRC_EV_SKIP)
                mrc_ev_pass_over(&s, &s.ev[i], true);
    EXPECT_GE(laps, 29);
    EXPECT_LE(laps, 60);
}

TEST_F(ev, what_comes_back_is_passed_over_for_long)
{
    make(8, 1, 1, 1);
    sign(3, MRC_SIGN_LOST);
    answers_to_readmit(3);
    EXPECT_EQ(state(3), MRC_EV_SKIP);
    EXPECT_EQ(s.ev[3].passes, 15u);
    EXPECT_EQ(s.ev[3].flaps, 1u);
    sign(4, MRC_SIGN_LOST);
    sign(4, MRC_SIGN_SPURIOUS);
    EXPECT_EQ(s.ev[4].passes, 15u);
    sign(4, MRC_SIGN_LOST);             // from SKIP, too
    EXPECT_EQ(s.skip_on[0], 1);
    EXPECT_EQ(mrc_evset_set_state(&s, 3, MRC_EV_GOOD, now), 0);
    EXPECT_EQ(s.ev[3].level, 0u);
    EXPECT_EQ(s.skip_on[0], 0);
}

// The level of a usable EV is kept where a bad one notes what its probes do.
TEST_F(ev, late_answers_do_not_touch_the_level)
{
    make(8, 1, 1, 1);
    sign(3, MRC_SIGN_LOST);
    answers_to_readmit(3);
    mrc_evset_probe_answer(&s, 3, false, now);
    EXPECT_EQ(s.ev[3].passes, 15u);
    EXPECT_EQ(s.ev[3].level, u32{MRC_EV_LEVEL_MAX});
    EXPECT_EQ(s.stats.readmissions, 1u);
}

TEST_F(ev, nobody_waits_when_most_are_congested)
{
    make(8, 2);
    for (u16 i = 0; i < 3; i++)
        sign(i, MRC_SIGN_LOST);
    for (u16 i = 0; i < 2; i++)
        sign(i, MRC_SIGN_SPURIOUS);
    ASSERT_EQ(s.usable_on[0], 3);       // two of three
    EXPECT_TRUE(mrc_ev_pass_over(&s, &s.ev[0], true));
    EXPECT_EQ(s.skip_on[0], 1);         // one of three
    EXPECT_FALSE(mrc_ev_pass_over(&s, &s.ev[1], true));
}

// ---- losses that were none ----

TEST_F(ev, a_loss_that_was_none_is_taken_back)
{
    make(4, 1);
    sign(1, MRC_SIGN_LOST);
    now += 50000;
    sign(1, MRC_SIGN_SPURIOUS);
    EXPECT_EQ(state(1), MRC_EV_SKIP);
    EXPECT_EQ(s.stats.spurious, 1u);
    EXPECT_EQ(s.ev[1].flaps, 0u);
}

TEST_F(ev, packets_found_lost_at_one_moment_are_one_loss)
{
    make(4, 1);
    for (int i = 0; i < 5; i++)
        sign(1, MRC_SIGN_LOST);
    sign(1, MRC_SIGN_SPURIOUS);
    EXPECT_EQ(state(1), MRC_EV_SKIP);
}

// It was silent for long, and yet a packet of it arrives: it lives.
TEST_F(ev, any_number_of_losses_is_taken_back)
{
    make(4, 1);
    for (int i = 0; i < 5; i++, now += 20000)
        sign(1, MRC_SIGN_LOST);
    sign(1, MRC_SIGN_SPURIOUS);
    EXPECT_EQ(state(1), MRC_EV_SKIP);
    EXPECT_EQ(s.stats.spurious, 1u);
}

TEST_F(ev, but_not_what_the_peer_said)
{
    make(8, 1);
    sign(1, MRC_SIGN_BAD);
    sign(1, MRC_SIGN_SPURIOUS);
    EXPECT_EQ(state(1), MRC_EV_ASSUMED_BAD);
    sign(2, MRC_SIGN_LOST);
    sign(2, MRC_SIGN_BAD);
    sign(2, MRC_SIGN_SPURIOUS);
    EXPECT_EQ(state(2), MRC_EV_ASSUMED_BAD);
}

// ---- flaps ----

TEST_F(ev, an_ev_that_flaps_needs_more_answers_each_time)
{
    make(4, 1, 1, 2);
    for (u32 need : {2, 4, 8, 15, 15}) {
        sign(3, MRC_SIGN_LOST);
        EXPECT_EQ(answers_to_readmit(3), need);
        now += 10 * kUs;
    }
    EXPECT_EQ(s.stats.readmissions, 5u);
}

TEST_F(ev, flaps_are_forgotten_one_by_one_while_it_is_good)
{
    make(4, 1, 1, 2);
    for (int i = 0; i < 3; i++) {
        sign(3, MRC_SIGN_LOST);
        answers_to_readmit(3);
    }
    ASSERT_EQ(s.ev[3].flaps, 3u);
    now += 25 * kMs;                // two times the ten longest intervals that one takes
    sign(3, MRC_SIGN_LOST);
    EXPECT_EQ(answers_to_readmit(3), 4u);
    now += 500 * kMs;
    sign(3, MRC_SIGN_LOST);
    EXPECT_EQ(answers_to_readmit(3), 2u);
}

TEST_F(ev, the_controllers_word_forgets_flaps)
{
    make(4, 1, 1, 2);
    for (int i = 0; i < 3; i++) {
        sign(3, MRC_SIGN_LOST);
        answers_to_readmit(3);
    }
    EXPECT_EQ(mrc_evset_set_state(&s, 3, MRC_EV_DENIED, now), 0);
    EXPECT_EQ(mrc_evset_set_state(&s, 3, MRC_EV_GOOD, now), 0);
    sign(3, MRC_SIGN_LOST);
    EXPECT_EQ(answers_to_readmit(3), 2u);
}

// ---- proven ----

TEST_F(ev, what_delivered_is_proven_until_something_speaks_against_it)
{
    make(8, 2);
    EXPECT_EQ(s.proven[0], MRC_NONE16);
    sign(1, MRC_SIGN_DELIVERED);
    sign(6, MRC_SIGN_DELIVERED);
    EXPECT_EQ(s.proven[0], 1);
    EXPECT_EQ(s.proven[1], 6);
    sign(2, MRC_SIGN_LOST);
    EXPECT_EQ(s.proven[0], 1);
    sign(1, MRC_SIGN_LOST);
    EXPECT_EQ(s.proven[0], MRC_NONE16);
    EXPECT_EQ(mrc_evset_set_state(&s, 6, MRC_EV_DENIED, now), 0);
    EXPECT_EQ(s.proven[1], MRC_NONE16);
    sign(1, MRC_SIGN_DELIVERED);
    EXPECT_EQ(s.proven[0], MRC_NONE16) << "it is bad: a late packet is no proof";
}

TEST_F(ev, the_floor_saves_an_ev_but_not_its_reputation)
{
    make(2, 1, 2);
    sign(1, MRC_SIGN_DELIVERED);
    sign(1, MRC_SIGN_LOST);
    EXPECT_EQ(state(1), MRC_EV_GOOD);
    EXPECT_EQ(s.proven[0], MRC_NONE16);
}

TEST_F(ev, a_readmitted_ev_is_proven)
{
    make(4, 1, 1, 1);
    sign(3, MRC_SIGN_LOST);
    EXPECT_EQ(answers_to_readmit(3), 1u);
    EXPECT_EQ(s.proven[0], 3);
}

// ---- the check itself ----

TEST_F(ev, check_sees_what_is_wrong)
{
    auto broken = [&](auto &&change) {
        make(8, 2);
        ASSERT_EQ(mrc_evset_check(&s), 0);
        change();
        EXPECT_NE(mrc_evset_check(&s), 0);
        mem.clear();
    };

    broken([&] { s.usable--; });
    broken([&] { s.bad++; });
    broken([&] { s.usable_on[1]++; });
    broken([&] { s.ev[0].plane = 1; });
    broken([&] { s.ev[0].plane = 7; });
    broken([&] { s.ev[0].passes = 1; });
    broken([&] { s.ev[0].picked = 1; });
    broken([&] { s.bad_on[1]++; });
    broken([&] { s.skip_on[0]++; });
    broken([&] { sign(1, MRC_SIGN_ECN); s.ev[1].passes = 2; });
    broken([&] { sign(1, MRC_SIGN_ECN); s.ev[1].passes = 0; });
    broken([&] { mrc_evset_set_state(&s, 1, MRC_EV_DENIED, now); s.ev[1].out = 1; });
    broken([&] { s.proven[0] = 4; });
    broken([&] { sign(1, MRC_SIGN_LOST); s.proven[0] = 1; });
    broken([&] { sign(1, MRC_SIGN_LOST); s.next_probe_ns = MRC_TIME_NEVER; });
    broken([&] { sign(1, MRC_SIGN_LOST); s.ev[1].level = 1; });
}

TEST_F(ev, a_flow_of_ordinary_ip_keeps_its_ev)
{
    make(8, 2);
    for (u32 k = 0; k < 8; k++)
        EXPECT_EQ(mrc_evset_of_flow(&s, k << 29 | 12345), k);
    mrc_evset_set_state(&s, 3, MRC_EV_DENIED, now);
    EXPECT_EQ(mrc_evset_of_flow(&s, 3u << 29), 4u) << "the next one that is usable";
    EXPECT_EQ(mrc_evset_of_flow(&s, 4u << 29), 4u);
    mrc_evset_local_planes(&s, 1, now);
    EXPECT_EQ(mrc_evset_of_flow(&s, 7u << 29), 0u) << "round";
    mrc_evset_local_planes(&s, 0, now);
    EXPECT_EQ(mrc_evset_of_flow(&s, 7u << 29), MRC_NONE16);
}

TEST_F(ev, what_is_shown_is_what_there_is)
{
    mrc_evset_sum sum;
    mrc_ev_info info;

    make(8, 2);
    mrc_evset_set_state(&s, 3, MRC_EV_DENIED, now);
    mrc_evset_count_tx(&s, 5, 2);
    mrc_evset_sum_up(&s, &sum);
    EXPECT_EQ(sum.n, 8u);
    EXPECT_EQ(sum.usable, 7u);
    EXPECT_EQ(sum.in_state[MRC_EV_GOOD], 7u);
    EXPECT_EQ(sum.in_state[MRC_EV_DENIED], 1u);
    mrc_evset_info(&s, 3, &info);
    EXPECT_EQ(info.state, MRC_EV_DENIED);
    mrc_evset_info(&s, 5, &info);
    EXPECT_EQ(info.value, 1005u);
    EXPECT_EQ(info.plane, 1u);
    EXPECT_EQ(info.tx_pkts, 2u);
}

} // namespace
