// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_rx.cc - the receive stream: acceptance, order of what becomes deliverable, refusals.
#include "rx_rig.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace {

// ---- acceptance ----

TEST_F(rx_stream, in_order)
{
    make();
    EXPECT_TRUE(take(write_only(2000)));
    EXPECT_TRUE(take(write_only(2001)));
    EXPECT_EQ(c.rcv.cack, 2001u);
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
    EXPECT_EQ(c.rcv.cack, 1999u);
    EXPECT_TRUE(tx_all().empty());
    EXPECT_EQ(c.stats.rx_place_failed, 1u);
    EXPECT_TRUE(take(write_only(2000))) << "the next copy is placed";
    EXPECT_EQ(c.rcv.cack, 2000u);
}

TEST_F(rx_stream, how_far_ahead_a_packet_comes)
{
    make();
    for (uint32_t psn : {2001u, 2100u, 2000u}) {
        ASSERT_EQ(rx(write_only(psn)), MRC_V_PLACE);
        EXPECT_EQ(mrc_conn_rx_ahead(&c, &op), psn - 2000);
        mrc_conn_rx_commit(&c, &op, now);
    }
    ASSERT_EQ(rx(write_only(2002)), MRC_V_PLACE);
    EXPECT_EQ(mrc_conn_rx_ahead(&c, &op), 0u) << "the first missing one, when one came before";
}

TEST_F(rx_stream, hole_then_filled)
{
    make();
    EXPECT_TRUE(take(write_only(2001)));
    EXPECT_TRUE(take(write_only(2003)));
    EXPECT_EQ(c.rcv.cack, 1999u);
    EXPECT_EQ(c.rcv.held, 2u);
    EXPECT_EQ(c.stats.rx_ooo, 2u);
    EXPECT_TRUE(tx_ctrl(MRC_OPC_ACK).empty()) << "no transport ACK over a hole";
    EXPECT_TRUE(take(write_only(2000)));
    EXPECT_EQ(c.rcv.cack, 2001u);
    EXPECT_TRUE(take(write_only(2002)));
    EXPECT_EQ(c.rcv.cack, 2003u);
    EXPECT_EQ(c.rcv.held, 0u);
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
    EXPECT_EQ(c.rcv.cack, 0xfffffdu);
    EXPECT_TRUE(take(write_only(0xfffffe)));
    EXPECT_EQ(c.rcv.cack, 0u);
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
        EXPECT_EQ(c.rcv.cack, 2005u);
        EXPECT_EQ(c.rcv.held, 0u);
        EXPECT_EQ(c.stats.rx_pkts, 6u);
        n++;
    } while (std::next_permutation(order.begin(), order.end()));
    EXPECT_EQ(n, 720u);
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
    EXPECT_EQ(c.rcv.nak, MRC_NAK_INV_REQ);
}

TEST_F(rx_stream, rnr)
{
    make();
    reject(send_only(2000, 0), MRC_NACK_NO_RESOURCE, MRC_NAK_NONE);
    auto v = tx_ctrl(MRC_OPC_NACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.u.nack.reason, MRC_NACK_NO_RESOURCE);
    EXPECT_EQ(v[0].hdr.u.nack.vendor_info, 1);
    mrc_conn_set_rnr_timer(&c, 12);
    reject(send_only(2000, 0), MRC_NACK_NO_RESOURCE, MRC_NAK_NONE);
    v = tx_ctrl(MRC_OPC_NACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.u.nack.vendor_info, 12);
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

// QPs of mrc.h promise no order of bytes: as many WRITEs may be in flight as the peer likes.
TEST_F(rx_stream, ends_of_writes_need_no_place_on_mrc_only)
{
    rig_cfg k = defaults();

    for (bool mrc_only : {true, false}) {
        k.rx.mrc_only = mrc_only;
        make(k);
        for (u32 i = 0; i < 40; i++) {
            mrc_verdict v = rx(data(MRC_OPC_WRITE_LAST, 2001 + 2 * i, 100, 1124, 0x10000 + 2048 * i));

            EXPECT_EQ(v, mrc_only || i < k.conn.tails ? MRC_V_PLACE : MRC_V_DROP) << i;
            EXPECT_EQ(op.tail >= 0, !mrc_only && v == MRC_V_PLACE);
            if (v == MRC_V_PLACE)
                mrc_conn_rx_commit(&c, &op, now);
        }
        EXPECT_EQ(c.stats.rx_no_slot, mrc_only ? 0u : 40u - k.conn.tails);
        EXPECT_EQ(tx_ctrl(MRC_OPC_NACK).empty(), mrc_only);
    }
}

TEST_F(rx_stream, the_end_of_a_write_waits_for_what_precedes_it)
{
    mrc_tail t;

    make();
    ASSERT_EQ(rx(data(MRC_OPC_WRITE_LAST, 2002, 100, 2148, 0x10800)), MRC_V_PLACE);
    ASSERT_GE(op.tail, 0);
    mrc_conn_rx_commit(&c, &op, now);
    u8 slot = static_cast<u8>(op.tail);
    EXPECT_FALSE(ev.tail(&t));
    take(data(MRC_OPC_WRITE_FIRST, 2000, 1024, 2148, 0x10000));
    EXPECT_FALSE(ev.tail(&t));
    take(data(MRC_OPC_WRITE_MIDDLE, 2001, 1024, 2148, 0x10400));
    ASSERT_TRUE(ev.tail(&t));
    EXPECT_EQ(t.slot, slot);
    EXPECT_EQ(t.va, 0x10800u + 100 - MRC_TAIL_LEN);
    EXPECT_EQ(t.len, u32{MRC_TAIL_LEN});
    EXPECT_EQ(t.rkey, kRkey);
    EXPECT_FALSE(ev.tail(&t));
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
            for (; ev.tail(&t); n++)
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

} // namespace
