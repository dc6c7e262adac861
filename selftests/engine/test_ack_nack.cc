// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_ack_nack.cc - every reason of a NACK: at once, after a while, or the end.
#include "ack_rig.h"

namespace {

// ---- NACKs ----

class ack_nack : public ack_rig {
protected:
    void tick(u64 ns) { run_to(now + ns); }
    std::vector<mrc_txop> known_rtt(u32 n)
    {
        flight(1);
        return after_a_round_trip(n);
    }
};

TEST_F(ack_nack, trimmed_at_once_by_another_path)
{
    auto v = flight(20);
    nack(v[0], MRC_NACK_TRIMMED);
    EXPECT_EQ(evs.ev[v[0].ev_idx].state, MRC_EV_SKIP);
    nack(v[1], MRC_NACK_TRIMMED_LASTHOP);
    EXPECT_EQ(evs.ev[v[1].ev_idx].state, MRC_EV_GOOD);
    auto again = tx_data();
    ASSERT_EQ(psns(again), (psn_list{1000, 1001}));
    for (u32 i = 0; i < 2; i++) {
        EXPECT_NE(again[i].hdr.ev, v[i].hdr.ev);
        EXPECT_EQ(again[i].tclass, MRC_TC_RTX);
    }
    EXPECT_EQ(c.stats.rtx_trim, 2u);
    EXPECT_EQ(c.budget.retries, 1u) << "both together (MRC 1.0 1.8)";
    sack(1001);
    EXPECT_EQ(c.budget.retries, 0u) << "progress restores it";
}

TEST_F(ack_nack, for_want_of_resources_after_a_while)
{
    const mrc_nack reasons[] = {MRC_NACK_NO_BITMAP, MRC_NACK_NO_PKT_BUFFER,
                                MRC_NACK_PSN_OOR_WINDOW};

    for (mrc_nack why : reasons) {
        auto v = known_rtt(20);
        nack(v[3], why);
        EXPECT_TRUE(tx_data().empty());
        EXPECT_EQ(c.snd.paced.count, 1u);
        nack(v[9], why);
        tick(49 * kUs);
        EXPECT_TRUE(tx_data().empty()) << "about a round trip";
        tick(2 * kUs);
        auto again = tx_data();
        ASSERT_EQ(psns(again), (psn_list{1004, 1010}));
        EXPECT_NE(again[0].hdr.ev, v[3].hdr.ev);
        EXPECT_EQ(c.stats.rtx_nack, 2u);
        EXPECT_EQ(c.budget.retries, 1u) << "both together cost one retry";
        for (u16 i = 0; i < evs.n; i++)
            EXPECT_EQ(evs.ev[i].state, MRC_EV_GOOD) << "no fault of the path";
        // Again: the wait doubles.
        nack(again[0], why);
        tick(99 * kUs);
        EXPECT_TRUE(tx_data().empty());
        tick(2 * kUs);
        EXPECT_EQ(psns(tx_data()), psn_list{1004});
    }
}

// What was refused came whole: the refusal is the answer to it. Where all is refused once, no other tells (36974).
TEST_F(ack_nack, a_refusal_of_a_first_copy_is_a_round_trip)
{
    auto v = known_rtt(8);
    auto srtt = [&](const mrc_txop &t) { return evs.plane[t.hdr.plane].srtt_ns; };
    u32 before = srtt(v[0]);

    now += 60 * kUs;
    nack(v[0], MRC_NACK_NO_BITMAP);
    EXPECT_NE(srtt(v[0]), before);
    EXPECT_NEAR(srtt(v[0]), before ? (7 * before + 60e3) / 8 : 60e3, 100);
    before = srtt(v[1]);
    nack(v[1], MRC_NACK_TRIMMED);
    EXPECT_EQ(srtt(v[1]), before) << "it passed the queues by";
    tick(200 * kUs);
    auto again = tx_data();
    ASSERT_FALSE(again.empty());
    before = srtt(again[0]);
    now += 60 * kUs;
    nack(again[0], MRC_NACK_NO_BITMAP);
    EXPECT_EQ(srtt(again[0]), before) << "which copy was it?";
    before = srtt(v[2]);
    now += 10 * kMs;
    nack(v[2], MRC_NACK_NO_BITMAP);
    EXPECT_EQ(srtt(v[2]), before) << "it waited for something";
}

// A host that paused once makes the mean long for a hundred round trips: nobody waits for that.
TEST_F(ack_nack, what_is_refused_does_not_wait_for_a_pause_of_long_ago)
{
    auto v = known_rtt(3);
    now += 50 * kUs;
    sack(sack_of(v[0], v[0].hdr.psn));
    EXPECT_EQ(c.rack.min_rtt_ns, 49984u);
    now += 300 * kUs;
    sack(sack_of(v[1], v[1].hdr.psn));
    ASSERT_GT(c.rtt.srtt_ns, 80 * kUs);
    post(MRC_OP_WRITE, 100);
    nack(tx_data()[0], MRC_NACK_NO_BITMAP);
    EXPECT_EQ(c.budget.nack_until_ns - now, c.rtt.srtt_ns) << "in between, the mean";
    for (int i = 0; i < 8; i++)
        mrc_rtt_sample(&c, MRC_PLANES_MAX, 5 * kMs, now);
    sack(sack_of(v[2], v[2].hdr.psn));
    tick(kMs);
    tx_all();
    post(MRC_OP_WRITE, 100);
    nack(tx_data()[0], MRC_NACK_NO_BITMAP);
    EXPECT_EQ(c.budget.nack_until_ns - now, 2u * 49984);
}

TEST_F(ack_nack, others_are_not_held_up)
{
    auto v = known_rtt(20);
    nack(v[3], MRC_NACK_NO_PKT_BUFFER);
    nack(v[0], MRC_NACK_TRIMMED_LASTHOP);
    EXPECT_EQ(psns(tx_data()), psn_list{1001});
    sack(1003, 1, 1);
    EXPECT_EQ(c.snd.paced.count, 0u) << "it had arrived";
    EXPECT_EQ(c.snd.una, 1005u);
}

TEST_F(ack_nack, the_budget_is_shared_with_timeouts)
{
    auto v = known_rtt(1);      // 1 ms; 2 linear and 3 doubling
    u64 begin = now;

    while (mrc_conn_failed(&c) == MRC_ST_OK && now < begin + 100 * kMs) {
        for (const mrc_txop &t : tx_all())
            if (mrc_opc_is_data(t.hdr.opcode))
                nack(t, MRC_NACK_NO_PKT_BUFFER);
        if (now == begin)
            nack(v[0], MRC_NACK_NO_PKT_BUFFER);
        if (mrc_conn_failed(&c) == MRC_ST_OK)
            fire();
    }
    EXPECT_EQ(mrc_conn_failed(&c), MRC_ST_RETRY_EXC);
    EXPECT_LE(now - begin, 20 * kMs);
    EXPECT_GE(now - begin, 10 * kMs) << "the peer is given the time that was agreed";
    EXPECT_EQ(show(cpls()), "101:2");
}

TEST_F(ack_nack, progress_restores_the_budget)
{
    known_rtt(20);
    for (u32 i = 1; i < 20; i++) {
        nack(1000 + i, evs.ev[c.snd.rec[(1000 + i) & c.snd.mask].ev].value,
             MRC_NACK_NO_PKT_BUFFER);
        EXPECT_EQ(c.budget.retries, 1u);
        tick(400 * kUs);
        tx_all();
        sack(1000 + i);
        EXPECT_EQ(c.budget.retries, 0u);
    }
}

TEST_F(ack_nack, of_an_earlier_copy_is_stale)
{
    auto sent = flight(5);
    nack(sent[2], MRC_NACK_TRIMMED);
    auto again = tx_data();
    ASSERT_EQ(psns(again), psn_list{1002});
    nack(sent[2], MRC_NACK_TRIMMED);    // the same NACK, duplicated
    EXPECT_EQ(c.snd.lost.count, 0u);
    EXPECT_TRUE(tx_data().empty());
    nack(again[0], MRC_NACK_TRIMMED);
    EXPECT_EQ(psns(tx_data()), psn_list{1002});
}

// There are more headers than the port can carry (seed 132170).
TEST_F(ack_nack, trimmed_again_is_told_to_the_controller)
{
    auto sent = flight(5);

    nack(sent[2], MRC_NACK_TRIMMED);
    EXPECT_FALSE(eye.nack.trimmed_again);
    for (u32 i = 0; i < 2; i++) {
        auto again = tx_data();
        ASSERT_EQ(psns(again), psn_list{1002});
        nack(again[0], i ? MRC_NACK_TRIMMED : MRC_NACK_TRIMMED_LASTHOP);
        EXPECT_TRUE(eye.nack.trimmed_again);
    }
    EXPECT_EQ(eye.nacks, 3u);
}

TEST_F(ack_nack, trimmed_after_another_loss_is_not_again)
{
    auto sent = known_rtt(5);

    nack(sent[2], MRC_NACK_NO_BITMAP);
    tick(200 * kUs);
    auto again = tx_data();
    ASSERT_EQ(psns(again).at(0), sent[2].hdr.psn);
    nack(again[0], MRC_NACK_TRIMMED);
    EXPECT_TRUE(eye.nack.trimmed);
    EXPECT_FALSE(eye.nack.trimmed_again);
    again = tx_data();
    ASSERT_EQ(psns(again).at(0), sent[2].hdr.psn);
    nack(again[0], MRC_NACK_NO_BITMAP);
    EXPECT_EQ(eye.nacks, 3u);
    EXPECT_FALSE(eye.nack.trimmed_again) << "refused, not trimmed";
}

TEST_F(ack_nack, of_what_has_arrived)
{
    auto sent = flight(5);
    sack(1004);
    nack(sent[2], MRC_NACK_TRIMMED);
    EXPECT_TRUE(tx_data().empty());
}

TEST_F(ack_nack, unexpected_event_is_fatal)
{
    auto sent = flight(5);
    nack(sent[2], MRC_NACK_UNEXP_EVENT);
    EXPECT_EQ(mrc_conn_failed(&c), MRC_ST_REM_OP);
    EXPECT_EQ(show(cpls()), "100:6");
}

TEST_F(ack_nack, a_reason_of_tomorrow_is_paced)
{
    auto sent = flight(5);
    mrc_pkt p = {};
    p.opcode = MRC_OPC_NACK;
    p.u.nack.psn = sent[2].hdr.psn;
    p.u.nack.ev = sent[2].hdr.ev;
    p.u.nack.reason = 0x5e;
    rx(p);
    sound();
    EXPECT_EQ(c.snd.paced.count, 1u);
}

// ---- RNR ----

TEST_F(ack_nack, rnr_pauses_and_tries_again)
{
    make();
    post(MRC_OP_SEND, 10);
    post(MRC_OP_SEND, 10);
    auto v = tx_data();
    nack(v[0], MRC_NACK_NO_RESOURCE, 5);    // 60 us
    EXPECT_TRUE(tx_data().empty());
    tick(mrc_rnr_timer_ns(5) - 1);
    EXPECT_TRUE(tx_data().empty());
    tick(1);
    EXPECT_EQ(psns(tx_data()), psn_list{1000});
    EXPECT_EQ(c.stats.rtx_rnr, 1u);
}

TEST_F(ack_nack, rnr_is_exhausted)
{
    rig_cfg k = defaults();

    k.tx.rnr_retry = 2;
    make(k);
    post(MRC_OP_SEND, 10);
    auto v = tx_data();
    for (int i = 0; i < 2; i++) {
        nack(v[0], MRC_NACK_NO_RESOURCE);
        ASSERT_EQ(mrc_conn_failed(&c), MRC_ST_OK);
        tick(10 * kUs);
        v = tx_data();
        ASSERT_EQ(v.size(), 1u);
    }
    nack(v[0], MRC_NACK_NO_RESOURCE);
    EXPECT_EQ(show(cpls()), "100:3");
    EXPECT_EQ(mrc_conn_failed(&c), MRC_ST_RNR_EXC);
}

// The NACK leaves before the ACK of what was received.
TEST_F(ack_nack, rnr_is_exhausted_for_what_was_refused)
{
    rig_cfg k = defaults();

    k.tx.rnr_retry = 0;
    make(k);
    post(MRC_OP_SEND, 10);
    post(MRC_OP_SEND, 10);
    post(MRC_OP_SEND, 10);
    auto v = tx_data();
    nack(v[2], MRC_NACK_NO_RESOURCE);
    nack(v[1], MRC_NACK_NO_RESOURCE);
    EXPECT_EQ(mrc_conn_failed(&c), MRC_ST_OK);
    EXPECT_TRUE(cpls().empty());
    tick(100 * kUs);
    EXPECT_TRUE(tx_data().empty()); // nothing is asked any more
    ack(1000);
    EXPECT_EQ(show(cpls()), "100:0 101:3 102:1");
}

// A peer that takes its time to post receives is no peer that is silent.
TEST_F(ack_nack, rnr_is_a_word_of_life)
{
    rig_cfg k = defaults();

    k.tx.rnr_retry = MRC_RNR_FOREVER;
    make(k);
    post(MRC_OP_SEND, 10);
    auto v = tx_data();
    for (u32 i = 0; i < 2u * (c.tx.linear_cnt + c.tx.exp_cnt) + 2; i++) {
        nack(v[0], MRC_NACK_NO_RESOURCE);
        v = {};
        for (u64 n = c.stats.timeouts; c.stats.timeouts == n;) {
            fire();
            for (auto &t : tx_data())
                v.assign(1, t);
        }
        for (auto &t : tx_data())
            v.assign(1, t);
        ASSERT_FALSE(v.empty());
        ASSERT_EQ(mrc_conn_failed(&c), MRC_ST_OK) << i;
    }
}

TEST_F(ack_nack, rnr_timer_table)
{
    EXPECT_EQ(mrc_rnr_timer_ns(1), 10u * kUs);
    EXPECT_EQ(mrc_rnr_timer_ns(0), 655360u * kUs);
    EXPECT_EQ(mrc_rnr_timer_ns(31), 491520u * kUs);
}

} // namespace
