// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_ctl_sack.cc - SACKs: when one leaves, what it says of windows, time and congestion.
#include "ctl_rig.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

namespace {

class ctl_sack : public ctl_rig {};

// ---- when a SACK is sent ----

TEST_F(ctl_sack, the_first_packet_is_answered)
{
    make(quiet());
    take(write_only(2000));
    EXPECT_EQ(tx_ctrl(MRC_OPC_SACK).size(), 1u);
    take(write_only(2001));
    EXPECT_TRUE(tx_ctrl(MRC_OPC_SACK).empty());
}

TEST_F(ctl_sack, once_more_when_an_asked_for_hole_is_filled)
{
    rig_cfg k = quiet();

    k.rx.mrc_only = true; // none is spared
    make(k);
    take(write_only(2000));
    mrc_pkt p = write_only(2003);
    p.ackreq = true;
    take(p);
    EXPECT_EQ(tx_ctrl(MRC_OPC_SACK).size(), 1u);
    take(write_only(2001));
    EXPECT_TRUE(tx_ctrl(MRC_OPC_SACK).empty());
    take(write_only(2002));
    auto v = tx_ctrl(MRC_OPC_SACK);
    ASSERT_EQ(v.size(), 1u) << "whole again";
    EXPECT_EQ(v[0].hdr.u.sack.cack, 2003u);
    take(write_only(2005));
    take(write_only(2004));
    EXPECT_TRUE(tx_ctrl(MRC_OPC_SACK).empty()) << "nobody asked";
}

// ---- and when an ACK says as much ----

class ctl_spare : public ctl_rig {
protected:
    // A SACK for each packet, the first of which has been answered.
    void every_packet(bool mrc_only = false)
    {
        rig_cfg k = defaults();

        k.rx.sack_pkts = 1;
        k.rx.mrc_only = mrc_only;
        make(k);
        take(middle(2000));
        ASSERT_EQ(sacks(), 1u);
    }
    mrc_pkt middle(u32 psn) { return data(MRC_OPC_WRITE_MIDDLE, psn, c.rx.mtu, 16 * c.rx.mtu); }
    size_t sacks()
    {
        size_t n = 0;

        acks = 0;
        for (const mrc_txop &t : tx_all()) {
            n += t.hdr.opcode == MRC_OPC_SACK;
            acks += t.hdr.opcode == MRC_OPC_ACK;
        }
        return n;
    }
    size_t acks = 0; // beside the SACKs that sacks() counted
};

TEST_F(ctl_spare, one_of_two_where_nothing_is_missing)
{
    every_packet();
    for (u32 psn = 2001; psn < 2100; psn += 2) {
        take(write_only(psn));
        EXPECT_EQ(sacks(), 0u) << "the ACK says it";
        EXPECT_EQ(acks, 1u);
        take(write_only(psn + 1));
        EXPECT_EQ(sacks(), 1u) << "no two in a row";
        EXPECT_EQ(acks, 1u);
    }
}

TEST_F(ctl_spare, none_without_an_ack_or_beside_a_hole)
{
    every_packet();
    take(middle(2001));
    EXPECT_EQ(sacks(), 1u);
    take(write_only(2003));
    take(write_only(2002));
    EXPECT_EQ(sacks(), 0u);
    take(middle(2004));
    EXPECT_EQ(sacks(), 1u);
    take(write_only(2005));
    take(write_only(2007));
    EXPECT_EQ(sacks(), 1u) << "2006 is missing";
    EXPECT_EQ(acks, 1u);
}

// What a SACK says besides: a mark, a copy, the answer to a probe, a wish.
TEST_F(ctl_spare, none_that_says_more)
{
    every_packet();
    mrc_pkt p = write_only(2001);
    p.ecn_ce = true;
    take(p);
    EXPECT_EQ(sacks(), 1u) << "marked";
    p = write_only(2002);
    p.rtx = true;
    take(p);
    EXPECT_EQ(sacks(), 1u) << "resent";
    take(write_only(2003));
    EXPECT_EQ(sacks(), 0u);
    take(middle(2004));
    EXPECT_EQ(sacks(), 1u);
    take(middle(2005));
    EXPECT_EQ(sacks(), 1u);
    EXPECT_EQ(rx(write_only(2003)), MRC_V_DONE);
    EXPECT_EQ(sacks(), 1u) << "here twice";
    take(write_only(2006));
    probe(0xf000);
    EXPECT_EQ(sacks(), 2u) << "asked";
    take(middle(2007));
    EXPECT_EQ(sacks(), 1u);
    probe(0xf001);
    EXPECT_EQ(sacks(), 1u) << "asked, and nothing else is owed but an ACK";
    EXPECT_EQ(acks, 1u);
    mrc_conn_set_penalty(&c, 10, false);
    EXPECT_EQ(sacks(), 1u);
    take(write_only(2008));
    EXPECT_EQ(sacks(), 1u) << "slow down";
}

// A copy that was resent, or a mark, that a later packet of the same run stands for.
TEST_F(ctl_spare, none_that_stands_for_one_that_says_more)
{
    every_packet();
    mrc_pkt p = middle(2001);
    p.rtx = true;
    take(p);
    take(write_only(2002));
    EXPECT_EQ(sacks(), 1u);
    EXPECT_EQ(acks, 1u);
}

// The other way round: what is owed for a later packet stands for the copy, too.
TEST_F(ctl_spare, none_that_a_copy_joins)
{
    every_packet();
    take(write_only(2002));
    mrc_pkt p = write_only(2001);
    p.rtx = true;
    take(p);
    EXPECT_EQ(sacks(), 1u) << "resent, into the hole before it";
    EXPECT_EQ(acks, 1u);
    take(write_only(2003));
    EXPECT_EQ(rx(write_only(2003)), MRC_V_DONE);
    EXPECT_EQ(sacks(), 1u) << "here twice";
    EXPECT_EQ(acks, 1u);
}

TEST_F(ctl_spare, an_ack_that_stops_at_a_request_spares_none)
{
    every_packet();
    take(data(MRC_OPC_READ_REQ, 2001, 0, 64));
    take(write_only(2002));
    EXPECT_EQ(sacks(), 1u);
    EXPECT_EQ(acks, 1u);
}

TEST_F(ctl_spare, qps_of_mrc_h_spare_none)
{
    every_packet(true);
    for (u32 psn = 2001; psn < 2010; psn++) {
        take(write_only(psn));
        EXPECT_EQ(sacks(), 1u);
        EXPECT_EQ(acks, 1u);
    }
}

// ---- large windows ----

// All packets of a window but the first, in any order: each is reported soon.
TEST_F(ctl_sack, everything_out_of_order_is_reported_in_bounded_time)
{
    for (u32 first : {2000u, 0xfff800u}) {
        rig_cfg k = defaults();
        psn_list order(4095);
        std::mt19937 r(first);
        std::set<u32> told, here;
        std::map<u32, u32> since;
        u32 sacks = 0, worst = 0;

        k.conn.mpr_max = 32;
        k.rx_psn = first;
        k.rx.mrc_only = true; // none is spared
        make(k);
        std::iota(order.begin(), order.end(), first + 1);
        std::shuffle(order.begin(), order.end(), r);
        auto listen = [&] {
            for (const mrc_txop &t : tx_ctrl(MRC_OPC_SACK)) {
                sacks++;
                std::set<u32> s;
                said(t.hdr.u.sack, s);
                for (u32 psn : s) {
                    ASSERT_TRUE(here.count(psn)) << "not here: " << psn;
                    if (told.insert(psn).second)
                        worst = std::max(worst, sacks - since[psn]);
                }
                EXPECT_LE(t.hdr.u.sack.ooo_count, 4095u);
            }
        };
        for (u32 psn : order) {
            psn &= MRC_PSN_MASK;
            ASSERT_TRUE(rx(write_only(psn)) == MRC_V_PLACE);
            mrc_conn_rx_commit(&c, &op, now);
            here.insert(psn);
            since[psn] = sacks;
            listen();
        }
        EXPECT_GE(sacks, 256u) << "the first, and every 16";
        EXPECT_LE(sacks, 264u) << "or 15";
        EXPECT_LE(worst, 5u * 4096 / 64 / 2 + 2);
        EXPECT_GT(told.size(), 4095u * 3 / 4);
        for (u32 i = 0; i < 160; i++) {
            probe(static_cast<u16>(0xf000 + i));
            listen();
        }
        EXPECT_EQ(told.size(), 4095u);
        mrc_pkt p = write_only(first);
        p.ackreq = true;
        take(p);
        auto v = tx_ctrl(MRC_OPC_SACK);
        ASSERT_EQ(v.size(), 1u);
        EXPECT_EQ(v[0].hdr.u.sack.cack, mrc_psn_add(first, 4095));
        EXPECT_EQ(v[0].hdr.u.sack.bitmap, 0u);
    }
}

// mrcsim seed 1289: a bitmap that reached around the ring told of a packet that never came.
TEST_F(ctl_sack, no_bitmap_reaches_around_the_ring)
{
    std::mt19937 r(1289);
    rig_cfg k = defaults();
    std::set<u32> here;
    size_t told = 0;

    k.rx.sack_pkts = 1;
    k.conn.mpr_max = 2;
    make(k);
    for (u32 i = 0; i < 20000; i++) {
        // mostly near the far end of the window; now and then the left edge moves a bit
        u32 psn = c.rcv.cack + (r() % 4 ? 256 - r() % 80 : 1 + r() % 7);
        if (rx(write_only(psn)) != MRC_V_PLACE)
            continue;
        mrc_conn_rx_commit(&c, &op, now);
        here.insert(psn & MRC_PSN_MASK);
        for (const mrc_txop &t : tx_ctrl(MRC_OPC_SACK)) {
            std::set<u32> s;
            said(t.hdr.u.sack, s);
            for (u32 x : s)
                ASSERT_TRUE(here.count(x)) << "never came: " << x;
            told += s.size();
        }
    }
    EXPECT_GT(c.rcv.cack, 3000u);
    EXPECT_GT(told, 20000u);
}

// One loss with the others in order: what came since the last SACK is in this one
// or the next, and twice over, so that a lost SACK does no harm.
TEST_F(ctl_sack, behind_one_hole_the_newest_are_reported)
{
    rig_cfg k = defaults();
    std::map<u32, u32> times;
    std::set<u32> told;

    k.conn.mpr_max = 32;
    make(k);
    for (u32 i = 1; i < 4096; i++) {
        take(write_only(2000 + i));
        for (const mrc_txop &t : tx_ctrl(MRC_OPC_SACK)) {
            std::set<u32> s;
            said(t.hdr.u.sack, s);
            for (u32 psn : s)
                times[psn]++;
            told.insert(s.begin(), s.end());
        }
        EXPECT_GE(told.size() + 48, i);
    }
    u32 once = 0;
    for (u32 i = 1; i < 4032; i++)
        once += times[2000 + i] < 2;
    EXPECT_EQ(once, 0u);
}

// ---- time ----

TEST_F(ctl_sack, service_time_is_taken_off)
{
    rig_cfg k = quiet();

    k.rx.svc_time = true;
    make(k);
    mrc_pkt p = write_only(2000);
    p.has_ts = true;
    p.tx_ts = 0xfffe;
    take(p);
    mrc_pkt q = write_only(2001);
    q.has_ts = true;
    q.tx_ts = 100;
    q.trimmed = MRC_NACK_TRIMMED;
    rx(q);
    probe(0xf001, 200);
    now += 128 * 10;
    for (const mrc_txop &t : tx_all()) {
        if (t.hdr.opcode == MRC_OPC_NACK) {
            EXPECT_EQ(t.hdr.u.nack.tx_ts, 110);
        } else if (t.hdr.opcode == MRC_OPC_SACK) {
            EXPECT_EQ(t.hdr.u.sack.tx_ts, t.hdr.u.sack.pr ? 210 : 8);
        }
    }
    EXPECT_EQ(c.stats.sacks_sent, 2u);
    EXPECT_EQ(c.stats.nacks_sent, 1u);
}

TEST_F(ctl_sack, no_timestamp_stays_none)
{
    rig_cfg k = quiet();

    k.rx.svc_time = true;
    make(k);
    take(write_only(2000));
    now += 128 * 10;
    auto v = tx_ctrl(MRC_OPC_SACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.u.sack.tx_ts, 0);
}

TEST_F(ctl_sack, without_agreement_timestamps_are_reflected_as_they_came)
{
    make(quiet());
    mrc_pkt p = write_only(2000);
    p.has_ts = true;
    p.tx_ts = 50;
    take(p);
    now += 128 * 10;
    auto v = tx_ctrl(MRC_OPC_SACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.u.sack.tx_ts, 50);
}

TEST_F(ctl_sack, probes_carry_the_time)
{
    make();
    c.pto.owed = true;
    auto v = tx_ctrl(MRC_OPC_PROBE);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.u.probe.tx_ts, mrc_ts16(now));
}

