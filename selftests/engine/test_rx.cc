// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_rx.cc - the receive stream: acceptance, SACK building, order of what
// becomes deliverable, refusals.
#include "conn_rig.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

namespace {

class rx_stream : public rig {
protected:
    // The SACK that is due, if any.
    std::optional<mrc_sack> due_sack()
    {
        auto v = tx_ctrl(MRC_OPC_SACK);

        if (v.empty())
            return {};
        return v.back().hdr.u.sack;
    }
    // PSNs that a SACK says have arrived beyond cack.
    std::set<u32> said(const mrc_sack &s)
    {
        std::set<u32> v;

        for (u32 i = 0; i < 64; i++)
            if (s.bitmap >> i & 1)
                v.insert(mrc_psn_add(s.cack, s.sack_offset + static_cast<s32>(i)));
        return v;
    }
    void quiet()
    {
        rig_cfg k = defaults();

        k.rx.sack_pkts = 1000;
        k.rx.sack_bytes = 1 << 24;
        make(k);
        c.sack_pkts = 0; // the very first packet is answered: not what is looked at here
    }
};

TEST_F(rx_stream, in_order)
{
    make();
    EXPECT_TRUE(take(write_only(2000)));
    EXPECT_TRUE(take(write_only(2001)));
    EXPECT_EQ(c.rx_cack, 2001u);
    auto v = tx_ctrl(MRC_OPC_ACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.psn, 2001u);
    EXPECT_EQ(v[0].hdr.u.aeth.syndrome, MRC_AETH_CREDIT_NONE);
    EXPECT_EQ(v[0].hdr.u.aeth.msn, 2u);
}

TEST_F(rx_stream, nothing_is_acknowledged_that_was_not_committed)
{
    make();
    ASSERT_EQ(rx(write_only(2000)), MRC_V_PLACE);
    mrc_conn_rx_drop(&c, &op);
    EXPECT_EQ(c.rx_cack, 1999u);
    EXPECT_TRUE(tx_all().empty());
    EXPECT_EQ(c.stats.rx_place_failed, 1u);
    EXPECT_TRUE(take(write_only(2000))) << "the next copy is placed";
    EXPECT_EQ(c.rx_cack, 2000u);
}

TEST_F(rx_stream, hole_then_filled)
{
    make();
    EXPECT_TRUE(take(write_only(2001)));
    EXPECT_TRUE(take(write_only(2003)));
    EXPECT_EQ(c.rx_cack, 1999u);
    EXPECT_EQ(c.rx_held, 2u);
    EXPECT_EQ(c.stats.rx_ooo, 2u);
    EXPECT_TRUE(tx_ctrl(MRC_OPC_ACK).empty()) << "no transport ACK over a hole";
    EXPECT_TRUE(take(write_only(2000)));
    EXPECT_EQ(c.rx_cack, 2001u);
    EXPECT_TRUE(take(write_only(2002)));
    EXPECT_EQ(c.rx_cack, 2003u);
    EXPECT_EQ(c.rx_held, 0u);
}

TEST_F(rx_stream, duplicates_are_acknowledged_and_not_placed)
{
    make();
    take(write_only(2000));
    take(write_only(2005));
    tx_all();
    EXPECT_EQ(rx(write_only(2000)), MRC_V_DONE);
    auto v = tx_all();
    ASSERT_EQ(v.size(), 2u) << "below the left edge: re-ACK and SACK";
    EXPECT_EQ(v[0].hdr.opcode, MRC_OPC_ACK);
    EXPECT_EQ(v[1].hdr.opcode, MRC_OPC_SACK);
    EXPECT_EQ(rx(write_only(2005)), MRC_V_DONE);
    v = tx_all();
    ASSERT_EQ(v.size(), 1u) << "in the window: SACK only";
    EXPECT_EQ(v[0].hdr.opcode, MRC_OPC_SACK);
    EXPECT_EQ(c.stats.rx_dup, 2u);
}

TEST_F(rx_stream, out_of_window)
{
    make();
    EXPECT_TRUE(take(write_only(2000 + 127))) << "the last one inside";
    EXPECT_EQ(rx(write_only(2000 + 128)), MRC_V_DROP);
    EXPECT_EQ(c.stats.rx_oor, 1u);
    EXPECT_TRUE(tx_ctrl(MRC_OPC_NACK).empty());
    take(write_only(2000));
    EXPECT_TRUE(take(write_only(2000 + 128))) << "the window has moved";
}

TEST_F(rx_stream, out_of_window_nack_is_an_option)
{
    rig_cfg k = defaults();

    k.rx.oor_nack = true;
    make(k);
    EXPECT_EQ(rx(write_only(2500)), MRC_V_DROP);
    auto v = tx_ctrl(MRC_OPC_NACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.u.nack.reason, MRC_NACK_PSN_OOR_WINDOW);
    EXPECT_EQ(v[0].hdr.u.nack.psn, 2500u);
}

TEST_F(rx_stream, psn_wrap)
{
    rig_cfg k = defaults();

    k.rx_psn = 0xfffffe;
    make(k);
    EXPECT_TRUE(take(write_only(0)));
    EXPECT_TRUE(take(write_only(0xffffff)));
    EXPECT_EQ(c.rx_cack, 0xfffffdu);
    EXPECT_TRUE(take(write_only(0xfffffe)));
    EXPECT_EQ(c.rx_cack, 0u);
    EXPECT_EQ(rx(write_only(0xffffff)), MRC_V_DONE);
    EXPECT_EQ(c.stats.rx_dup, 1u);
}

// Every order of arrival of eight packets ends in the same state.
TEST_F(rx_stream, all_orders_of_six)
{
    std::vector<u32> order = {0, 1, 2, 3, 4, 5};
    u32 n = 0;

    do {
        make();
        for (u32 i : order) {
            take(write_only(2000 + i));
            EXPECT_EQ(rx(write_only(2000 + i)), MRC_V_DONE);
        }
        EXPECT_EQ(c.rx_cack, 2005u);
        EXPECT_EQ(c.rx_held, 0u);
        EXPECT_EQ(c.stats.rx_pkts, 6u);
        n++;
    } while (std::next_permutation(order.begin(), order.end()));
    EXPECT_EQ(n, 720u);
}

// ---- when a SACK is sent (7.5.2) ----

TEST_F(rx_stream, trigger_count)
{
    rig_cfg k = defaults();

    k.rx.sack_pkts = 3;
    make(k);
    take(write_only(2000));
    EXPECT_TRUE(due_sack()) << "the very first";
    take(write_only(2001));
    take(write_only(2002));
    EXPECT_FALSE(due_sack());
    take(write_only(2003));
    auto s = due_sack();
    ASSERT_TRUE(s);
    EXPECT_EQ(s->cack, 2003u);
    EXPECT_EQ(s->bitmap, 0u);
    take(write_only(2004));
    EXPECT_FALSE(due_sack()) << "counted anew";
}

TEST_F(rx_stream, trigger_bytes_small_packets_count_1k)
{
    rig_cfg k = defaults();

    k.rx.sack_pkts = 1000;
    k.rx.sack_bytes = 3 * 1024;
    make(k);
    take(write_only(2000, 1));
    EXPECT_TRUE(due_sack()) << "the very first";
    take(write_only(2001, 1));
    take(write_only(2002, 1));
    EXPECT_FALSE(due_sack());
    take(write_only(2003, 1));
    EXPECT_TRUE(due_sack());
}

TEST_F(rx_stream, trigger_ackreq)
{
    quiet();
    mrc_pkt p = write_only(2000);
    p.ackreq = true;
    take(p);
    EXPECT_TRUE(due_sack());
}

TEST_F(rx_stream, trigger_rtx)
{
    quiet();
    mrc_pkt p = write_only(2000);
    p.rtx = true;
    take(p);
    EXPECT_TRUE(due_sack());
}

TEST_F(rx_stream, trigger_ecn_names_the_ev)
{
    quiet();
    mrc_pkt p = write_only(2000);
    p.ecn_ce = true;
    p.tx_ts = 0x1234;
    take(p);
    auto s = due_sack();
    ASSERT_TRUE(s);
    EXPECT_EQ(s->m, MRC_M_SKIP_ONCE);
    EXPECT_EQ(s->ev, p.ev);
    EXPECT_EQ(s->tx_ts, 0x1234);
    EXPECT_EQ(c.stats.rx_ecn, 1u);
}

TEST_F(rx_stream, trigger_probe)
{
    quiet();
    take(write_only(2001));
    mrc_pkt p = {};
    p.opcode = MRC_OPC_PROBE;
    p.u.probe.probe_id = 0xf123;
    p.u.probe.tx_ts = 77;
    p.ev = evs.ev[3].value;
    EXPECT_EQ(rx(p), MRC_V_DONE);
    auto s = due_sack();
    ASSERT_TRUE(s);
    EXPECT_TRUE(s->pr);
    EXPECT_EQ(s->probe_id, 0xf123);
    EXPECT_EQ(s->tx_ts, 77);
    EXPECT_EQ(s->cack, 1999u);
    EXPECT_EQ(said(*s), std::set<u32>{2001});
}

// ---- what a SACK says ----

TEST_F(rx_stream, sack_bitmap_near)
{
    rig_cfg k = defaults();

    k.rx.sack_pkts = 1;
    make(k);
    take(write_only(2002));
    take(write_only(2004));
    auto s = due_sack();
    ASSERT_TRUE(s);
    EXPECT_EQ(s->cack, 1999u);
    EXPECT_EQ(said(*s), (std::set<u32>{2002, 2004}));
    EXPECT_EQ(s->ooo_count, 2u);
}

TEST_F(rx_stream, sack_bitmap_far_reaches_the_trigger)
{
    rig_cfg k = defaults();

    k.rx.sack_pkts = 1;
    k.rx_psn = 0xffffc0;    // across the wrap
    make(k);
    std::vector<u32> have = {3, 90, 100};
    for (u32 i : have)
        take(write_only(mrc_psn_add(0xffffc0, static_cast<s32>(i))));
    auto s = due_sack();
    ASSERT_TRUE(s);
    EXPECT_EQ(s->cack, 0xffffbfu);
    EXPECT_EQ(mrc_psn_add(s->cack, s->ack_psn_offset), mrc_psn_add(0xffffc0, 100));
    EXPECT_EQ(said(*s), (std::set<u32>{mrc_psn_add(0xffffc0, 90), mrc_psn_add(0xffffc0, 100)}));
}

// The ring bitmap must not show old bits as new ones.
TEST_F(rx_stream, sack_bitmap_beyond_the_ring)
{
    rig_cfg k = defaults();

    k.rx.sack_pkts = 1;
    make(k);
    for (u32 i = 0; i < 300; i++) {
        if (i % 100 == 50)
            continue;
        take(write_only(2000 + i));
        if (i % 100 == 99)
            take(write_only(2000 + i - 49));
        auto s = due_sack();
        ASSERT_TRUE(s);
        for (u32 psn : said(*s)) {
            EXPECT_GT(mrc_psn_diff(psn, s->cack), 1);
            EXPECT_LE(mrc_psn_diff(psn, 2000 + i), 0);
        }
    }
}

TEST_F(rx_stream, rcvd_bytes_are_nominal_and_rounded_up)
{
    rig_cfg k = defaults();

    k.rx.sack_pkts = 1;
    make(k);
    mrc_pkt p = write_only(2000, 100);
    p.udp_len = 500;
    take(p);
    auto s = due_sack();
    ASSERT_TRUE(s);
    EXPECT_EQ(s->rcvd_bytes, (500u + 40 + 255) / 256);
}

TEST_F(rx_stream, marks_of_different_evs_are_all_told)
{
    quiet();
    for (u32 i = 0; i < 4; i++) {
        mrc_pkt p = write_only(2000 + i);
        p.ecn_ce = true;
        p.ev = evs.ev[i].value;
        take(p);
    }
    std::set<u32> told;
    for (const mrc_txop &t : tx_ctrl(MRC_OPC_SACK))
        told.insert(t.hdr.u.sack.ev);
    EXPECT_EQ(told.size(), 4u);
}

TEST_F(rx_stream, trimmed_is_nacked_not_placed)
{
    make();
    mrc_pkt p = write_only(2000);
    p.trimmed = MRC_NACK_TRIMMED;
    EXPECT_EQ(rx(p), MRC_V_DONE);
    auto v = tx_ctrl(MRC_OPC_NACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.u.nack.reason, MRC_NACK_TRIMMED);
    EXPECT_EQ(v[0].hdr.u.nack.psn, 2000u);
    EXPECT_EQ(v[0].hdr.u.nack.ev, p.ev);
    EXPECT_EQ(c.rx_cack, 1999u);
}

// ---- order of completion ----

TEST_F(rx_stream, receives_complete_in_order_after_all_before_them)
{
    make();
    mrc_pkt imm = data(MRC_OPC_WRITE_ONLY_IMM, 2003, 100, 100, 0x9000, 1);
    imm.imm = 0xfeed;
    imm.se = true;
    EXPECT_TRUE(take(imm));
    EXPECT_TRUE(op.needs_rq);
    EXPECT_EQ(op.rq_idx, 1u);
    EXPECT_TRUE(take(send_only(2001, 0)));
    EXPECT_TRUE(take(write_only(2002)));
    EXPECT_TRUE(cpls().empty());
    EXPECT_TRUE(take(write_only(2000)));
    auto v = cpls();
    ASSERT_EQ(show(v), "r0:0 r1:0");
    EXPECT_EQ(v[0].op, MRC_OP_SEND);
    EXPECT_EQ(v[0].len, 10u);
    EXPECT_FALSE(v[0].solicited);
    EXPECT_EQ(v[1].op, MRC_OP_WRITE_IMM);
    EXPECT_EQ(v[1].imm, 0xfeedu);
    EXPECT_TRUE(v[1].solicited);
}

// The last packet of a SEND may come before the others.
TEST_F(rx_stream, send_out_of_order)
{
    make();
    EXPECT_TRUE(take(data(MRC_OPC_SEND_LAST, 2002, 52, 2100, 2048)));
    EXPECT_TRUE(take(data(MRC_OPC_SEND_MIDDLE, 2001, 1024, 2100, 1024)));
    EXPECT_EQ(op.off, 1024u);
    EXPECT_TRUE(take(data(MRC_OPC_SEND_FIRST, 2000, 1024, 2100, 0)));
    EXPECT_EQ(show(cpls()), "r0:0");
}

TEST_F(rx_stream, send_that_leaves_a_gap_is_refused)
{
    make();
    EXPECT_EQ(rx(data(MRC_OPC_SEND_LAST, 2000, 10, 2100, 2048)), MRC_V_DROP);
    auto v = tx_ctrl(MRC_OPC_ACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.u.aeth.syndrome, MRC_AETH_NAK | MRC_NAK_INV_REQ);
    EXPECT_EQ(v[0].hdr.psn, 2000u);
}

TEST_F(rx_stream, more_receives_in_flight_than_agreed)
{
    rig_cfg k = defaults();

    k.rx.wimm = 2;
    make(k);
    EXPECT_TRUE(take(send_only(2001, 1)));
    EXPECT_EQ(rx(send_only(2002, 2)), MRC_V_DROP);
    EXPECT_EQ(c.nak, MRC_NAK_INV_REQ);
}

TEST_F(rx_stream, rnr)
{
    make();
    reject(send_only(2000, 0), MRC_NACK_NO_RESOURCE, MRC_NAK_NONE);
    auto v = tx_ctrl(MRC_OPC_NACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.u.nack.reason, MRC_NACK_NO_RESOURCE);
    EXPECT_EQ(v[0].hdr.u.nack.vendor_info, 1);
    EXPECT_TRUE(take(send_only(2000, 0)));
    EXPECT_EQ(show(cpls()), "r0:0");
}

TEST_F(rx_stream, no_rnr_in_mrc)
{
    rig_cfg k = defaults();

    k.rx.mrc_only = true;
    make(k);
    reject(data(MRC_OPC_WRITE_ONLY_IMM, 2000, 1, 1), MRC_NACK_NO_RESOURCE, MRC_NAK_NONE);
    auto v = tx_ctrl(MRC_OPC_ACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.u.aeth.syndrome, MRC_AETH_NAK | MRC_NAK_REM_OP);
    make(k);
    EXPECT_EQ(rx(send_only(2000, 0)), MRC_V_DROP) << "and no SEND";
}

// ---- tails ----

TEST_F(rx_stream, the_end_of_a_write_waits_for_what_precedes_it)
{
    mrc_tail t;

    make();
    ASSERT_EQ(rx(data(MRC_OPC_WRITE_LAST, 2002, 100, 2148, 0x10800)), MRC_V_PLACE);
    ASSERT_GE(op.tail, 0);
    mrc_conn_rx_commit(&c, &op, now);
    u8 slot = static_cast<u8>(op.tail);
    EXPECT_FALSE(mrc_conn_tail_next(&c, &t));
    take(data(MRC_OPC_WRITE_FIRST, 2000, 1024, 2148, 0x10000));
    EXPECT_FALSE(mrc_conn_tail_next(&c, &t));
    take(data(MRC_OPC_WRITE_MIDDLE, 2001, 1024, 2148, 0x10400));
    ASSERT_TRUE(mrc_conn_tail_next(&c, &t));
    EXPECT_EQ(t.slot, slot);
    EXPECT_EQ(t.va, 0x10800u + 100 - MRC_TAIL_LEN);
    EXPECT_EQ(t.len, u32{MRC_TAIL_LEN});
    EXPECT_EQ(t.rkey, kRkey);
    EXPECT_FALSE(mrc_conn_tail_next(&c, &t));
}

TEST_F(rx_stream, no_tail_when_nothing_is_missing)
{
    make();
    take(data(MRC_OPC_WRITE_FIRST, 2000, 1024, 1030, 0x10000));
    ASSERT_EQ(rx(data(MRC_OPC_WRITE_LAST, 2001, 6, 1030, 0x10400)), MRC_V_PLACE);
    EXPECT_LT(op.tail, 0);
    mrc_conn_rx_commit(&c, &op, now);
}

TEST_F(rx_stream, tails_run_out)
{
    make();
    for (u32 i = 0; i < 4; i++)
        EXPECT_TRUE(take(data(MRC_OPC_WRITE_LAST, 2002 + 2 * i, 6, 1030, 0x10400)));
    EXPECT_EQ(rx(data(MRC_OPC_WRITE_LAST, 2012, 6, 1030, 0x10400)), MRC_V_DROP);
    EXPECT_EQ(c.stats.rx_no_slot, 1u);
    auto v = tx_ctrl(MRC_OPC_NACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.u.nack.reason, MRC_NACK_NO_PKT_BUFFER);
}

TEST_F(rx_stream, tails_come_in_the_order_of_psns)
{
    std::mt19937 r(5);
    rig_cfg k = defaults();
    u32 n = 0;

    k.conn.tails = 255;
    k.conn.mpr_max = 32;
    make(k);
    for (u32 base = 2000; base < 2000 + 20 * 520; base += 520) {
        std::vector<u32> order(255);

        std::iota(order.begin(), order.end(), 0u);
        std::shuffle(order.begin(), order.end(), r);
        for (u32 i : order)
            EXPECT_TRUE(take(data(MRC_OPC_WRITE_LAST, base + 2 * i + 1, 8, 1032, base + i)));
        EXPECT_EQ(rx(data(MRC_OPC_WRITE_LAST, base + 511, 8, 1032)), MRC_V_DROP);
        mrc_tail t;
        for (u32 i = 0; i < 520; i++) {
            EXPECT_EQ(take(write_only(base + i)), i % 2 == 0 || i > 509);
            for (; mrc_conn_tail_next(&c, &t); n++)
                EXPECT_EQ(t.va, base + i / 2) << "the lowest first";
            sound();
        }
    }
    EXPECT_EQ(n, 20u * 255);
}

// ---- refusals ----

TEST_F(rx_stream, nak_waits_for_what_precedes_it)
{
    make();
    reject(write_only(2002), static_cast<mrc_nack>(0), MRC_NAK_REM_ACCESS);
    EXPECT_TRUE(tx_ctrl(MRC_OPC_ACK).empty());
    EXPECT_FALSE(mrc_conn_nak_sent(&c));
    EXPECT_EQ(rx(write_only(2003)), MRC_V_DROP) << "behind a refused one";
    EXPECT_EQ(c.stats.rx_after_nak, 1u);
    take(send_only(2000, 0));
    EXPECT_EQ(show(cpls()), "r0:0");
    auto v = tx_ctrl(MRC_OPC_ACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.u.aeth.syndrome, MRC_AETH_CREDIT_NONE);
    EXPECT_EQ(v[0].hdr.psn, 2000u);
    take(write_only(2001));
    v = tx_ctrl(MRC_OPC_ACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.u.aeth.syndrome, MRC_AETH_NAK | MRC_NAK_REM_ACCESS);
    EXPECT_EQ(v[0].hdr.psn, 2002u);
    EXPECT_TRUE(mrc_conn_nak_sent(&c));
}

TEST_F(rx_stream, the_lowest_refused_psn_is_told)
{
    make();
    reject(write_only(2002), static_cast<mrc_nack>(0), MRC_NAK_REM_ACCESS);
    reject(write_only(2000), static_cast<mrc_nack>(0), MRC_NAK_INV_REQ);
    auto v = tx_ctrl(MRC_OPC_ACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.psn, 2000u);
    EXPECT_EQ(v[0].hdr.u.aeth.syndrome, MRC_AETH_NAK | MRC_NAK_INV_REQ);
}

TEST_F(rx_stream, a_lost_nak_is_repeated_even_when_failed)
{
    make();
    reject(write_only(2000), static_cast<mrc_nack>(0), MRC_NAK_REM_ACCESS);
    ASSERT_EQ(tx_ctrl(MRC_OPC_ACK).size(), 1u);
    mrc_conn_fail(&c, MRC_ST_FLUSHED, now);
    EXPECT_EQ(rx(write_only(2000)), MRC_V_DROP);
    auto v = tx_ctrl(MRC_OPC_ACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.u.aeth.syndrome, MRC_AETH_NAK | MRC_NAK_REM_ACCESS);
}

// ---- READs and ATOMICs of the peer ----

TEST_F(rx_stream, requests_execute_in_order_and_behind_what_precedes_them)
{
    mrc_exec x;

    make();
    take(data(MRC_OPC_READ_REQ, 2002, 0, 5000, 0x3000, 0, 7));
    take(data(MRC_OPC_READ_REQ, 2001, 0, 4000, 0x2000, 0, 6));
    EXPECT_FALSE(mrc_conn_exec_next(&c, &x));
    take(write_only(2000));
    ASSERT_TRUE(mrc_conn_exec_next(&c, &x));
    EXPECT_EQ(x.va, 0x2000u);
    EXPECT_EQ(x.len, 4000u);
    EXPECT_EQ(x.op, MRC_OP_READ);
    mrc_exec y;
    EXPECT_FALSE(mrc_conn_exec_next(&c, &y)) << "one at a time";
    auto v = tx_ctrl(MRC_OPC_ACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.psn, 2000u) << "not acknowledged before it is executed";
    mrc_conn_exec_done(&c, x.slot, 0, now);
    ASSERT_TRUE(mrc_conn_exec_next(&c, &x));
    EXPECT_EQ(x.va, 0x3000u);
    mrc_conn_exec_done(&c, x.slot, 0, now);
    EXPECT_FALSE(mrc_conn_exec_next(&c, &x));
    std::vector<u32> offs;
    for (const mrc_txop &t : tx_data()) {
        EXPECT_TRUE(mrc_opc_is_read_resp(t.hdr.opcode));
        EXPECT_EQ(t.src, MRC_SRC_RESP);
        offs.push_back(t.off);
    }
    EXPECT_EQ(offs, (std::vector<u32>{0, 1024, 2048, 3072, 0, 1024, 2048, 3072, 4096}));
}

TEST_F(rx_stream, atomic_returns_the_original)
{
    mrc_exec x;
    u16 slot;

    make();
    mrc_pkt p = data(MRC_OPC_FETCH_ADD, 2000, 0, 8, 0x4000, 0, 3);
    p.swap_add = 5;
    take(p);
    ASSERT_TRUE(mrc_conn_exec_next(&c, &x));
    EXPECT_EQ(x.op, MRC_OP_FETCH_ADD);
    EXPECT_EQ(x.swap_add, 5u);
    mrc_conn_exec_done(&c, x.slot, 41, now);
    auto v = tx_data();
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.opcode, MRC_OPC_ATOMIC_ACK);
    EXPECT_EQ(v[0].hdr.swap_add, 41u);
    EXPECT_EQ(v[0].hdr.msn, 3);
    EXPECT_FALSE(mrc_conn_exec_free_next(&c, &slot));
    EXPECT_EQ(rx(p), MRC_V_DONE) << "a duplicate is not executed";
    EXPECT_FALSE(mrc_conn_exec_next(&c, &x));
    sack(1000);
    ASSERT_TRUE(mrc_conn_exec_free_next(&c, &slot));
    EXPECT_EQ(slot, x.slot);
    EXPECT_FALSE(mrc_conn_exec_free_next(&c, &slot));
}

