// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_share.cc - shares of planes: of what they are a part.
#include "ev_rig.h"

namespace {

using share = ev_rig;

// The largest share belongs to a plane that becomes suspect: the one left has the full one.
TEST_F(share, a_suspect_plane_is_no_measure)
{
    make(8, 2);
    s.plane[1].weight = MRC_SHARE_FULL / 2;
    mrc_share_update(&s);
    ASSERT_EQ(s.share[1], MRC_SHARE_FULL / 2);
    ASSERT_EQ(s.full, 1u);
    u32 then = mrc_ev_tick(now);
    now += 100 * kUs;
    mrc_evset_delivered(&s, 1, 4, mrc_ev_tick(now), now);
    ASSERT_TRUE(mrc_evset_overdue(&s, 0, then, now));
    EXPECT_EQ(s.share[0], 0u);
    EXPECT_EQ(s.share[1], MRC_SHARE_FULL);
    EXPECT_EQ(s.full, 2u);
}

} // namespace
