// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_rnr_work.cc - what a peer without receives can make us do: each packet is passed once for
// each time that it is lost.
#include "conn_rig.h"

namespace {

class rnr_work : public rig {};

// Whatever the order of its refusals, a peer makes each packet be passed once for each of them.
TEST_F(rnr_work, a_full_window_that_is_refused_is_searched_once)
{
    make();
    post(MRC_OP_WRITE, 100 * 1024);
    auto v = tx_data();
    ASSERT_EQ(v.size(), 100u);
    for (u32 i = 100; i--;)
        nack(v[i], MRC_NACK_NO_RESOURCE);
    EXPECT_TRUE(tx_data().empty());
    EXPECT_EQ(c.rnr.low, 1000);
    run_to(now + 10 * kUs);
    ASSERT_EQ(tx_data().size(), 1u);
    sack(1000, 0, 1, 1000);
    v = tx_data();
    ASSERT_EQ(v.size(), 2u);
    EXPECT_EQ(v[0].hdr.psn, 1001u);
    EXPECT_EQ(v[1].hdr.psn, 1002u);
    EXPECT_EQ(c.rnr.low, 1002) << "not searched again from the left edge";
    nack(v[0], MRC_NACK_TRIMMED_LASTHOP);
    EXPECT_EQ(c.rnr.low, 1001);
}

// What precedes the packet that was refused leaves during the pause; the search for it is not repeated.
TEST_F(rnr_work, nor_is_what_precedes_it_searched_again)
{
    make();
    post(MRC_OP_WRITE, 100 * 1024);
    auto v = tx_data();
    nack(v[90], MRC_NACK_NO_RESOURCE);
    EXPECT_TRUE(tx_data().empty());
    EXPECT_EQ(c.rnr.low, 1090);
    nack(v[50], MRC_NACK_TRIMMED_LASTHOP);
    EXPECT_EQ(c.rnr.low, 1050);
    ASSERT_EQ(tx_data().size(), 1u);
    EXPECT_EQ(c.rnr.low, 1090);
}

} // namespace
