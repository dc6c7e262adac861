// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_evchanges.cc - why EVs became unusable or usable, as onlookers are told.
#include "ev_rig.h"

namespace {

class evnews : public ev_rig {
protected:
    void start(u16 n, u8 planes)
    {
        make(n, planes);
        s.turns = &turns;
    }
    // "STATE why PLANE xCOUNT" of all that is there to take.
    std::vector<mrc_ev_change> take()
    {
        std::vector<mrc_ev_change> all;
        for (mrc_ev_change one; mrc_evchanges_take(&turns, &one);)
            all.push_back(one);
        return all;
    }
    mrc_ev_change only()
    {
        auto all = take();
        EXPECT_EQ(all.size(), 1u);
        return all.empty() ? mrc_ev_change{} : all[0];
    }
    mrc_ev_turns turns = {};
};

TEST_F(evnews, say_which_and_why)
{
    start(8, 2);
    sign(5, MRC_SIGN_LOST);
    auto one = only();
    EXPECT_EQ(one.state, MRC_EV_ASSUMED_BAD);
    EXPECT_EQ(one.why, MRC_EV_WHY_LOST);
    EXPECT_EQ(one.plane, 1);
    EXPECT_EQ(one.idx, 5);
    EXPECT_EQ(one.value, s.ev[5].value);
    EXPECT_EQ(one.count, 1u);
    sign(5, MRC_SIGN_PROBE_OK);
    one = only();
    EXPECT_EQ(one.state, MRC_EV_GOOD);
    EXPECT_EQ(one.why, MRC_EV_WHY_ANSWERED);
    EXPECT_TRUE(take().empty());
}

TEST_F(evnews, know_the_causes)
{
    start(8, 2);
    sign(0, MRC_SIGN_BAD);
    EXPECT_EQ(only().why, MRC_EV_WHY_PEER);
    mrc_evset_set_state(&s, 1, MRC_EV_DENIED, now);
    auto one = only();
    EXPECT_EQ(one.why, MRC_EV_WHY_CONTROLLER);
    EXPECT_EQ(one.state, MRC_EV_DENIED);
    mrc_evset_set_state(&s, 1, MRC_EV_DENIED, now);
    EXPECT_TRUE(take().empty()) << "it was denied already";
    mrc_evset_set_state(&s, 1, MRC_EV_GOOD, now);
    EXPECT_EQ(only().why, MRC_EV_WHY_CONTROLLER);
    sign(4, MRC_SIGN_LOST);
    take();
    sign(4, MRC_SIGN_SPURIOUS);
    EXPECT_EQ(only().why, MRC_EV_WHY_LATE);
    mrc_evset_local_planes(&s, 2, now);
    mrc_evset_local_planes(&s, 3, now);
    one = only();
    EXPECT_EQ(one.why, MRC_EV_WHY_PLANE_BACK);
    EXPECT_EQ(one.idx, 0);
}

TEST_F(evnews, congestion_is_none)
{
    start(4, 1);
    sign(1, MRC_SIGN_ECN);
    EXPECT_TRUE(take().empty());
}

// A plane of many is one line.
TEST_F(evnews, the_like_is_counted)
{
    start(16, 2);
    for (u16 i = 0; i < 4; i++)
        sign(i, MRC_SIGN_LOST);
    sign(8, MRC_SIGN_LOST);
    auto all = take();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].count, 4u);
    EXPECT_EQ(all[0].idx, 0);
    EXPECT_EQ(all[1].plane, 1);
}

TEST_F(evnews, what_finds_no_room_is_counted)
{
    for (u8 p = 0; p < 2 * MRC_EV_CHANGES; p++) {
        mrc_ev_change one = {};
        one.plane = p;
        one.count = 3;
        mrc_evchanges_add(&turns, &one);
    }
    EXPECT_EQ(turns.news_lost, 3u * MRC_EV_CHANGES);
    EXPECT_EQ(take().size(), static_cast<size_t>(MRC_EV_CHANGES));
}

// Each change of usability is told: sums of news are the turns.
TEST_F(evnews, are_complete)
{
    start(32, 4);
    u64 bad = 0, good = 0;
    u32 seed = 1;
    for (int i = 0; i < 20000; i++) {
        seed = seed * 1664525u + 1013904223u;
        u16 idx = (seed >> 8) % 32;
        u32 what = seed >> 20;
        if (what % 64 == 0)
            mrc_evset_local_planes(&s, (seed >> 3) & 15, now);
        else if (what % 16 == 0)
            mrc_evset_set_state(&s, idx, what & 16 ? MRC_EV_DENIED : MRC_EV_GOOD, now);
        else
            sign(idx, static_cast<mrc_ev_sign>(what % (MRC_SIGN_DELIVERED + 1)));
        now += 1000000;
        for (auto &one : take()) {
            bad += one.state == MRC_EV_ASSUMED_BAD ? one.count : 0;
            good += one.state == MRC_EV_GOOD ? one.count : 0;
        }
    }
    EXPECT_GT(turns.bad, 100u);
    EXPECT_EQ(bad, turns.bad);
    EXPECT_EQ(good, turns.good);
    EXPECT_EQ(turns.news_lost, 0u);
}

} // namespace
