// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_budget.cc - the retry budget at its edges: what restores it, what a timeout resends.
#include "ack_rig.h"

namespace {

using retry_budget = ack_rig;

TEST_F(retry_budget, exp_cnt_25_is_for_ever)
{
    rig_cfg k = defaults();

    k.tx.linear_cnt = 1;
    k.tx.exp_cnt = MRC_EXP_FOREVER;
    flight(1, k);
    for (int i = 0; i < 40000 && c.stats.timeouts < 30; i++) {
        fire();
        tx_all();
    }
    EXPECT_EQ(c.stats.timeouts, 30u);
    EXPECT_EQ(mrc_conn_failed(&c), MRC_ST_OK);
}

// Two planes, each with one packet out: the timeout is the first one's.
TEST_F(retry_budget, a_timeout_resends_the_oldest_of_all_planes)
{
    auto a = flight(1);
    now += 300 * kUs;
    post(MRC_OP_WRITE, 1024);
    auto b = tx_data();
    ASSERT_EQ(a.size(), 1u);
    ASSERT_EQ(b.size(), 1u);
    ASSERT_NE(a[0].hdr.plane, b[0].hdr.plane);
    for (int i = 0; i < 100 && !c.stats.timeouts; i++) {
        fire();
        tx_ctrl(MRC_OPC_PROBE);
    }
    ASSERT_EQ(c.stats.timeouts, 1u);
    EXPECT_EQ(eye.timeout.lost_bytes, kFull);
    EXPECT_EQ(c.stats.rtx_rto + c.snd.lost.count, 1u);
    EXPECT_GE(b[0].hdr.psn, 1001u);
    EXPECT_EQ(c.snd.rec[a[0].hdr.psn & c.snd.mask].cause, MRC_CAUSE_RTO);
    EXPECT_EQ(c.snd.rec[b[0].hdr.psn & c.snd.mask].cause, 0);
}

// All has arrived, its ACK got lost: who answers is alive, and has all the time there is.
TEST_F(retry_budget, an_answer_that_all_has_arrived_is_a_word_of_life)
{
    std::optional<u16> id;

    auto sent = flight(1);
    now += 50 * kUs;
    sack(sack_of(sent[0], 1000));
    for (int i = 0; i < 100 && c.budget.retries < 2; i++) {
        fire();
        for (const mrc_txop &t : tx_ctrl(MRC_OPC_PROBE))
            id = t.hdr.u.probe.probe_id;
    }
    ASSERT_EQ(c.budget.retries, 2u);
    ASSERT_TRUE(id);
    probe_answer(*id, 1000);
    EXPECT_EQ(c.budget.retries, 0u);
    EXPECT_GT(mrc_conn_deadline_ns(&c), now) << "and the ACK is still waited for";
    EXPECT_NE(mrc_conn_deadline_ns(&c), MRC_TIME_NEVER);
}

// Some peers answer probes without an ACK, or not at all; of what comes twice each says what it knows.
TEST_F(retry_budget, what_has_arrived_leaves_again_for_its_ack)
{
    for (bool answers : {true, false}) {
        auto sent = flight(4);
        std::optional<mrc_txop> copy;
        u32 inflight, probes = 0;

        now += 50 * kUs;
        sack(sack_of(sent[3], 1003));
        inflight = c.snd.inflight;
        for (int i = 0; i < 100 && !copy; i++) {
            fire();
            for (const mrc_txop &t : tx_all()) {
                if (mrc_opc_is_data(t.hdr.opcode))
                    copy = t;
                probes += t.hdr.opcode == MRC_OPC_PROBE;
                if (answers && t.hdr.opcode == MRC_OPC_PROBE)
                    probe_answer(t.hdr.u.probe.probe_id, 1003);
            }
        }
        ASSERT_TRUE(copy) << answers;
        EXPECT_GE(probes, 2u);
        EXPECT_LE(probes, 4u);
        EXPECT_EQ(copy->hdr.psn, 1003u);
        EXPECT_TRUE(copy->hdr.rtx);
        EXPECT_TRUE(copy->hdr.ackreq);
        EXPECT_EQ(copy->hdr.opcode, sent[3].hdr.opcode);
        EXPECT_EQ(copy->off, sent[3].off);
        EXPECT_EQ(copy->len, sent[3].len);
        EXPECT_EQ(c.snd.inflight, inflight);
        EXPECT_EQ(c.stats.rtx_rto, 1u);
        mrc_conn_tx_undo(&c, &*copy);
        EXPECT_EQ(c.stats.rtx_rto, 0u);
        EXPECT_EQ(c.stats.tx_pkts, 4u);
        ack(1003);
        EXPECT_EQ(mrc_conn_deadline_ns(&c), MRC_TIME_NEVER);
    }
}

// Each answer puts the tail probe off, so that it is always the timeout that asks.
TEST_F(retry_budget, and_where_only_the_timeout_asks)
{
    auto sent = flight(4);
    u32 copies = 0;

    now += 60 * kMs;
    sack(sack_of(sent[3], 1003));
    for (int i = 0; i < 40; i++) {
        fire();
        for (const mrc_txop &t : tx_all()) {
            copies += mrc_opc_is_data(t.hdr.opcode);
            if (t.hdr.opcode != MRC_OPC_PROBE)
                continue;
            now += 10 * kMs;
            probe_answer(t.hdr.u.probe.probe_id, 1003);
        }
    }
    EXPECT_GE(copies, 10u);
    EXPECT_LE(copies, 25u);
}

// A QP without a timeout, whose peer answers no probe: what was lost at the end leaves again all the same.
TEST_F(retry_budget, without_a_timeout_silence_resends)
{
    rig_cfg k = defaults();

    k.tx.timeout_ns = 0;
    auto sent = flight(4, k);
    u32 copies = 0;

    now += 50 * kUs;
    sack(sack_of(sent[0], 1000));
    for (int i = 0; i < 7; i++) {
        fire();
        EXPECT_TRUE(tx_data().empty()) << "answers may be late";
    }
    for (int i = 0; i < 16; i++) {
        fire();
        auto again = tx_data();
        copies += static_cast<u32>(again.size());
        EXPECT_LE(again.size(), 1u);
    }
    EXPECT_GE(copies, 3u);
    EXPECT_EQ(c.stats.rtx_rto, copies);
    k.tx.timeout_ns = 1000 * kMs;
    flight(4, k);
    for (int i = 0; i < 6 && mrc_conn_deadline_ns(&c) < c.budget.rto_at_ns; i++) {
        fire();
        EXPECT_TRUE(tx_data().empty()) << "the timeout will";
    }
}

// Without stamps nobody knows which copy was answered (Karn). If probes are not answered either, one packet per timeout would
// leave. So all do that are old enough, once a pause of the peer is no likely cause.
TEST_F(retry_budget, a_timeout_resends_all_where_answers_prove_nothing)
{
    for (bool stamps : {false, true}) {
        for (bool answers : {false, true}) {
            rig_cfg k = defaults();

            k.tx.timestamps = stamps;
            auto sent = flight(9, k);
            now += 50 * kUs;
            sack(sack_of(sent[0], 1000));
            if (answers) // late: nothing else follows from it
                probe_answer(MRC_PROBE_ID_TAIL, 1000);
            while (c.stats.timeouts < 2) {
                fire();
                tx_all();
            }
            EXPECT_EQ(eye.timeout.lost_bytes, kFull) << "the peer may only be late";
            now = c.budget.rto_at_ns - 2 * kUs;
            post(MRC_OP_WRITE, 1024);
            ASSERT_EQ(tx_data().size(), 1u);
            while (c.stats.timeouts < 3) {
                fire();
                tx_ctrl(MRC_OPC_PROBE);
            }
            EXPECT_EQ(eye.timeout.lost_bytes, !stamps && !answers ? 8 * kFull : kFull) << stamps << answers;
        }
    }
}

// Losses shrank the window below what is out, which is lost, too. The peer showed what it has, so nothing but the
// timeout can say so.
TEST_F(retry_budget, a_timeout_resends_though_the_window_is_full)
{
    for (bool timeout : {true, false}) {
        rig_cfg k = defaults();

        k.tx.timeout_ns = timeout ? k.tx.timeout_ns : 0;
        auto sent = flight(8, k);
        std::vector<mrc_txop> copies;

        now += 50 * kUs;
        sack(sack_of(sent[7], 999));
        for (int i = 0; i < 10 && copies.size() < 7; i++) {
            fire();
            for (const mrc_txop &t : tx_data())
                copies.push_back(t);
        }
        ASSERT_EQ(copies.size(), 7u);
        eye.cc.cwnd_bytes = kFull;
        copies.clear();
        for (int i = 0; i < 40 && copies.empty(); i++) {
            fire();
            copies = tx_data();
        }
        ASSERT_EQ(copies.size(), 1u) << "one, for the window is full";
        EXPECT_TRUE(copies[0].hdr.rtx);
        EXPECT_EQ(c.snd.out, 7u);
        EXPECT_FALSE(c.budget.beyond);
        c.budget.beyond = true;
        now += 50 * kUs;
        sack(sack_of(copies[0], 1000));
        EXPECT_GE(c.snd.una, 1001u);
        EXPECT_FALSE(c.budget.beyond) << "who gets on waits for room";
    }
}

// Without a timeout, and some of it known as lost: every other tail probe that nobody answers has a packet beside it.
TEST_F(retry_budget, what_is_lost_waits_for_no_room_in_silence)
{
    rig_cfg k = defaults();

    k.tx.timeout_ns = 0;
    auto sent = flight(8, k);
    u32 copies = 0, probes = 0;

    now += 50 * kUs;
    eye.cc.cwnd_bytes = kFull;
    sack(sack_of(sent[3], 999));
    for (int i = 0; i < 20 && !c.snd.lost.count; i++)
        fire();
    ASSERT_GE(c.snd.lost.count, 1u);
    ASSERT_GE(c.snd.out, 2u) << "the window is full";
    while (probes < 6) {
        fire();
        for (const mrc_txop &t : tx_all()) {
            probes += t.hdr.opcode == MRC_OPC_PROBE;
            copies += mrc_opc_is_data(t.hdr.opcode);
        }
        EXPECT_TRUE(copies == 0 || probes >= 2);
    }
    EXPECT_GE(copies, 1u);
    EXPECT_LE(copies, 3u);
}

// What is at work on a READ sends the answer for as long as it takes.
TEST_F(retry_budget, a_request_whose_answer_comes_does_not_leave_again)
{
    rig_cfg k = defaults();

    k.tx.rd_atomic = 1;
    make(k);
    post(MRC_OP_READ, 1024);
    auto sent = tx_data();
    ASSERT_EQ(sent.size(), 1u);
    now += 50 * kUs;
    sack(sent[0].hdr.psn);
    ASSERT_NE(mrc_conn_deadline_ns(&c), MRC_TIME_NEVER);
    for (int i = 0; i < 50 && mrc_conn_deadline_ns(&c) != MRC_TIME_NEVER; i++) {
        fire();
        for (const mrc_txop &t : tx_all())
            EXPECT_FALSE(mrc_opc_is_data(t.hdr.opcode));
    }
}

// It says so again and again, and is slow with the ACK: asked ever less often, at last ten times
// a second, by timeouts, too.
TEST_F(retry_budget, who_lives_and_has_nothing_to_say_is_asked_less_and_less)
{
    auto sent = flight(1);
    u32 probes = 0;

    now += 50 * kUs;
    sack(sack_of(sent[0], 1000));
    for (u64 end = now + 2000 * kMs; now < end;) {
        fire();
        for (const mrc_txop &t : tx_ctrl(MRC_OPC_PROBE)) {
            probes++;
            now += 50 * kUs;
            probe_answer(t.hdr.u.probe.probe_id, 1000);
        }
    }
    EXPECT_LE(probes, 40u);
    EXPECT_GE(probes, 10u);
    EXPECT_EQ(c.budget.retries, 0u);
}

// linear_cnt retries at the plain interval, then each twice as long as the one before.
TEST_F(retry_budget, the_last_linear_one_is_not_doubled)
{
    rig_cfg k = defaults();

    k.tx.linear_cnt = 2;
    k.tx.exp_cnt = 3;
    flight(1, k);
    u64 plain = mrc_budget_rto_ns(&c);
    for (u32 n = 0; n <= 4; n++) {
        c.budget.retries = static_cast<u8>(n);
        EXPECT_EQ(mrc_budget_rto_ns(&c), n <= 2 ? plain : plain << (n - 2)) << n;
    }
    c.budget.retries = 0;
}

TEST_F(retry_budget, a_pause_for_want_of_receives_has_a_timer)
{
    flight(1);
    u64 at = now + 1 * kUs;
    c.rnr_until_ns = at;
    EXPECT_EQ(mrc_pto_deadline_ns(&c), at);
    c.rnr_until_ns = 0;
}

TEST_F(retry_budget, a_delivery_restarts_the_back_off_of_tail_probes)
{
    flight(3);
    c.pto.backoff = 5;
    now += 50 * kUs;
    sack(1000, 0, 1, 1000);
    EXPECT_EQ(c.pto.backoff, 0);
}

// It waits to be resent when a SACK tells that it had arrived: bytes for the controller.
TEST_F(retry_budget, what_arrives_while_it_waits_is_a_delivery)
{
    flight(3);
    mrc_snd_lose(&c, 1000, MRC_CAUSE_RACK, now);
    ASSERT_EQ(c.snd.lost.count, 1u);
    now += 50 * kUs;
    sack(1000, 0, 1, 1000);
    EXPECT_EQ(c.snd.lost.count, 0u);
    EXPECT_EQ(eye.ack.acked_bytes, 1 * kFull);
}

} // namespace
