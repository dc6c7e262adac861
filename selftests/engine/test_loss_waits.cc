// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// What a sender waits for, and for how long: nothing may wait for ever, and no pause
// that the peer asked for may cost a retry. Found by review.
#include "conn_rig.h"

namespace {

class loss_waits : public rig {
protected:
    void finite(u8 retries)
    {
        rig_cfg k = defaults();

        k.tx.timeout_ns = 1000 * kUs;
        k.tx.linear_cnt = retries;
        k.tx.exp_cnt = 0;
        make(k);
    }
    std::vector<u64> mem = std::vector<u64>(mrc_nscc.size / 8 + 1); // of a controller
};

TEST_F(loss_waits, a_lost_request_is_asked_for_while_the_peer_sends)
{
    make(defaults());
    post(MRC_OP_READ, 100);
    ASSERT_EQ(tx_data().size(), 1u); // and is lost
    u32 probes = 0;
    for (u32 psn = 2000; psn < 2200 && !probes; psn++) {
        ASSERT_TRUE(take(write_only(psn)));
        now += 50 * kUs;
        mrc_conn_timer(&c, now);
        probes += static_cast<u32>(tx_ctrl(MRC_OPC_PROBE).size());
    }
    EXPECT_GT(probes, 0u);
}

// The last response to a READ comes after the ACK of its request: nothing is waited for then, and
// nothing asked, though no acknowledgement says so.
TEST_F(loss_waits, what_a_response_ended_is_not_asked_for)
{
    make();
    post(MRC_OP_WRITE, 100);
    tx_data();
    after_a_round_trip(1);
    now += 50 * kUs;
    sack(1001, 0, 1, 1001);
    ack(1001);
    post(MRC_OP_READ, 100);
    ASSERT_EQ(tx_data().size(), 1u);
    now += 50 * kUs;
    ack(1002);
    ASSERT_TRUE(take(data(MRC_OPC_READ_RESP_ONLY, 2000, 100, 100, 0, 0, 2)));
    EXPECT_EQ(show(cpls()), "101:0 102:0");
    tx_all();
    for (int i = 0; i < 4 && mrc_conn_deadline_ns(&c) != MRC_TIME_NEVER; i++) {
        fire();
        for (const mrc_txop &t : tx_ctrl(MRC_OPC_PROBE))
            EXPECT_LT(t.hdr.u.probe.probe_id, MRC_PROBE_ID_EV_END);
    }
    EXPECT_EQ(mrc_conn_deadline_ns(&c), MRC_TIME_NEVER);
    EXPECT_EQ(c.stats.timeouts, 0u);
}

// Requests that overtook another hold all slots but that of an answer: as that one was sent, the answer has arrived.
TEST_F(loss_waits, nor_an_answer_that_must_have_arrived)
{
    rig_cfg k = defaults();

    k.rx.rd_atomic = 3;
    make(k);
    serve(MRC_OPC_READ_REQ, 2000);
    ASSERT_EQ(tx_data().size(), 1u);
    for (u32 psn : {2002, 2003, 2004})
        ASSERT_TRUE(take(data(MRC_OPC_READ_REQ, psn, 0, 8, 0x4000)));
    ASSERT_NE(c.snd.una, c.snd.next);
    ASSERT_TRUE(take(data(MRC_OPC_READ_REQ, 2001, 0, 8, 0x4000)));
    ASSERT_EQ(c.snd.una, c.snd.next);
    tx_all();
    for (int i = 0; i < 4 && mrc_conn_deadline_ns(&c) != MRC_TIME_NEVER; i++) {
        fire();
        for (const mrc_txop &t : tx_ctrl(MRC_OPC_PROBE))
            EXPECT_LT(t.hdr.u.probe.probe_id, MRC_PROBE_ID_EV_END);
    }
    EXPECT_EQ(c.stats.timeouts, 0u);
}

// That one, and not the next, whatever an answer to a READ of ours says (mrcsim seed 7924).
TEST_F(loss_waits, and_no_other_answer_than_that)
{
    rig_cfg k = defaults();

    k.rx.rd_atomic = 4;
    make(k);
    serve(MRC_OPC_READ_REQ, 2000);
    post(MRC_OP_READ, 100);
    tx_all();
    serve(MRC_OPC_READ_REQ, 2001);
    ASSERT_EQ(tx_data().size(), 1u);    // behind the READ
    for (u32 psn : {2003, 2004})
        ASSERT_TRUE(take(data(MRC_OPC_READ_REQ, psn, 0, 8, 0x4000)));
    ASSERT_TRUE(take(data(MRC_OPC_READ_REQ, 2002, 0, 8, 0x4000)));
    ASSERT_TRUE(take(data(MRC_OPC_READ_RESP_ONLY, 2005, 100, 100, 0)));
    EXPECT_EQ(c.snd.una + 1, c.snd.next);
    mrc_conn_timer(&c, now);
    EXPECT_EQ(c.snd.una + 1, c.snd.next) << "nobody said anything of the second answer";
}

// All that is missing waits here, held by the controller: the peer knows nothing of it.
TEST_F(loss_waits, what_is_held_is_not_asked_for)
{
    mrc_cc_cfg cc_cfg = {};
    rig_cfg k = defaults();
    mrc_cc *cc = reinterpret_cast<mrc_cc *>(mem.data());

    cc_cfg.mtu = k.rx.mtu + MRC_PKT_OVERHEAD;
    cc_cfg.window_bytes = cc_cfg.mtu;
    cc_cfg.rate_mbps = 100000;
    cc_cfg.trimming = true;
    mrc_cc_init(cc, &mrc_nscc, &cc_cfg, now);
    k.tx.timeout_ns = 100 * kMs;
    k.tx.cc = cc;
    make(k);
    post(MRC_OP_WRITE, 1000 * k.rx.mtu);
    u32 refused = 0, held = 0, probes = 0;
    u64 end = now + 5 * kMs;
    while (now < end) {
        for (const mrc_txop &t : tx_all()) {
            probes += t.hdr.opcode == MRC_OPC_PROBE;
            if (!mrc_opc_is_data(t.hdr.opcode))
                continue;
            now += 10 * kUs;
            nack(t, MRC_NACK_TRIMMED_LASTHOP);
            refused++;
            held += cc->hold_until_ns > now + 100 * kUs;
        }
        fire();
    }
    EXPECT_GT(refused, 10u);
    EXPECT_GT(held, 5u) << "for longer than a probe waits";
    EXPECT_EQ(probes, 0u);
    // What is out and not answered is.
    while (now < end + 5 * kMs && !probes) {
        probes += static_cast<u32>(tx_ctrl(MRC_OPC_PROBE).size());
        fire();
    }
    EXPECT_GT(probes, 0u);
    mrc_conn_reset(&c);                 // lets go of cc
}

// The oldest packet is asked for once it has been out for as long as an answer may take.
TEST_F(loss_waits, what_has_just_left_is_not_asked_for)
{
    rig_cfg k = defaults();

    k.tx.timeout_ns = 100 * kMs;
    make(k);
    post(MRC_OP_WRITE, 10);
    auto v = tx_data();
    ASSERT_EQ(v.size(), 1u);
    u64 probe = c.pto.at_ns, patience = probe - now;
    now = probe - 10 * kUs;
    nack(v[0], MRC_NACK_TRIMMED);
    v = tx_data();
    ASSERT_EQ(v.size(), 1u);
    run_to(probe);
    EXPECT_TRUE(tx_ctrl(MRC_OPC_PROBE).empty()) << "it left 10 us ago";
    EXPECT_NEAR(static_cast<double>(c.pto.at_ns - now), patience - 10.0 * kUs, 64);
    run_to(c.pto.at_ns + 64);
    EXPECT_EQ(tx_ctrl(MRC_OPC_PROBE).size(), 1u);
}

TEST_F(loss_waits, a_pause_asked_for_costs_no_retry)
{
    finite(3);
    post(MRC_OP_SEND, 10);
    post(MRC_OP_WRITE, 10);
    auto v = tx_data();
    ASSERT_EQ(v.size(), 2u);
    now += 10 * kUs;
    nack(v[0], MRC_NACK_NO_RESOURCE, 0); // 655 ms
    sack(v[0].hdr.psn - 1, 2);           // progress behind it
    u64 end = now + 650000 * kUs;
    while (mrc_conn_deadline_ns(&c) < end) {
        now = mrc_conn_deadline_ns(&c);
        mrc_conn_timer(&c, now);
        tx_all();
    }
    EXPECT_EQ(mrc_conn_failed(&c), MRC_ST_OK);
    EXPECT_EQ(c.stats.timeouts, 0u);
}

TEST_F(loss_waits, rnr_tries_are_counted_whatever_the_order_of_nacks)
{
    rig_cfg k = defaults();

    k.tx.rnr_retry = 3;
    make(k);
    post(MRC_OP_SEND, 2 * c.rx.mtu);
    u32 rounds = 0;
    for (; !mrc_conn_next_fails(&c) && rounds < 20; rounds++) {
        auto v = tx_data();
        ASSERT_EQ(v.size(), rounds ? 1u : 2u); // one asks
        now += 10 * kUs;
        for (; !v.empty(); v.pop_back())
            nack(v.back(), MRC_NACK_NO_RESOURCE, 1);
        now += 20 * kUs;
        mrc_conn_timer(&c, now);
    }
    EXPECT_EQ(show(cpls()), "100:3");
    EXPECT_EQ(mrc_conn_failed(&c), MRC_ST_RNR_EXC);
    EXPECT_EQ(rounds, 4u);
}

TEST_F(loss_waits, no_path_from_the_beginning_ends_with_the_budget)
{
    finite(3);
    mrc_evset_remote_planes(&evs, 0, now);
    post(MRC_OP_WRITE, 10);
    EXPECT_EQ(tx_all().size(), 0u);
    for (int i = 0; i < 100 && mrc_conn_failed(&c) == MRC_ST_OK; i++) {
        ASSERT_NE(mrc_conn_deadline_ns(&c), MRC_TIME_NEVER);
        now = mrc_conn_deadline_ns(&c);
        mrc_conn_timer(&c, now);
        tx_all();
    }
    EXPECT_EQ(mrc_conn_failed(&c), MRC_ST_RETRY_EXC);
}

// 64 ns ticks wrap after 275 s.
TEST_F(loss_waits, a_long_silence_makes_nothing_look_overtaken)
{
    make(defaults());
    for (u32 psn = 1000; psn < 1010; psn++) {
        post(MRC_OP_WRITE, 10);
        ASSERT_EQ(tx_data().size(), 1u);
        now += 10 * kUs;
        sack(psn);
        ack(psn);
        cpls();
    }
    now += 200ull * 1000000 * kUs;
    post(MRC_OP_WRITE, 4 * c.rx.mtu);
    ASSERT_EQ(tx_data().size(), 4u);
    now += 10 * kUs;
    sack(1010);
    now += 200 * kUs;   // late, but nothing sent later has arrived
    mrc_conn_timer(&c, now);
    EXPECT_EQ(c.stats.rtx_rack, 0u);
    for (const mrc_txop &t : tx_all())
        EXPECT_FALSE(t.hdr.rtx);
}

// The window nearly stands still for plane 0, of which nothing came since: its packets have their time.
TEST_F(loss_waits, nor_passed_by_what_its_plane_brought_before)
{
    for (u64 secs : {1, 150, 200, 250}) {
        rig_cfg k = defaults();

        k.evs = 2;  // one on each plane: none is suspect
        k.tx.timeout_ns = 0;
        make(k);
        for (u32 psn = 1000; psn < 1040; psn++) {
            post(MRC_OP_WRITE, 10);
            ASSERT_EQ(tx_data().size(), 1u);
            now += 50 * kUs;
            sack(psn, 0, 1, psn);
            ack(psn);
            cpls();
        }
        evs.plane[0].reo = MRC_REO_MIN * 4;
        now += secs * 1000 * kMs;
        post(MRC_OP_WRITE, 110 * 1024);
        std::vector<mrc_txop> v;
        for (; v.size() < 100 || v.back().hdr.plane == 0; now += 100)
            v.push_back(tx().value());
        now += 50 * kUs;
        for (const mrc_txop &t : v)
            if (t.hdr.plane)
                sack(1039, 1, static_cast<s16>(t.hdr.psn - 1039));
        now += 30 * kUs;
        ASSERT_LT(mrc_evset_late_ns(&evs, 0), 80 * kUs);
        ASSERT_GT(mrc_evset_lost_ns(&evs, 0), 100 * kUs);
        mrc_rack_look(&c, now);
        EXPECT_EQ(c.snd.lost.count, 0u) << secs;
        EXPECT_EQ(evs.stats.suspicions, 0u);
        EXPECT_LT(mrc_ev_age_ns(now, evs.plane[1].ok_tick), kMs) << "what it delivers now counts, after " << secs;
    }
}

TEST_F(loss_waits, a_resend_that_could_not_leave_keeps_its_history)
{
    make(defaults());
    post(MRC_OP_WRITE, 2 * c.rx.mtu);
    auto v = tx_data();
    nack(v[0], MRC_NACK_TRIMMED_LASTHOP);
    mrc_rec was = c.snd.rec[v[0].hdr.psn & c.snd.mask];
    now += 5 * kUs;
    auto t = tx();
    ASSERT_TRUE(t && t->hdr.rtx);
    mrc_conn_tx_undo(&c, &*t);
    EXPECT_EQ(c.snd.rec[v[0].hdr.psn & c.snd.mask].sent, was.sent);
    EXPECT_EQ(c.snd.rec[v[0].hdr.psn & c.snd.mask].ev, was.ev);
}

// Nobody called for minutes: what was lost before is found, however near the ticks are to their wrap.
TEST_F(loss_waits, after_a_long_stall_what_was_lost_is_resent)
{
    for (u64 secs : {30, 70, 150, 250}) {
        rig_cfg k = defaults();
        u32 again = 0;

        k.tx.timeout_ns = 0;
        make(k);
        post(MRC_OP_WRITE, 1024);
        ASSERT_EQ(tx_data().size(), 1u);
        now += secs * 1000 * kMs;
        mrc_conn_timer(&c, now);    // this host slept: it looks again soon
        EXPECT_LE(mrc_conn_deadline_ns(&c), now + kMs) << secs;
        for (int i = 0; i < 4 && !again; i++) {
            fire();
            auto v = tx_all();
            EXPECT_FALSE(v.empty() && !i) << secs;
            for (const mrc_txop &t : v) {
                again += t.hdr.rtx;
                now += 10 * kUs;
                if (t.hdr.opcode == MRC_OPC_PROBE)
                    probe_answer(t.hdr.u.probe.probe_id, 999);
            }
        }
        EXPECT_EQ(again, 1u) << secs;
    }
}

// 8,796 s (IBTA timeout 31) doubled for every retry overflows, and a timer at 0 never rests.
TEST_F(loss_waits, the_longest_timeout_is_bounded)
{
    rig_cfg k = defaults();

    k.tx.timeout_ns = 4096ull << 31;
    k.tx.linear_cnt = 0;
    k.tx.exp_cnt = 25;
    make(k);
    for (u8 retries : {0, 20, 21, 22, 25, 30}) {
        c.budget.retries = retries;
        EXPECT_GE(mrc_budget_rto_ns(&c), 1000 * kMs) << +retries;
        EXPECT_LE(mrc_budget_rto_ns(&c), 100'000 * kMs) << +retries;
    }
}

// A hold that others' data renews is theirs; answers to our probes do not take it over.
TEST_F(loss_waits, a_hold_that_others_renew_ends_for_us)
{
    auto *cc = reinterpret_cast<mrc_cc *>(mem.data());
    mrc_cc_cfg cc_cfg = {};
    rig_cfg k = defaults();

    mrc_cc_init(cc, &mrc_nscc, &cc_cfg, now);
    k.tx.cc = cc;
    make(k);
    post(MRC_OP_WRITE, 1024);
    auto v = tx_data();
    ASSERT_EQ(v.size(), 1u);
    now += 10 * kUs;
    cc->hold_until_ns = now + 50 * kUs;
    nack(v[0], MRC_NACK_TRIMMED_LASTHOP);
    u32 sent = 0;
    for (int i = 0; i < 10 && !sent; i++) {
        now += 20 * kUs;
        mrc_conn_timer(&c, now);
        cc->hold_until_ns = now + 50 * kUs;
        probe_answer(3, 999);
        for (auto &t : tx_all())
            sent += mrc_opc_is_data(t.hdr.opcode);
    }
    EXPECT_EQ(sent, 1u);
}

} // namespace
