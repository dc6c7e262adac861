// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_ack.cc - what the peer tells: SACKs, NACKs and transport ACKs, honest or not.
#include "conn_rig.h"

#include <random>

namespace {

// A controller that remembers what it was told.
struct spy_cc {
    mrc_cc cc;
    mrc_cc_sample ack, nack, loss, timeout;
    u32 acks, nacks, losses, timeouts;
    u64 acked;
};

void spy_init(mrc_cc *cc, const mrc_cc_cfg *cfg, u64)
{
    cc->cwnd_bytes = cfg->window_bytes;
}
void spy_set(mrc_cc *, const mrc_cc_cfg *, u64) {}
spy_cc *spy(mrc_cc *cc) { return reinterpret_cast<spy_cc *>(cc); }
void spy_ack(mrc_cc *cc, const mrc_cc_sample *s)
{
    spy(cc)->ack = *s;
    spy(cc)->acks++;
    spy(cc)->acked += s->acked_bytes;
}
void spy_nack(mrc_cc *cc, const mrc_cc_sample *s)
{
    spy(cc)->nack = *s;
    spy(cc)->nacks++;
}
void spy_loss(mrc_cc *cc, const mrc_cc_sample *s)
{
    spy(cc)->loss = *s;
    spy(cc)->losses++;
}
void spy_timeout(mrc_cc *cc, const mrc_cc_sample *s)
{
    spy(cc)->timeout = *s;
    spy(cc)->timeouts++;
}
const mrc_cc_ops spy_ops = {"spy",    sizeof(spy_cc), spy_init, spy_set,
                            spy_ack, spy_nack,       spy_loss, spy_timeout};

constexpr u32 kFull = 1024 + MRC_PKT_OVERHEAD; // a full packet in flight

class ack_rig : public rig {
protected:
    // @n full packets in flight from PSN 1000 on, sent now, under the spy's eyes.
    std::vector<mrc_txop> flight(u32 n, rig_cfg k = defaults())
    {
        mrc_cc_cfg cc = {};

        cc.window_bytes = 1u << 30;
        mrc_cc_init(&eye.cc, &spy_ops, &cc, now);
        k.tx.cc = &eye.cc;
        make(k);
        EXPECT_EQ(post(MRC_OP_WRITE, n * 1024), 0);
        return tx_data();
    }
    // A SACK by the packet @op, which arrived; @held: the stamp is moved on by so much.
    mrc_sack sack_of(const mrc_txop &t, u32 cack, u64 held = 0)
    {
        mrc_sack s = {};

        s.cack = cack;
        s.ack_psn_offset = static_cast<s16>(mrc_psn_diff(t.hdr.psn, cack));
        s.ev = t.hdr.ev;
        s.sack_offset = 1;
        if (mrc_psn_diff(t.hdr.psn, cack) > 0)
            s.bitmap = 1ull << (mrc_psn_diff(t.hdr.psn, cack) - 1);
        s.tx_ts = static_cast<u16>(t.hdr.tx_ts + (held >> MRC_TS_SHIFT));
        return s;
    }
    void TearDown() override
    {
        rig::TearDown();
        if (!evs_mem.empty())
            mrc_conn_reset(&c);
        EXPECT_EQ(eye.cc.inflight_bytes, 0u) << "nothing stays behind";
        EXPECT_EQ(eye.cc.n_active, 0u);
    }

    void until_lost()
    {
        for (int i = 0; i < 10 && !c.lost.count; i++)
            fire();
        ASSERT_NE(c.lost.count, 0u);
    }

