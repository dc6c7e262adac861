// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_tx.cc - the send stream: cutting messages, the windows, order of
// completion, fences and limits. Taking a packet back: test_tx_undo.cc.
#include "conn_rig.h"

namespace {

class tx_stream : public rig {
protected:
    // Acknowledge everything up to @psn in both layers.
    void done(u32 psn)
    {
        sack(psn);
        ack(psn);
    }
    // The peer answers request @msn in one packet at its PSN @psn.
    void answer_read(u32 psn, u16 msn, u32 len)
    {
        EXPECT_TRUE(take(data(MRC_OPC_READ_RESP_ONLY, psn, len, len, 0, 0, msn)));
    }
};

TEST_F(tx_stream, a_write_cut_into_packets)
{
    make();
    ASSERT_EQ(post(MRC_OP_WRITE_IMM, 2100), 0);
    auto v = tx_data();
    ASSERT_EQ(v.size(), 3u);
    EXPECT_EQ(psns(v), (psn_list{1000, 1001, 1002}));
    const u8 opcodes[] = {MRC_OPC_WRITE_FIRST, MRC_OPC_WRITE_MIDDLE, MRC_OPC_WRITE_LAST_IMM};
    for (u32 i = 0; i < 3; i++) {
        const mrc_pkt &h = v[i].hdr;

        EXPECT_EQ(h.opcode, opcodes[i]);
        EXPECT_EQ(h.va, 0x100000u + 0x10000 * 100 + 1024 * i);
        EXPECT_EQ(h.dmalen, 2100u);
        EXPECT_EQ(h.rkey, kRkey);
        EXPECT_EQ(h.dqpn, kDqpn);
        EXPECT_EQ(h.msn, 0);
        EXPECT_EQ(h.rqmsn, 0);
        EXPECT_FALSE(h.rtx);
        EXPECT_EQ(v[i].src, MRC_SRC_SQ);
        EXPECT_EQ(v[i].cookie, 100u);
        EXPECT_EQ(v[i].off, 1024 * i);
        EXPECT_EQ(v[i].len, i == 2 ? 52u : 1024u);
        EXPECT_EQ(v[i].tclass, MRC_TC_DATA);
        EXPECT_EQ(evs.ev[v[i].ev_idx].value, h.ev);
        EXPECT_EQ(evs.ev[v[i].ev_idx].plane, h.plane);
    }
    EXPECT_NE(v[0].hdr.plane, v[1].hdr.plane) << "planes take turns";
}

TEST_F(tx_stream, exact_multiples_and_nothing_at_all)
{
    make();
    post(MRC_OP_WRITE, 2048);
    post(MRC_OP_SEND, 0);
    post(MRC_OP_WRITE, 1024);
    auto v = tx_data();
    ASSERT_EQ(v.size(), 4u);
    EXPECT_EQ(v[1].hdr.opcode, MRC_OPC_WRITE_LAST);
    EXPECT_EQ(v[1].len, 1024u);
    EXPECT_EQ(v[2].hdr.opcode, MRC_OPC_SEND_ONLY);
    EXPECT_EQ(v[2].src, MRC_SRC_NONE);
    EXPECT_EQ(v[3].hdr.opcode, MRC_OPC_WRITE_ONLY);
}

TEST_F(tx_stream, completion_follows_the_transport_ack)
{
    make();
    post(MRC_OP_WRITE, 10);
    post(MRC_OP_SEND, 10);
    tx_data();
    sack(1001);
    EXPECT_TRUE(cpls().empty());
    ack(1000);
    EXPECT_EQ(show(cpls()), "100:0");
    ack(1001);
    EXPECT_EQ(show(cpls()), "101:0");
    EXPECT_TRUE(mrc_conn_idle(&c));
    EXPECT_EQ(mrc_conn_deadline_ns(&c), MRC_TIME_NEVER);
}

TEST_F(tx_stream, the_window)
{
    make();
    post(MRC_OP_WRITE, 300 * 1024);
    EXPECT_EQ(tx_data().size(), 128u);
    sack(1000 + 9);
    EXPECT_EQ(tx_data().size(), 10u);
    // A hole at the left edge holds the window, whatever arrived beyond it.
    sack(1000 + 9, ~0ull, 2);
    EXPECT_TRUE(tx_data().empty());
}

TEST_F(tx_stream, the_congestion_window)
{
    rig_cfg k = defaults();

    k.tx.cwnd_bytes = 3 * (1024 + MRC_PKT_OVERHEAD);
    make(k);
    post(MRC_OP_WRITE, 10 * 1024);
    EXPECT_EQ(tx_data().size(), 3u);
    sack(1000);
    EXPECT_EQ(tx_data().size(), 1u);
    sack(1000, 0x1, 3);
    EXPECT_EQ(tx_data().size(), 1u) << "delivered out of order leaves room too";
}

// Who posts behind requests that wait need not say so: the answer to what is out brings a turn.
TEST_F(tx_stream, requests_that_wait)
{
    rig_cfg k = defaults();

    k.tx.cwnd_bytes = 3 * (1024 + MRC_PKT_OVERHEAD);
    make(k);
    EXPECT_FALSE(mrc_conn_tx_waits(&c)) << "idle";
    post(MRC_OP_WRITE, 4 * 1024);
    EXPECT_FALSE(mrc_conn_tx_waits(&c)) << "nothing is out that could be answered";
    EXPECT_EQ(tx_data().size(), 3u);
    EXPECT_TRUE(mrc_conn_tx_waits(&c)) << "the window is full";
    sack(1000);
    EXPECT_EQ(tx_data().size(), 1u);
    EXPECT_FALSE(mrc_conn_tx_waits(&c)) << "all is out: one more might leave at once";
    post(MRC_OP_WRITE, 1024);
    EXPECT_TRUE(tx_data().empty());
    EXPECT_TRUE(mrc_conn_tx_waits(&c)) << "the window is full again";
    mrc_conn_fail(&c, MRC_ST_RETRY_EXC, now);
    EXPECT_FALSE(mrc_conn_tx_waits(&c)) << "no turn comes by itself";
}

// One plane of four answers late. It may hold all that it likes as long as the window has
// room, and no more than twice its part when it has not.
TEST_F(tx_stream, a_long_plane_is_held_back_when_the_window_is_tight)
{
    rig_cfg k = defaults();
    u32 first = 0, held = 0, at_tight = 0;

    k.planes = 4;
    k.conn.mpr_max = 4; // 512 PSNs
    k.tx.cwnd_bytes = 16 << 20;
    make(k);
    ASSERT_EQ(post(MRC_OP_WRITE, 1024 * 1024), 0);
    while (auto t = tx()) {
        u32 psn = t->hdr.psn;

        if (t->hdr.plane == 1) {
            first = first ? first : psn;
            held++;
            continue;
        }
        if (!first)
            continue;
        at_tight = 4 * (psn - c.snd.una) < 3 * 512 ? held : at_tight;
        if (psn != first + 1 || held > 1)
            sack(first - 1, 1, static_cast<s16>(psn - first + 1));
    }
    EXPECT_GE(at_tight, 512 * 3 / 4 / 4 - 2) << "it had every turn";
    EXPECT_LE(held, at_tight + 8) << "and none after that";
}

TEST_F(tx_stream, psn_wrap)
{
    rig_cfg k = defaults();

    k.tx_psn = 0xfffffe;
    make(k);
    post(MRC_OP_WRITE, 4 * 1024);
    EXPECT_EQ(psns(tx_data()), (psn_list{0xfffffe, 0xffffff, 0, 1}));
    sack(0xffffff, 0x1, 2);
    EXPECT_EQ(c.snd.una, 0u);
    sack(1);
    ack(1);
    EXPECT_EQ(show(cpls()), "100:0");
}

TEST_F(tx_stream, sq_full)
{
    make();
    for (int i = 0; i < 16; i++)
        EXPECT_EQ(post(MRC_OP_WRITE, 1), 0);
    EXPECT_EQ(post(MRC_OP_WRITE, 1), -EAGAIN);
    EXPECT_FALSE(mrc_conn_can_post(&c));
    tx_data();
    done(1000);
    EXPECT_EQ(post(MRC_OP_WRITE, 1), -EAGAIN) << "not before the completion is taken";
    EXPECT_EQ(show(cpls()), "100:0");
    EXPECT_EQ(post(MRC_OP_WRITE, 1), 0);
}

TEST_F(tx_stream, malformed)
{
    rig_cfg k = defaults();

    make(k);
    EXPECT_EQ(post(MRC_OP_READ_RESP, 1), -EINVAL);
    EXPECT_EQ(post(MRC_OP_CMP_SWAP, 4), -EINVAL);
    EXPECT_EQ(post(MRC_OP_WRITE, 0xffffffff), -EINVAL);
    k.rx.mrc_only = true;
    make(k);
    EXPECT_EQ(post(MRC_OP_SEND, 1), -EINVAL);
    EXPECT_EQ(post(MRC_OP_READ, 1), -EINVAL);
    EXPECT_EQ(post(MRC_OP_WRITE_IMM, 1), 0);
    k = defaults();
    k.tx.rd_atomic = 0;
    make(k);
    EXPECT_EQ(post(MRC_OP_READ, 1), -EINVAL);
}

TEST_F(tx_stream, read_completes_with_its_response_in_post_order)
{
    make();
    post(MRC_OP_READ, 100);
    post(MRC_OP_WRITE, 10);
    auto v = tx_data();
    ASSERT_EQ(v.size(), 2u);
    EXPECT_EQ(v[0].hdr.opcode, MRC_OPC_READ_REQ);
    EXPECT_EQ(v[0].hdr.dmalen, 100u);
    EXPECT_EQ(v[0].len, 0u);
    done(1001);
    EXPECT_TRUE(cpls().empty()) << "the WRITE is done, but behind the READ";
    answer_read(2000, v[0].hdr.msn, 100);
    EXPECT_EQ(op.place, MRC_PLACE_RESP);
    EXPECT_EQ(op.cookie, 100u);
    EXPECT_EQ(show(cpls()), "100:0 101:0");
}

TEST_F(tx_stream, read_response_in_pieces_out_of_order)
{
    make();
    post(MRC_OP_READ, 2100);
    auto v = tx_data();
    ASSERT_EQ(v.size(), 1u);
    u16 msn = v[0].hdr.msn;
    EXPECT_TRUE(take(data(MRC_OPC_READ_RESP_LAST, 2002, 52, 2100, 2048, 0, msn)));
    EXPECT_EQ(op.off, 2048u);
    EXPECT_TRUE(take(data(MRC_OPC_READ_RESP_FIRST, 2000, 1024, 2100, 0, 0, msn)));
    EXPECT_TRUE(cpls().empty());
    EXPECT_TRUE(take(data(MRC_OPC_READ_RESP_MIDDLE, 2001, 1024, 2100, 1024, 0, msn)));
    EXPECT_EQ(show(cpls()), "100:0");
}

TEST_F(tx_stream, responses_to_nothing)
{
    make();
    EXPECT_EQ(rx(data(MRC_OPC_READ_RESP_ONLY, 2000, 10, 10, 0, 0, 0)), MRC_V_DROP);
    post(MRC_OP_READ, 100);
    EXPECT_EQ(rx(data(MRC_OPC_READ_RESP_ONLY, 2000, 100, 100, 0, 0, 0)), MRC_V_DROP)
        << "not even sent";
    tx_data();
    EXPECT_EQ(rx(data(MRC_OPC_READ_RESP_ONLY, 2000, 99, 99, 0, 0, 0)), MRC_V_DROP);
    EXPECT_EQ(rx(data(MRC_OPC_ATOMIC_ACK, 2000, 0, 8, 0, 0, 0)), MRC_V_DROP);
    EXPECT_EQ(rx(data(MRC_OPC_READ_RESP_ONLY, 2000, 100, 100, 0, 0, 1)), MRC_V_DROP);
    EXPECT_EQ(c.stats.rx_bad_resp, 5u);
    EXPECT_TRUE(take(data(MRC_OPC_READ_RESP_ONLY, 2000, 100, 100, 0, 0, 0)));
    EXPECT_EQ(rx(data(MRC_OPC_READ_RESP_ONLY, 2001, 100, 100, 0, 0, 0)), MRC_V_DROP)
        << "answered already";
}

TEST_F(tx_stream, atomic)
{
    make();
    post(MRC_OP_FETCH_ADD, 8);
    auto v = tx_data();
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.opcode, MRC_OPC_FETCH_ADD);
    mrc_pkt p = data(MRC_OPC_ATOMIC_ACK, 2000, 0, 8, 0, 0, v[0].hdr.msn);
    p.swap_add = 42;
    EXPECT_TRUE(take(p));
    EXPECT_EQ(op.atomic_orig, 42u);
    EXPECT_EQ(show(cpls()), "100:0");
}

