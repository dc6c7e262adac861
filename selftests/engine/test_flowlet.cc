// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_flowlet.cc - datagrams: together on one EV, after a pause on another plane.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

#include "ev_rig.h"

extern "C" {
#include "mrc_flowlet.h"
}

namespace {

constexpr u64 kGap = MRC_FLOWLET_GAP_NS;

class flowlet : public ev_rig {
protected:
    u16 next(u64 gap = kGap) { return mrc_flowlet_pick(&f, &r, &s, now, gap); }
    u8 plane(u16 idx) { return mrc_evset_plane(&s, idx); }

    mrc_flowlet f = {};
};

TEST_F(flowlet, close_together_they_stay_on_one_ev)
{
    make(16, 4);
    const u16 first = next();

    ASSERT_NE(first, MRC_NONE16);
    for (int i = 0; i < 1000; i++) {
        now += kGap - 1; // each since the last one, not since the first
        EXPECT_EQ(next(), first);
    }
}

TEST_F(flowlet, after_a_pause_another_plane)
{
    make(16, 4);
    u16 last = next();

    for (int i = 0; i < 100; i++) {
        now += kGap;
        const u16 idx = next();

        EXPECT_NE(plane(idx), plane(last));
        last = idx;
    }
}

TEST_F(flowlet, without_a_gap_no_two_in_a_row_take_the_same_plane)
{
    std::set<u8> seen;

    make(12, 3);
    u16 last = next(0);

    for (int i = 0; i < 30; i++) {
        const u16 idx = next(0);

        EXPECT_NE(plane(idx), plane(last));
        seen.insert(plane(idx));
        last = idx;
    }
    EXPECT_EQ(seen.size(), 3u);
}

TEST_F(flowlet, an_ev_that_fails_is_left_at_once)
{
    make(8, 2);
    const u16 first = next();

    ASSERT_EQ(mrc_evset_set_state(&s, first, MRC_EV_DENIED, now), 0);
    const u16 idx = next();

    EXPECT_NE(idx, first);
    EXPECT_EQ(s.ev[idx].state, MRC_EV_GOOD);
}

TEST_F(flowlet, with_one_plane_left_a_pause_changes_nothing_but_the_ev)
{
    make(8, 2);
    mrc_evset_local_planes(&s, 1, now);
    for (int i = 0; i < 20; i++) {
        now += kGap;
        const u16 idx = next();

        ASSERT_NE(idx, MRC_NONE16);
        EXPECT_EQ(plane(idx), 0);
    }
}

TEST_F(flowlet, nothing_usable_is_said_and_forgotten)
{
    make(4, 2);
    next();
    mrc_evset_local_planes(&s, 0, now);
    EXPECT_EQ(next(), MRC_NONE16);
    mrc_evset_local_planes(&s, 3, now);
    EXPECT_NE(next(), MRC_NONE16);
}

TEST_F(flowlet, a_smaller_set_in_its_place)
{
    make(64, 2);
    do {
        now += kGap;
    } while (next() < 8);
    make(8, 2); // the same address
    EXPECT_LT(next(), 8);
}

} // namespace