    spy_cc eye = {};
};

// ---- timestamps ----

class ack_ts : public ack_rig {
protected:
    std::vector<mrc_txop> flight(u32 n)
    {
        rig_cfg k = defaults();

        k.tx.timestamps = true;
        k.evs = 16;
        return ack_rig::flight(n, k);
    }
    // The packet is lost by a NACK of the plainest kind and leaves again.
    mrc_txop resend(const mrc_txop &t)
    {
        nack(t, MRC_NACK_TRIMMED_LASTHOP);
        auto v = tx_data();
        EXPECT_EQ(v.size(), 1u);
        return v.at(0);
    }
};

TEST_F(ack_ts, every_data_packet_carries_one)
{
    now += 12345;
    auto v = flight(3);
    for (const mrc_txop &t : v) {
        EXPECT_TRUE(t.hdr.has_ts);
        EXPECT_EQ(t.hdr.tx_ts, mrc_ts16(now));
        EXPECT_EQ(t.hdr.tsr, 0);
    }
    now += 5 * kUs;
    EXPECT_EQ(resend(v[0]).hdr.tx_ts, mrc_ts16(now));
}

TEST_F(ack_ts, round_trip_without_service_time)
{
    auto v = flight(3);
    now += 50 * kUs;
    sack(sack_of(v[0], 1000, 20 * kUs));
    EXPECT_NEAR(static_cast<double>(eye.ack.rtt_ns), 30e3, 200);
    EXPECT_NEAR(static_cast<double>(c.srtt_ns), 30e3, 200);
}

TEST_F(ack_ts, a_stamp_from_the_future_is_refused)
{
    auto v = flight(3);
    now += 50 * kUs;
    sack(sack_of(v[0], 1000, 60 * kUs));
    EXPECT_EQ(eye.ack.rtt_ns, 0u);
    EXPECT_EQ(c.srtt_ns, 0u);
}

TEST_F(ack_ts, beyond_the_wrap)
{
    auto v = flight(3);
    now += 9 * kMs;     // 8.39 ms wrap
    sack(sack_of(v[0], 1000, 1 * kMs));
    EXPECT_EQ(eye.ack.rtt_ns, 0u) << "held 1 ms or 9.39 ms";
    sack(sack_of(v[1], 1001));
    EXPECT_NEAR(static_cast<double>(eye.ack.rtt_ns), 9e6, 200) << "our own record knows";
}

TEST_F(ack_ts, of_a_retransmission)
{
    auto v = flight(3);
    now += 40 * kUs;
    auto again = resend(v[0]);
    now += 25 * kUs;
    sack(sack_of(again, 1000));
    EXPECT_NEAR(static_cast<double>(eye.ack.rtt_ns), 25e3, 200);
    EXPECT_EQ(c.stats.rtx_spurious, 0u);
}

TEST_F(ack_ts, held_copies_are_ambiguous)
{
    auto v = flight(3);
    now += 40 * kUs;
    auto again = resend(v[0]);
    now += 25 * kUs;
    sack(sack_of(again, 1000, 5 * kUs));
    EXPECT_EQ(eye.ack.rtt_ns, 0u);
    EXPECT_EQ(c.stats.rtx_spurious, 0u);
}

// Eifel: the stamp says that the first copy arrived.
TEST_F(ack_ts, resent_in_vain)
{
    flight(1);
    now += 50 * kUs;
    sack(1000, 0, 1, 1000);
    ack(1000);
    cpls();
    post(MRC_OP_WRITE, 30 * 1024);
    auto v = tx_data();
    ASSERT_EQ(v.size(), 30u);
    now += 50 * kUs;
    mrc_sack s = sack_of(v[29], 1000);
    s.bitmap = (1ull << 30) - 2;    // all but 1001
    sack(s);
    until_lost();
    EXPECT_EQ(evs.ev[v[0].ev_idx].state, MRC_EV_ASSUMED_BAD);
    auto again = tx_data();
    ASSERT_EQ(psns(again), psn_list{1001});
    u8 mult = c.reo_mult;
    now += 60 * kUs;            // longer than a round trip: time alone could not tell
    sack(sack_of(v[0], 1030));
    EXPECT_EQ(c.stats.rtx_spurious, 1u);
    EXPECT_EQ(eye.ack.rtt_ns, 0u);
    EXPECT_GT(c.reo_mult, mult);
    EXPECT_LE(evs.ev[v[0].ev_idx].state, MRC_EV_SKIP) << "the blame is taken back";
    EXPECT_LE(evs.ev[again[0].ev_idx].state, MRC_EV_SKIP);
}

TEST_F(ack_ts, arrived_while_it_waited_to_be_resent)
{
    auto v = flight(30);
    now += 50 * kUs;
    mrc_sack s = sack_of(v[29], 999);
    s.bitmap = (1ull << 30) - 2;    // all but the first
    sack(s);
    until_lost();
    EXPECT_EQ(evs.ev[v[0].ev_idx].state, MRC_EV_ASSUMED_BAD);
    u8 mult = c.reo_mult;
    sack(sack_of(v[0], 1029));
    EXPECT_GT(c.reo_mult, mult);
    EXPECT_LE(evs.ev[v[0].ev_idx].state, MRC_EV_SKIP);
    EXPECT_EQ(c.stats.rtx_spurious, 0u) << "it was not resent";
    EXPECT_TRUE(tx_data().empty());
}

TEST_F(ack_ts, off)
{
    auto v = ack_rig::flight(2);
    EXPECT_FALSE(v[0].hdr.has_ts);
    now += 50 * kUs;
    mrc_sack s = sack_of(v[0], 1000);
    s.tx_ts = 0x1234;
    sack(s);
    EXPECT_NEAR(static_cast<double>(eye.ack.rtt_ns), 50e3, 100);
}

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
    c.rcvd_valid = true;
    c.rcvd_seen = 0xfffff0;
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
    EXPECT_EQ(c.tx_mpr, 3);
    s = sack_of(v[2], 1002);
    s.rcvd_bytes = 12;
    s.mpr = 1;
    s.rcv_cwnd_pen = 9;
    sack(s);
    EXPECT_EQ(c.tx_mpr, 3);
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
    for (int i = 0; i < 10 && !eye.losses; i++)
        fire();
    EXPECT_EQ(eye.loss.lost_bytes, 2 * kFull);
    mrc_evset_local_planes(&evs, 1, now);
    tx_data();
    EXPECT_EQ(eye.losses, 1u);
    mrc_conn_plane_event(&c, now);
    EXPECT_EQ(eye.losses, 1u) << "all on that plane had arrived";
    EXPECT_EQ(eye.timeouts, 0u);
}

