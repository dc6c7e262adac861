// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_rnr.cc - what a sender does whose peer has no receive posted: it asks with one packet,
// and what it sends grows with what is taken.
#include "pair_rig.h"

namespace {

class rnr : public pair_rig {
protected:
    static constexpr u32 kMsgs = 8, kLen = 64 << 10, kPkts = kMsgs * (kLen >> 10);

    // Eight messages of 64 KiB to a peer that has @recvs receives.
    void start(u32 recvs, u32 retry = MRC_RNR_FOREVER)
    {
        rig_cfg k = defaults();

        k.conn.mpr_max = 8;
        k.tx.rnr_retry = static_cast<u8>(retry);
        k.tx.cwnd_bytes = 4 << 20;
        make(k);
        b.recvs = recvs;
        for (u32 i = 0; i < kMsgs; i++)
            ASSERT_EQ(post(a, MRC_OP_SEND, kLen), 0);
    }
    void pass(u64 ns)
    {
        for (u64 end = now + ns; now < end; round())
            ;
    }
    u64 sent() const { return a.c.stats.tx_pkts; }
};

TEST_F(rnr, a_pause_ends_with_one_question)
{
    start(0);
    pass(10 * kMs);

    u64 first = sent(), nacks = a.c.stats.nacks_rcvd;
    ASSERT_GE(first, kPkts);
    pass(10 * kMs); // 10 us of pause and a round trip: some 500 questions
    EXPECT_GE(sent() - first, 100u);
    EXPECT_LE(sent() - first, 1100u);
    EXPECT_EQ(a.c.stats.nacks_rcvd - nacks, sent() - first);
    EXPECT_EQ(mrc_conn_failed(&a.c), MRC_ST_OK);
}

TEST_F(rnr, a_receive_is_found_and_the_rest_follows)
{
    start(0);
    pass(10 * kMs);
    b.recvs = kMsgs;

    u64 before = sent(), t = now;
    EXPECT_TRUE(run());
    EXPECT_EQ(b.received, kMsgs);
    EXPECT_EQ(a.sent_ok, kMsgs);
    EXPECT_LE(sent() - before, kPkts + 2u);
    EXPECT_LE(now - t, 20 * 10 * kUs); // doubles each round trip
    for (u32 i = 0; i < kMsgs; i++)
        post(a, MRC_OP_SEND, kLen);
    b.recvs = 2 * kMsgs;
    EXPECT_TRUE(run());
    EXPECT_FALSE(a.c.rnr.on); // all is as it was
}

TEST_F(rnr, one_receive_at_a_time_costs_less_than_each_message_again)
{
    start(0);
    pass(1 * kMs);
    u64 before = sent();
    for (u32 i = 1; i <= kMsgs; i++) {
        b.recvs = i;
        pass(2 * kMs);
        ASSERT_EQ(b.received, i);
    }
    EXPECT_TRUE(run());
    EXPECT_EQ(a.sent_ok, kMsgs);
    // 2 ms of one question per pause, some 130, and at each end of a message what had grown.
    EXPECT_LE(sent() - before, kPkts + kMsgs * (150 + 64));
}

TEST_F(rnr, retries_are_counted_by_questions)
{
    start(0, 3);
    EXPECT_TRUE(run());
    EXPECT_EQ(mrc_conn_failed(&a.c), MRC_ST_RNR_EXC);
    EXPECT_EQ(sent(), kPkts + 3u);
}

TEST_F(rnr, questions_may_get_lost)
{
    u32 n = 0;

    start(0);
    pass(1 * kMs);
    meddle = [&n](wire &w) {
        if (!w.empty() && ++n % 3 == 0)
            w.pop_front();
    };
    pass(5 * kMs);
    b.recvs = kMsgs;
    EXPECT_TRUE(run(100000));
    EXPECT_EQ(a.sent_ok, kMsgs);
    EXPECT_EQ(b.placed, u64{kMsgs} * kLen);
}

// NACKs overtake each other: the lowest PSN asks, for the next receive is its.
TEST_F(rnr, the_lowest_asks)
{
    start(0);
    meddle = [this](wire &w) {
        if (!w.empty() && w.front().opcode == MRC_OPC_NACK)
            std::reverse(w.begin(), w.end());
    };
    for (int i = 0; i < 200; i++) {
        round();
        if (sent() > kPkts)
            break;
    }
    b.recvs = 1;
    pass(5 * kMs);
    EXPECT_EQ(b.received, 1u);
    EXPECT_EQ(a.sent_ok, 1u);
}

// b posts its receives when its READs are done: without answers both would wait for ever.
TEST_F(rnr, answers_wait_for_no_receive)
{
    start(0);
    pass(1 * kMs);
    for (u32 i = 0; i < 4; i++)
        ASSERT_EQ(post(b, MRC_OP_READ, i * 40000 + 64), 0);
    pass(10 * kMs);
    EXPECT_EQ(b.sent_ok, 4u);
    EXPECT_EQ(a.sent_ok, 0u);
    b.recvs = kMsgs;
    EXPECT_TRUE(run());
    EXPECT_EQ(a.sent_ok, kMsgs);
}

// Nor for the end of a pause, and what of them gets lost leaves again meanwhile.
TEST_F(rnr, answers_leave_in_a_pause)
{
    u32 n = 0;
    rig_cfg k = defaults();

    k.conn.mpr_max = 8;
    k.rx.min_rnr_timer = 0; // 655 ms
    k.tx.rnr_retry = MRC_RNR_FOREVER;
    make(k);
    b.recvs = 0;
    ASSERT_EQ(post(a, MRC_OP_SEND, 10), 0);
    pass(1 * kMs);
    ASSERT_GT(a.c.rnr_until_ns, now + 600 * kMs);
    meddle = [&n](wire &w) {
        std::erase_if(w, [&n](const mrc_pkt &p) { return mrc_opc_is_read_resp(p.opcode) && ++n % 3 == 0; });
    };
    ASSERT_EQ(post(b, MRC_OP_READ, 100 << 10), 0);
    pass(50 * kMs);
    EXPECT_GE(n, 3u);
    EXPECT_EQ(b.sent_ok, 1u);

    // Nothing else does, whose turn it would be.
    meddle = {};
    u64 before = sent();
    ASSERT_EQ(post(a, MRC_OP_WRITE, 10), 0);
    ASSERT_EQ(post(b, MRC_OP_READ, 10), 0);
    pass(50 * kMs);
    EXPECT_EQ(b.sent_ok, 2u);
    EXPECT_EQ(sent() - before, 1u);
    EXPECT_LT(now, a.c.rnr_until_ns);
}

// A SEND that is half cut is cut to its end first: messages are whole.
TEST_F(rnr, a_half_cut_message_lets_answers_by)
{
    rig_cfg k = defaults();

    k.conn.mpr_max = 8;
    k.tx.rnr_retry = MRC_RNR_FOREVER;
    k.tx.cwnd_bytes = 16 << 10;
    make(k);
    b.recvs = 0;
    ASSERT_EQ(post(a, MRC_OP_SEND, 200 << 10), 0);
    pass(1 * kMs);
    ASSERT_NE(a.c.msgs.cut, MRC_NONE16);
    ASSERT_EQ(post(b, MRC_OP_READ, 3000), 0);
    pass(10 * kMs);
    EXPECT_EQ(b.sent_ok, 1u);
    b.recvs = 1;
    EXPECT_TRUE(run());
    EXPECT_EQ(b.received, 1u);
    EXPECT_EQ(a.sent_ok, 1u);
}

// What precedes the message that nobody receives completes as it was.
TEST_F(rnr, a_read_before_what_fails_completes)
{
    rig_cfg k = defaults();

    k.tx.rnr_retry = 0;
    make(k);
    b.recvs = 0;
    ASSERT_EQ(post(a, MRC_OP_READ, 100 << 10), 0);
    ASSERT_EQ(post(a, MRC_OP_WRITE, 100 << 10), 0);
    ASSERT_EQ(post(a, MRC_OP_SEND, 10), 0);
    ASSERT_EQ(post(a, MRC_OP_WRITE, 10), 0);
    pass(10 * kMs);
    EXPECT_EQ(a.sent_ok, 2u);
    EXPECT_EQ(a.sent_bad, 2u);
    EXPECT_EQ(mrc_conn_failed(&a.c), MRC_ST_RNR_EXC);
}

// ---- packet by packet ----

class rnr_room : public rig {
protected:
    // As many SENDs of one packet; those from @from on are refused, and the pause is over.
    std::vector<mrc_txop> refused(u32 n, u32 from)
    {
        make();
        for (u32 i = 0; i < n; i++)
            post(MRC_OP_SEND, 10);
        auto v = tx_data();
        EXPECT_EQ(v.size(), n);
        for (u32 i = n; i-- > from;)
            nack(v[i], MRC_NACK_NO_RESOURCE);
        EXPECT_TRUE(tx_data().empty());
        return v;
    }
    psn_list after_pause()
    {
        run_to(now + 10 * kUs);
        return psns(tx_data());
    }
};

TEST_F(rnr_room, each_that_is_taken_lets_two_leave)
{
    refused(8, 0);
    EXPECT_EQ(after_pause(), psn_list{1000});
    sack(1000);
    EXPECT_EQ(psns(tx_data()), (psn_list{1001, 1002}));
    ack(1002); // whoever says so
    EXPECT_EQ(psns(tx_data()), (psn_list{1003, 1004, 1005, 1006}));
}

TEST_F(rnr_room, what_left_before_the_question_says_nothing)
{
    refused(8, 4);
    sack(1003); // it took its time
    EXPECT_EQ(after_pause(), psn_list{1004});
    EXPECT_TRUE(tx_data().empty());
}

TEST_F(rnr_room, the_latest_new_packet_asks_for_an_answer)
{
    refused(2, 0);
    EXPECT_EQ(after_pause(), psn_list{1000});
    sack(1000);
    post(MRC_OP_SEND, 10);
    post(MRC_OP_SEND, 10);
    auto v = tx_data(); // a resend, which asks by itself, and a new one
    ASSERT_EQ(psns(v), (psn_list{1001, 1002}));
    EXPECT_TRUE(v[1].hdr.ackreq);
}

TEST_F(rnr_room, what_cannot_leave_keeps_its_turn)
{
    refused(8, 0);
    EXPECT_EQ(after_pause(), psn_list{1000});
    sack(1000);
    auto t = tx();
    ASSERT_TRUE(t);
    mrc_conn_tx_undo(&c, &*t);
    EXPECT_EQ(psns(tx_data()), (psn_list{1001, 1002}));
}

TEST_F(rnr_room, a_question_that_nobody_answers_is_asked_again)
{
    refused(4, 0);
    EXPECT_EQ(after_pause(), psn_list{1000});
    for (int i = 0; i < 50 && c.stats.rtx_rto + c.stats.rtx_rack == 0; i++) {
        fire();
        tx_all();
    }
    EXPECT_EQ(c.stats.rtx_rto + c.stats.rtx_rack, 1u);
    EXPECT_EQ(c.snd.out, 1u);
}

} // namespace
