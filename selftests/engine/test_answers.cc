// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_answers.cc - the answer to a READ or ATOMIC says what an ACK of it would: that one need not leave.
#include "pair_rig.h"
#include "rx_rig.h"

namespace {

class answers : public rx_stream {
protected:
    // What leaves now, without probes.
    std::vector<u8> leaves()
    {
        std::vector<u8> v;

        for (const mrc_txop &t : tx_all())
            if (t.hdr.opcode != MRC_OPC_PROBE)
                v.push_back(t.hdr.opcode);
        return v;
    }
};

TEST_F(answers, one_that_leaves_is_the_acknowledgement)
{
    quiet();
    serve(MRC_OPC_READ_REQ, 2000, 8);
    EXPECT_EQ(leaves(), (std::vector<u8>{MRC_OPC_READ_RESP_ONLY}));
    serve(MRC_OPC_FETCH_ADD, 2001, 8);
    EXPECT_EQ(leaves(), (std::vector<u8>{MRC_OPC_ATOMIC_ACK}));
    serve(MRC_OPC_READ_REQ, 2002, 2048);
    EXPECT_EQ(leaves(), (std::vector<u8>{MRC_OPC_READ_RESP_FIRST, MRC_OPC_READ_RESP_LAST}));
    EXPECT_EQ(c.stats.acks_sent, 0u);
}

// Round trips are known by acknowledgements.
TEST_F(answers, one_acknowledgement_in_eight_leaves_all_the_same)
{
    quiet();
    for (u32 i = 0; i < 32; i++) {
        serve(MRC_OPC_READ_REQ, 2000 + i, 8);
        leaves();
        sack(c.snd.next - 1);
        ack(c.snd.next - 1);
        u16 slot;
        while (ev.freed(&slot))
            ;
    }
    EXPECT_EQ(c.stats.acks_sent, 4u);
}

// The first of a stream is answered by a SACK, too, which the peer knows its first round trip by.
TEST_F(answers, a_sack_that_says_no_more_does_not_leave_either_but_for_the_first)
{
    make();
    serve(MRC_OPC_READ_REQ, 2000, 8);
    EXPECT_EQ(leaves(), (std::vector<u8>{MRC_OPC_READ_RESP_ONLY, MRC_OPC_SACK}));
    for (u32 i = 1; i < 4; i++) {
        mrc_pkt p = data(MRC_OPC_READ_REQ, 2000 + i, 0, 8, 0x4000);
        mrc_exec x;
        p.ackreq = true;
        ASSERT_TRUE(take(p));
        ASSERT_TRUE(ev.exec(&x));
        mrc_conn_exec_done(&c, x.slot, 0, now);
        std::vector<u8> v = leaves();
        EXPECT_EQ(v.front(), MRC_OPC_READ_RESP_ONLY);
        EXPECT_EQ(v.size(), i % 2 ? 1u : 2u) << "no two SACKs in a row are spared";
    }
}

TEST_F(answers, what_came_behind_the_request_is_acknowledged)
{
    quiet();
    serve(MRC_OPC_READ_REQ, 2000, 8);
    take(write_only(2001));
    auto v = tx_all();
    ASSERT_GE(v.size(), 2u);
    EXPECT_EQ(v[0].hdr.opcode, MRC_OPC_ACK);
    EXPECT_EQ(v[0].hdr.psn, 2001u);
    EXPECT_EQ(v.back().hdr.opcode, MRC_OPC_READ_RESP_ONLY);
}

TEST_F(answers, of_several_requests_the_acknowledgement_leaves)
{
    quiet();
    serve(MRC_OPC_READ_REQ, 2000, 8);
    serve(MRC_OPC_READ_REQ, 2001, 8);
    EXPECT_EQ(leaves(), (std::vector<u8>{MRC_OPC_ACK, MRC_OPC_READ_RESP_ONLY, MRC_OPC_READ_RESP_ONLY}));
}

TEST_F(answers, an_answer_that_may_not_leave_does_not_hold_the_acknowledgement_back)
{
    quiet();
    post(MRC_OP_WRITE, 4 << 20);
    tx_all();                           // the window is full
    serve(MRC_OPC_READ_REQ, 2000, 8);
    EXPECT_EQ(leaves(), (std::vector<u8>{MRC_OPC_ACK}));
}

TEST_F(answers, nor_one_whose_turn_it_is_not)
{
    quiet();
    serve(MRC_OPC_READ_REQ, 2000, 8);
    leaves();
    post(MRC_OP_WRITE, 3 * 1024);       // now it is the WRITE's
    serve(MRC_OPC_READ_REQ, 2001, 8);
    EXPECT_EQ(leaves(), (std::vector<u8>{MRC_OPC_WRITE_FIRST, MRC_OPC_ACK, MRC_OPC_WRITE_MIDDLE, MRC_OPC_WRITE_LAST,
                                         MRC_OPC_READ_RESP_ONLY}));
}

// What is resent leaves ahead of it.
TEST_F(answers, nor_one_that_waits_behind_losses)
{
    quiet();
    post(MRC_OP_WRITE, 4 * 1024);
    auto v = tx_data();
    ASSERT_EQ(v.size(), 4u);
    for (u32 i = 0; i < 3; i++)
        nack(v[i], MRC_NACK_TRIMMED);
    ASSERT_EQ(c.snd.lost.count, 3u);
    serve(MRC_OPC_READ_REQ, 2000, 8);
    auto t = leaves();
    ASSERT_EQ(t.size(), 5u);
    EXPECT_EQ(t.front(), MRC_OPC_ACK);
}

TEST_F(answers, one_that_could_not_leave_after_all_owes_it_again)
{
    quiet();
    serve(MRC_OPC_READ_REQ, 2000, 8);
    auto t = tx();
    ASSERT_TRUE(t && t->hdr.opcode == MRC_OPC_READ_RESP_ONLY);
    mrc_conn_tx_undo(&c, &*t);
    EXPECT_TRUE(c.ctl.ack_owed);
    take(write_only(2001));
    EXPECT_EQ(leaves(), (std::vector<u8>{MRC_OPC_ACK, MRC_OPC_READ_RESP_ONLY}));
}

TEST_F(answers, a_refusal_leaves_before_any)
{
    quiet();
    serve(MRC_OPC_READ_REQ, 2000, 8);
    mrc_rcv_refuse(&c, 2001, MRC_NAK_REM_ACCESS);
    leaves();
    sack(c.snd.next - 1);
    ack(c.snd.next - 1);
    auto v = tx_ctrl(MRC_OPC_ACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.u.aeth.syndrome & 0xe0, MRC_AETH_NAK);
}

class answered : public pair_rig {
protected:
    void deaf()
    {
        meddle = [this](wire &w) {
            if (&w == &a.in)
                std::erase_if(w, [](const mrc_pkt &p) { return p.opcode == MRC_OPC_ACK || p.opcode == MRC_OPC_SACK; });
        };
    }
};

// What precedes the request is done before it is executed.
TEST_F(answered, an_answer_acknowledges_what_precedes_its_request)
{
    make();
    deaf();
    ASSERT_EQ(post(a, MRC_OP_WRITE, 3000), 0);
    ASSERT_EQ(post(a, MRC_OP_SEND, 64), 0);
    ASSERT_EQ(post(a, MRC_OP_READ, 64), 0);
    for (int i = 0; i < 3; i++)
        round();
    EXPECT_EQ(a.sent_ok, 3u);
    EXPECT_EQ(a.c.msgs.rqm_out, 0u);
    EXPECT_EQ(mrc_conn_deadline_ns(&a.c), MRC_TIME_NEVER);
}

TEST_F(answered, and_its_first_packet_does_so_already)
{
    make();
    deaf();
    ASSERT_EQ(post(a, MRC_OP_WRITE, 3000), 0);
    ASSERT_EQ(post(a, MRC_OP_READ, 8 << 20), 0);
    for (int i = 0; i < 3; i++)
        round();
    EXPECT_EQ(a.sent_ok, 1u);
    EXPECT_EQ(a.c.snd.una, a.c.snd.next);
}

TEST_F(answered, what_follows_the_request_is_not)
{
    make();
    deaf();
    ASSERT_EQ(post(a, MRC_OP_READ, 64), 0);
    ASSERT_EQ(post(a, MRC_OP_WRITE, 64), 0);
    for (int i = 0; i < 3; i++)
        round();
    EXPECT_EQ(a.sent_ok, 1u);
    EXPECT_EQ(a.c.msgs.sq_acked + 1, a.c.msgs.sq_seg);
}

TEST_F(answered, each_read_says_that_all_before_it_is_acknowledged)
{
    make();
    for (u32 i = 0; i < 40; i++) {
        ASSERT_EQ(post(a, MRC_OP_READ, 64), 0);
        for (int k = 0; k < 5 && a.sent_ok <= i; k++)
            round();
        ASSERT_EQ(a.sent_ok, i + 1);
        EXPECT_EQ(a.c.snd.acked, mrc_psn_add(a.c.snd.next, -1)) << "READ " << i;
    }
    EXPECT_EQ(b.c.stats.acks_sent, 5u);
}

} // namespace
