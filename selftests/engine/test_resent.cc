// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_resent.cc - losses that turn out to have been none, by each of the signs, and what
// is undone then.
#include "ack_rig.h"

namespace {

class resent : public ack_rig {
protected:
    // A round trip of 50 us is known on every plane; then @n packets leave.
    std::vector<mrc_txop> flight(u32 n, u64 timeout = 1 * kMs, bool stamps = true, u16 evs_n = 64)
    {
        rig_cfg k = defaults();

        k.tx.timestamps = stamps;
        k.tx.trim_nack = trims;
        k.tx.timeout_ns = timeout;
        k.evs = evs_n;
        auto v = ack_rig::flight(8, k);
        now += 50 * kUs;
        for (const mrc_txop &t : v)
            sack(sack_of(t, t.hdr.psn));
        ack(1007);
        cpls();
        EXPECT_NE(evs.plane[0].srtt_ns, 0u);
        EXPECT_NE(evs.plane[1].srtt_ns, 0u);
        post(MRC_OP_WRITE, n * 1024);
        return tx_data();
    }
    // All of @v but what is in @missing has arrived, which a SACK by the last one says.
    void all_but(const std::vector<mrc_txop> &v, u64 missing)
    {
        mrc_sack s = sack_of(v.back(), v[0].hdr.psn - 1);

        s.bitmap = (v.size() < 64 ? (1ull << v.size()) - 1 : ~0ull) & ~missing;
        s.rcvd_bytes = 1000;
        sack(s);
    }
    void until_lost(u32 n)
    {
        u16 idx;

        for (int i = 0; i < 20 && c.snd.lost.count < n; i++) {
            fire();
            while (mrc_evset_probe_next(&evs, now, &idx))
                ; // what asks about the plane of an earlier loss
        }
        ASSERT_EQ(c.snd.lost.count, n);
    }
    // Of PSN 1008, 500 us after the second; a packet that left later than that had arrived.
    mrc_txop third_copy(bool stamps)
    {
        auto v = flight(30, 1 * kMs, stamps);

        now += 50 * kUs;
        all_but(v, 1);
        until_lost(1);
        auto again = tx_data();
        EXPECT_EQ(psns(again), psn_list{1008});
        if (!again.empty())
            second = again[0];
        post(MRC_OP_WRITE, 1024);
        EXPECT_EQ(tx_data().size(), 1u);
        now += 500 * kUs;
        sack(1007, 0x7ffffffe, 1, 1038);
        until_lost(1);
        auto third = tx_data();
        EXPECT_EQ(psns(third), psn_list{1008});
        return third.empty() ? mrc_txop{} : third[0];
    }
    mrc_txop second = {}; // of the three
    bool trims = true;
    u32 bad() const
    {
        u32 n = 0;

        for (u16 i = 0; i < evs.n; i++)
            n += evs.ev[i].state > MRC_EV_SKIP;
        return n;
    }
    u32 blamed() const
    {
        u32 n = 0;

        for (u16 i = 0; i < evs.n; i++)
            n += evs.count[i].lost_pkts;
        return n;
    }
};

// The peer was silent for a whole timeout and then answers what had arrived long before. A
// timeout that is a multiple of the stamp's wrap makes both copies look the same.
TEST_F(resent, a_silent_receiver_makes_no_losses)
{
    const struct {
        u64 timeout;
        bool stamps;
    } table[] = {
        {5 * kMs, true}, {4096ull << 11, true}, {4096ull << 14, true}, {7 * kMs, false},
        {4096ull << 14, false},
    };

    for (const auto &t : table) {
        auto v = flight(30, t.timeout, t.stamps);
        ASSERT_EQ(v.size(), 30u);
        std::vector<mrc_txop> again;
        for (int i = 0; i < 1000 && !c.stats.timeouts; i++) {
            fire();
            for (const mrc_txop &x : tx_all())
                if (mrc_opc_is_data(x.hdr.opcode))
                    again.push_back(x);
        }
        ASSERT_EQ(psns(again), psn_list{1008})
            << now << " rack " << c.rack.at_ns << " pto " << c.pto.at_ns << " rto "
            << c.budget.rto_at_ns << " probe " << evs.next_probe_ns << " out " << c.snd.out;
        now += 200 * kUs;
        sack(sack_of(v[0], 1008));
        for (u64 end = now + 20 * kUs; mrc_conn_deadline_ns(&c) < end;) {
            fire();
            tx_all();
        }
        EXPECT_EQ(c.stats.rtx_rack + c.snd.lost.count, 0u) << t.timeout << t.stamps;
        now += 20 * kUs;
        sack(sack_of(v[29], 1037));
        ack(1037);
        EXPECT_EQ(c.stats.rtx_rack, 0u);
        EXPECT_EQ(bad(), 0u) << "the EV tells which copy it was";
        TearDown();
        eye = {};
        evs_mem.clear();
    }
}

// A plane is late as a whole, all of it is resent, then all of it arrives.
TEST_F(resent, thirty_late_packets_leave_nothing_behind)
{
    auto v = flight(60);
    u64 late = 0;
    u32 n = 0;

    ASSERT_EQ(v.size(), 60u);
    for (u32 i = 0; i < 59; i++)    // the last one is the later delivery
        if (v[i].hdr.plane == 0 && ++n)
            late |= 1ull << i;
    now += 50 * kUs;
    all_but(v, late);
    until_lost(n);
    EXPECT_GT(blamed(), 0u);
    u32 told = static_cast<u32>(eye.lost);
    EXPECT_EQ(told, n * kFull);
    EXPECT_EQ(tx_data().size(), n);
    now += 10 * kUs;
    u64 back = 0;
    for (u32 i = 0; i < 59; i++) {
        if (!(late >> i & 1))
            continue;
        mrc_sack s = sack_of(v[i], v[0].hdr.psn - 1);
        sack(s);
        back += eye.spurious.lost_bytes;
        eye.spurious = {};
    }
    EXPECT_EQ(c.stats.rtx_spurious, n);
    EXPECT_EQ(bad(), 0u);
    EXPECT_EQ(back, told) << "the controller, too";
    EXPECT_GT(evs.plane[0].srtt_ns, 60 * kUs) << "the first copies were round trips";
    EXPECT_NEAR(static_cast<double>(evs.plane[1].srtt_ns), 50e3, 100);
}

// The first copy is known to be there sooner than the second can be: no stamp is needed.
TEST_F(resent, sooner_than_possible)
{
    auto v = flight(30, 1 * kMs, false);

    now += 50 * kUs;
    all_but(v, 1);
    until_lost(1);
    EXPECT_EQ(psns(tx_data()), psn_list{1008});
    now += 20 * kUs;
    sack(1037);
    EXPECT_EQ(c.stats.rtx_spurious, 1u);
    EXPECT_EQ(bad(), 0u);
    EXPECT_EQ(eye.spurious.lost_bytes, kFull);
}

// Sent three times, and there sooner than the third copy could be: which of the two before it was
// cannot be told, so its age is no round trip.
TEST_F(resent, of_three_copies_the_age_of_none_is_known)
{
    third_copy(false);
    now += 10 * kUs;
    u32 srtt[2] = {evs.plane[0].srtt_ns, evs.plane[1].srtt_ns};
    sack(1038);
    EXPECT_EQ(c.stats.rtx_spurious, 1u);
    EXPECT_EQ(evs.plane[0].srtt_ns, srtt[0]);
    EXPECT_EQ(evs.plane[1].srtt_ns, srtt[1]);
}

// Nor does its EV tell, if no stamp does: the first of the three may have left by the same (1406).
TEST_F(resent, of_three_copies_the_ev_tells_no_round_trip)
{
    for (bool stamps : {false, true}) {
        mrc_txop third = third_copy(stamps);
        now += 10 * kUs;
        u32 least = c.rack.min_rtt_ns;
        sack(sack_of(third, 1038));
        if (stamps)
            EXPECT_LT(c.rack.min_rtt_ns, least) << "what a stamp tells is told";
        else
            EXPECT_EQ(c.rack.min_rtt_ns, least);
    }
}

// A stamp that was moved may be that of the first, of a turn of stamps ago, which left by the same EV (174980).
TEST_F(resent, of_three_copies_a_moved_stamp_tells_no_round_trip)
{
    mrc_txop third = third_copy(true);
    now += 10 * kUs;
    u32 least = c.rack.min_rtt_ns;
    mrc_sack s = sack_of(third, 1038);
    s.tx_ts++;
    sack(s);
    EXPECT_EQ(c.rack.min_rtt_ns, least);
    third_copy(true);
    now += 10 * kUs;
    u32 srtt = evs.plane[second.hdr.plane].srtt_ns;
    s = sack_of(second, 1038);
    s.tx_ts++;
    sack(s);
    EXPECT_EQ(evs.plane[second.hdr.plane].srtt_ns, srtt);
}

// Nor that of the second (mrcsim --seed 36864): it is a false alarm, and how late is not known.
TEST_F(resent, of_three_copies_the_ev_of_the_second_tells_none_either)
{
    for (bool stamps : {false, true}) {
        third_copy(stamps);
        now += 10 * kUs;
        u8 p = second.hdr.plane;
        u32 srtt = evs.plane[p].srtt_ns, spurious = c.stats.rtx_spurious;
        sack(sack_of(second, 1038));
        EXPECT_EQ(c.stats.rtx_spurious, spurious + 1);
        if (stamps)
            EXPECT_GT(evs.plane[p].srtt_ns, srtt) << "what a stamp tells is told";
        else
            EXPECT_EQ(evs.plane[p].srtt_ns, srtt);
    }
}

// The shortest round trip seen may have waited in queues that a failure has just emptied: a
// second copy that is answered sooner is no proof that the first one's path lives.
TEST_F(resent, a_guess_proves_no_path)
{
    auto v = flight(30);

    now += 50 * kUs;
    all_but(v, 1);
    until_lost(1);
    ASSERT_EQ(psns(tx_data()), psn_list{1008});
    u8 p = v[0].hdr.plane;
    evs.plane[p].ok_tick = mrc_tick(now) - 100000;
    u32 before = evs.plane[p].ok_tick;
    now += 40 * kUs;                    // a round trip was 50
    sack(1037);
    EXPECT_EQ(evs.plane[p].ok_tick, before);
}

// Known sooner than the second copy can be answered: then the peer gets it twice, and says so.
TEST_F(resent, a_duplicate_that_the_peer_reports)
{
    auto v = flight(30);

    now += 50 * kUs;
    all_but(v, 1);
    until_lost(1);
    auto again = tx_data();
    ASSERT_EQ(psns(again), psn_list{1008});
    now += 10 * kUs;
    mrc_sack s = sack_of(v[29], 1037);
    s.rcvd_bytes = 1010;
    sack(s);
    EXPECT_EQ(c.stats.rtx_spurious, 0u) << "that alone is no proof";
    now += 40 * kUs;
    s = sack_of(again[0], 1037);
    s.rcvd_bytes = 1010;
    sack(s);
    EXPECT_EQ(c.stats.rtx_spurious, 1u);
    EXPECT_EQ(bad(), 0u);
    sack(s);
    EXPECT_EQ(c.stats.rtx_spurious, 1u) << "once";
}

// A SACK that was overtaken by a later one tells of the second copy's arrival, not of two.
TEST_F(resent, an_overtaken_sack_reports_no_duplicate)
{
    auto v = flight(30);

    now += 50 * kUs;
    all_but(v, 1);
    until_lost(1);
    auto again = tx_data();
    ASSERT_EQ(again.size(), 1u);
    now += 60 * kUs;
    mrc_sack s = sack_of(v[29], 1037), old = sack_of(again[0], 1037);
    s.rcvd_bytes = 1010;
    sack(s);
    old.rcvd_bytes = 1005;
    sack(old);
    EXPECT_EQ(c.stats.rtx_spurious, 0u);
    EXPECT_EQ(blamed(), 1u);
}

// A loss that was one stays one.
TEST_F(resent, the_second_copy_arrived)
{
    auto v = flight(30);

    now += 50 * kUs;
    all_but(v, 1);
    until_lost(1);
    auto again = tx_data();
    now += 50 * kUs;
    sack(sack_of(again[0], 1037));
    EXPECT_EQ(c.stats.rtx_spurious, 0u);
    EXPECT_EQ(blamed(), 1u);
    EXPECT_EQ(eye.spurious_n, 0u);
    EXPECT_NEAR(static_cast<double>(eye.ack.rtt_ns), 50e3, 200) << "and its round trip counts";
}

// What could not leave was not resent.
TEST_F(resent, taken_back)
{
    auto v = flight(30);

    now += 50 * kUs;
    all_but(v, 1);
    until_lost(1);
    auto again = tx();
    ASSERT_TRUE(again);
    mrc_conn_tx_undo(&c, &*again);
    sound();
    sack(sack_of(v[0], 1037));
    EXPECT_EQ(c.stats.rtx_spurious, 0u);
    EXPECT_EQ(eye.spurious.lost_bytes, kFull) << "it waited to be resent";
    EXPECT_EQ(bad(), 0u);
}

// Nor is the time of one slow path a round trip of its plane, nor a reason to wait longer for the others.
TEST_F(resent, one_path_is_late)
{
    auto v = flight(30);
    u8 p = v[0].hdr.plane;

    now += 50 * kUs;
    all_but(v, 1);
    until_lost(1);
    EXPECT_EQ(tx_data().size(), 1u);
    u32 srtt = evs.plane[p].srtt_ns, var = evs.plane[p].var_ns;
    u8 reo = evs.plane[p].reo;
    evs.plane[p].ok_tick = mrc_tick(now); // of another connection's
    now += 5 * kUs;
    sack(sack_of(v[0], v[0].hdr.psn - 1));
    EXPECT_EQ(c.stats.rtx_spurious, 1u);
    EXPECT_EQ(evs.plane[p].srtt_ns, srtt);
    EXPECT_EQ(evs.plane[p].var_ns, var);
    EXPECT_EQ(evs.plane[p].reo, reo);
}

// The controller hears nothing of a plane that goes, so it gets nothing back.
TEST_F(resent, of_a_plane_that_went_the_controller_gets_nothing_back)
{
    for (bool again : {false, true}) {
        auto v = flight(30);
        ASSERT_EQ(v.size(), 30u);
        mrc_evset_local_planes(&evs, 2, now);
        mrc_conn_plane_event(&c, now);
        until_lost(15);
        if (again) {
            EXPECT_EQ(tx_data().size(), 15u);
        }
        now += 5 * kUs;
        for (const mrc_txop &t : v)
            if (t.hdr.plane == 0)
                sack(sack_of(t, v[0].hdr.psn - 1));
        EXPECT_EQ(c.stats.rtx_spurious, again ? 15u : 0u);
        EXPECT_EQ(eye.losses, 0u);
        EXPECT_EQ(eye.spurious_n, 0u) << again;
    }
}

// Nor of one that is suspect, since what left later by the other one is there.
TEST_F(resent, nor_of_a_suspect_plane)
{
    trims = false;
    auto v = flight(40);
    u64 there = 0;
    u32 n = 0;

    now += 1 * kUs;
    do {
        post(MRC_OP_WRITE, 1024);
        v.push_back(tx_data().at(0));
    } while (v.back().hdr.plane != 1);
    for (u32 i = 0; i < v.size(); i++) {
        there |= static_cast<u64>(v[i].hdr.plane) << i;
        n += v[i].hdr.plane == 0;
    }
    now += 50 * kUs;
    sack(v[0].hdr.psn - 1, there);
    until_lost(n);
    ASSERT_TRUE(evs.plane[0].suspect);
    EXPECT_EQ(tx_data().size(), n);
    now += 5 * kUs;
    for (const mrc_txop &t : v)
        if (t.hdr.plane == 0)
            sack(sack_of(t, v[0].hdr.psn - 1));
    EXPECT_EQ(c.stats.rtx_spurious, n);
    EXPECT_EQ(eye.lost, kFull) << "the first one, which alone says nothing of the plane";
    EXPECT_EQ(eye.spurious_n, 1u);
    EXPECT_EQ(eye.spurious.lost_bytes, kFull);
    EXPECT_FALSE(evs.plane[0].suspect);
}

// Where the fabric drops, one loss of an EV is congestion, as far as is known.
TEST_F(resent, of_a_path_that_died_the_controller_gets_back_what_it_took)
{
    for (bool again : {false, true}) {
        trims = false;
        auto v = flight(30);
        ASSERT_EQ(v.size(), 30u);
        now += 50 * kUs;
        all_but(v, 3);
        until_lost(2);
        EXPECT_EQ(eye.lost, 2 * kFull);
        if (again) {
            EXPECT_EQ(tx_data().size(), 2u);
        }
        mrc_evset_sign(&evs, v[0].ev_idx, MRC_SIGN_LOST, now);
        mrc_rack_look(&c, now);
        all_but(v, 3);
        ASSERT_EQ(eye.spurious_n, 1u) << again;
        EXPECT_EQ(eye.spurious.lost_bytes, kFull) << "the other path is well";
        mrc_evset_sign(&evs, v[1].ev_idx, MRC_SIGN_LOST, now);
        mrc_rack_look(&c, now);
        all_but(v, 3);
        EXPECT_EQ(eye.spurious_n, 2u);
        EXPECT_EQ(eye.spurious.lost_bytes, kFull) << "of that one only";
        mrc_rack_look(&c, now);
        sack(1037, 0, 1, 1037);
        EXPECT_EQ(eye.spurious_n, 2u) << "once";
    }
}

TEST_F(resent, of_a_path_that_died_later_it_gets_nothing_back)
{
    trims = false;
    auto v = flight(30);

    now += 50 * kUs;
    all_but(v, 1);
    until_lost(1);
    EXPECT_EQ(tx_data().size(), 1u);
    now += 500 * kUs;
    mrc_evset_sign(&evs, v[0].ev_idx, MRC_SIGN_LOST, now);
    mrc_rack_look(&c, now);
    sack(1037, 0, 1, 1037);
    EXPECT_EQ(eye.spurious_n, 0u);
}

// What is found lost on a path that is known to be dead is no congestion from the start.
TEST_F(resent, what_a_dead_path_loses_is_not_told)
{
    trims = false;
    auto v = flight(30);

    now += 50 * kUs;
    mrc_evset_sign(&evs, v[0].ev_idx, MRC_SIGN_LOST, now);
    all_but(v, 1);
    until_lost(1);
    EXPECT_EQ(eye.losses, 0u);
    sack(1037, 0, 1, 1037);
    EXPECT_EQ(eye.spurious_n, 0u) << "nothing was taken";
}

// Nor of what was out for a minute, since nobody called: it is resent without a word to the controller.
TEST_F(resent, nor_of_what_was_out_for_a_minute)
{
    auto v = flight(2, 0);

    now += 70'000 * kMs;
    until_lost(2);
    sack(sack_of(v[1], 1009));
    EXPECT_EQ(c.snd.lost.count, 0u);
    EXPECT_EQ(eye.losses, 0u);
    EXPECT_EQ(eye.spurious_n, 0u);
}

// ---- the controller ----

class resent_cc : public testing::Test {
protected:
    void SetUp() override
    {
        mrc_cc_cfg k = {};

        k.mtu = 4096;
        k.rate_mbps = 100000;
        cc = reinterpret_cast<mrc_cc *>(mem.data());
        mrc_cc_init(cc, &mrc_nscc, &k, 0);
        // A period of quick adapt has begun and much was delivered in it.
        s.now_ns = 100 * kUs;
        s.rtt_ns = 12 * kUs;
        s.acked_bytes = 100000;
        s.inflight_bytes = cc->cwnd_bytes;
        mrc_nscc.on_ack(cc, &s);
        s = {};
        s.now_ns = 101 * kUs;
        s.inflight_bytes = cc->cwnd_bytes;
        before = cc->cwnd_bytes;
    }
    std::vector<u64> mem = std::vector<u64>(mrc_nscc.size / 8 + 1);
    mrc_cc *cc = nullptr;
    mrc_cc_sample s = {};
    u32 before = 0;
};

TEST_F(resent_cc, what_a_loss_took_is_given_back_and_no_more)
{
    s.lost_bytes = 8192;
    mrc_nscc.on_loss(cc, &s);
    EXPECT_EQ(cc->cwnd_bytes, before - 8192);
    mrc_nscc.on_spurious(cc, &s);
    EXPECT_EQ(cc->cwnd_bytes, before);
    s.lost_bytes = 4096;
    mrc_nscc.on_loss(cc, &s);
    s.lost_bytes = 1u << 20;
    mrc_nscc.on_spurious(cc, &s);
    EXPECT_EQ(cc->cwnd_bytes, before) << "a peer that lies gains nothing";
    mrc_nscc.on_spurious(cc, &s);
    EXPECT_EQ(cc->cwnd_bytes, before);
}

// Much got through in the period that the loss ends, so it is no reason to adapt: it takes its bytes.
TEST_F(resent_cc, what_a_loss_took_at_the_end_of_a_period_is_given_back)
{
    s.now_ns = 110 * kUs;
    s.acked_bytes = 100000;
    mrc_nscc.on_ack(cc, &s);
    before = cc->cwnd_bytes;
    s.now_ns = 200 * kUs;
    s.acked_bytes = 0;
    s.lost_bytes = 8192;
    mrc_nscc.on_loss(cc, &s);
    ASSERT_EQ(cc->cwnd_bytes, before - 8192);
    mrc_nscc.on_spurious(cc, &s);
    EXPECT_EQ(cc->cwnd_bytes, before);
}

TEST_F(resent_cc, a_timeout_that_was_none)
{
    s.lost_bytes = 4096;
    mrc_nscc.on_timeout(cc, &s);
    EXPECT_LE(cc->cwnd_bytes, before / 2);
    mrc_nscc.on_spurious(cc, &s);
    EXPECT_EQ(cc->cwnd_bytes, before);
}

} // namespace
