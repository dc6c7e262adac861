// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// What a caller may ask for, at its edges, and connections that are only half set up.
#include "conn_rig.h"

namespace {

class conn_limits : public rig {
protected:
    void SetUp() override { make(); }
};

TEST_F(conn_limits, sizes_are_powers_of_two)
{
    mrc_conn_cfg k = {};

    k.mpr_max = 3;
    EXPECT_EQ(mrc_conn_mem_size(&k), 0u);
    k = {};
    k.sq_max = 3;
    EXPECT_EQ(mrc_conn_mem_size(&k), 0u);
    k.sq_max = 0x8000;
    EXPECT_EQ(mrc_conn_mem_size(&k), 0u);
    k = {};
    k.rd_max = 12;
    EXPECT_EQ(mrc_conn_mem_size(&k), 0u);
    k = {};
    k.rq_max = 100;
    EXPECT_EQ(mrc_conn_mem_size(&k), 0u);
}

TEST_F(conn_limits, receive_attributes)
{
    auto refused = [this](auto change) {
        mrc_rx_cfg k = cfg.rx;

        change(k);
        return mrc_conn_set_rx(&c, &k, now) == -EINVAL;
    };

    EXPECT_TRUE(refused([](mrc_rx_cfg &k) { k.mtu = 4097; }));
    EXPECT_TRUE(refused([](mrc_rx_cfg &k) { k.mtu = 255; }));
    EXPECT_TRUE(refused([](mrc_rx_cfg &k) { k.wimm = MRC_WIMM_MAX + 1; }));
    EXPECT_TRUE(refused([](mrc_rx_cfg &k) { k.rd_atomic = 5; }));
    EXPECT_TRUE(refused([](mrc_rx_cfg &k) { k.psn = 1u << 24; }));
    EXPECT_TRUE(refused([](mrc_rx_cfg &k) { k.strict = true; })); // no room for it
    EXPECT_TRUE(refused([](mrc_rx_cfg &k) { k.mpr = MRC_MPR_MAX + 1; }));
    EXPECT_FALSE(refused([](mrc_rx_cfg &k) { k.mtu = 256; }));
}

TEST_F(conn_limits, send_attributes)
{
    auto refused = [this](auto change) {
        mrc_tx_cfg k = cfg.tx;

        change(k);
        return mrc_conn_set_tx(&c, &k, now) == -EINVAL;
    };

    EXPECT_TRUE(refused([](mrc_tx_cfg &k) { k.mpr = 2; })); // more than mpr_max
    EXPECT_TRUE(refused([](mrc_tx_cfg &k) { k.rd_atomic = 5; }));
    EXPECT_TRUE(refused([](mrc_tx_cfg &k) { k.wimm = MRC_WIMM_MAX + 1; }));
    EXPECT_TRUE(refused([](mrc_tx_cfg &k) { k.psn = 1u << 24; }));
    EXPECT_TRUE(refused([](mrc_tx_cfg &k) { k.psn++; })); // it began elsewhere
    EXPECT_TRUE(refused([](mrc_tx_cfg &k) { k.burst = MRC_BURST_MAX + 1; }));
    EXPECT_FALSE(refused([](mrc_tx_cfg &k) { k.burst = MRC_BURST_MAX; }));
    EXPECT_FALSE(refused([](mrc_tx_cfg &k) { k.wimm = 3; }));
    EXPECT_EQ(c.tx.wimm, 3u);
}

TEST_F(conn_limits, requests_malformed_for_this_qp)
{
    mrc_wr wr = {};

    wr.op = MRC_OP_CMP_SWAP;
    wr.len = 4;
    EXPECT_EQ(mrc_conn_post(&c, &wr, now), -EINVAL);
    wr.op = MRC_OP_READ_RESP;
    EXPECT_EQ(mrc_conn_post(&c, &wr, now), -EINVAL);
    wr.op = MRC_OP_WRITE;
    wr.len = 0x80000001u;
    EXPECT_EQ(mrc_conn_post(&c, &wr, now), -EINVAL);

    rig_cfg k = defaults();
    k.tx.rd_atomic = 0;
    make(k);
    EXPECT_EQ(post(MRC_OP_READ, 100), -EINVAL);
    k = defaults();
    k.rx.mrc_only = true;
    make(k);
    EXPECT_EQ(post(MRC_OP_SEND, 100), -EINVAL);
    EXPECT_EQ(post(MRC_OP_WRITE_IMM, 100), 0);
}

TEST_F(conn_limits, without_a_path)
{
    mrc_txop t;

    post(MRC_OP_WRITE, 1000);
    ASSERT_EQ(tx_data().size(), 1u);
    mrc_conn_set_path(&c, nullptr);
    EXPECT_FALSE(mrc_conn_tx_next(&c, now, &t));
    mrc_conn_plane_event(&c, now);
    EXPECT_EQ(mrc_conn_check(&c), 0);
    EXPECT_EQ(mrc_conn_set_rx(&c, &cfg.rx, now), -EINVAL);
    // Failing needs no path: what was posted is flushed.
    mrc_conn_fail(&c, MRC_ST_FLUSHED, now);
    EXPECT_EQ(show(cpls()), "100:1");
    // And the same path again is no change.
    mrc_conn_set_path(&c, &evs);
    mrc_conn_set_path(&c, &evs);
}

TEST_F(conn_limits, nothing_set_up)
{
    mrc_txop t;

    mrc_conn_reset(&c);
    EXPECT_FALSE(mrc_conn_tx_next(&c, now, &t));
    EXPECT_EQ(mrc_conn_deadline_ns(&c), MRC_TIME_NEVER);
    EXPECT_EQ(post(MRC_OP_WRITE, 1), -ENOENT);
    EXPECT_EQ(rx(write_only(2000)), MRC_V_DROP);
    EXPECT_EQ(mrc_conn_set_tx(&c, &cfg.tx, now), -EINVAL); // RTR comes first
    mrc_conn_timer(&c, now);
    EXPECT_TRUE(mrc_conn_idle(&c));
}

// Nothing is sent or waited for, and an EV is bad: it is asked all the same, or the next
// message would meet what was wrong long ago.
TEST_F(conn_limits, an_idle_qp_asks_what_is_bad)
{
    mrc_txop t;

    EXPECT_TRUE(mrc_conn_idle(&c));
    EXPECT_EQ(mrc_conn_deadline_ns(&c), MRC_TIME_NEVER);
    for (int i = 0; i < 8 && !evs.bad; i++)
        mrc_evset_sign(&evs, 3, MRC_SIGN_LOST, now);
    ASSERT_EQ(evs.bad, 1);
    for (int i = 0; i < 2; i++) {
        u64 until = now + 1000 * kMs;
        bool more = false;

        while (!more && now < until) {          // it waits for credit, too
            ASSERT_NE(mrc_conn_deadline_ns(&c), MRC_TIME_NEVER);
            now = std::max(now + 1, mrc_conn_deadline_ns(&c));
            mrc_conn_timer(&c, now);
            more = mrc_conn_tx_next(&c, now, &t);
        }
        ASSERT_TRUE(more);
        EXPECT_EQ(t.hdr.opcode, MRC_OPC_PROBE);
        EXPECT_EQ(t.ev_idx, 3);
        EXPECT_FALSE(mrc_conn_tx_next(&c, now, &t));
        EXPECT_GT(mrc_conn_deadline_ns(&c), now) << "and not at once again";
    }
    mrc_conn_fail(&c, MRC_ST_FLUSHED, now);
    EXPECT_EQ(mrc_conn_deadline_ns(&c), MRC_TIME_NEVER) << "who failed asks nothing";
}

// A QP in RTR answers READs before it knows its own first PSN: it asks the peer.
TEST_F(conn_limits, answers_before_rts)
{
    mrc_conn_reset(&c);
    ASSERT_EQ(mrc_conn_set_rx(&c, &cfg.rx, now), 0);
    ASSERT_TRUE(take(data(MRC_OPC_READ_REQ, 2000, 0, 100)));
    mrc_exec x;
    ASSERT_TRUE(ev.exec(&x));
    mrc_conn_exec_done(&c, x.slot, 0, now);
    auto probes = tx_ctrl(MRC_OPC_PROBE);
    ASSERT_EQ(probes.size(), 1u);
    // Answers that help nothing: a plain SACK, an ACK, a NACK, a probe never sent.
    sack(999);
    ack(999);
    nack(999, 7, MRC_NACK_TRIMMED);
    probe_answer(static_cast<u16>(probes[0].hdr.u.probe.probe_id + 1), 4999);
    EXPECT_FALSE(c.snd.known);
    now += 10 * kUs;
    probe_answer(probes[0].hdr.u.probe.probe_id, 4999);
    ASSERT_TRUE(c.snd.known);
    EXPECT_EQ(psns(tx_data()), psn_list{5000});
    mrc_tx_cfg k = cfg.tx;
    k.psn = 5000;
    EXPECT_EQ(mrc_conn_set_tx(&c, &k, now), 0);
    post(MRC_OP_WRITE, 10);
    EXPECT_EQ(psns(tx_data()), psn_list{5001});
}

// A peer of a connection before asks for its answers and names a beginning. RTS begins where the
// program says, and not where that peer did: the answers are cut again from there.
TEST_F(conn_limits, rts_begins_where_the_program_says)
{
    for (bool sent : {false, true}) {
        mrc_conn_reset(&c);
        ASSERT_EQ(mrc_conn_set_rx(&c, &cfg.rx, now), 0);
        ASSERT_TRUE(take(data(MRC_OPC_READ_REQ, 2000, 0, 5000)));   // an answer of several packets
        mrc_exec x;
        ASSERT_TRUE(ev.exec(&x));
        mrc_conn_exec_done(&c, x.slot, 0, now);
        auto probes = tx_ctrl(MRC_OPC_PROBE);
        ASSERT_EQ(probes.size(), 1u);
        now += 10 * kUs;
        probe_answer(probes[0].hdr.u.probe.probe_id, 4999);
        ASSERT_TRUE(c.snd.known);
        const auto before = psns(tx_data());
        ASSERT_GE(before.size(), 2u);
        if (sent)
            sack(5000);     // one of them arrived
        mrc_tx_cfg k = cfg.tx;
        k.psn = 77;
        ASSERT_EQ(mrc_conn_set_tx(&c, &k, now), 0);
        EXPECT_EQ(mrc_conn_check(&c), 0);
        EXPECT_EQ(c.snd.out, 0u);
        EXPECT_EQ(c.cc->inflight_bytes, 0u);
        post(MRC_OP_WRITE, 10);
        auto after = tx_data();
        psn_list want;
        for (u32 i = 0; i <= before.size(); i++)
            want.push_back(77 + i);
        EXPECT_EQ(psns(after), want);
        now += 10 * kUs;
        sack(77 + static_cast<u32>(before.size()));
        EXPECT_EQ(c.snd.out, 0u);
        EXPECT_EQ(c.msgs.rs_head, c.msgs.rs_tail) << "the answer is done";
    }
}

} // namespace