TEST_F(tx_stream, fence)
{
    make();
    post(MRC_OP_READ, 10);
    post(MRC_OP_WRITE, 10, MRC_WR_FENCE);
    post(MRC_OP_WRITE, 10);
    auto v = tx_data();
    ASSERT_EQ(v.size(), 1u);
    done(1000);
    EXPECT_TRUE(tx_data().empty());
    answer_read(2000, v[0].hdr.msn, 10);
    EXPECT_EQ(tx_data().size(), 2u);
}

TEST_F(tx_stream, rd_atomic_limit)
{
    rig_cfg k = defaults();

    k.tx.rd_atomic = 2;
    make(k);
    for (int i = 0; i < 4; i++)
        post(MRC_OP_READ, 10);
    auto v = tx_data();
    ASSERT_EQ(v.size(), 2u);
    // In order: the second's answer alone makes no room.
    answer_read(2001, v[1].hdr.msn, 10);
    EXPECT_TRUE(tx_data().empty());
    answer_read(2000, v[0].hdr.msn, 10);
    EXPECT_EQ(tx_data().size(), 2u);
    EXPECT_EQ(show(cpls()), "100:0 101:0");
}

TEST_F(tx_stream, wimm_limit)
{
    rig_cfg k = defaults();

    k.tx.wimm = 2;
    make(k);
    post(MRC_OP_WRITE_IMM, 10);
    post(MRC_OP_SEND, 10);
    post(MRC_OP_WRITE_IMM, 10);
    post(MRC_OP_WRITE, 10);
    auto v = tx_data();
    ASSERT_EQ(v.size(), 2u) << "and what follows waits, in order";
    EXPECT_EQ(v[0].hdr.rqmsn, 0);
    EXPECT_EQ(v[1].hdr.rqmsn, 1);
    sack(1001);
    EXPECT_TRUE(tx_data().empty()) << "the receive is in use until the transport ACK";
    ack(1000);
    v = tx_data();
    ASSERT_EQ(v.size(), 2u);
    EXPECT_EQ(v[0].hdr.rqmsn, 2);
}