TEST_F(rx_stream, requests_beyond_the_slots_are_put_off)
{
    make();
    for (u32 i = 0; i < 4; i++)
        EXPECT_TRUE(take(data(MRC_OPC_READ_REQ, 2001 + i, 0, 10)));
    EXPECT_EQ(rx(data(MRC_OPC_READ_REQ, 2005, 0, 10)), MRC_V_DROP);
    auto v = tx_ctrl(MRC_OPC_NACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.u.nack.reason, MRC_NACK_NO_PKT_BUFFER);
}

TEST_F(rx_stream, requests_in_any_order_of_arrival)
{
    std::mt19937 r(9);
    rig_cfg k = defaults();
    u32 next = 2000;

    k.conn.rd_max = 128;
    k.rx.rd_atomic = 128;
    k.conn.mpr_max = 2;
    make(k);
    for (u32 round = 0; round < 30; round++) {
        std::vector<u32> order(1 + r() % 128);
        u32 base = next, slots = 0;
        mrc_exec x;
        u16 slot;

        std::iota(order.begin(), order.end(), base);
        std::shuffle(order.begin(), order.end(), r);
        for (u32 psn : order) {
            EXPECT_TRUE(take(data(MRC_OPC_FETCH_ADD, psn, 0, 8, 8ull * psn)));
            EXPECT_EQ(mrc_rx_ack_edge(&c), base - 1 + (next - base));
            while (mrc_conn_exec_next(&c, &x)) {
                EXPECT_EQ(x.va, 8ull * next) << "in the order of PSNs";
                EXPECT_EQ(mrc_rx_ack_edge(&c), next - 1);
                mrc_conn_exec_done(&c, x.slot, 0, now);
                next++;
                EXPECT_EQ(mrc_rx_ack_edge(&c), std::min(next - 1, c.rx_cack));
            }
        }
        EXPECT_EQ(next, base + order.size());
        EXPECT_EQ(tx_data().size(), order.size());
        sack(c.psn_next - 1);
        for (; mrc_conn_exec_free_next(&c, &slot); slots++)
            ;
        EXPECT_EQ(slots, order.size());
        EXPECT_EQ(c.exec_used, 0);
    }
}

