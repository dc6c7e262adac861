// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_ctl.cc - control packets: which leaves first, by what path; NACKs.
#include "ctl_rig.h"

#include <set>

namespace {

class ctl : public ctl_rig {};

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

// A plain packet right behind a marked one: a SACK of its own.
TEST_F(ctl, a_mark_is_not_overwritten)
{
    rig_cfg k = quiet();
    u32 marks = 0, plain = 0;

    k.rx.sack_pkts = 1;
    make(k);
    mrc_pkt p = write_only(2002);
    p.ecn_ce = true;
    take(p);
    take(write_only(2004));
    take(write_only(2006));
    for (const mrc_txop &t : tx_ctrl(MRC_OPC_SACK))
        (t.hdr.u.sack.m == MRC_M_SKIP_ONCE ? marks : plain)++;
    EXPECT_EQ(marks, 1u);
    EXPECT_EQ(plain, 1u) << "the plain ones are one";
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

} // namespace