TEST_F(tx_stream, solicited_is_said_once)
{
    make();
    post(MRC_OP_SEND, 2000, MRC_WR_SOLICITED);
    auto v = tx_data();
    ASSERT_EQ(v.size(), 2u);
    EXPECT_FALSE(v[0].hdr.se);
    EXPECT_TRUE(v[1].hdr.se);
}

TEST_F(tx_stream, local_keeps_its_place)
{
    make();
    post(MRC_OP_WRITE, 10);
    post(MRC_OP_LOCAL, 0);
    post(MRC_OP_LOCAL, 0);
    post(MRC_OP_WRITE, 10);
    EXPECT_EQ(psns(tx_data()), (psn_list{1000, 1001}));
    EXPECT_TRUE(cpls().empty());
    done(1000);
    EXPECT_EQ(show(cpls()), "100:0 101:0 102:0");
    done(1001);
    EXPECT_EQ(show(cpls()), "103:0");
}

TEST_F(tx_stream, only_local)
{
    make();
    post(MRC_OP_LOCAL, 0);
    EXPECT_TRUE(tx_data().empty());
    EXPECT_EQ(show(cpls()), "100:0");
    EXPECT_TRUE(mrc_conn_idle(&c));
}

TEST_F(tx_stream, a_bad_request_fails_in_its_turn)
{
    make();
    post(MRC_OP_WRITE, 10);
    post(MRC_OP_WRITE, 10, 0, MRC_ST_LOC_PROT);
    post(MRC_OP_WRITE, 10);
    EXPECT_EQ(tx_data().size(), 1u);
    EXPECT_TRUE(cpls().empty());
    EXPECT_EQ(mrc_conn_failed(&c), MRC_ST_OK);
    done(1000);
    EXPECT_EQ(show(cpls()), "100:0 101:7 102:1");
    EXPECT_EQ(mrc_conn_failed(&c), MRC_ST_LOC_PROT);
    EXPECT_EQ(post(MRC_OP_WRITE, 10), -ENOENT);
}