TEST_F(ack_cc, a_plane_is_a_loss)
{
    flight(10);
    mrc_evset_local_planes(&evs, 1, now);
    mrc_conn_plane_event(&c, now);
    EXPECT_EQ(eye.losses, 1u);
    EXPECT_EQ(eye.loss.lost_bytes, 5 * kFull);
    EXPECT_EQ(eye.loss.inflight_bytes, 10 * kFull);
}

TEST_F(ack_cc, a_timeout)
{
    flight(10);
    run_to(now + 1 * kMs);
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
    EXPECT_EQ(eye.cc.inflight_bytes, c.inflight_bytes + other.inflight_bytes);
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
    EXPECT_EQ(c.tx_mpr, 4) << "not more than agreed";
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
    EXPECT_EQ(c.tx_mpr, 0);
}

// ---- NACKs ----

class ack_nack : public ack_rig {
protected:
    void tick(u64 ns) { run_to(now + ns); }
    std::vector<mrc_txop> known_rtt(u32 n)
    {
        flight(1);
        now += 50 * kUs;
        sack(1000, 0, 1, 1000);
        ack(1000);
        cpls();
        post(MRC_OP_WRITE, n * 1024);
        return tx_data();
    }
};

TEST_F(ack_nack, trimmed_at_once_by_another_path)
{
    auto v = flight(20);
    nack(v[0], MRC_NACK_TRIMMED);
    EXPECT_EQ(evs.ev[v[0].ev_idx].state, MRC_EV_SKIP);
    nack(v[1], MRC_NACK_TRIMMED_LASTHOP);
    EXPECT_EQ(evs.ev[v[1].ev_idx].state, MRC_EV_GOOD);
    auto again = tx_data();
    ASSERT_EQ(psns(again), (psn_list{1000, 1001}));
    for (u32 i = 0; i < 2; i++) {
        EXPECT_NE(again[i].hdr.ev, v[i].hdr.ev);
        EXPECT_EQ(again[i].tclass, MRC_TC_RTX);
    }
    EXPECT_EQ(c.stats.rtx_trim, 2u);
    EXPECT_EQ(c.retries, 0u) << "congestion is no trouble of the peer's";
}

