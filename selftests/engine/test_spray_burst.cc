// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_spray_burst.cc - so many packets in a row by one EV, and what ends that.
#include <set>

#include "ev_rig.h"

namespace {

class rot_burst : public ev_rig {
protected:
    void bursts(u8 k, u16 n = 16, u8 planes = 2)
    {
        make(n, planes);
        mrc_spray_set_burst(&r, k);
        ahead = MRC_NONE16;
    }
    u16 next() { return mrc_spray_next(&r, &s); }
    // How many packets in a row take one EV. It ends with the first of the next, which is kept.
    int row(u16 *first = nullptr)
    {
        u16 e = ahead != MRC_NONE16 ? ahead : next();
        int k = 1;

        if (first)
            *first = e;
        while ((ahead = next()) == e)
            k++;
        return k;
    }
    u16 ahead = MRC_NONE16;
};

TEST_F(rot_burst, so_many_in_a_row_then_the_next_plane_has_its_turn)
{
    u8 before = 0;
    u16 e;

    bursts(4);
    for (int pass = 0; pass < 5; pass++) {
        std::set<u16> seen;

        for (int i = 0; i < 16; i++) {
            EXPECT_EQ(row(&e), 4);
            EXPECT_TRUE(seen.insert(e).second) << "pass " << pass;
            if (pass + i) {
                EXPECT_EQ(s.ev[e].plane, before ^ 1);
            }
            before = s.ev[e].plane;
        }
    }
}

TEST_F(rot_burst, none_and_one_are_the_same)
{
    for (u8 k : {0, 1}) {
        bursts(k);
        for (int i = 0; i < 64; i++)
            ASSERT_EQ(row(), 1);
    }
}

TEST_F(rot_burst, ends_where_its_ev_is_lost_marked_or_denied)
{
    for (int what = 0; what < 3; what++) {
        bursts(8);
        u16 e = next();

        EXPECT_EQ(next(), e);
        if (what < 2)
            sign(e, what ? MRC_SIGN_ECN : MRC_SIGN_LOST);
        else
            ASSERT_EQ(mrc_evset_set_state(&s, e, MRC_EV_DENIED, now), 0);
        u16 other = next();

        EXPECT_NE(other, e) << what;
        for (int i = 0; i < 7; i++)
            EXPECT_EQ(next(), other) << "a whole one begins";
        EXPECT_NE(next(), other);
    }
}

TEST_F(rot_burst, ends_where_its_plane_goes_down)
{
    bursts(8);
    u16 e = next();

    mrc_evset_local_planes(&s, 3u & ~(1u << s.ev[e].plane), now);
    for (int i = 0; i < 40; i++)
        EXPECT_NE(s.ev[next()].plane, s.ev[e].plane);
}

TEST_F(rot_burst, set_anew_begins_anew)
{
    bursts(8);
    u16 e = next();

    mrc_spray_set_burst(&r, 2);
    EXPECT_NE(next(), e);
}

TEST_F(rot_burst, by_the_mtu_it_is_4_kib)
{
    for (u32 mtu : {256u, 512u, 1024u, 2048u, 4096u})
        EXPECT_EQ(mrc_burst_of(0, mtu), std::min(16u, 4096 / mtu));
    EXPECT_EQ(mrc_burst_of(0, 9000), 1);
    EXPECT_EQ(mrc_burst_of(3, 1024), 3);
}

TEST_F(rot_burst, a_packet_that_fills_it_leaves_alone)
{
    EXPECT_FALSE(mrc_burst_joins(0, 4096));
    EXPECT_TRUE(mrc_burst_joins(0, 2048));
    EXPECT_FALSE(mrc_burst_joins(1, 64));
    EXPECT_TRUE(mrc_burst_joins(2, 4096));
}

TEST_F(rot_burst, a_mark_that_does_not_count_is_its_planes)
{
    bursts(4);
    u16 e = next();
    u8 p = s.ev[e].plane;
    auto before = s.plane[p].marks;

    sign(e, MRC_SIGN_ECN_PLANE);
    EXPECT_EQ(s.ev[e].state, MRC_EV_GOOD);
    EXPECT_EQ(s.plane[p].marks, before + 1);
    EXPECT_EQ(next(), e) << "the burst goes on";
}

TEST_F(rot_burst, of_its_marks_one_in_as_many_counts)
{
    for (u8 k : {1, 2, 4, 16}) {
        int heeded = 0;

        bursts(k);
        for (int i = 0; i < 16000; i++)
            heeded += mrc_spray_heeds(&r);
        EXPECT_NEAR(heeded, 16000 / k, k > 1 ? 500 : 0) << int(k);
    }
}

} // namespace