TEST_F(tx_stream, fail_flushes)
{
    make();
    post(MRC_OP_READ, 10);
    post(MRC_OP_WRITE, 10);
    tx_data();
    done(1001);
    mrc_conn_fail(&c, MRC_ST_FLUSHED, now);
    EXPECT_EQ(show(cpls()), "100:1 101:1") << "nothing succeeds behind a failed one";
    EXPECT_FALSE(tx());
    EXPECT_EQ(mrc_conn_deadline_ns(&c), MRC_TIME_NEVER);
}

TEST_F(tx_stream, traffic_classes)
{
    rig_cfg k = defaults();

    for (bool trim : {true, false}) {
        k.tx.trim_nack = trim;
        make(k);
        post(MRC_OP_WRITE, 2000);
        auto v = tx_data();
        ASSERT_EQ(v.size(), 2u);
        EXPECT_EQ(v[0].tclass, trim ? MRC_TC_DATA : MRC_TC_NO_TRIM);
        nack(v[0], MRC_NACK_TRIMMED);
        v = tx_data();
        ASSERT_EQ(v.size(), 1u);
        EXPECT_EQ(v[0].tclass, trim ? MRC_TC_RTX : MRC_TC_NO_TRIM);
    }
}

// A window smaller than the peer's SACK threshold must not wait for a probe.
TEST_F(tx_stream, the_packet_that_closes_the_window_asks)
{
    rig_cfg k = defaults();

    k.tx.cwnd_bytes = 3 * (1024 + MRC_PKT_OVERHEAD);
    make(k);
    post(MRC_OP_WRITE, 100 * 1024);
    auto v = tx_data();
    ASSERT_EQ(v.size(), 3u);
    EXPECT_FALSE(v[0].hdr.ackreq);
    EXPECT_FALSE(v[1].hdr.ackreq);
    EXPECT_TRUE(v[2].hdr.ackreq);
    sack(1000);
    v = tx_data();
    ASSERT_EQ(v.size(), 1u);
    EXPECT_FALSE(v[0].hdr.ackreq) << "an answer is on its way already";
    sack(1002);
    v = tx_data();
    ASSERT_EQ(v.size(), 2u);
    EXPECT_FALSE(v[0].hdr.ackreq);
    EXPECT_TRUE(v[1].hdr.ackreq);
}

