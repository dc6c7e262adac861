// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_avoid.cc - EVs over links that a controller avoids (mrc_avoid.c): they are set aside, lent, released.
#include <vector>

#include "ev_rig.h"

namespace {

class avoid : public ev_rig {
protected:
    void want(std::initializer_list<u16> evs, bool on = true)
    {
        for (u16 i : evs)
            mrc_evset_avoid(&s, i, on);
        mrc_evset_avoid_apply(&s, now);
    }
    bool aside(u16 i)
    {
        mrc_ev_info info;

        mrc_evset_info(&s, i, &info);
        return info.aside;
    }
    // How often each EV is chosen.
    std::vector<u32> picks(u32 n)
    {
        std::vector<u32> k(s.n);

        while (n--) {
            u16 i = pick();
            if (i == MRC_NONE16)
                break;
            k[i]++;
        }
        return k;
    }
};

TEST_F(avoid, the_sprayer_does_not_choose_it)
{
    make(8, 2);
    want({0, 5});
    auto k = picks(800);
    EXPECT_EQ(k[0] + k[5], 0u);
    for (u16 i : {1, 2, 3, 4, 6, 7})
        EXPECT_GT(k[i], 100u) << i;
    EXPECT_EQ(s.usable, 6);
    EXPECT_TRUE(aside(0));
    EXPECT_FALSE(aside(1));
    for (int n = 0; n < 100; n++) {
        u16 i = mrc_spray_pick_ack(&r, &s, now, false);
        EXPECT_TRUE(i != 0 && i != 5) << i;
    }
}

TEST_F(avoid, it_comes_back_when_it_is_no_longer_avoided)
{
    make(8, 2);
    want({0, 5});
    want({0}, false);
    EXPECT_EQ(state(0), MRC_EV_GOOD);
    EXPECT_TRUE(aside(5));
    EXPECT_GT(picks(800)[0], 50u);
    want({5}, false);
    EXPECT_EQ(s.usable, 8);
    EXPECT_EQ(s.denied, 0);
}

TEST_F(avoid, twice_is_once)
{
    make(4, 1);
    want({0, 0});
    want({0});
    EXPECT_EQ(s.avoided, 1);
    want({0, 0}, false);
    EXPECT_EQ(s.avoided, 0);
    EXPECT_EQ(state(0), MRC_EV_GOOD);
}

TEST_F(avoid, a_whole_plane_may_go_while_another_is_usable)
{
    make(8, 2, 4);
    want({0, 1, 2, 3});
    EXPECT_EQ(s.in_use, 2u);
    EXPECT_EQ(s.usable, 4);
    EXPECT_EQ(s.floor, 2) << "less the share of those that are avoided";
}

// ---- lent ----

TEST_F(avoid, the_last_path_stays)
{
    make(4, 2);
    want({0, 1, 2, 3});
    EXPECT_EQ(s.usable, 4);
    EXPECT_NE(pick(), MRC_NONE16);
    want({3}, false);
    EXPECT_EQ(s.usable, 1) << "one is enough";
    EXPECT_TRUE(aside(0) && aside(1) && aside(2));
}

TEST_F(avoid, all_come_back_before_the_last_other_is_lost)
{
    make(4, 2);
    want({0, 1, 2});
    ASSERT_EQ(s.usable, 1);
    sign(3, MRC_SIGN_LOST);
    EXPECT_EQ(state(3), MRC_EV_ASSUMED_BAD) << "it is not the last any more";
    EXPECT_EQ(s.usable, 3);
    EXPECT_EQ(s.stats.floor_hits, 0u);
    EXPECT_EQ(answers_to_readmit(3), 2u);
    EXPECT_EQ(s.usable, 1) << "set aside again";
    EXPECT_TRUE(aside(0) && aside(1) && aside(2));
}

TEST_F(avoid, they_come_back_at_the_floor)
{
    make(16, 4, 4);
    want({0, 4});
    EXPECT_EQ(s.floor, 3);
    for (u16 i = 5; i < 16; i++)
        sign(i, MRC_SIGN_LOST);
    EXPECT_EQ(s.usable, 3);
    EXPECT_TRUE(aside(0) && aside(4));
    sign(1, MRC_SIGN_LOST);
    EXPECT_EQ(state(0), MRC_EV_GOOD);
    EXPECT_EQ(state(4), MRC_EV_GOOD);
    EXPECT_EQ(state(1), MRC_EV_ASSUMED_BAD);
}

TEST_F(avoid, they_come_back_when_the_other_plane_goes_down_and_go_when_it_returns)
{
    make(8, 2);
    want({0, 1, 2, 3});
    mrc_evset_local_planes(&s, 1, now);
    EXPECT_EQ(s.usable, 4);
    EXPECT_EQ(s.in_use, 1u);
    mrc_evset_local_planes(&s, 3, now);
    EXPECT_EQ(s.usable, 4);
    EXPECT_EQ(s.in_use, 2u);
    EXPECT_TRUE(aside(0));
}

TEST_F(avoid, one_that_is_lent_is_judged_as_others_are)
{
    make(4, 2);
    want({0, 1, 2, 3});
    sign(0, MRC_SIGN_LOST);
    EXPECT_EQ(state(0), MRC_EV_ASSUMED_BAD);
    want({3}, false);
    EXPECT_TRUE(aside(0) && aside(1) && aside(2)) << "whatever it was";
    EXPECT_EQ(s.bad, 0);
}

TEST_F(avoid, they_come_back_when_the_other_plane_is_suspect)
{
    make(8, 2);
    want({0, 1, 2, 3});
    mrc_suspect_make(&s, 1, mrc_ev_tick(now), now);
    EXPECT_EQ(s.in_use, 1u);
    EXPECT_EQ(s.usable, 4);
    EXPECT_TRUE(s.plane[1].suspect);
    mrc_suspect_clear(&s, 1);
    EXPECT_EQ(s.in_use, 2u);
    EXPECT_TRUE(aside(0));
}

// ---- others' words ----

TEST_F(avoid, what_a_controller_denied_stays_denied)
{
    make(8, 2);
    mrc_evset_set_state(&s, 0, MRC_EV_DENIED, now);
    want({0, 1});
    EXPECT_FALSE(aside(0));
    EXPECT_TRUE(aside(1));
    mrc_evset_set_state(&s, 1, MRC_EV_DENIED, now);
    EXPECT_FALSE(aside(1));
    want({0, 1}, false);
    EXPECT_EQ(state(0), MRC_EV_DENIED);
    EXPECT_EQ(state(1), MRC_EV_DENIED);
}

TEST_F(avoid, what_a_controller_calls_good_stays_aside)
{
    make(8, 2);
    want({0});
    mrc_evset_set_state(&s, 0, MRC_EV_GOOD, now);
    EXPECT_TRUE(aside(0));
    mrc_evset_set_state(&s, 0, MRC_EV_DENIED, now);
    EXPECT_FALSE(aside(0));
    mrc_evset_set_state(&s, 0, MRC_EV_GOOD, now);
    EXPECT_TRUE(aside(0));
    want({0}, false);
    EXPECT_EQ(state(0), MRC_EV_GOOD);
}

TEST_F(avoid, denied_ones_are_not_lent)
{
    make(4, 2);
    mrc_evset_set_state(&s, 0, MRC_EV_DENIED, now);
    want({0, 1, 2, 3});
    EXPECT_EQ(state(0), MRC_EV_DENIED);
    EXPECT_EQ(s.usable, 3);
}

TEST_F(avoid, a_controller_denies_the_others)
{
    make(4, 2);
    want({0, 1});
    mrc_evset_set_state(&s, 2, MRC_EV_DENIED, now);
    EXPECT_EQ(s.usable, 1);
    mrc_evset_set_state(&s, 3, MRC_EV_DENIED, now);
    EXPECT_EQ(s.usable, 2);
    EXPECT_EQ(state(0), MRC_EV_GOOD);
    mrc_evset_set_state(&s, 3, MRC_EV_GOOD, now);
    EXPECT_TRUE(aside(0) && aside(1));
}

// What arrives by an EV that is aside proves nothing, and a loss changes nothing.
TEST_F(avoid, signs_of_what_was_sent_before)
{
    make(8, 2);
    want({0});
    for (u8 what = 0; what <= MRC_SIGN_DELIVERED; what++) {
        sign(0, static_cast<mrc_ev_sign>(what));
        EXPECT_TRUE(aside(0)) << what;
        EXPECT_NE(s.proven[0], 0) << what;
    }
    EXPECT_TRUE(probes().empty());
}

TEST_F(avoid, is_told_with_its_cause)
{
    mrc_ev_turns turns = {};
    mrc_ev_change one;

    make(8, 2);
    s.turns = &turns;
    want({0, 1});
    ASSERT_TRUE(mrc_evchanges_take(&turns, &one));
    EXPECT_EQ(one.state, MRC_EV_DENIED);
    EXPECT_EQ(one.why, MRC_EV_WHY_AVOIDED);
    EXPECT_EQ(one.count, 2u);
    want({0, 1}, false);
    ASSERT_TRUE(mrc_evchanges_take(&turns, &one));
    EXPECT_EQ(one.state, MRC_EV_GOOD);
    EXPECT_EQ(one.why, MRC_EV_WHY_AVOIDED);
    EXPECT_FALSE(mrc_evchanges_take(&turns, &one));
    EXPECT_TRUE(mrc_evset_take_change(&s));
}

TEST_F(avoid, sums)
{
    mrc_evset_sum sum;

    make(8, 2);
    want({0, 1});
    mrc_evset_set_state(&s, 2, MRC_EV_DENIED, now);
    mrc_evset_sum_up(&s, &sum);
    EXPECT_EQ(sum.aside, 2u);
    EXPECT_EQ(sum.in_state[MRC_EV_DENIED], 3u);
    EXPECT_EQ(sum.usable, 5u);
}

// Whatever happens: counts agree, something is usable if anything could be, and those that are avoided are not
// chosen while enough others are usable.
TEST_F(avoid, whatever_happens)
{
    u32 seed = 7;
    auto rnd = [&] { return (seed = seed * 1664525u + 1013904223u) >> 8; };

    for (u16 n : {1, 5, 16, 64}) {
        make(n, static_cast<u8>(std::min<u16>(n, 4)), static_cast<u16>(n / 4 ? n / 4 : 1));
        for (int step = 0; step < 20000; step++) {
            u16 i = static_cast<u16>(rnd() % n);

            now += rnd() % (50 * kUs);
            switch (rnd() % 16) {
            case 0:
                mrc_evset_avoid(&s, i, rnd() % 2);
                mrc_evset_avoid_apply(&s, now);
                break;
            case 1:
                mrc_evset_set_state(&s, i, rnd() % 2 ? MRC_EV_DENIED : MRC_EV_GOOD, now);
                break;
            case 2:
                mrc_evset_local_planes(&s, rnd() | rnd(), now);
                break;
            case 3:
                for (u16 p : probes())
                    mrc_evset_probe_answer(&s, p, rnd() % 2, now);
                break;
            default:
                sign(i, static_cast<mrc_ev_sign>(rnd() % (MRC_SIGN_DELIVERED + 1)));
            }
            ASSERT_EQ(mrc_evset_check(&s), 0) << n << " " << step;
            bool could = false;
            for (u16 k = 0; k < n; k++)
                could |= mrc_evset_plane_live(&s, s.ev[k].plane) && (s.ev[k].state != MRC_EV_DENIED || aside(k));
            ASSERT_EQ(s.usable > 0, could) << n << " " << step;
            u16 e = pick();
            if (e != MRC_NONE16 && !s.lent) {
                ASSERT_EQ(s.avoid[e], 0) << n << " " << step;
            }
        }
    }
}

} // namespace
