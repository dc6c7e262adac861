// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_suspect.cc - planes that are suspect as a whole: how they become so, what clears them.
#include <map>
#include <set>
#include <vector>

#include "ev_rig.h"

namespace {

class suspect : public ev_rig {
protected:
    u32 tick() { return mrc_ev_tick(now); }
    void deliver(u16 idx, u32 sent) { mrc_evset_delivered(&s, static_cast<u8>(s.ev[idx].plane), idx, sent, now); }
    void lose(u16 idx, u32 sent) { mrc_evset_lost(&s, idx, sent, false, now); }
    bool overdue(u8 p, u32 sent) { return mrc_evset_overdue(&s, p, sent, now); }
    // Plane 2 of four is suspect.
    void plane_2()
    {
        make(32, 4, 8);
        for (u8 p = 0; p < 4; p++)
            mrc_evset_rtt(&s, p, 20 * kUs, now);
        at = tick();
        now += 30 * kUs;
        deliver(0, tick());
        ASSERT_TRUE(overdue(2, at));
    }
    u32 at = 0;
};

TEST_F(suspect, what_is_denied_is_not_proven)
{
    make(8, 2);
    ASSERT_EQ(mrc_evset_set_state(&s, 1, MRC_EV_DENIED, now), 0);
    deliver(2, tick());
    EXPECT_EQ(s.proven[0], 2);
    deliver(1, tick());
    EXPECT_EQ(s.proven[0], 2) << "sent before the controller's word";
}

TEST_F(suspect, by_what_is_late_while_others_deliver)
{
    make(32, 4);
    u32 sent = tick();
    now += 30 * kUs;
    EXPECT_FALSE(overdue(2, sent)) << "nobody delivered: nobody is suspect";
    deliver(0, sent - 1);
    EXPECT_FALSE(overdue(2, sent)) << "nor sent before it";
    deliver(16, sent + 1);
    EXPECT_FALSE(overdue(2, sent)) << "by itself";
    deliver(0, sent + 1);
    EXPECT_FALSE(overdue(2, sent)) << "something later of it arrived";
    EXPECT_TRUE(overdue(3, sent));
    EXPECT_TRUE(overdue(3, sent)) << "still";
    EXPECT_EQ(s.stats.suspicions, 1u);
}

TEST_F(suspect, nothing_leaves_by_it_and_the_floor_is_not_its)
{
    plane_2();
    EXPECT_EQ(s.in_use, 0xbu);
    EXPECT_EQ(s.usable, 24);
    EXPECT_EQ(s.floor, 6);
    for (int i = 0; i < 100; i++) {
        EXPECT_NE(s.ev[pick()].plane, 2u);
        EXPECT_NE(s.ev[mrc_spray_pick_ack(&r, &s, now, i % 2)].plane, 2u);
        EXPECT_NE(s.ev[mrc_spray_pick_off(&r, &s, MRC_NONE16, 1)].plane, 2u);
    }
}

TEST_F(suspect, its_packets_wait_a_quarter_of_a_round_trip_more)
{
    plane_2();
    EXPECT_EQ(mrc_evset_lost_ns(&s, 2), 25 * kUs);
    EXPECT_GE(mrc_evset_lost_ns(&s, 1), 30 * kUs);
}

TEST_F(suspect, one_delivery_of_what_was_sent_since_clears_it)
{
    plane_2();
    deliver(17, at);
    EXPECT_TRUE(s.plane[2].suspect) << "sent before";
    deliver(17, at + 1);
    EXPECT_FALSE(s.plane[2].suspect);
    EXPECT_EQ(s.in_use, 0xfu);
    EXPECT_EQ(s.floor, 8);
}

TEST_F(suspect, losses_on_it_blame_no_ev)
{
    plane_2();
    for (int i = 0; i < 5; i++, now += 100 * kUs)
        for (u16 k = 16; k < 24; k++)
            lose(k, at);
    EXPECT_EQ(s.bad, 0);
    deliver(23, tick());
    EXPECT_FALSE(s.plane[2].suspect);
    EXPECT_EQ(s.bad, 0) << "it was away for 500 us";
    EXPECT_EQ(s.open, 0);
}

// It answers at once: half of it is dead, and those that lost packets are to blame.
TEST_F(suspect, losses_on_a_plane_that_lives_blame_their_evs)
{
    plane_2();
    for (u16 k = 16; k < 20; k++)
        mrc_evset_lost(&s, k, at, true, now);
    EXPECT_EQ(s.bad, 0);
    now += 50 * kUs;
    deliver(23, tick());
    EXPECT_FALSE(s.plane[2].suspect);
    EXPECT_EQ(s.bad, 4);
    for (u16 k = 16; k < 24; k++)
        EXPECT_EQ(state(k), k < 20 ? MRC_EV_ASSUMED_BAD : MRC_EV_GOOD) << k;
}

// Those that were blamed before it was known are excused when it comes back; half a
// plane's dead EVs, which did not answer in all that time, are not.
TEST_F(suspect, demotions_of_just_before_are_forgiven)
{
    make(32, 4);
    for (u8 p = 0; p < 4; p++)
        mrc_evset_rtt(&s, p, 20 * kUs, now);
    u32 sent = tick();
    now += 30 * kUs;
    deliver(0, sent + 100);
    mrc_evset_lost(&s, 16, sent, true, now);
    EXPECT_EQ(state(16), MRC_EV_ASSUMED_BAD);
    mrc_evset_lost(&s, 17, sent, true, now);
    EXPECT_TRUE(s.plane[2].suspect) << "two EVs, and no delivery between";
    EXPECT_EQ(s.bad, 1);
    now += 5 * kMs;
    deliver(18, tick());
    EXPECT_EQ(s.bad, 0);
}

// A message each millisecond: the second one that meets the dead plane is the last.
TEST_F(suspect, lone_messages_find_out_by_the_second_loss)
{
    u32 met = 0;

    make(32, 4);
    for (int m = 0; m < 200; m++, now += 1 * kMs) {
        u16 e = pick();

        if (s.ev[e].plane == 2) {
            met++;
            u32 sent = tick();
            now += 100 * kUs;
            lose(e, sent);
            e = mrc_spray_pick_off(&r, &s, e, 1u << 2);
        }
        u32 sent = tick();
        now += 20 * kUs;
        deliver(e, sent);
    }
    EXPECT_EQ(met, 2u);
}

// Unless another EV is asked meanwhile: then none meets it again.
TEST_F(suspect, a_lost_lone_message_has_the_plane_asked)
{
    for (bool dead : {true, false}) {
        u32 met = 0;

        make(32, 4);
        for (u8 p = 0; p < 4; p++)
            mrc_evset_rtt(&s, p, 20 * kUs, now);
        for (int m = 0; m < 100; m++) {
            u16 e = pick(), lost = 17;
            u64 next = now + 1 * kMs;

            if (dead ? s.ev[e].plane == 2 : e == lost) {
                met++;
                u32 sent = tick();
                now += 100 * kUs;
                lose(e, sent);
                lost = e;
                EXPECT_TRUE(probes().empty()) << "not before a round trip";
                e = mrc_spray_pick_off(&r, &s, e, 1u << 2);
            }
            u32 sent = tick();
            now += 20 * kUs;
            deliver(e, sent);
            while (now < next) {
                auto v = probes();
                now += 20 * kUs;
                for (u16 i : v) {
                    EXPECT_EQ(s.ev[i].plane, 2u);
                    EXPECT_TRUE(dead || i != lost || state(i) == MRC_EV_ASSUMED_BAD) << "another EV";
                    if (!dead && i != lost)
                        mrc_evset_probe_answer(&s, i, false, now);
                }
            }
        }
        if (dead)
            EXPECT_EQ(met, 1u);
        EXPECT_EQ(s.stats.suspicions, dead ? 1u : 0u);
        EXPECT_EQ(s.plane[2].suspect, dead);
    }
}

// Nothing else was delivered since: the peer, or the whole fabric, is silent.
// The patience for an answer may be several messages long.
TEST_F(suspect, a_plane_that_is_asked_has_no_turn_until_it_answers)
{
    make(32, 4);
    for (u8 p = 0; p < 4; p++)
        mrc_evset_rtt(&s, p, 20 * kUs, now);
    u32 sent = tick();
    now += 100 * kUs;
    lose(17, sent);
    now += 40 * kUs;
    EXPECT_GT(s.share[2], MRC_SHARE_FULL / 2) << "one loss takes nothing";
    auto v = probes();
    ASSERT_EQ(v.size(), 1u);
    for (int i = 0; i < 100; i++)
        EXPECT_NE(s.ev[pick()].plane, 2u);
    EXPECT_FALSE(s.plane[2].suspect);
    now += 20 * kUs;
    mrc_evset_probe_answer(&s, v[0], false, now);
    EXPECT_EQ(s.share[2], MRC_SHARE_FULL);
}

TEST_F(suspect, a_question_that_nobody_could_answer_tells_nothing)
{
    make(32, 4);
    for (u8 p = 0; p < 4; p++) {
        mrc_evset_rtt(&s, p, 20 * kUs, now);
        deliver(static_cast<u16>(p * 8), tick());
    }
    now += 100 * kUs;
    lose(16, tick() - 1000);
    u32 asked = 0;
    for (int i = 0; i < 1000; i++, now += 20 * kUs)
        asked += static_cast<u32>(probes().size());
    EXPECT_EQ(asked, 1u) << "and once";
    EXPECT_EQ(s.stats.suspicions, 0u);
    deliver(0, tick() - 10);
    for (int i = 0; i < 1000; i++, now += 20 * kUs)
        probes();
    EXPECT_EQ(s.stats.suspicions, 0u);
    EXPECT_EQ(s.next_probe_ns, MRC_TIME_NEVER);
}

// The plane delivered meanwhile; half a second later the EV that was asked answers something else.
TEST_F(suspect, an_answer_to_something_else_is_no_round_trip)
{
    make(32, 4);
    for (u8 p = 0; p < 4; p++)
        mrc_evset_rtt(&s, p, 20 * kUs, now);
    lose(16, tick());
    std::vector<u16> asked;
    for (; asked.empty() && now < 10 * kMs; now += 10 * kUs)
        asked = probes();
    ASSERT_EQ(asked.size(), 1u);
    for (int then = 0; then < 3; then++) {
        if (then == 1)
            deliver(20, tick());
        if (then == 2)
            mrc_suspect_make(&s, 2, tick(), now);
        now += 500 * kMs;
        mrc_evset_probe_answer(&s, asked[0], false, now);
        EXPECT_LT(mrc_evset_srtt_ns(&s, 2), 30 * kUs);
    }
}

// mrcsim, lone messages of which 2 % are lost, seed 128: a verification got lost, nothing called for another one, and
// 97 ms later the same EV was asked after a loss. Its answer was the round trip of the plane, which then waited 75 ms.
TEST_F(suspect, an_answer_is_not_to_an_old_verification_of_the_same_ev)
{
    mrc_spray verifier;
    std::vector<u16> order(MRC_SPRAY_LEN(8)), asked;
    u16 old;

    make(8, 4);
    mrc_spray_init(&verifier, order.data(), 8, 1);
    for (u8 p = 0; p < 4; p++)
        mrc_evset_rtt(&s, p, 20 * kUs, now);
    now += 1 * kMs;
    s.verify_pkts = 1000;
    ASSERT_TRUE(mrc_evset_verify_next(&s, &verifier, now, &old));
    now += 97 * kMs;
    u16 other = old ^ 1;
    ASSERT_EQ(s.ev[other].plane, s.ev[old].plane);
    lose(other, tick());
    for (u64 end = now + 1 * kMs; asked.empty() && now < end; now += 10 * kUs)
        asked = probes();
    ASSERT_EQ(asked, std::vector<u16>{old});
    now += 20 * kUs;
    mrc_evset_probe_answer(&s, old, false, now);
    EXPECT_LT(mrc_evset_srtt_ns(&s, static_cast<u8>(s.ev[old].plane)), 30 * kUs);
    EXPECT_EQ(s.querying, 0u) << "that was what it answered";
    EXPECT_EQ(s.verifying, 0u);
}

// A tick from half the clock away (fuzz_ev): asked once all the same.
TEST_F(suspect, an_answer_ends_the_question_whatever_the_loss_said)
{
    make(32, 4);
    for (u8 p = 0; p < 4; p++)
        mrc_evset_rtt(&s, p, 20 * kUs, now);
    lose(16, tick() + 0x7fffff00u);
    u32 asked = 0;
    for (int i = 0; i < 1000; i++, now += 20 * kUs)
        for (u16 idx : probes()) {
            asked++;
            mrc_evset_probe_answer(&s, idx, false, now);
        }
    EXPECT_EQ(asked, 1u);
}

TEST_F(suspect, a_plane_of_one_ev_has_no_other_to_ask_by)
{
    make(4, 4);
    for (u8 p = 0; p < 4; p++)
        mrc_evset_rtt(&s, p, 20 * kUs, now);
    lose(2, tick());
    for (int i = 0; i < 100; i++, now += 20 * kUs)
        EXPECT_TRUE(probes().empty());
    EXPECT_EQ(s.next_probe_ns, MRC_TIME_NEVER);
}

// The other way round: everything is silent, then all is resent.
TEST_F(suspect, when_all_are_silent_nobody_is_suspect)
{
    make(32, 4);
    for (u16 i = 0; i < 32; i += 8)
        deliver(i, tick());
    u32 sent = tick() + 1;
    now += 67 * kMs;
    for (u16 i = 0; i < 32; i++) {
        EXPECT_FALSE(overdue(static_cast<u8>(s.ev[i].plane), sent));
        lose(i, sent);
    }
    EXPECT_EQ(s.stats.suspicions, 0u);
    EXPECT_EQ(s.bad, 0);
}

// Minutes without traffic: ticks of before them are no later than those of after, wrap or not.
TEST_F(suspect, a_plane_that_dies_after_a_long_silence_is_found)
{
    for (u64 secs : {60, 100, 150, 200, 250, 270}) {
        make(32, 4);
        for (u16 i = 0; i < 32; i += 8)
            deliver(i, tick());
        now += secs * 1000 * kMs;
        u32 sent = tick();
        now += 30 * kUs;
        EXPECT_FALSE(overdue(0, sent)) << "nobody delivered since";
        deliver(8, tick() - 1);
        EXPECT_EQ(s.plane[1].ok_tick, tick() - 1) << secs;
        EXPECT_TRUE(overdue(0, sent)) << secs;
        EXPECT_FALSE(overdue(1, sent)) << secs;
    }
}

TEST_F(suspect, the_last_plane_in_use_is_never_suspect)
{
    make(32, 4);
    for (u8 p = 0; p < 3; p++) {
        u32 sent = tick();
        now += 30 * kUs;
        deliver(31, tick());
        EXPECT_TRUE(overdue(p, sent));
    }
    EXPECT_EQ(s.in_use, 8u);
    EXPECT_FALSE(overdue(3, tick() + 1));
    EXPECT_EQ(s.floor, 1);
    // And when it goes, the others are better than nothing.
    mrc_evset_local_planes(&s, 7, now);
    EXPECT_EQ(s.in_use, 7u);
    EXPECT_FALSE(s.plane[0].suspect);
}

// 7 of 8 planes silently dead, floor n / 4: none of it goes there.
TEST_F(suspect, seven_of_eight)
{
    make(64, 8, 16);
    for (u8 p = 0; p < 7; p++) {
        u32 sent = tick();
        now += 30 * kUs;
        deliver(63, tick());
        EXPECT_TRUE(overdue(p, sent));
    }
    for (int i = 0; i < 100; i++)
        EXPECT_EQ(s.ev[pick()].plane, 7u);
    EXPECT_EQ(s.stats.floor_hits, 0u);
}

// ---- its probes ----

TEST_F(suspect, two_evs_are_asked_at_once_and_then_ever_more_seldom)
{
    plane_2();
    u64 begin = now;
    auto v = probes();
    ASSERT_EQ(v.size(), 2u);
    EXPECT_NE(v[0], v[1]);
    EXPECT_EQ(s.ev[v[0]].plane, 2u);
    EXPECT_EQ(s.ev[v[1]].plane, 2u);
    for (u64 last = now; now < begin + 2000 * kMs; last = now) {
        now = s.next_probe_ns;
        ASSERT_EQ(probes().size(), 1u);
        u64 want = std::max(200 * kUs, (last - begin) / 64);
        EXPECT_NEAR(static_cast<double>(now - last), static_cast<double>(want), 1000);
    }
}

TEST_F(suspect, an_answer_clears_it)
{
    plane_2();
    auto v = probes();
    mrc_evset_probe_answer(&s, v[1], false, now + 20 * kUs);
    EXPECT_FALSE(s.plane[2].suspect);
    EXPECT_EQ(s.next_probe_ns, MRC_TIME_NEVER);
}

// Away for @away: used again within 2 ms.
TEST_F(suspect, a_plane_that_returns_is_used_at_once)
{
    for (u64 away : {14 * kMs, 105 * kMs}) {
        plane_2();
        u64 back = now + away;
        while (s.plane[2].suspect) {
            now = s.next_probe_ns;
            for (u16 i : probes())
                if (now >= back)
                    mrc_evset_probe_answer(&s, i, false, now);
        }
        EXPECT_LE(now, back + 2 * kMs) << away;
    }
}

TEST_F(suspect, a_port_that_went_and_came_is_not_suspect)
{
    plane_2();
    mrc_evset_local_planes(&s, 0xb, now);
    EXPECT_FALSE(s.plane[2].suspect);
    EXPECT_EQ(s.next_probe_ns, MRC_TIME_NEVER);
    mrc_evset_local_planes(&s, 0xf, now);
    EXPECT_EQ(s.in_use, 0xfu);
}

TEST_F(suspect, a_false_alarm_clears_it)
{
    plane_2();
    mrc_evset_false_alarm(&s, 2, 17, at, 90 * kUs, now);
    EXPECT_FALSE(s.plane[2].suspect);
    EXPECT_GE(mrc_evset_lost_ns(&s, 2), 90 * kUs) << "so late is not lost";
}

TEST_F(suspect, a_false_alarm_about_what_left_before_does_not)
{
    plane_2();
    mrc_evset_false_alarm(&s, 2, 17, at - 1, 90 * kUs, now);
    EXPECT_TRUE(s.plane[2].suspect) << "it may have died behind that one";
}

// Bad paths of a suspect plane are not asked one by one, nor is the plane by them.
TEST_F(suspect, it_is_asked_by_usable_paths_alone)
{
    plane_2();
    for (u16 i = 16; i < 19; i++)
        mrc_evset_sign(&s, i, MRC_SIGN_BAD, now);
    ASSERT_EQ(mrc_evset_set_state(&s, 19, MRC_EV_DENIED, now), 0);
    for (int i = 0; i < 200; i++, now += 100 * kUs)
        for (u16 idx : probes())
            EXPECT_GE(idx, 20) << "three are bad, and one is denied";
}

// Nobody waits for an answer by it.
TEST_F(suspect, its_round_trip_is_not_waited_for)
{
    plane_2();
    u64 before = mrc_evset_patience_ns(&s);
    for (int i = 0; i < 50; i++)
        mrc_evset_rtt(&s, 2, 10 * kMs, now);
    ASSERT_TRUE(s.plane[2].suspect);
    EXPECT_LT(mrc_evset_patience_ns(&s), before + 1 * kMs);
}

} // namespace