TEST_F(tx_stream, so_does_the_one_that_closes_the_psn_window)
{
    make();
    post(MRC_OP_WRITE, 300 * 1024);
    auto v = tx_data();
    ASSERT_EQ(v.size(), 128u);
    for (u32 i = 0; i < 128; i++)
        EXPECT_EQ(v[i].hdr.ackreq, i == 127) << i;
}

// The numbers of a stream wrap: PSNs, and the 16 bits of msn and rqmsn.
TEST_F(tx_stream, msn_and_rqmsn_wrap)
{
    make();
    for (u32 i = 0; i < 70000; i++) {
        mrc_wr wr = {};
        mrc_txop t;
        mrc_cpl x;
        mrc_pkt p = {};

        wr.op = i % 2 ? MRC_OP_SEND : MRC_OP_WRITE_IMM;
        wr.len = 4;
        wr.cookie = i;
        ASSERT_EQ(mrc_conn_post(&c, &wr, now), 0);
        ASSERT_TRUE(mrc_conn_tx_next(&c, now, &t));
        ASSERT_EQ(t.hdr.msn, static_cast<u16>(i));
        ASSERT_EQ(t.hdr.rqmsn, static_cast<u16>(i));
        p.opcode = MRC_OPC_ACK;
        p.plane = turn();
        p.psn = t.hdr.psn;
        p.u.aeth.syndrome = MRC_AETH_CREDIT_NONE;
        p.u.aeth.msn = (i + 1) & MRC_PSN_MASK;
        ASSERT_EQ(rx(p), MRC_V_DONE);
        ASSERT_TRUE(ev.complete(&x));
        ASSERT_EQ(x.cookie, i);
        ASSERT_EQ(x.status, MRC_ST_OK);
    }
    EXPECT_EQ(c.stats.rx_bad_ack, 0u);
}