// ---- congestion at the receiver ----

TEST_F(ctl_sack, what_arrived_is_noted_once)
{
    mrc_incast_note n;

    make(quiet());
    EXPECT_FALSE(mrc_conn_incast_note(&c, &n));
    mrc_pkt p = write_only(2000);
    p.udp_len = 500;
    p.ecn_ce = true;
    take(p);
    rx(p); // a copy is no news
    trim(2001);
    trim(2002, MRC_NACK_TRIMMED_LASTHOP);
    ASSERT_TRUE(mrc_conn_incast_note(&c, &n));
    EXPECT_EQ(n.bytes, 540u);
    EXPECT_EQ(n.trims, 1u) << "at the last hop only";
    EXPECT_EQ(n.marks, 1u);
    EXPECT_FALSE(mrc_conn_incast_note(&c, &n));
    for (u32 i = 0; i < 70000; i++)
        trim(2002, MRC_NACK_TRIMMED_LASTHOP);
    ASSERT_TRUE(mrc_conn_incast_note(&c, &n));
    EXPECT_EQ(n.trims, 0xffff);
}

// A sender with one packet in flight would not reach the threshold for long.
TEST_F(ctl_sack, a_penalty_is_said_at_once_and_for_every_packet)
{
    make(quiet());
    take(write_only(2000));
    tx_all();
    mrc_conn_set_penalty(&c, 64, false);
    auto v = tx_ctrl(MRC_OPC_SACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.u.sack.rcv_cwnd_pen, 64);
    EXPECT_EQ(v[0].hdr.u.sack.cack, 2000u);
    EXPECT_EQ(v[0].hdr.u.sack.ack_psn_offset, -32768) << "names no packet: no round trip";
    mrc_conn_set_penalty(&c, 100, false);
    EXPECT_TRUE(tx_ctrl(MRC_OPC_SACK).empty());
    take(write_only(2001));
    v = tx_ctrl(MRC_OPC_SACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.u.sack.rcv_cwnd_pen, 100);
    mrc_conn_set_penalty(&c, 0, false);
    take(write_only(2002));
    EXPECT_TRUE(tx_ctrl(MRC_OPC_SACK).empty());
}

