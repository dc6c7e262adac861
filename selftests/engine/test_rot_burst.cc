// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_rot_burst.cc - so many packets in a row by one EV, and what ends that.
#include <set>

#include "ev_rig.h"

namespace {

class rot_burst : public ev_rig {
protected:
    void bursts(u8 k, u16 n = 16, u8 planes = 2)
    {
        make(n, planes);
        mrc_rot_set_burst(&r, k);
        ahead = MRC_NONE16;
    }
    u16 next() { return mrc_rot_next(&r, &s); }
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

    mrc_rot_set_burst(&r, 2);
    EXPECT_NE(next(), e);
}

} // namespace