/*
 * Two messages of 2 GiB at the least MTU, 2^23 packets each: half of the PSN space, all of it
 * when the transport ACK of the first is late. No bytes are moved.
 */
TEST_F(tx_stream, as_many_packets_as_a_message_may_have)
{
    rig_cfg k = defaults();
    mrc_txop t;
    u32 n = 0, psn = 0;

    k.conn.mpr_max = 32;
    k.rx.mtu = 256;
    k.tx.cwnd_bytes = 1u << 30;
    k.tx_psn = 0x123456;
    make(k);
    EXPECT_EQ(post(MRC_OP_WRITE, 0x80000001), -EINVAL);
    ASSERT_EQ(post(MRC_OP_WRITE, 0x80000000), 0);
    ASSERT_EQ(post(MRC_OP_SEND, 0x80000000), 0);
    while (mrc_conn_tx_next(&c, now, &t)) {
        if (!mrc_opc_is_data(t.hdr.opcode))
            continue;
        psn = (k.tx_psn + n) & MRC_PSN_MASK;
        ASSERT_EQ(t.hdr.psn, psn);
        ASSERT_EQ(t.off, n % (1u << 23) * 256);
        ASSERT_EQ(t.len, 256u);
        ASSERT_EQ(t.hdr.msn, n >> 23);
        ASSERT_EQ(mrc_opc_is_last(t.hdr.opcode), (n + 1) % (1u << 23) == 0);
        if (++n % 4096 == 0) {
            now += 10 * kUs;
            sack(psn);
            ack(k.tx_psn - 1);  // an old one, again and again
            ASSERT_FALSE(c.msgs.sq[0].acked) << n;
        }
    }
    // What the transport ACK may name stays within one turn: the last ones wait.
    EXPECT_LT(n, 1u << 24);
    EXPECT_GT(n, (1u << 24) - 20000);
    sack(psn);
    EXPECT_TRUE(cpls().empty());
    ack(k.tx_psn + (1u << 23) - 2);
    EXPECT_TRUE(cpls().empty()) << "short of its last packet";
    ack(k.tx_psn + (1u << 23) - 1);
    EXPECT_EQ(show(cpls()), "100:0");
    while (n < 1u << 24) {
        n += static_cast<u32>(tx_data().size());
        psn = (k.tx_psn + n - 1) & MRC_PSN_MASK;
        sack(psn);
    }
    EXPECT_EQ(n, 1u << 24);
    ack(psn);
    EXPECT_EQ(show(cpls()), "101:0");
    EXPECT_TRUE(mrc_conn_idle(&c));
    EXPECT_EQ(c.stats.tx_pkts, 1u << 24);
}

