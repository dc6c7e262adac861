// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_flowlet.cc - datagrams: together on one EV, after a pause on another plane.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

#include "ev_rig.h"

extern "C" {
#include "paths/mrc_flowlet.h"
}

namespace {

constexpr u64 kGap = MRC_FLOWLET_GAP_NS;

class flowlet : public ev_rig {
protected:
    u16 next(u64 gap = kGap) { return mrc_flowlet_pick(&f, &r, &s, now, gap); }
    u8 plane(u16 idx) { return mrc_evset_plane(&s, idx); }
    u8 sent_by(u32 dead, u64 gap = kGap);
    // Other destinations' datagrams take their turns of the rotation in between.
    void others(int i)
    {
        for (i %= 4; i; i--)
            pick();
    }
    u16 copy(bool must = false) { return mrc_flowlet_copy(&f, &r, &s, now, must); }

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

// What ud_way() does: @dead planes (mask) have no route. The plane that it was sent by, or 255.
u8 flowlet::sent_by(u32 dead, u64 gap)
{
    for (u8 tries = s.n_planes; tries; tries--) {
        const u16 idx = next(gap);

        if (idx == MRC_NONE16)
            break;
        if (!(dead >> plane(idx) & 1))
            return plane(idx);
        mrc_flowlet_leave(&f);
    }
    return 255;
}

TEST_F(flowlet, a_stream_leaves_a_plane_without_a_route)
{
    make(8, 2);
    const u8 first = sent_by(0);

    for (int i = 0; i < 100; i++) {
        now += kGap / 10; // no pause: it would stay
        EXPECT_EQ(sent_by(1u << first), 1 - first);
    }
}

TEST_F(flowlet, one_of_several_planes_is_found_whatever_was_before)
{
    std::set<u8> left;

    make(16, 4);
    for (int i = 0; i < 1000; i++) {
        const u32 dead = static_cast<u32>(i * 7 % 15); // any but all

        now += i % 3 ? kGap / 10 : kGap;
        const u8 p = sent_by(dead, i % 5 ? kGap : 0);

        ASSERT_LT(p, 4) << "with " << dead << " dead";
        EXPECT_FALSE(dead >> p & 1);
        left.insert(p);
    }
    EXPECT_EQ(left.size(), 4u);
}

TEST_F(flowlet, after_none_led_anywhere_the_first_that_does_is_found)
{
    make(12, 3);
    for (u8 p = 0; p < 3; p++) {
        EXPECT_EQ(sent_by(7), 255);
        now += kGap / 10;
        EXPECT_EQ(sent_by(7), 255);
        now += kGap / 10;
        EXPECT_EQ(sent_by(7 & ~(1u << p)), p);
    }
}

TEST_F(flowlet, a_plane_that_was_left_is_taken_again_after_a_pause)
{
    make(8, 2);
    const u8 first = sent_by(0);

    now += 1;
    ASSERT_EQ(sent_by(1u << first), 1 - first);
    now += kGap;
    EXPECT_EQ(sent_by(0), first);
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

// ---- copies ----

TEST_F(flowlet, a_management_packet_leaves_by_two_planes_and_the_next_by_two_others)
{
    make(16, 4);
    for (int i = 0; i < 50; i++) {
        std::set<u8> used;

        f = {};
        for (int again = 0; again < 2; again++) {
            used.insert(plane(next(0)));
            others(i / 4);
            ASSERT_NE(copy(true), MRC_NONE16);
            used.insert(plane(f.copy));
            others(i);
        }
        EXPECT_EQ(used.size(), 4u);
    }
}

TEST_F(flowlet, with_two_planes_each_management_packet_takes_both)
{
    make(16, 2);
    for (int i = 0; i < 50; i++) {
        const u8 first = plane(next(0));

        others(i);
        EXPECT_EQ(plane(copy(true)), 1 - first);
    }
}

TEST_F(flowlet, a_suspect_plane_gets_no_copy)
{
    make(12, 3);
    mrc_evset_local_planes(&s, 5, now);
    for (int i = 0; i < 50; i++) {
        const u8 first = plane(next(0)), other = plane(copy(true));

        EXPECT_NE(first, 1);
        EXPECT_EQ(other, 2 - first);
    }
}

TEST_F(flowlet, on_one_plane_a_management_packet_takes_two_evs_and_a_programs_one)
{
    make(8, 1);
    for (int i = 0; i < 50; i++) {
        const u16 idx = next(0);

        EXPECT_EQ(copy(false), MRC_NONE16);
        ASSERT_NE(copy(true), MRC_NONE16);
        EXPECT_NE(f.copy, idx);
    }
    make(1, 1);
    f = {};
    next(0);
    EXPECT_EQ(copy(true), MRC_NONE16) << "there is no other";
}

TEST_F(flowlet, the_first_datagrams_of_a_program_have_copies_which_stay_on_one_ev)
{
    make(16, 4);
    for (int flow = 0; flow < 20; flow++) {
        now += kGap;
        const u16 first = next(), other = copy();

        ASSERT_NE(other, MRC_NONE16);
        EXPECT_NE(plane(other), plane(first));
        for (u32 i = 1; i < MRC_FLOWLET_COPIES; i++) {
            ASSERT_EQ(next(), first);
            EXPECT_EQ(copy(), other);
        }
        for (u32 i = 0; i < 600; i++) {
            ASSERT_EQ(next(), first);
            EXPECT_EQ(copy(), MRC_NONE16);
        }
    }
}

TEST_F(flowlet, a_plane_that_a_connection_proved_lately_needs_no_copy_of_a_programs)
{
    make(8, 2);
    const u16 idx = next();

    sign(idx, MRC_SIGN_DELIVERED);
    EXPECT_EQ(copy(), MRC_NONE16);
    EXPECT_NE(copy(true), MRC_NONE16) << "a management packet's is sent";
    f.copy = MRC_NONE16;
    now += 200 * kMs;
    f = {};
    while (plane(next()) != plane(idx))
        now += kGap;
    EXPECT_NE(copy(), MRC_NONE16) << "that was long ago";
}

TEST_F(flowlet, after_a_pause_the_plane_that_may_have_lost_the_stream_is_left)
{
    make(16, 2);
    u8 last = plane(next());

    for (int i = 0; i < 100; i++) {
        copy();
        now += kGap;
        const u8 p = plane(next());

        EXPECT_NE(p, last) << "though the copy went by it";
        last = p;
    }
}

TEST_F(flowlet, the_ev_of_copies_fails)
{
    make(16, 4);
    next();
    const u16 other = copy();

    ASSERT_EQ(mrc_evset_set_state(&s, other, MRC_EV_DENIED, now), 0);
    next();
    ASSERT_NE(copy(), MRC_NONE16);
    EXPECT_NE(f.copy, other);
    EXPECT_NE(plane(f.copy), plane(f.idx));
}

} // namespace