TEST_F(ack_nack, for_want_of_resources_after_a_while)
{
    const mrc_nack reasons[] = {MRC_NACK_NO_BITMAP, MRC_NACK_NO_PKT_BUFFER,
                                MRC_NACK_PSN_OOR_WINDOW};

    for (mrc_nack why : reasons) {
        auto v = known_rtt(20);
        nack(v[3], why);
        EXPECT_TRUE(tx_data().empty());
        EXPECT_EQ(c.paced.count, 1u);
        nack(v[9], why);
        tick(49 * kUs);
        EXPECT_TRUE(tx_data().empty()) << "about a round trip";
        tick(2 * kUs);
        auto again = tx_data();
        ASSERT_EQ(psns(again), (psn_list{1004, 1010}));
        EXPECT_NE(again[0].hdr.ev, v[3].hdr.ev);
        EXPECT_EQ(c.stats.rtx_nack, 2u);
        EXPECT_EQ(c.retries, 1u) << "both together cost one retry";
        for (u16 i = 0; i < evs.n; i++)
            EXPECT_EQ(evs.ev[i].state, MRC_EV_GOOD) << "no fault of the path";
        // Again: the wait doubles.
        nack(again[0], why);
        tick(99 * kUs);
        EXPECT_TRUE(tx_data().empty());
        tick(2 * kUs);
        EXPECT_EQ(psns(tx_data()), psn_list{1004});
    }
}

TEST_F(ack_nack, others_are_not_held_up)
{
    auto v = known_rtt(20);
    nack(v[3], MRC_NACK_NO_PKT_BUFFER);
    nack(v[0], MRC_NACK_TRIMMED_LASTHOP);
    EXPECT_EQ(psns(tx_data()), psn_list{1001});
    sack(1003, 1, 1);
    EXPECT_EQ(c.paced.count, 0u) << "it had arrived";
    EXPECT_EQ(c.psn_una, 1005u);
}

TEST_F(ack_nack, the_budget_is_shared_with_timeouts)
{
    auto v = known_rtt(1);      // 1 ms; 2 linear and 3 doubling
    u64 begin = now;

    while (mrc_conn_failed(&c) == MRC_ST_OK && now < begin + 100 * kMs) {
        for (const mrc_txop &t : tx_all())
            if (mrc_opc_is_data(t.hdr.opcode))
                nack(t, MRC_NACK_NO_PKT_BUFFER);
        if (now == begin)
            nack(v[0], MRC_NACK_NO_PKT_BUFFER);
        if (mrc_conn_failed(&c) == MRC_ST_OK)
            fire();
    }
    EXPECT_EQ(mrc_conn_failed(&c), MRC_ST_RETRY_EXC);
    EXPECT_LE(now - begin, 20 * kMs);
    EXPECT_GE(now - begin, 10 * kMs) << "the peer is given the time that was agreed";
    EXPECT_EQ(show(cpls()), "101:2");
}

TEST_F(ack_nack, progress_restores_the_budget)
{
    known_rtt(20);
    for (u32 i = 1; i < 20; i++) {
        nack(1000 + i, evs.ev[c.rec[(1000 + i) & c.rec_mask].ev].value,
             MRC_NACK_NO_PKT_BUFFER);
        EXPECT_EQ(c.retries, 1u);
        tick(60 * kUs);
        tx_all();
        sack(1000 + i);
        EXPECT_EQ(c.retries, 0u);
    }
}

TEST_F(ack_nack, of_an_earlier_copy_is_stale)
{
    auto sent = flight(5);
    nack(sent[2], MRC_NACK_TRIMMED);
    auto again = tx_data();
    ASSERT_EQ(psns(again), psn_list{1002});
    nack(sent[2], MRC_NACK_TRIMMED);    // the same NACK, duplicated
    EXPECT_EQ(c.lost.count, 0u);
    EXPECT_TRUE(tx_data().empty());
    nack(again[0], MRC_NACK_TRIMMED);
    EXPECT_EQ(psns(tx_data()), psn_list{1002});
}

TEST_F(ack_nack, of_what_has_arrived)
{
    auto sent = flight(5);
    sack(1004);
    nack(sent[2], MRC_NACK_TRIMMED);
    EXPECT_TRUE(tx_data().empty());
}

TEST_F(ack_nack, unexpected_event_is_fatal)
{
    auto sent = flight(5);
    nack(sent[2], MRC_NACK_UNEXP_EVENT);
    EXPECT_EQ(mrc_conn_failed(&c), MRC_ST_REM_OP);
    EXPECT_EQ(show(cpls()), "100:6");
}

TEST_F(ack_nack, a_reason_of_tomorrow_is_paced)
{
    auto sent = flight(5);
    mrc_pkt p = {};
    p.opcode = MRC_OPC_NACK;
    p.u.nack.psn = sent[2].hdr.psn;
    p.u.nack.ev = sent[2].hdr.ev;
    p.u.nack.reason = 0x5e;
    rx(p);
    sound();
    EXPECT_EQ(c.paced.count, 1u);
}

