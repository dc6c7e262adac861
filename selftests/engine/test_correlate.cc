// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_correlate.cc - several EVs of a plane that lose at once: the others must prove themselves.
#include <vector>

#include "ev_rig.h"

namespace {

// Four planes of 16 EVs. The round trip is 40 us.
class company : public ev_rig {
protected:
    void SetUp() override
    {
        make(64, 4);
        for (u8 p = 0; p < 4; p++)
            mrc_evset_rtt(&s, p, 40 * kUs, now);
        traffic();
    }
    u32 tick() { return mrc_ev_tick(now); }
    void deliver(u16 idx) { mrc_evset_delivered(&s, static_cast<u8>(s.ev[idx].plane), idx, tick(), now); }
    // A packet of @idx, sent a round trip ago, is called lost after @after.
    void lose(u16 idx, u64 after = 8 * kUs, bool trims = false)
    {
        now += after;
        for (u16 other : {0, 32, 48})   // other planes deliver
            deliver(other);
        mrc_evset_lost(&s, idx, mrc_ev_tick(now - 50 * kUs), trims, now);
    }
    u32 bad_of(u8 p) { return s.bad_on[p]; }
    // Nothing is sent from now on, and so many probes are paid for.
    void poor(u32 n)
    {
        idle = true;
        s.credit.units = n * MRC_PROBE_COST;
        s.credit.left = s.credit.from;
        s.credit.at_ns = now;
    }
    // EVs 16 to 18 lose, 20 and 21 deliver, and the last loss is half a round trip later.
    void half_dead()
    {
        lose(16);
        deliver(20);
        lose(17);
        deliver(21);
        lose(18, 20 * kUs);
    }
};

TEST_F(company, the_unproven_are_put_aside_and_probed_at_once)
{
    lose(16);
    deliver(20);
    lose(17);
    deliver(21);
    EXPECT_EQ(s.bad, 0);
    lose(18, 20 * kUs);
    EXPECT_EQ(s.bad, 14);
    for (u16 i = 16; i < 32; i++)
        EXPECT_EQ(state(i), i == 20 || i == 21 ? MRC_EV_GOOD : MRC_EV_ASSUMED_BAD) << i;
    std::vector<u16> asked = probes();
    EXPECT_EQ(asked.size(), 11u);       // not those that lost: they wait for a first probe
    for (u16 i : asked)
        EXPECT_GT(i, 18);
}

TEST_F(company, one_answer_or_one_delivery_restores_as_if_nothing_was)
{
    half_dead();
    probes();
    now += 40 * kUs;
    mrc_evset_probe_answer(&s, 22, false, now);
    deliver(23);
    for (u16 i : {22, 23}) {
        EXPECT_EQ(state(i), MRC_EV_GOOD);
        EXPECT_EQ(s.ev[i].flaps, 0u);
        EXPECT_EQ(s.ev[i].level, 0u);
    }
    EXPECT_EQ(s.stats.forgiven, 2u);
    EXPECT_EQ(s.plane[1].streak, 0);    // it speaks for nobody else
    EXPECT_EQ(s.extra, 0);              // nor against the verdict
    deliver(16);                        // it lost a packet itself
    EXPECT_EQ(state(16), MRC_EV_ASSUMED_BAD);
}

// As from the third probe on, no two in a row are answered.
TEST_F(company, who_does_not_answer_stays_bad)
{
    half_dead();
    for (int i = 0; i < 6; i++) {
        now += 200 * kUs;
        for (u16 idx : probes())
            if (idx >= 24)
                mrc_evset_probe_answer(&s, idx, false, now);
    }
    for (u16 i = 16; i < 32; i++)
        EXPECT_EQ(state(i) == MRC_EV_ASSUMED_BAD, i < 24 && i != 20 && i != 21) << i;
}

TEST_F(company, a_false_alarm_restores_all_of_the_plane)
{
    half_dead();
    EXPECT_EQ(s.bad, 14);
    mrc_evset_false_alarm(&s, 2, 32, tick(), 0, now);
    EXPECT_EQ(s.bad, 14);               // of another plane
    mrc_evset_false_alarm(&s, 1, 16, tick(), 0, now);
    EXPECT_EQ(s.bad, 2);                // 17 and 18, which lost
    EXPECT_EQ(state(16), MRC_EV_SKIP);
}

TEST_F(company, two_are_no_company)
{
    lose(16);
    deliver(20);
    lose(17, 30 * kUs);
    EXPECT_EQ(s.bad, 0);
}

TEST_F(company, a_round_trip_holds_it_together)
{
    lose(16);
    deliver(20);
    lose(17, 21 * kUs);
    lose(18, 21 * kUs);
    EXPECT_EQ(s.bad, 0);
    deliver(20);
    lose(19, 21 * kUs);
    lose(22, 8 * kUs);
    EXPECT_GT(s.bad, 0);                // 18, 19 and 22
}

// Congestion shows itself on other planes, too, if one waits a little.
TEST_F(company, half_a_round_trip_passes_first)
{
    lose(16);
    deliver(20);
    lose(17);
    lose(18);
    EXPECT_EQ(s.bad, 0);
    lose(19);
    EXPECT_GT(s.bad, 0);
}

TEST_F(company, where_another_plane_loses_it_is_no_path)
{
    lose(33);
    deliver(33);
    now += 200 * kUs;
    half_dead();
    EXPECT_EQ(s.bad, 0);
}

TEST_F(company, after_eight_round_trips_the_other_plane_is_forgotten)
{
    lose(33);
    deliver(33);
    now += 400 * kUs;
    half_dead();
    EXPECT_EQ(s.bad, 14);
}

TEST_F(company, a_few_losses_among_many_deliveries_are_noise)
{
    for (u32 good : {9, 10}) {
        SetUp();
        lose(16);
        for (u32 i = 0; i < good; i++)
            deliver(20);
        lose(17);
        lose(18, 20 * kUs);
        EXPECT_EQ(s.bad > 0, good == 9);
    }
}

// Its first probe was lost, or the answer: a later one restores it, and it alone.
TEST_F(company, an_answer_to_a_later_probe_does_as_well)
{
    half_dead();
    EXPECT_EQ(probes().size(), 11u);
    now += 400 * kUs;
    EXPECT_GT(probes().size(), 11u);
    for (u16 i : {22, 23})
        mrc_evset_probe_answer(&s, i, false, now);
    EXPECT_EQ(state(22), MRC_EV_GOOD);
    EXPECT_EQ(s.bad, 12);
    EXPECT_EQ(s.plane[1].streak, 0);
}

// Without traffic a probe takes a tenth of a second: four answers in a row speak for those that have no probe yet.
TEST_F(company, where_nothing_pays_a_run_speaks_for_those_without_a_probe)
{
    half_dead();
    poor(5);
    std::vector<u16> asked = probes();
    ASSERT_EQ(asked.size(), 5u);
    now += 100 * kMs;
    for (int i = 0; i < 3; i++)
        mrc_evset_probe_answer(&s, asked[i], false, now);
    EXPECT_EQ(s.bad, 11);
    mrc_evset_probe_answer(&s, asked[3], false, now);
    EXPECT_EQ(s.bad, 4);                // those that lost, and the one that did not answer
    EXPECT_EQ(state(asked[4]), MRC_EV_ASSUMED_BAD);
    EXPECT_EQ(s.plane[1].spoke, 0);     // the next run begins anew
}

TEST_F(company, for_a_tenth_of_a_second_a_run_speaks_for_nobody)
{
    half_dead();
    poor(5);
    std::vector<u16> asked = probes();
    now += 99 * kMs;
    for (u16 i : asked)
        mrc_evset_probe_answer(&s, i, false, now);
    EXPECT_EQ(s.bad, 9);
}

TEST_F(company, silence_ends_the_run)
{
    half_dead();
    poor(4);
    std::vector<u16> asked = probes();
    now += 100 * kMs;
    for (int i = 0; i < 3; i++)
        mrc_evset_probe_answer(&s, asked[i], false, now);
    EXPECT_EQ(s.plane[1].spoke, 3);
    for (int i = 0; i < 3; i++) {       // asked[3] has its second probe
        now += 500 * kMs;
        probes();
    }
    EXPECT_EQ(s.plane[1].spoke, 0);
}

// Where no other plane delivered what was sent later, it may be congestion.
TEST_F(company, one_plane_has_nothing_to_be_compared_with)
{
    make(16, 1);
    mrc_evset_rtt(&s, 0, 40 * kUs, now);
    for (u16 i : {0, 1, 2, 3}) {
        now += 10 * kUs;
        deliver(8);
        mrc_evset_lost(&s, i, mrc_ev_tick(now - 50 * kUs), false, now);
    }
    EXPECT_EQ(s.bad, 0);
}

// Nothing at all was delivered: the plane is suspect, not its EVs.
TEST_F(company, a_plane_that_is_silent_is_suspect_instead)
{
    lose(16);
    lose(17);
    lose(18, 20 * kUs);
    EXPECT_EQ(s.bad, 0);
    EXPECT_TRUE(s.plane[1].suspect);
}

TEST_F(company, the_floor_stays_and_the_plane_keeps_one)
{
    SetUp();
    s.min_active = 60;
    mrc_evset_recount(&s);
    half_dead();
    EXPECT_EQ(s.bad, 4);
}

// Probes refuted blame of late: congestion. It is off until that is forgotten.
TEST_F(company, refuted_blame_excuses_all)
{
    mrc_blame_refuted(&s, now);
    half_dead();
    EXPECT_EQ(s.bad, 0);
}

// What the peer says of an EV is not restored by an answer.
TEST_F(company, the_peers_word_stays)
{
    half_dead();
    probes();
    sign(25, MRC_SIGN_BAD);
    deliver(25);
    EXPECT_EQ(state(25), MRC_EV_ASSUMED_BAD);
    now += 40 * kUs;
    mrc_evset_probe_answer(&s, 25, false, now);
    EXPECT_EQ(state(25), MRC_EV_ASSUMED_BAD);
}

} // namespace