// mrcsim seed 303: both ends full of requests, each waiting for the other's window.
TEST_F(rx_stream, the_left_edges_request_finds_a_slot)
{
    mrc_exec x;
    u16 slot;

    make();
    // One executed and answered, the answer not acknowledged ...
    take(data(MRC_OPC_READ_REQ, 2000, 0, 10, 0x1000, 0, 0));
    ASSERT_TRUE(mrc_conn_exec_next(&c, &x));
    mrc_conn_exec_done(&c, x.slot, 0, now);
    ASSERT_EQ(tx_data().size(), 1u);
    // ... and later requests overtake the one at the left edge.
    for (u32 i = 2; i <= 4; i++)
        take(data(MRC_OPC_READ_REQ, 2000 + i, 0, 10, 0x1000, 0, static_cast<u16>(i)));
    EXPECT_EQ(rx(data(MRC_OPC_READ_REQ, 2001, 0, 10, 0x1000, 0, 1)), MRC_V_DROP);
    ASSERT_TRUE(mrc_conn_exec_free_next(&c, &slot)) << "its answer must have arrived";
    EXPECT_EQ(c.inflight_bytes, 0u);
    EXPECT_TRUE(take(data(MRC_OPC_READ_REQ, 2001, 0, 10, 0x1000, 0, 1)));
    EXPECT_TRUE(mrc_conn_exec_next(&c, &x));
}