// ---- RNR ----

TEST_F(ack_nack, rnr_pauses_and_tries_again)
{
    make();
    post(MRC_OP_SEND, 10);
    post(MRC_OP_SEND, 10);
    auto v = tx_data();
    nack(v[0], MRC_NACK_NO_RESOURCE, 5);    // 60 us
    EXPECT_TRUE(tx_data().empty());
    tick(mrc_rnr_timer_ns(5) - 1);
    EXPECT_TRUE(tx_data().empty());
    tick(1);
    EXPECT_EQ(psns(tx_data()), psn_list{1000});
    EXPECT_EQ(c.stats.rtx_rnr, 1u);
}

TEST_F(ack_nack, rnr_is_exhausted)
{
    rig_cfg k = defaults();

    k.tx.rnr_retry = 2;
    make(k);
    post(MRC_OP_SEND, 10);
    auto v = tx_data();
    for (int i = 0; i < 2; i++) {
        nack(v[0], MRC_NACK_NO_RESOURCE);
        ASSERT_EQ(mrc_conn_failed(&c), MRC_ST_OK);
        tick(10 * kUs);
        v = tx_data();
        ASSERT_EQ(v.size(), 1u);
    }
    nack(v[0], MRC_NACK_NO_RESOURCE);
    EXPECT_EQ(mrc_conn_failed(&c), MRC_ST_RNR_EXC);
    EXPECT_EQ(show(cpls()), "100:3");
}

TEST_F(ack_nack, rnr_timer_table)
{
    EXPECT_EQ(mrc_rnr_timer_ns(1), 10u * kUs);
    EXPECT_EQ(mrc_rnr_timer_ns(0), 655360u * kUs);
    EXPECT_EQ(mrc_rnr_timer_ns(31), 491520u * kUs);
}

// ---- lies ----

class ack_lies : public ack_rig {};

TEST_F(ack_lies, never_sent)
{
    flight(5);
    sack(1005);
    sack(1000 + (1 << 23) - 1);
    EXPECT_EQ(c.stats.rx_bad_ack, 2u);
    EXPECT_EQ(c.sent.count, 5u);
    sack(999, 0xff, 4);         // 1003 and 1004, and six that do not exist
    EXPECT_EQ(c.stats.rx_bad_ack, 3u);
    EXPECT_EQ(c.sent.count, 3u);
    ack(1005);
    ack(1004, 0x20);            // not an ACK, not a NAK
    nack(1005, 0, MRC_NACK_TRIMMED);
    nack(1005, 0, MRC_NACK_UNEXP_EVENT);
    EXPECT_EQ(c.stats.rx_bad_ack, 7u);
    EXPECT_EQ(mrc_conn_failed(&c), MRC_ST_OK);
    EXPECT_EQ(c.psn_una, 1000u);
}

TEST_F(ack_lies, a_naks_psn_must_be_waited_for)
{
    flight(5);
    ack(1001);
    ack(1001, MRC_AETH_NAK | MRC_NAK_REM_OP);   // acknowledged before
    ack(1005, MRC_AETH_NAK | MRC_NAK_REM_OP);   // never sent
    EXPECT_FALSE(c.tx_stopped);
    ack(1002, MRC_AETH_NAK | MRC_NAK_REM_OP);
    EXPECT_TRUE(c.tx_stopped);
}

TEST_F(ack_lies, cack_and_bitmap_disagree)
{
    flight(40);
    sack(1009, 0, -8);          // "nothing of 1001 to 1020": cack has said otherwise
    EXPECT_EQ(c.psn_una, 1010u);
    sack(1004, 0x3, 1);         // back, and what is behind it
    EXPECT_EQ(c.psn_una, 1010u);
    sack(1009, 0x1, 1);         // the PSN that cack says is missing
    EXPECT_EQ(c.psn_una, 1011u);
    EXPECT_EQ(c.stats.rx_bad_ack, 0u);
}

