// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_ctl.cc - control packets: which leaves first, by what path, and what it says
// about windows, time and congestion.
#include "conn_rig.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

namespace {

class ctl : public rig {
protected:
    rig_cfg quiet()
    {
        rig_cfg k = defaults();

        k.rx.sack_pkts = 5000;
        k.rx.sack_bytes = 1 << 30;
        return k;
    }
    void trim(u32 psn, mrc_nack how = MRC_NACK_TRIMMED)
    {
        mrc_pkt p = write_only(psn);

        p.payload_len = 0;
        p.dmalen = 0;
        p.va = 0;
        p.rkey = 0;
        p.trimmed = static_cast<u8>(how);
        rx(p);
    }
    void probe(u16 id, u16 ts = 0)
    {
        mrc_pkt p = {};

        p.opcode = MRC_OPC_PROBE;
        p.u.probe.probe_id = id;
        p.u.probe.tx_ts = ts;
        p.ev = evs.ev[0].value;
        EXPECT_EQ(rx(p), MRC_V_DONE);
    }
    std::vector<u8> opcodes(const std::vector<mrc_txop> &v)
    {
        std::vector<u8> o;

        for (const mrc_txop &t : v)
            o.push_back(t.hdr.opcode);
        return o;
    }
    // Verifies the path of acknowledgements; when is the path set's business.
    static bool is_ev_probe(const mrc_txop &t)
    {
        return t.hdr.opcode == MRC_OPC_PROBE && t.hdr.u.probe.probe_id < MRC_PROBE_ID_EV_END;
    }
    void said(const mrc_sack &s, std::set<u32> &into)
    {
        for (u32 i = 0; i < 64; i++)
            if (s.bitmap >> i & 1)
                into.insert(mrc_psn_add(s.cack, s.sack_offset + static_cast<s32>(i)));
    }
};

// ---- order and path ----

TEST_F(ctl, nacks_leave_before_everything_else)
{
    make();
    mrc_pkt p = write_only(2000);
    p.ackreq = true;
    take(p);
    c.pto.owed = true;
    trim(2001);
    trim(2002);
    std::vector<mrc_txop> v;
    for (const mrc_txop &t : tx_all())
        if (!is_ev_probe(t))
            v.push_back(t);
    EXPECT_EQ(opcodes(v), (std::vector<u8>{MRC_OPC_NACK, MRC_OPC_NACK, MRC_OPC_ACK,
                                           MRC_OPC_SACK, MRC_OPC_PROBE}));
    EXPECT_EQ(v[0].hdr.psn, 2001u) << "the oldest first";
    for (size_t i = 0; i < 4; i++)
        EXPECT_EQ(v[i].tclass, MRC_TC_CONTROL);
    EXPECT_EQ(v[4].tclass, MRC_TC_NO_TRIM) << "in the data queue, never trimmed";
}

TEST_F(ctl, every_packet_is_counted_on_its_ev)
{
    u32 sum = 0;

    make();
    for (u32 i = 0; i < 20; i++)
        take(write_only(2000 + i));
    trim(2021);
    c.pto.owed = true;
    auto v = tx_all();
    ASSERT_FALSE(v.empty());
    if (!evs.count)
        GTEST_SKIP() << "no counts";
    for (u16 i = 0; i < evs.n; i++)
        sum += evs.count[i].tx_pkts;
    EXPECT_EQ(sum, v.size());
    EXPECT_EQ(c.stats.tx_ctrl_pkts, v.size());
    for (const mrc_txop &t : v) {
        EXPECT_EQ(t.hdr.ev, evs.ev[t.ev_idx].value);
        EXPECT_EQ(t.hdr.plane, evs.ev[t.ev_idx].plane);
        mrc_conn_tx_undo(&c, &t);
    }
    for (u16 i = 0; i < evs.n; i++)
        EXPECT_EQ(evs.count[i].tx_pkts, 0u);
    EXPECT_EQ(c.stats.tx_ctrl_pkts, 0u);
}

TEST_F(ctl, no_path_is_no_loss)
{
    make();
    take(write_only(2000));
    mrc_evset_local_planes(&evs, 0, now);
    EXPECT_FALSE(tx());
    EXPECT_GT(c.stats.no_path, 0u);
    mrc_evset_local_planes(&evs, 3, now);
    EXPECT_EQ(tx_ctrl(MRC_OPC_ACK).size(), 1u);
}

// Whatever is due, a call for what leaves brings it out or puts it off.
TEST_F(ctl, a_nack_without_a_path_does_not_hold_up_the_timer)
{
    make();
    trim(2002);
    mrc_evset_local_planes(&evs, 0, now);
    evs.next_probe_ns = now;
    EXPECT_FALSE(tx());
    EXPECT_GT(evs.next_probe_ns, now);
    mrc_evset_local_planes(&evs, 3, now);
    EXPECT_EQ(tx_ctrl(MRC_OPC_NACK).size(), 1u);
}

TEST_F(ctl, what_could_not_leave_is_owed_again)
{
    make();
    take(write_only(2000));
    trim(2002);
    auto n = tx();
    ASSERT_TRUE(n);
    ASSERT_EQ(n->hdr.opcode, MRC_OPC_NACK);
    mrc_conn_tx_undo(&c, &*n);
    EXPECT_EQ(c.stats.nacks_sent, 0u);
    std::vector<mrc_txop> v;
    for (const mrc_txop &t : tx_all())
        if (!is_ev_probe(t))
            v.push_back(t);
    ASSERT_GE(v.size(), 2u);
    EXPECT_EQ(v[0].hdr.u.nack.psn, 2002u);
    EXPECT_EQ(v[0].hdr.u.nack.ev, n->hdr.u.nack.ev);
    EXPECT_EQ(v[0].hdr.u.nack.reason, MRC_NACK_TRIMMED);
    EXPECT_EQ(v[1].hdr.opcode, MRC_OPC_ACK);
    mrc_conn_tx_undo(&c, &v[1]);
    EXPECT_EQ(tx_ctrl(MRC_OPC_ACK).size(), 1u);
}

// ---- NACKs, Table 7-3 ----

TEST_F(ctl, trimmed_and_trimmed_at_the_last_hop)
{
    make(quiet());
    trim(2000);
    trim(2001, MRC_NACK_TRIMMED_LASTHOP);
    auto v = tx_ctrl(MRC_OPC_NACK);
    ASSERT_EQ(v.size(), 2u);
    EXPECT_EQ(v[0].hdr.u.nack.reason, MRC_NACK_TRIMMED);
    EXPECT_EQ(v[1].hdr.u.nack.reason, MRC_NACK_TRIMMED_LASTHOP);
    EXPECT_EQ(c.stats.rx_trimmed, 2u);
}

TEST_F(ctl, trimmed_where_the_peer_takes_no_nack)
{
    rig_cfg k = quiet();

    k.rx.no_trim_nack = true;
    make(k);
    trim(2000);
    EXPECT_TRUE(tx_all().empty());
    EXPECT_EQ(c.stats.rx_trim_dropped, 1u);
    EXPECT_EQ(c.stats.rx_trimmed, 1u);
}

TEST_F(ctl, a_trimmed_copy_of_what_is_here_is_sacked)
{
    make(quiet());
    take(write_only(2001));
    tx_all();
    trim(2001);
    EXPECT_EQ(c.ctl.nack_n, 0u);
    EXPECT_EQ(tx_ctrl(MRC_OPC_SACK).size(), 1u);
    EXPECT_EQ(c.stats.rx_trimmed, 0u);
}

TEST_F(ctl, no_bitmap_for_what_was_agreed_but_cannot_be_tracked)
{
    rig_cfg k = quiet();

    k.rx.mpr = 4; // the peer was told 512, the bitmap has 128
    make(k);
    EXPECT_TRUE(take(write_only(2127)));
    tx_all();
    for (u32 psn : {2128u, 2511u}) {
        EXPECT_EQ(rx(write_only(psn)), MRC_V_DROP);
        auto v = tx_ctrl(MRC_OPC_NACK);
        ASSERT_EQ(v.size(), 1u);
        EXPECT_EQ(v[0].hdr.u.nack.reason, MRC_NACK_NO_BITMAP);
        EXPECT_EQ(v[0].hdr.u.nack.psn, psn);
    }
    EXPECT_EQ(c.stats.rx_no_bitmap, 2u);
    EXPECT_EQ(c.stats.rx_oor, 0u);
    EXPECT_EQ(rx(write_only(2512)), MRC_V_DROP);
    EXPECT_EQ(c.stats.rx_oor, 1u);
    EXPECT_TRUE(tx_all().empty());
}

TEST_F(ctl, unexpected_event_for_an_answer_to_nothing)
{
    make(quiet());
    EXPECT_EQ(rx(data(MRC_OPC_READ_RESP_ONLY, 2000, 10, 10, 0, 0, 5)), MRC_V_DROP);
    auto v = tx_ctrl(MRC_OPC_NACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.u.nack.reason, MRC_NACK_UNEXP_EVENT);
    EXPECT_EQ(c.stats.rx_bad_resp, 1u);
}

// A batch of 64, all of it trimmed: what is not NACKed would be blamed on its path.
TEST_F(ctl, a_batch_of_trims_is_answered_one_by_one)
{
    make(quiet());
    for (u32 start = 2000; start < 2000 + 64 * 5; start += 64) {
        std::vector<mrc_txop> v;

        for (u32 i = 0; i < 64; i++) {
            trim(start + i);
            if (!mrc_conn_answers_full(&c) && i < 63)
                continue;
            auto some = tx_ctrl(MRC_OPC_NACK);
            v.insert(v.end(), some.begin(), some.end());
        }
        ASSERT_EQ(v.size(), 64u);
        for (u32 i = 0; i < 64; i++) {
            EXPECT_EQ(v[i].hdr.u.nack.psn, start + i);
            EXPECT_EQ(v[i].hdr.u.nack.ev, evs.ev[(start + i) % evs.n].value);
            take(write_only(start + i));
        }
    }
    EXPECT_EQ(c.stats.nacks_sent, 5u * 64);
    EXPECT_EQ(c.stats.owed_full, 0u);
}

TEST_F(ctl, a_nack_that_could_not_leave_goes_back_to_the_head)
{
    make(quiet());
    for (u32 i = 0; i < 3; i++) {
        trim(2000);
        trim(2001);
        auto t = tx();
        ASSERT_EQ(t->hdr.u.nack.psn, 2000u);
        mrc_conn_tx_undo(&c, &*t);
        sound();
        EXPECT_EQ(psns(tx_ctrl(MRC_OPC_NACK)), (psn_list{2000, 2001}));
    }
}

TEST_F(ctl, a_flood_of_trims_is_bounded)
{
    make(quiet());
    for (u32 i = 0; i < 100; i++)
        trim(2000 + i);
    EXPECT_EQ(c.stats.owed_full, 100u - MRC_OWED_NACKS);
    EXPECT_TRUE(mrc_conn_answers_full(&c));
    auto v = tx_ctrl(MRC_OPC_NACK);
    ASSERT_EQ(v.size(), size_t{MRC_OWED_NACKS});
    EXPECT_EQ(v[0].hdr.psn, 2000u) << "the left edge waits for the lowest";
    EXPECT_FALSE(mrc_conn_answers_full(&c));
}

TEST_F(ctl, one_nack_for_one_psn_the_latest_copy)
{
    make(quiet());
    mrc_pkt p = write_only(2000);
    p.trimmed = MRC_NACK_TRIMMED;
    for (u32 i = 0; i < 4; i++) {
        p.ev = evs.ev[i].value;
        rx(p);
    }
    auto v = tx_ctrl(MRC_OPC_NACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.u.nack.ev, evs.ev[3].value);
    EXPECT_EQ(c.stats.owed_full, 0u);
}

TEST_F(ctl, a_fatal_nack_finds_room)
{
    make(quiet());
    for (u32 i = 0; i < MRC_OWED_NACKS; i++)
        trim(2001 + i);
    rx(data(MRC_OPC_READ_RESP_ONLY, 2000, 10, 10));
    auto v = tx_ctrl(MRC_OPC_NACK);
    ASSERT_EQ(v.size(), size_t{MRC_OWED_NACKS});
    EXPECT_EQ(v.back().hdr.u.nack.reason, MRC_NACK_UNEXP_EVENT);
}

TEST_F(ctl, a_flood_of_probes_is_bounded)
{
    make(quiet());
    for (u32 i = 0; i < 1000; i++)
        probe(static_cast<u16>(i));
    EXPECT_TRUE(mrc_conn_answers_full(&c));
    auto v = tx_ctrl(MRC_OPC_SACK);
    ASSERT_EQ(v.size(), size_t{MRC_OWED_SACKS});
    for (u16 i = 0; i < MRC_OWED_SACKS; i++)
        EXPECT_EQ(v[i].hdr.u.sack.probe_id, i) << "no answer takes the place of another";
    EXPECT_EQ(c.stats.probes_answered, u64{MRC_OWED_SACKS}) << "those that were";
    EXPECT_EQ(c.stats.owed_full, 1000u - MRC_OWED_SACKS);
    EXPECT_FALSE(mrc_conn_answers_full(&c));
}

// 64 packets in one batch, all marked, and probes between them: each EV is told.
TEST_F(ctl, a_batch_of_marks_is_told_one_by_one)
{
    rig_cfg k = quiet();
    std::set<u32> told;
    std::set<u16> answered;

    k.evs = 64;
    make(k);
    auto listen = [&] {
        for (const mrc_txop &t : tx_ctrl(MRC_OPC_SACK)) {
            const mrc_sack &s = t.hdr.u.sack;

            if (s.pr)
                answered.insert(s.probe_id);
            else if (s.m == MRC_M_SKIP_ONCE)
                told.insert(s.ev);
        }
    };
    for (u32 i = 0; i < 64; i++) {
        mrc_pkt p = write_only(2000 + i);

        p.ecn_ce = true;
        take(p);
        if (mrc_conn_answers_full(&c))
            listen();
        if (i % 16 == 7) {
            probe(static_cast<u16>(0xf000 + i));
            if (mrc_conn_answers_full(&c))
                listen();
        }
    }
    listen();
    EXPECT_EQ(told.size(), 64u);
    EXPECT_EQ(answered, (std::set<u16>{0xf007, 0xf017, 0xf027, 0xf037}));
    EXPECT_EQ(c.stats.owed_full, 0u);
}

// A caller that lets nothing leave loses marks, and the answers to probes last.
TEST_F(ctl, a_flood_of_marks_leaves_probe_answers_alone)
{
    std::set<u16> answered;

    make(quiet());
    for (u32 i = 0; i < 64; i++) {
        mrc_pkt p = write_only(2000 + i);

        p.ecn_ce = true;
        take(p);
        if (i % 16 == 7)
            probe(static_cast<u16>(0xf000 + i));
    }
    u32 marks = 0;
    for (const mrc_txop &t : tx_ctrl(MRC_OPC_SACK)) {
        if (t.hdr.u.sack.pr)
            answered.insert(t.hdr.u.sack.probe_id);
        else
            marks += t.hdr.u.sack.m == MRC_M_SKIP_ONCE;
    }
    EXPECT_EQ(answered, (std::set<u16>{0xf007, 0xf017, 0xf027, 0xf037}));
    EXPECT_EQ(marks + answered.size(), size_t{MRC_OWED_SACKS});
}

// ---- when a SACK is sent ----

TEST_F(ctl, the_first_packet_is_answered)
{
    make(quiet());
    take(write_only(2000));
    EXPECT_EQ(tx_ctrl(MRC_OPC_SACK).size(), 1u);
    take(write_only(2001));
    EXPECT_TRUE(tx_ctrl(MRC_OPC_SACK).empty());
}

TEST_F(ctl, once_more_when_an_asked_for_hole_is_filled)
{
    make(quiet());
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

// ---- large windows ----

// All packets of a window but the first, in any order: each is reported soon.
TEST_F(ctl, everything_out_of_order_is_reported_in_bounded_time)
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
TEST_F(ctl, no_bitmap_reaches_around_the_ring)
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
TEST_F(ctl, behind_one_hole_the_newest_are_reported)
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

TEST_F(ctl, service_time_is_taken_off)
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

TEST_F(ctl, no_timestamp_stays_none)
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

TEST_F(ctl, without_agreement_timestamps_are_reflected_as_they_came)
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

TEST_F(ctl, probes_carry_the_time)
{
    make();
    c.pto.owed = true;
    auto v = tx_ctrl(MRC_OPC_PROBE);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.u.probe.tx_ts, mrc_ts16(now));
}

// ---- congestion at the receiver ----

TEST_F(ctl, what_arrived_is_noted_once)
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
TEST_F(ctl, a_penalty_is_said_at_once_and_for_every_packet)
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

TEST_F(ctl, penalty_and_restore_are_said_until_changed)
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

// A foreign peer numbers its probes as it likes, from 1, say. It lost the ACK and asks for it.
TEST_F(ctl, every_kind_of_probe_brings_the_ack_again)
{
    make(quiet());
    probe(1);
    EXPECT_TRUE(tx_ctrl(MRC_OPC_ACK).empty()) << "of what?";
    take(write_only(2000));
    EXPECT_EQ(tx_ctrl(MRC_OPC_ACK).size(), 1u); // lost
    for (u16 id : {u16{2}, u16{3}, u16{MRC_PROBE_ID_EV_END - 1}, u16{MRC_PROBE_ID_EV_END},
                   u16{MRC_PROBE_ID_TAIL | 1}}) {
        probe(id);
        auto v = tx_ctrl(MRC_OPC_ACK);
        ASSERT_EQ(v.size(), 1u) << id;
        EXPECT_EQ(v[0].hdr.psn, 2000u);
    }
}

// Probes of EVs are many, and mostly no questions for an ACK: few of them bring one, but
// there is no number of lost ones after which none comes.
TEST_F(ctl, probes_bring_no_flood_of_acks)
{
    u32 acks = 0;

    make(quiet());
    take(write_only(2000));
    tx_all();
    for (u32 i = 0; i < 1000; i++) {
        probe(5);
        acks += static_cast<u32>(tx_ctrl(MRC_OPC_ACK).size());
    }
    EXPECT_GE(acks, 250u);
    EXPECT_LE(acks, 260u);
    take(write_only(2001));
    EXPECT_EQ(tx_ctrl(MRC_OPC_ACK).size(), 1u);
    probe(5);
    EXPECT_EQ(tx_ctrl(MRC_OPC_ACK).size(), 1u) << "counted anew";
}

// Nor does the ACK that such a probe brings call for a verification of ours.
TEST_F(ctl, an_ack_for_a_verification_calls_for_none)
{
    make(quiet());
    take(write_only(2000));
    tx_all();
    now += 10 * kMs;
    probe(3);
    u32 acks = 0, probes = 0;
    for (const mrc_txop &t : tx_all()) {
        acks += t.hdr.opcode == MRC_OPC_ACK;
        probes += t.hdr.opcode == MRC_OPC_PROBE;
    }
    EXPECT_EQ(acks, 1u);
    EXPECT_EQ(probes, 0u);
}

// ---- MRC 1.0's context ids: ours first, as the peer's is in its packets ----

TEST_F(ctl, context_ids_name_both_ends)
{
    rig_cfg k = defaults();

    k.rx.sqpn = 0x123456;
    k.rx.dqpn = 0xabcdef;
    make(k);
    take(write_only(2000));
    trim(2001);
    c.pto.owed = true;
    u32 seen = 0;
    for (const mrc_txop &t : tx_all()) {
        const auto &u = t.hdr.u;

        EXPECT_EQ(t.hdr.dqpn, 0xabcdefu);
        if (t.hdr.opcode == MRC_OPC_SACK) {
            EXPECT_EQ(u.sack.spdcid, 0x3456);
            EXPECT_EQ(u.sack.dpdcid, 0xcdef);
            seen |= 1;
        } else if (t.hdr.opcode == MRC_OPC_NACK) {
            EXPECT_EQ(u.nack.spdcid, 0x3456);
            EXPECT_EQ(u.nack.dpdcid, 0xcdef);
            seen |= 2;
        } else if (t.hdr.opcode == MRC_OPC_PROBE) {
            EXPECT_EQ(u.probe.spdcid, 0x3456);
            EXPECT_EQ(u.probe.dpdcid, 0xcdef);
            seen |= 4;
        }
    }
    EXPECT_EQ(seen, 7u);
}

// ---- MRC 1.0's data packets ----

// Byte 1 of BTH is zero: SE is at another bit for others, PadCnt is passed by.
TEST_F(ctl, mrc_only_has_a_plain_bth)
{
    for (bool unpadded : {true, false}) {
        rig_cfg k = defaults();
        u8 b[MRC_HDR_MAX];

        k.rx.mrc_only = true;
        k.tx.unpadded = unpadded;
        make(k);
        ASSERT_EQ(post(MRC_OP_WRITE_IMM, 1021, MRC_WR_SOLICITED), 0);
        ASSERT_EQ(post(MRC_OP_WRITE_IMM, 1025, MRC_WR_SOLICITED), 0);
        auto v = tx_data();
        ASSERT_EQ(v.size(), 3u);
        for (const mrc_txop &t : v) {
            ASSERT_GT(mrc_wire_build(b, sizeof(b), &t.hdr), 0);
            EXPECT_EQ(b[1], unpadded ? 0 : (0u - t.len & 3u) << 4);
        }
        // and lost, it is the same again
        nack(v[0], MRC_NACK_TRIMMED);
        v = tx_data();
        ASSERT_EQ(v.size(), 1u);
        EXPECT_FALSE(v[0].hdr.se);
        EXPECT_EQ(v[0].hdr.pad, unpadded ? 0 : 3);
    }
}

TEST_F(ctl, ours_say_solicited_and_pad)
{
    rig_cfg k = defaults();

    k.tx.unpadded = true; // is a matter of mrc.h QPs
    make(k);
    ASSERT_EQ(post(MRC_OP_WRITE_IMM, 1021, MRC_WR_SOLICITED), 0);
    auto v = tx_data();
    ASSERT_EQ(v.size(), 1u);
    EXPECT_TRUE(v[0].hdr.se);
    EXPECT_EQ(v[0].hdr.pad, 3);
}

// Who waits for solicited completions only must not sleep through those of mrc.h QPs.
TEST_F(ctl, on_mrc_only_all_is_solicited)
{
    rig_cfg k = defaults();

    k.rx.mrc_only = true;
    make(k);
    take(data(MRC_OPC_WRITE_ONLY_IMM, 2000, 10, 10));
    auto v = cpls();
    ASSERT_EQ(v.size(), 1u);
    EXPECT_TRUE(v[0].solicited);
}

// ---- doubts ----

// Who asks again has not heard us: the EVs that carried our acknowledgements are not proven.
TEST_F(ctl, a_tail_probe_doubts_the_ways_of_acknowledgements)
{
    auto proven = [&] {
        u32 n = 0;

        for (u8 p = 0; p < evs.n_planes; p++)
            n += evs.proven[p] != MRC_NONE16;
        return n;
    };
    make(quiet());
    take(write_only(2000));
    mrc_evset_sign(&evs, 1, MRC_SIGN_DELIVERED, now);
    ASSERT_EQ(proven(), 1u);
    probe(3);
    EXPECT_EQ(proven(), 1u) << "asks about an EV of its own";
    probe(MRC_PROBE_ID_TAIL | 5);
    EXPECT_EQ(proven(), 0u);
}

TEST_F(ctl, data_resent_though_acknowledged_doubts_them_too)
{
    make(quiet());
    take(write_only(2000));
    mrc_evset_sign(&evs, 1, MRC_SIGN_DELIVERED, now);
    u8 plane = evs.ev[1].plane;
    ASSERT_NE(evs.proven[plane], MRC_NONE16);
    mrc_pkt p = write_only(2000);
    rx(p);
    EXPECT_NE(evs.proven[plane], MRC_NONE16) << "the network may copy packets";
    p.rtx = true;
    rx(p);
    EXPECT_EQ(evs.proven[plane], MRC_NONE16);
}

// Two hosts that only answered each other's verifications would do so for ever.
TEST_F(ctl, a_verification_calls_for_none)
{
    rig_cfg k = defaults();
    mrc_pkt p = {};

    k.rx.sack_pkts = 1;
    make(k);
    for (u16 id : {u16{3}, u16{MRC_PROBE_ID_TAIL | 1}}) {
        p.opcode = MRC_OPC_PROBE;
        p.ev = evs.ev[0].value;
        p.u.probe.probe_id = id;
        rx(p);
        u32 answers = 0, probes = 0;
        for (const mrc_txop &t : tx_all()) {
            answers += t.hdr.opcode == MRC_OPC_SACK;
            probes += t.hdr.opcode == MRC_OPC_PROBE;
        }
        EXPECT_EQ(answers, 1u);
        EXPECT_EQ(probes, id < MRC_PROBE_ID_EV_END ? 0u : 1u);
    }
    now += 10 * kMs;
    take(write_only(2000));
    EXPECT_EQ(tx_ctrl(MRC_OPC_PROBE).size(), 1u) << "an acknowledgement of data does";
}

} // namespace
