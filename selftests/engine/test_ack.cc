// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_ack.cc - what SACKs and transport ACKs tell: of EVs, to the controller, of the window.
#include "ack_rig.h"

namespace {

// ---- signs of EVs ----

class ack_ev : public ack_rig {};

TEST_F(ack_ev, marks_and_proof)
{
    auto v = flight(5);
    sack(1000, 0, 1, 1000, MRC_M_SKIP_ONCE, v[0].hdr.ev);
    EXPECT_EQ(evs.ev[v[0].ev_idx].state, MRC_EV_SKIP);
    EXPECT_TRUE(eye.ack.ecn);
    sack(1001, 0, 1, 1001, MRC_M_ALWAYS_SKIP, v[1].hdr.ev);
    EXPECT_EQ(evs.ev[v[1].ev_idx].state, MRC_EV_ASSUMED_BAD);
    sack(1002, 0, 1, 1002, MRC_M_NONE, v[2].hdr.ev);
    EXPECT_EQ(evs.proven[v[2].hdr.plane], v[2].ev_idx);
}

TEST_F(ack_ev, entropy_that_is_not_the_packets_teaches_nothing)
{
    auto v = flight(5);
    sack(1000, 0, 1, 1000, MRC_M_ALWAYS_SKIP, v[0].hdr.ev + 1);
    sack(1000, 0, 1, 1004, MRC_M_ALWAYS_SKIP, v[3].hdr.ev);
    sack(1000, 0, 1, 1500, MRC_M_ALWAYS_SKIP, v[3].hdr.ev);
    for (u16 i = 0; i < evs.n; i++)
        EXPECT_EQ(evs.ev[i].state, MRC_EV_GOOD);
}

// ---- what the controller is told ----

class ack_cc : public ack_rig {
protected:
    void rcvd(const mrc_txop &t, u32 cack, u32 bytes)
    {
        mrc_sack s = sack_of(t, cack);

        s.rcvd_bytes = (bytes + 255) / 256 & 0xffffff;
        sack(s);
    }
};

TEST_F(ack_cc, records_where_the_peer_does_not_count)
{
    auto v = flight(5);
    EXPECT_EQ(eye.cc.inflight_bytes, 5 * kFull);
    EXPECT_EQ(eye.cc.n_active, 1u);
    sack(1001, 0, 1, 1001);
    EXPECT_EQ(eye.ack.acked_bytes, 2 * kFull);
    EXPECT_EQ(eye.ack.inflight_bytes, 5 * kFull) << "before this SACK";
}

TEST_F(ack_cc, rcvd_bytes)
{
    auto v = flight(10);
    rcvd(v[1], 1001, 2 * kFull);
    EXPECT_NEAR(eye.ack.acked_bytes, 2 * kFull, 256);
    // It has more than this SACK tells of.
    rcvd(v[3], 1002, 6 * kFull);
    EXPECT_NEAR(eye.ack.acked_bytes, 4 * kFull, 256);
    rcvd(v[5], 1005, 6 * kFull);
    EXPECT_EQ(eye.ack.acked_bytes, 0u) << "told already";
    // A transport ACK counts by the records, and is not counted again.
    ack(1009);
    EXPECT_EQ(eye.ack.acked_bytes, 4 * kFull);
    rcvd(v[9], 1009, 10 * kFull);
    EXPECT_LT(eye.ack.acked_bytes, 256u);
    EXPECT_NEAR(static_cast<double>(eye.acked), 10 * kFull, 256);
}

TEST_F(ack_cc, rcvd_bytes_wrap)
{
    auto v = flight(100);
    c.report.valid = true;
    c.report.seen = 0xfffff0;
    mrc_sack s = sack_of(v[9], 1009);
    s.rcvd_bytes = 0x18;        // 40 units on
    sack(s);
    EXPECT_EQ(eye.ack.acked_bytes, 40u * 256);
}

TEST_F(ack_cc, rcvd_bytes_that_cannot_be)
{
    auto v = flight(10);
    mrc_sack s = sack_of(v[0], 1000);
    s.rcvd_bytes = 0x400000;    // 1 GiB
    sack(s);
    EXPECT_EQ(eye.ack.acked_bytes, kFull) << "by the record";
    s = sack_of(v[1], 1001);
    s.rcvd_bytes = 0x400000 + 5;
    sack(s);
    EXPECT_EQ(eye.ack.acked_bytes, 5u * 256) << "from there on";
}

TEST_F(ack_cc, overtaken_sacks_say_nothing_about_now)
{
    rig_cfg k = defaults();

    k.conn.mpr_max = 4;
    k.tx.dyn_mpr = true;
    auto v = flight(10, k);
    mrc_sack s = sack_of(v[5], 1005);
    s.rcvd_bytes = 30;
    s.mpr = 3;
    sack(s);
    EXPECT_EQ(c.snd.range, 3 * MRC_MPR_UNIT);
    s = sack_of(v[2], 1002);
    s.rcvd_bytes = 12;
    s.mpr = 1;
    s.rcv_cwnd_pen = 9;
    sack(s);
    EXPECT_EQ(c.snd.range, 3 * MRC_MPR_UNIT);
    EXPECT_EQ(eye.ack.rcv_cwnd_pen, 0);
    EXPECT_EQ(c.stats.pens_rcvd, 0u);
}

TEST_F(ack_cc, the_responders_lever)
{
    auto v = flight(5);
    mrc_sack s = sack_of(v[0], 1000);
    s.rcv_cwnd_pen = 77;
    sack(s);
    EXPECT_EQ(eye.ack.rcv_cwnd_pen, 77);
    EXPECT_FALSE(eye.ack.restore_cwnd);
    s = sack_of(v[1], 1001);
    s.restore_cwnd = true;
    sack(s);
    EXPECT_TRUE(eye.ack.restore_cwnd);
    EXPECT_EQ(c.stats.pens_rcvd, 1u);
}

TEST_F(ack_cc, losses_by_their_kind)
{
    auto v = flight(40);
    nack(v[0], MRC_NACK_TRIMMED);
    EXPECT_TRUE(eye.nack.trimmed);
    EXPECT_EQ(eye.nack.lost_bytes, kFull);
    EXPECT_EQ(eye.nack.inflight_bytes, 40 * kFull);
    nack(v[1], MRC_NACK_TRIMMED_LASTHOP);
    EXPECT_TRUE(eye.nack.trimmed);
    nack(v[2], MRC_NACK_NO_PKT_BUFFER);
    EXPECT_FALSE(eye.nack.trimmed);
    EXPECT_EQ(eye.nacks, 3u);
    EXPECT_EQ(eye.losses, 0u);
    now += 50 * kUs;
    sack(999, ~0ull, 6, 1020);  // 1003 and 1004 are missing
    for (int i = 0; i < 10 && eye.lost < 2 * kFull; i++)
        fire();                 // each in the time of its plane
    EXPECT_EQ(eye.lost, 2 * kFull);
    EXPECT_EQ(eye.loss.inflight_bytes, eye.cc.inflight_bytes + eye.loss.lost_bytes);
    u32 losses = eye.losses;
    mrc_evset_local_planes(&evs, 1, now);
    tx_data();
    mrc_conn_plane_event(&c, now);
    EXPECT_EQ(eye.losses, losses) << "all on that plane had arrived";
    EXPECT_EQ(eye.timeouts, 0u);
}

// Nor does what a slower plane loses: its share answers it.
TEST_F(ack_cc, losses_of_a_slower_plane_are_not_told)
{
    auto v = flight(40);
    u32 on_0 = 0;

    for (u32 i = 0; i < 5; i++)
        on_0 += v[i].hdr.plane == 0;
    ASSERT_GT(on_0, 0u);
    ASSERT_LT(on_0, 5u);
    now += 50 * kUs;
    mrc_evset_rtt(&evs, 0, 50 * kUs, now);
    mrc_evset_rtt(&evs, 1, 50 * kUs, now);
    sack(999, ~0ull, 6, 1020);  // 1000 to 1004 are missing
    evs.plane[1].weight = MRC_SHARE_FULL / 2;
    for (int i = 0; i < 10 && c.snd.lost.count < 5; i++)
        fire();
    EXPECT_EQ(c.snd.lost.count, 5u);
    EXPECT_EQ(eye.lost, on_0 * kFull);
    evs.plane[1].weight = MRC_SHARE_FULL;
    mrc_share_update(&evs);
}

// Two flights over two planes, of which plane 1 delivers.
class ack_suspect : public ack_cc {
protected:
    void more(std::vector<mrc_txop> &v, u32 n)
    {
        post(MRC_OP_WRITE, n * 1024);
        for (const mrc_txop &t : tx_data())
            v.push_back(t);
        ASSERT_EQ(v.size(), 2 * n);
    }
    static u64 by_plane_1(const std::vector<mrc_txop> &v)
    {
        u64 here = 0;

        for (u32 i = 0; i < v.size(); i++)
            here |= static_cast<u64>(v[i].hdr.plane) << i;
        return here;
    }
};

// What a port or a plane that died took says nothing of the others' queues.
TEST_F(ack_cc, a_plane_is_no_congestion)
{
    flight(10);
    mrc_evset_local_planes(&evs, 1, now);
    mrc_conn_plane_event(&c, now);
    EXPECT_EQ(eye.losses, 0u) << "most of it may still arrive";
    for (int i = 0; i < 3 && !c.snd.lost.count; i++)
        fire();                 // the tail probe's time comes, too
    EXPECT_EQ(c.snd.lost.count, 5u);
    EXPECT_EQ(eye.losses, 0u);
}

TEST_F(ack_suspect, nor_is_a_suspect_plane)
{
    auto v = flight(10);

    now += 2 * kUs;
    more(v, 10);
    now += 50 * kUs;
    c.report.far = true; // so a trigger waits for its bit
    sack(999, by_plane_1(v), 1, 1019);
    ASSERT_EQ(c.snd.out, 10u);
    for (int i = 0; i < 20 && c.snd.out; i++)
        fire();
    EXPECT_TRUE(evs.plane[0].suspect);
    EXPECT_GE(c.snd.lost.count, 9u);
    EXPECT_LE(eye.lost, 1 * kFull) << "the first one, before it was suspect";
}

// Its round trips vary much, so it took long to be called suspect. What left since waits less.
TEST_F(ack_suspect, what_left_late_by_it_waits_a_quarter_of_a_round_trip)
{
    auto v = flight(10);
    u64 begin = now;

    for (int i = 0; i < 8; i++)
        mrc_evset_rtt(&evs, 0, i % 2 ? 80 * kUs : 40 * kUs, now);
    u64 srtt = evs.plane[0].srtt_ns, late = mrc_evset_late_ns(&evs, 0);
    evs.plane[0].reo = 32;      // of old: it waits long for what comes late
    ASSERT_GT(late, 2 * srtt);
    ASSERT_GT(mrc_evset_lost_ns(&evs, 0), late);
    now += late - srtt;
    u64 second = now;
    more(v, 10);
    mrc_sack s = sack_of(v[v[19].hdr.plane ? 19 : 18], 999);
    s.bitmap = by_plane_1(v);
    sack(s);
    c.last_delivered.late_ns = 0;
    fire();
    ASSERT_TRUE(evs.plane[0].suspect);
    EXPECT_GE(now, begin + late);
    EXPECT_EQ(c.snd.out, 5u) << "those of the second flight";
    EXPECT_NEAR(static_cast<double>(c.rack.at_ns - second), 1.25 * static_cast<double>(srtt), 500);
}

// Of all that one SACK tells, the latest send overtakes.
TEST_F(ack_cc, the_latest_send_counts)
{
    flight(5);
    now += 10 * kUs;
    u32 latest = mrc_tick(now);
    post(MRC_OP_WRITE, 5 * 1024);
    tx_data();
    now += 50 * kUs;
    sack(1009, 0, 1, 1009);
    EXPECT_EQ(c.last_delivered.sent, latest);
    EXPECT_EQ(c.last_delivered.psn, 1009u);
}

TEST_F(ack_cc, a_timeout)
{
    flight(10);
    for (int i = 0; i < 10 && !eye.timeouts; i++)
        fire();
    EXPECT_EQ(eye.timeouts, 1u);
    EXPECT_EQ(eye.timeout.lost_bytes, kFull);
    EXPECT_EQ(eye.timeout.inflight_bytes, 10 * kFull);
}

// A QP that dies, is reset or loses its paths leaves nothing behind.
TEST_F(ack_cc, the_dead_let_go)
{
    flight(10);
    mrc_conn_fail(&c, MRC_ST_FLUSHED, now);
    sound();
    EXPECT_EQ(eye.cc.inflight_bytes, 0u);
    EXPECT_EQ(eye.cc.n_active, 0u);
    EXPECT_NE(c.cc, &eye.cc);
    flight(10);
    mrc_conn_reset(&c);
    EXPECT_EQ(eye.cc.inflight_bytes, 0u);
    EXPECT_EQ(eye.cc.n_active, 0u);
    flight(10);
    mrc_conn_set_path(&c, nullptr);
    sound();
    EXPECT_EQ(eye.cc.inflight_bytes, 0u);
    EXPECT_EQ(eye.cc.n_active, 0u);
    mrc_conn_set_path(&c, &evs);
    EXPECT_EQ(tx_data().size(), 10u) << "and all is sent again when paths are back";
}

TEST_F(ack_cc, two_share)
{
    mrc_conn other = {};
    rig_cfg k = defaults();
    std::vector<u64> space(mrc_conn_mem_size(&k.conn) / 8 + 1);
    mrc_wr wr = {};
    mrc_txop t;
    u32 n = 0;

    flight(6);
    eye.cc.cwnd_bytes = 10 * kFull;
    k.rx.psn = 1;
    k.tx.psn = 1;
    k.tx.cc = &eye.cc;
    ASSERT_EQ(mrc_conn_init(&other, &k.conn, space.data()), 0);
    mrc_conn_set_path(&other, &evs);
    ASSERT_EQ(mrc_conn_set_rx(&other, &k.rx, now), 0);
    ASSERT_EQ(mrc_conn_set_tx(&other, &k.tx, now), 0);
    wr.len = 100 * 1024;
    ASSERT_EQ(mrc_conn_post(&other, &wr, now), 0);
    while (mrc_conn_tx_next(&other, now, &t))
        n++;
    EXPECT_EQ(n, 5u) << "four are free, and its share is five";
    EXPECT_EQ(eye.cc.inflight_bytes, 11 * kFull);
    EXPECT_EQ(eye.cc.inflight_bytes, c.snd.inflight + other.snd.inflight);
    EXPECT_EQ(eye.cc.n_active, 2u);
    sack(1005);
    EXPECT_EQ(eye.cc.n_active, 1u);
    n = 0;
    while (mrc_conn_tx_next(&other, now, &t))
        n++;
    EXPECT_EQ(n, 5u) << "alone it has all of it";
    EXPECT_EQ(mrc_conn_check(&other), 0);
    mrc_conn_fail(&other, MRC_ST_FLUSHED, now);
    EXPECT_EQ(eye.cc.inflight_bytes, 0u);
    EXPECT_EQ(eye.cc.n_active, 0u);
}

// The others may close the window behind any packet of it, and nothing that is out would ask then.
TEST_F(ack_cc, who_has_its_part_of_a_shared_window_asks)
{
    mrc_conn other = {};
    rig_cfg k = defaults();
    std::vector<u64> space(mrc_conn_mem_size(&k.conn) / 8 + 1);
    mrc_wr wr = {};
    mrc_txop t;

    flight(2);
    eye.cc.cwnd_bytes = 40 * kFull;
    k.rx.psn = 1;
    k.tx.psn = 1;
    k.tx.cc = &eye.cc;
    ASSERT_EQ(mrc_conn_init(&other, &k.conn, space.data()), 0);
    mrc_conn_set_path(&other, &evs);
    ASSERT_EQ(mrc_conn_set_rx(&other, &k.rx, now), 0);
    ASSERT_EQ(mrc_conn_set_tx(&other, &k.tx, now), 0);
    wr.len = 30 * 1024;
    ASSERT_EQ(mrc_conn_post(&other, &wr, now), 0);
    for (u32 i = 0; i < 30; i++) {
        ASSERT_TRUE(mrc_conn_tx_next(&other, now, &t));
        EXPECT_EQ(t.hdr.ackreq, i == 19) << i;
    }
    mrc_conn_fail(&other, MRC_ST_FLUSHED, now);
}

// ---- dynamic MPR ----

class ack_mpr : public ack_rig {
protected:
    std::vector<mrc_txop> flight(u32 n, bool agreed = true)
    {
        rig_cfg k = defaults();

        k.conn.mpr_max = 4;
        k.tx.dyn_mpr = agreed;
        return ack_rig::flight(n, k);
    }
    void mpr(u32 cack, u8 mpr)
    {
        mrc_sack s = {};

        s.cack = cack;
        s.sack_offset = 1;
        s.mpr = mpr;
        sack(s);
    }
};

TEST_F(ack_mpr, a_shrunk_window_pauses_and_a_grown_one_goes_on)
{
    EXPECT_EQ(flight(1000).size(), 512u);
    mpr(1009, 1);
    EXPECT_TRUE(tx_data().empty());
    mpr(1511, 1);               // all has arrived
    EXPECT_EQ(tx_data().size(), 128u);
    mpr(1511, 2);
    EXPECT_EQ(tx_data().size(), 128u);
    mpr(1511, 0);
    EXPECT_TRUE(tx_data().empty()) << "nothing said";
    mpr(1511, 200);
    EXPECT_EQ(c.snd.range, 4 * MRC_MPR_UNIT) << "not more than agreed";
    EXPECT_EQ(tx_data().size(), 232u);
}

TEST_F(ack_mpr, retransmissions_pause_too)
{
    auto v = flight(512);
    nack(v[300], MRC_NACK_TRIMMED_LASTHOP);
    nack(v[100], MRC_NACK_TRIMMED_LASTHOP);
    mpr(999, 1);
    EXPECT_EQ(psns(tx_data()), psn_list{1100}) << "within the 128, though behind in the queue";
    mpr(1172, 1);
    EXPECT_EQ(psns(tx_data()), psn_list{1300}) << "una + 127";
}

TEST_F(ack_mpr, not_agreed)
{
    flight(1000, false);
    mpr(1009, 1);
    EXPECT_EQ(tx_data().size(), 10u);
    EXPECT_EQ(c.snd.range, c.snd.window);
}

} // namespace