TEST_F(tx_stream, a_nak_at_the_end_of_the_longest_message)
{
    rig_cfg k = defaults();
    mrc_txop t;

    k.conn.mpr_max = 32;
    k.rx.mtu = 256;
    make(k);
    ASSERT_EQ(post(MRC_OP_WRITE, 10), 0);
    ASSERT_EQ(post(MRC_OP_WRITE, 0x80000000), 0);
    for (u32 n = 0; n <= 1u << 23; n++) {
        if (!mrc_conn_tx_next(&c, now, &t)) {
            sack((k.tx_psn + n - 1) & MRC_PSN_MASK);
            ASSERT_TRUE(mrc_conn_tx_next(&c, now, &t));
        }
        while (!mrc_opc_is_data(t.hdr.opcode))
            ASSERT_TRUE(mrc_conn_tx_next(&c, now, &t));
    }
    ack(k.tx_psn + (1u << 23), MRC_AETH_NAK | MRC_NAK_REM_ACCESS);
    EXPECT_EQ(show(cpls()), "100:0 101:4");
}

// ---- NAK ----

TEST_F(tx_stream, nak_order)
{
    make();
    for (int i = 0; i < 5; i++)
        post(MRC_OP_WRITE, 10);
    tx_data();
    ack(1003, MRC_AETH_NAK | MRC_NAK_REM_ACCESS);
    EXPECT_EQ(show(cpls()), "100:0 101:0 102:0 103:4 104:1");
    EXPECT_EQ(mrc_conn_failed(&c), MRC_ST_REM_ACCESS);
}

TEST_F(tx_stream, nak_waits_for_a_read_before_it)
{
    make();
    post(MRC_OP_READ, 10);
    post(MRC_OP_WRITE, 10);
    auto v = tx_data();
    ack(1001, MRC_AETH_NAK | MRC_NAK_INV_REQ);
    EXPECT_TRUE(cpls().empty());
    EXPECT_TRUE(tx_data().empty());
    answer_read(2000, v[0].hdr.msn, 10);
    EXPECT_EQ(show(cpls()), "100:0 101:5");
}

TEST_F(tx_stream, nak_in_the_middle_of_a_message)
{
    make();
    post(MRC_OP_WRITE, 5000);
    post(MRC_OP_WRITE, 10);
    tx_data();
    ack(1002, MRC_AETH_NAK | MRC_NAK_REM_OP);
    EXPECT_EQ(show(cpls()), "100:6 101:1");
}

TEST_F(tx_stream, acks_for_what_was_never_sent)
{
    make();
    post(MRC_OP_WRITE, 10);
    tx_data();
    ack(1001);
    sack(1001);
    nack(1001, 0, MRC_NACK_TRIMMED);
    ack(1001, MRC_AETH_NAK | MRC_NAK_REM_OP);
    EXPECT_EQ(c.stats.rx_bad_ack, 4u);
    EXPECT_TRUE(cpls().empty());
    EXPECT_EQ(mrc_conn_failed(&c), MRC_ST_OK);
    ack(900);
    sack(900);
    EXPECT_TRUE(cpls().empty());
    ack(1000);
    EXPECT_EQ(show(cpls()), "100:0");
}

// ---- paths ----

TEST_F(tx_stream, no_path)
{
    make();
    post(MRC_OP_WRITE, 10);
    mrc_evset_local_planes(&evs, 0, now);
    EXPECT_TRUE(tx_all().empty());
    EXPECT_GE(c.stats.no_path, 1u);
    mrc_evset_local_planes(&evs, 2, now);
    mrc_conn_plane_event(&c, now);
    auto v = tx_data();
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.plane, 1);
}

} // namespace