TEST_F(ctl_sack, penalty_and_restore_are_said_until_changed)
{
    rig_cfg k = defaults();

    k.rx.sack_pkts = 1;
    make(k);
    mrc_conn_set_penalty(&c, 200, false);
    EXPECT_EQ(tx_ctrl(MRC_OPC_SACK).size(), 1u);
    for (u32 i = 0; i < 3; i++) {
        take(write_only(2000 + i));
        auto v = tx_ctrl(MRC_OPC_SACK);
        ASSERT_EQ(v.size(), 1u);
        EXPECT_EQ(v[0].hdr.u.sack.rcv_cwnd_pen, 127) << "7 bits";
        EXPECT_FALSE(v[0].hdr.u.sack.restore_cwnd);
    }
    EXPECT_EQ(c.stats.pens_sent, 4u);
    mrc_conn_set_penalty(&c, 0, true);
    for (u32 i = 3; i < 5; i++) {
        take(write_only(2000 + i));
        auto v = tx_ctrl(MRC_OPC_SACK);
        ASSERT_EQ(v.size(), 1u);
        EXPECT_EQ(v[0].hdr.u.sack.rcv_cwnd_pen, 0);
        EXPECT_TRUE(v[0].hdr.u.sack.restore_cwnd);
    }
    EXPECT_EQ(c.stats.pens_sent, 4u);
}

} // namespace
