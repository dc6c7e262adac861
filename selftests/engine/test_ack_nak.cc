// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// NAKs that come late, or speak of something else than the oldest message.
#include "conn_rig.h"

namespace {

using ack_nak = rig;

constexpr u8 access = MRC_AETH_NAK | MRC_NAK_REM_ACCESS, invalid = MRC_AETH_NAK | MRC_NAK_INV_REQ;

// The request was acknowledged, and its execution failed afterwards.
TEST_F(ack_nak, of_a_read_that_was_acknowledged)
{
    make();
    post(MRC_OP_READ, 100);
    post(MRC_OP_WRITE, 100);
    ASSERT_EQ(psns(tx_data()), (psn_list{1000, 1001}));
    ack(1001);
    EXPECT_EQ(show(cpls()), "");
    ack(1001, access); // the WRITE is done: that cannot be
    EXPECT_EQ(c.stats.rx_bad_ack, 1u);
    EXPECT_EQ(show(cpls()), "");
    ack(1000, access);
    EXPECT_EQ(show(cpls()), "100:4 101:1");
    EXPECT_EQ(mrc_conn_failed(&c), MRC_ST_REM_ACCESS);
}

TEST_F(ack_nak, what_precedes_it_completes)
{
    make();
    post(MRC_OP_WRITE, 100);
    post(MRC_OP_LOCAL, 0);
    post(MRC_OP_WRITE, 100);
    post(MRC_OP_WRITE, 100);
    ASSERT_EQ(tx_data().size(), 3u);
    ack(1001, invalid);
    EXPECT_EQ(show(cpls()), "100:0 101:0 102:5 103:1");
}

// A response of ours that the peer could not take: no message of ours to blame.
TEST_F(ack_nak, of_a_response)
{
    mrc_exec x;

    make();
    ASSERT_TRUE(take(data(MRC_OPC_READ_REQ, 2000, 0, 100)));
    ASSERT_TRUE(ev.exec(&x));
    mrc_conn_exec_done(&c, x.slot, 0, now);
    ASSERT_EQ(psns(tx_data()), psn_list{1000});
    ack(1000, invalid);
    EXPECT_EQ(mrc_conn_failed(&c), MRC_ST_REM_INV_REQ);
}

} // namespace
