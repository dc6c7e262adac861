// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_rx_mpr.cc - dynamic MPR: the window that SACKs offer.
#include "conn_rig.h"

namespace {

class rx_mpr : public rig {
protected:
    void make_dyn(u8 units = 8)
    {
        rig_cfg k = defaults();

        k.conn.mpr_max = units;
        k.conn.tails = 8;
        k.conn.rd_max = 8;
        k.rx.rd_atomic = 8;
        k.rx.dyn_mpr = true;
        k.rx.sack_pkts = 1;
        make(k);
    }
    // The window as the latest SACK tells it; takes one packet in for that.
    u8 told()
    {
        mrc_pkt p = {};

        p.opcode = MRC_OPC_PROBE;
        p.u.probe.probe_id = 0xf000;
        EXPECT_EQ(rx(p), MRC_V_DONE);
        auto v = tx_ctrl(MRC_OPC_SACK);
        EXPECT_FALSE(v.empty());
        return v.empty() ? 0xff : v.back().hdr.u.sack.mpr;
    }
    // In order, so that nothing is short.
    void progress(u32 n)
    {
        for (u32 i = 0; i < n; i++) {
            u32 psn = mrc_psn_add(c.rcv.cack, 1);
            while (c.rcv.bits[(psn & c.rcv_mask) >> 6] >> (psn & 63) & 1)
                psn = mrc_psn_add(psn, 1);
            ASSERT_TRUE(take(write_only(psn)));
            mrc_tail t;
            while (ev.tail(&t))
                ;
        }
    }
    bool tail(u32 psn) { return take(data(MRC_OPC_WRITE_LAST, psn, 6, 1030, 0x10400)); }
};

TEST_F(rx_mpr, nothing_is_said_without_agreement)
{
    make();
    EXPECT_EQ(told(), 0);
    mrc_conn_set_mpr(&c, 1);
    EXPECT_EQ(told(), 0);
    EXPECT_EQ(c.stats.mpr_shrunk, 0u);
}

TEST_F(rx_mpr, never_zero_and_never_more_than_at_rtr)
{
    make_dyn();
    EXPECT_EQ(told(), 8);
    mrc_conn_set_mpr(&c, 0);
    EXPECT_EQ(told(), 1);
    EXPECT_EQ(c.stats.mpr_shrunk, 1u);
    mrc_conn_set_mpr(&c, 200);
    EXPECT_EQ(told(), 8);
    mrc_conn_set_mpr(&c, 5);
    EXPECT_EQ(told(), 5);
    EXPECT_EQ(c.stats.mpr_shrunk, 2u);
    progress(5000);
    EXPECT_EQ(told(), 5) << "does not grow beyond the caller's word";
}

TEST_F(rx_mpr, what_cannot_be_tracked_is_not_offered)
{
    rig_cfg k = defaults();

    k.rx.dyn_mpr = true;
    k.rx.mpr = 16; // agreed, but the bitmap has one unit
    make(k);
    EXPECT_EQ(told(), 1);
}

TEST_F(rx_mpr, allowed_before_is_taken_in_after)
{
    make_dyn();
    mrc_conn_set_mpr(&c, 1);
    EXPECT_TRUE(take(write_only(2000 + 8 * 128 - 1)));
    EXPECT_EQ(rx(write_only(2000 + 8 * 128)), MRC_V_DROP);
}

TEST_F(rx_mpr, shrinks_when_tails_run_short)
{
    make_dyn();
    for (u32 i = 0; i < 6; i++)
        EXPECT_TRUE(tail(2002 + 2 * i));
    EXPECT_EQ(told(), 8) << "a quarter is left";
    EXPECT_TRUE(tail(2020));
    EXPECT_EQ(told(), 4);
    EXPECT_EQ(c.stats.mpr_shrunk, 1u);
    EXPECT_TRUE(tail(2022));
    EXPECT_EQ(rx(data(MRC_OPC_WRITE_LAST, 2024, 6, 1030, 0x10400)), MRC_V_DROP);
    EXPECT_EQ(told(), 4) << "not again before what was allowed has arrived";
}

TEST_F(rx_mpr, grows_back_a_unit_per_window)
{
    make_dyn();
    for (u32 i = 0; i < 7; i++)
        EXPECT_TRUE(tail(2002 + 2 * i));
    ASSERT_EQ(told(), 4);
    progress(8); // the hole is filled: the tails are written
    EXPECT_EQ(c.tails.used, 0);
    EXPECT_EQ(told(), 4);
    while (c.mpr.live == 4)
        progress(1);
    EXPECT_EQ(told(), 5);
    progress(5 * 128 - 1);
    EXPECT_EQ(told(), 5);
    progress(1);
    EXPECT_EQ(told(), 6);
    progress((6 + 7) * 128);
    EXPECT_EQ(told(), 8);
    progress(3000);
    EXPECT_EQ(told(), 8);
    EXPECT_EQ(c.stats.mpr_shrunk, 1u);
}

TEST_F(rx_mpr, halves_again_while_it_stays_short)
{
    u32 base = 2000;

    make_dyn();
    for (u8 want : {4, 2, 1, 1}) {
        for (u32 i = 0; i < 7; i++)
            EXPECT_TRUE(tail(base + 2 + 2 * i));
        EXPECT_EQ(told(), want);
        progress(8);
        base = mrc_psn_add(c.rcv.cack, 1);
    }
    EXPECT_EQ(c.stats.mpr_shrunk, 3u);
}

TEST_F(rx_mpr, shrinks_when_receive_messages_run_short)
{
    make_dyn();
    for (u32 i = 0; i < 13; i++)
        EXPECT_TRUE(take(send_only(2001 + i, static_cast<u16>(i))));
    EXPECT_EQ(told(), 4);
    EXPECT_TRUE(take(write_only(2000)));
    EXPECT_EQ(cpls().size(), 13u);
    EXPECT_EQ(c.rcv.rq_used, 0u);
    progress(9 * 128);
    EXPECT_GT(told(), 4);
}

TEST_F(rx_mpr, shrinks_when_requests_pile_up)
{
    mrc_exec x;

    make_dyn();
    for (u32 i = 0; i < 7; i++)
        EXPECT_TRUE(take(data(MRC_OPC_READ_REQ, 2001 + i, 0, 10, 0x1000, 0, 0)));
    EXPECT_EQ(told(), 4);
    EXPECT_TRUE(take(write_only(2000)));
    while (ev.exec(&x))
        mrc_conn_exec_done(&c, x.slot, 0, now);
    progress(9 * 128);
    EXPECT_GT(told(), 4);
}

} // namespace