// mrcsim seed 1289: an old SACK whose bitmap reached beyond the window of its own cack.
TEST_F(ack_lies, a_bitmap_beyond_what_its_cack_allows)
{
    flight(300);                // window 128: 1000 to 1127
    sack(1063);
    EXPECT_EQ(tx_data().size(), 64u);
    sack(999, 0b111, 127);      // 1126, 1127, and 1128, which that cack did not allow
    EXPECT_EQ(c.stats.rx_bad_ack, 1u);
    EXPECT_EQ(c.rec[1127 & c.rec_mask].state, MRC_REC_FREE);
    EXPECT_EQ(c.rec[1128 & c.rec_mask].state, MRC_REC_SENT);
}

TEST_F(ack_lies, msn)
{
    mrc_pkt p = {};

    flight(5);
    p.opcode = MRC_OPC_ACK;
    p.psn = 1002;
    p.u.aeth.syndrome = MRC_AETH_CREDIT_NONE;
    p.u.aeth.msn = 77;
    rx(p);
    EXPECT_EQ(c.stats.rx_bad_ack, 1u);
    p.psn = 1003;
    p.u.aeth.msn = 1;
    rx(p);
    EXPECT_EQ(c.stats.rx_bad_ack, 1u);
    EXPECT_EQ(c.psn_una, 1004u);
}

// Anything in any field: sound after each, and the honest end comes all the same.
TEST_F(ack_lies, at_random)
{
    for (u32 seed = 1; seed <= 20; seed++) {
        std::mt19937_64 r(seed);
        rig_cfg k = defaults();

        k.conn.mpr_max = 2;
        k.tx.timestamps = seed & 1;
        k.tx.dyn_mpr = seed & 2;
        k.tx.sleek = seed & 4;
        k.tx.exp_cnt = MRC_EXP_FOREVER;
        k.tx_psn = seed & 8 ? 0xffffc0 : 1000;
        next_cookie = 100;
        auto v = flight(200, k);
        for (int i = 0; i < 2000 && !mrc_conn_failed(&c); i++) {
            mrc_pkt p = {};
            u32 near = (c.psn_una + static_cast<u32>(r() % 600) - 200) & MRC_PSN_MASK;

            now += r() % (20 * kUs);
            p.psn = r() & 1 ? near : r() & MRC_PSN_MASK;
            if (r() % 3) {
                p.opcode = MRC_OPC_SACK;
                mrc_sack &s = p.u.sack;
                s.cack = r() % 8 ? (c.psn_una - 1 - r() % 4) & MRC_PSN_MASK : p.psn;
                s.m = r() & 3;
                s.pr = r() % 8 == 0;
                s.ack_psn_offset = static_cast<s16>(r() & 1 ? r() % 256 : r());
                s.probe_id = static_cast<u16>(r());
                s.ev = evs.ev[r() % evs.n].value;
                s.mpr = static_cast<u8>(r());
                s.sack_offset = static_cast<s16>(r() & 1 ? r() % 64 : r());
                s.bitmap = r() & r() & r() & r();
                s.tx_ts = static_cast<u16>(r() & 1 ? r() : mrc_ts16(now - r() % (99 * kUs)));
                s.ooo_count = static_cast<u16>(r() & 0x7fff);
                s.restore_cwnd = r() & 1;
                s.rcv_cwnd_pen = r() & 0x7f;
                s.rcvd_bytes = r() & 0xffffff;
            } else {
                static const u8 why[] = {1, 2, 6, 7, 0xb, 0x77};

                p.opcode = MRC_OPC_NACK;
                p.u.nack.psn = p.psn;
                p.u.nack.ev = evs.ev[r() % evs.n].value;
                p.u.nack.reason = why[r() % 6];
            }
            rx(p);
            sound();
            run_to(now);
            tx_all();
        }
        ASSERT_EQ(mrc_conn_failed(&c), MRC_ST_OK) << seed;
        for (int i = 0; i < 1000 && c.psn_una != c.psn_next; i++) {
            fire();
            tx_all();
            sack((c.psn_next - 1) & MRC_PSN_MASK);
        }
        ack((c.psn_next - 1) & MRC_PSN_MASK);
        for (int i = 0; i < 100 && (c.sq_seg != c.sq_tail || c.psn_una != c.psn_next); i++) {
            tx_all();
            sack((c.psn_next - 1) & MRC_PSN_MASK);
            ack((c.psn_next - 1) & MRC_PSN_MASK);
        }
        EXPECT_EQ(show(cpls()), "100:0") << seed;
    }
}

} // namespace
