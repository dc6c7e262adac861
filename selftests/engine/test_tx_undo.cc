// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_tx_undo.cc - a packet that could not leave is taken back, as if it had not been handed out.
#include "conn_rig.h"

namespace {

class tx_undo : public rig {};

TEST_F(tx_undo, a_new_packet)
{
    make();
    post(MRC_OP_WRITE, 2000);
    auto a = tx();
    ASSERT_TRUE(a);
    mrc_conn_tx_undo(&c, &*a);
    sound();
    EXPECT_EQ(c.snd.inflight, 0u);
    EXPECT_EQ(c.stats.tx_pkts, 0u);
    auto v = tx_data();
    ASSERT_EQ(psns(v), (psn_list{1000, 1001}));
    EXPECT_EQ(v[0].off, 0u);
    EXPECT_FALSE(v[0].hdr.rtx);
}

TEST_F(tx_undo, the_last_of_a_message)
{
    make();
    post(MRC_OP_WRITE, 2000);
    post(MRC_OP_SEND, 10);
    tx();
    auto b = tx();
    mrc_conn_tx_undo(&c, &*b);
    auto v = tx_data();
    ASSERT_EQ(psns(v), (psn_list{1001, 1002}));
    EXPECT_EQ(v[0].hdr.opcode, MRC_OPC_WRITE_LAST);
    EXPECT_EQ(v[1].hdr.opcode, MRC_OPC_SEND_ONLY);
    sack(1002);
    ack(1002);
    EXPECT_EQ(show(cpls()), "100:0 101:0");
}

// Nothing else asks for the acknowledgement that opens the window again.
TEST_F(tx_undo, of_the_packet_that_asks)
{
    rig_cfg k = defaults();
    k.tx.cwnd_bytes = 3 * (1024 + MRC_PKT_OVERHEAD);
    make(k);
    post(MRC_OP_WRITE, 10 * 1024);
    auto v = tx_data();
    ASSERT_EQ(v.size(), 3u);
    ASSERT_TRUE(v[2].hdr.ackreq);
    mrc_conn_tx_undo(&c, &v[2]);
    auto again = tx();
    ASSERT_TRUE(again);
    EXPECT_EQ(again->hdr.psn, v[2].hdr.psn);
    EXPECT_TRUE(again->hdr.ackreq);
}

TEST_F(tx_undo, a_retransmission)
{
    make();
    post(MRC_OP_WRITE, 2000);
    auto v = tx_data();
    nack(v[0], MRC_NACK_TRIMMED);
    auto r = tx();
    ASSERT_TRUE(r && r->hdr.rtx);
    EXPECT_EQ(c.stats.rtx_trim, 1u);
    mrc_conn_tx_undo(&c, &*r);
    sound();
    EXPECT_EQ(c.stats.rtx_trim, 0u);
    v = tx_data();
    ASSERT_EQ(psns(v), psn_list{1000});
    EXPECT_TRUE(v[0].hdr.rtx);
    // However often it leaves, undoing one leaves those before.
    for (u32 sends = 2; sends < 20; sends++) {
        u32 counted = std::min(sends, MRC_TRIES_MAX);

        ASSERT_EQ(c.snd.rec[1000 & c.snd.mask].tries, counted);
        nack(v[0], MRC_NACK_TRIMMED);
        r = tx();
        ASSERT_TRUE(r && r->hdr.rtx);
        mrc_conn_tx_undo(&c, &*r);
        ASSERT_EQ(c.snd.rec[1000 & c.snd.mask].tries, counted);
        v = tx_data();
        ASSERT_EQ(psns(v), psn_list{1000});
    }
}

TEST_F(tx_undo, an_ack_owes_it_again)
{
    make();
    take(write_only(2000));
    auto a = tx();
    ASSERT_TRUE(a);
    ASSERT_EQ(a->hdr.opcode, MRC_OPC_ACK);
    mrc_conn_tx_undo(&c, &*a);
    EXPECT_EQ(tx_ctrl(MRC_OPC_ACK).size(), 1u);
}

} // namespace