TEST_F(rx_stream, answers_before_a_refusal_are_delivered_first)
{
    mrc_exec x;

    make();
    take(data(MRC_OPC_READ_REQ, 2000, 0, 10, 0x1000, 0, 0));
    reject(write_only(2001), static_cast<mrc_nack>(0), MRC_NAK_REM_ACCESS);
    ASSERT_TRUE(mrc_conn_exec_next(&c, &x));
    mrc_conn_exec_done(&c, x.slot, 0, now);
    auto v = tx_all();
    for (const mrc_txop &t : v)
        EXPECT_FALSE(t.hdr.opcode == MRC_OPC_ACK && t.hdr.u.aeth.syndrome & 0x60);
    EXPECT_FALSE(mrc_conn_nak_sent(&c));
    sack(1000);
    v = tx_ctrl(MRC_OPC_ACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.u.aeth.syndrome, MRC_AETH_NAK | MRC_NAK_REM_ACCESS);
}

// mrcsim seed 784: what follows the refused request has landed, the NAK waits for an
// earlier answer. No ACK may cover the refused one meanwhile.
TEST_F(rx_stream, no_ack_covers_a_refused_request)
{
    mrc_exec x;

    make();
    take(data(MRC_OPC_READ_REQ, 2000, 0, 10, 0x1000, 0, 0));
    take(data(MRC_OPC_READ_REQ, 2001, 0, 10, 0x2000, 0, 1));
    take(send_only(2002, 0));
    ASSERT_TRUE(mrc_conn_exec_next(&c, &x));
    mrc_conn_exec_done(&c, x.slot, 0, now);
    ASSERT_TRUE(mrc_conn_exec_next(&c, &x));
    mrc_conn_exec_fail(&c, x.slot, MRC_NAK_REM_ACCESS, now);
    EXPECT_EQ(c.rx_cack, 2002u);
    EXPECT_EQ(mrc_rx_ack_edge(&c), 2000u);
    for (const mrc_txop &t : tx_all()) {
        if (t.hdr.opcode == MRC_OPC_ACK) {
            EXPECT_EQ(t.hdr.u.aeth.syndrome, MRC_AETH_CREDIT_NONE);
            EXPECT_EQ(t.hdr.psn, 2000u);
        }
    }
    EXPECT_FALSE(mrc_conn_nak_sent(&c));
    EXPECT_TRUE(cpls().empty());
    sack(1000); // the answer to 2000 is delivered
    auto v = tx_ctrl(MRC_OPC_ACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.psn, 2001u);
    EXPECT_EQ(v[0].hdr.u.aeth.syndrome, MRC_AETH_NAK | MRC_NAK_REM_ACCESS);
}

TEST_F(rx_stream, exec_fail)
{
    mrc_exec x;
    u16 slot;

    make();
    take(data(MRC_OPC_READ_REQ, 2000, 0, 10));
    take(send_only(2001, 0));
    ASSERT_TRUE(mrc_conn_exec_next(&c, &x));
    mrc_conn_exec_fail(&c, x.slot, MRC_NAK_REM_ACCESS, now);
    EXPECT_TRUE(mrc_conn_exec_free_next(&c, &slot));
    EXPECT_TRUE(cpls().empty()) << "what follows does not complete";
    auto v = tx_ctrl(MRC_OPC_ACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.u.aeth.syndrome, MRC_AETH_NAK | MRC_NAK_REM_ACCESS);
    EXPECT_EQ(v[0].hdr.psn, 2000u);
}

} // namespace
