// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_loss.cc - what is called delivered and lost, and when.
#include "loss_rig.h"

#include <deque>
#include <set>

namespace {

TEST_F(loss, rtt)
{
    make();
    flight(1);
    EXPECT_NEAR(static_cast<double>(c.rtt.srtt_ns), 50e3, 100);
    EXPECT_NEAR(static_cast<double>(c.rack.min_rtt_ns), 50e3, 100);
}

TEST_F(loss, sack_with_offset)
{
    make();
    flight(40);
    sack(1000, 0b1011, 10);     // 1010, 1011, 1013
    EXPECT_EQ(c.snd.una, 1001u);
    EXPECT_EQ(c.snd.out, 37u);
    EXPECT_EQ(c.snd.inflight, 37u * (1024 + MRC_PKT_OVERHEAD));
    sack(1012, 0b1, 1);
    EXPECT_EQ(c.snd.una, 1014u);
    sack(1005);                 // an older one comes late
    EXPECT_EQ(c.snd.una, 1014u);
    sack(1020, 0b11, -4);       // bits below the left edge are old news
    EXPECT_EQ(c.snd.una, 1021u);
}

TEST_F(loss, d1_is_cumulative)
{
    make();
    flight(10);
    ack(1010);
    EXPECT_EQ(c.snd.una, 1011u);
    EXPECT_EQ(c.snd.inflight, 0u);
    EXPECT_EQ(show(cpls()), "101:0");
}

// Reordering by any number of packets is no loss; time decides.
TEST_F(loss, rack_is_in_time_only)
{
    make();
    flight(60);
    now += 50 * kUs;
    sack(1000, ~0ull, 2);       // all but the first
    EXPECT_EQ(c.snd.lost.count, 0u);
    EXPECT_TRUE(tx_data().empty());
    fire();
    EXPECT_EQ(c.snd.lost.count, 1u);
    EXPECT_LE(now, 1000000000 + 400 * kUs) << "and it does not take long";
    auto v = tx_data();
    ASSERT_EQ(psns(v), psn_list{1001});
    EXPECT_TRUE(v[0].hdr.rtx);
    EXPECT_EQ(v[0].tclass, MRC_TC_RTX);
    EXPECT_EQ(c.stats.rtx_rack, 1u);
}

TEST_F(loss, nothing_is_lost_without_a_later_delivery)
{
    make();
    flight(5);
    sack(1003);
    tick(300 * kUs);
    EXPECT_EQ(c.snd.lost.count, 0u) << "1004, 1005 were the last ones sent";
}

// Time alone concludes nothing about them, so a timer would fire for nothing: with 64 QPs, for nearly each packet.
TEST_F(loss, packets_that_none_overtook_have_no_timer_but_the_tail_probe)
{
    make();
    flight(4);
    now += 10 * kUs;
    post(MRC_OP_WRITE, 4 * 1024);
    ASSERT_EQ(tx_data().size(), 4u);
    now += 40 * kUs;
    sack(1004);
    ASSERT_EQ(c.snd.out, 4u);
    EXPECT_EQ(mrc_conn_deadline_ns(&c), c.pto.at_ns);
    EXPECT_GT(c.pto.at_ns, now + 90 * kUs);
    now += 60 * kUs;            // they are late now, as the next delivery must find
    sack(1004, 0b111, 2);
    fire();
    EXPECT_EQ(c.snd.lost.count, 1u);
    EXPECT_LE(now, c.pto.at_ns);
}

// The delivery comes before the time at which it would have to look for losses: then that time needs a timer.
TEST_F(loss, a_packet_that_is_overtaken_later_has_a_timer_again)
{
    make();
    flight(4);
    now += 10 * kUs;
    post(MRC_OP_WRITE, 4 * 1024);
    ASSERT_EQ(tx_data().size(), 4u);
    now += 40 * kUs;
    sack(1004);
    ASSERT_EQ(mrc_conn_deadline_ns(&c), c.pto.at_ns);
    now += 2 * kUs;
    sack(1004, 0b111, 2);
    EXPECT_EQ(c.snd.lost.count, 0u) << "not late yet";
    EXPECT_LT(mrc_conn_deadline_ns(&c), c.pto.at_ns);
    EXPECT_EQ(mrc_conn_deadline_ns(&c), c.rack.at_ns);
}

TEST_F(loss, a_resent_packet_takes_another_ev)
{
    make();
    auto sent = flight(100);
    for (const mrc_txop &t : sent) {    // the last hop: no EV changes for that
        nack(t, MRC_NACK_TRIMMED_LASTHOP);
        auto v = tx_data();
        ASSERT_EQ(v.size(), 1u);
        EXPECT_NE(v[0].ev_idx, t.ev_idx);
        EXPECT_NE(v[0].hdr.plane, t.hdr.plane);
    }
}

// Where there is one plane, at least another EV.
TEST_F(loss, on_one_plane_a_resent_packet_takes_another_ev)
{
    rig_cfg k = defaults();

    k.planes = 1;
    k.evs = 2;
    make(k);
    auto sent = flight(100);
    for (const mrc_txop &t : sent) {
        nack(t, MRC_NACK_TRIMMED_LASTHOP);
        auto v = tx_data();
        ASSERT_EQ(v.size(), 1u);
        EXPECT_NE(v[0].ev_idx, t.ev_idx);
    }
}

TEST_F(loss, a_timeout_blames_the_ev)
{
    make();
    auto sent = flight(1);
    while (!c.stats.timeouts)
        fire();
    EXPECT_EQ(evs.count[sent[0].ev_idx].lost_pkts, 1u);
}

TEST_F(loss, rack_blames_the_ev)
{
    make();
    auto sent = flight(20);
    now += 50 * kUs;
    sack(1001, ~0ull >> 46, 2);     // 1002 is missing
    for (int i = 0; i < 10 && !c.snd.lost.count; i++)
        fire();
    ASSERT_EQ(c.snd.lost.count, 1u);
    for (u16 i = 0; i < evs.n; i++)
        EXPECT_EQ(evs.count[i].lost_pkts, i == sent[1].ev_idx ? 1u : 0u) << i;
}

// The last packets of a burst are lost: nothing later will tell.
TEST_F(loss, tail_probe)
{
    make();
    flight(5);
    sack(1003);
    std::vector<mrc_txop> probe;
    for (int i = 0; i < 10 && probe.empty(); i++) {
        fire();
        probe = tx_ctrl(MRC_OPC_PROBE);
    }
    ASSERT_EQ(probe.size(), 1u);
    EXPECT_LT(now, 1000000000 + 900 * kUs) << "well before the timeout";
    EXPECT_EQ(probe[0].tclass, MRC_TC_NO_TRIM) << "it must not overtake data";
    now += 50 * kUs;
    probe_answer(probe[0].hdr.u.probe.probe_id, 1003);
    if (!c.snd.lost.count)
        fire();
    EXPECT_EQ(psns(tx_data()), (psn_list{1004, 1005}));
    EXPECT_EQ(c.stats.timeouts, 0u);
}

TEST_F(loss, probes_back_off)
{
    rig_cfg k = defaults();

    k.tx.timeout_ns = 0;        // none: probes only
    make(k);
    flight(2);
    std::vector<u64> at;
    while (at.size() < 6) {
        fire();
        if (!tx_ctrl(MRC_OPC_PROBE).empty())
            at.push_back(now);
    }
    for (size_t i = 2; i < at.size(); i++)
        EXPECT_GT(at[i] - at[i - 1], at[i - 1] - at[i - 2]);
}

// mrcsim seed 469: what is refused again and again must not hide a loss.
TEST_F(loss, resending_does_not_push_the_probe_out)
{
    rig_cfg k = defaults();

    k.tx.timeout_ns = 10 * kMs;
    make(k);
    auto sent = flight(3);
    mrc_txop refused = sent[2];
    u64 begin = now;
    while (now < begin + 5 * kMs) {
        nack(refused, MRC_NACK_NO_RESOURCE);
        tick(20 * kUs);
        for (const mrc_txop &t : tx_all()) {
            if (t.hdr.opcode == MRC_OPC_PROBE)
                return;
            if (t.hdr.psn == refused.hdr.psn)
                refused = t;
        }
    }
    FAIL() << "no probe in 5 ms";
}

TEST_F(loss, an_answer_to_an_old_probe_counts)
{
    rig_cfg k = defaults();

    k.tx.timeout_ns = 0;
    make(k);
    post(MRC_OP_WRITE, 10);
    tx_data();
    std::vector<u16> ids;
    u64 first = 0;
    while (ids.size() < 3) {
        fire();
        for (const mrc_txop &t : tx_ctrl(MRC_OPC_PROBE)) {
            ids.push_back(t.hdr.u.probe.probe_id);
            if (!first)
                first = now;
        }
    }
    probe_answer(ids[0], 999);
    EXPECT_NEAR(static_cast<double>(c.rtt.srtt_ns), static_cast<double>(now - first), 100);
    u64 srtt = c.rtt.srtt_ns;
    now += 100 * kMs;
    probe_answer(ids[0], 999);
    EXPECT_EQ(c.rtt.srtt_ns, srtt) << "answered twice";
}

// A transport ACK may be late for reasons of its own.
TEST_F(loss, a_late_transport_ack_is_no_round_trip)
{
    make();
    flight(1);
    now += 80 * kMs;
    ack(1001);
    EXPECT_LT(c.rtt.srtt_ns, 100 * kUs);
}

// ---- timeouts ----

TEST_F(loss, rto_linear_then_exponential_then_failure)
{
    std::vector<u64> at;
    u64 timeouts = 0;

    make();                     // 1 ms, 2 linear, 3 doubling
    flight(1);
    u64 before = now;
    while (mrc_conn_failed(&c) == MRC_ST_OK && at.size() < 20) {
        fire();
        tx_all();
        if (c.stats.timeouts != timeouts) {
            timeouts = c.stats.timeouts;
            at.push_back((now - before + kMs / 2) / kMs);
            before = now;
        }
    }
    EXPECT_EQ(at, (std::vector<u64>{1, 1, 1, 2, 4, 8}));
    EXPECT_EQ(mrc_conn_failed(&c), MRC_ST_RETRY_EXC);
    EXPECT_EQ(show(cpls()), "101:2");
}

TEST_F(loss, rto_for_ever)
{
    rig_cfg k = defaults();

    k.tx.exp_cnt = MRC_EXP_FOREVER;
    make(k);
    post(MRC_OP_WRITE, 10);
    for (int i = 0; i < 200; i++) {
        tx_all();
        fire();
    }
    EXPECT_EQ(mrc_conn_failed(&c), MRC_ST_OK);
    tx_all();
    sack(1000);
    ack(1000);
    EXPECT_EQ(show(cpls()), "100:0");
}

TEST_F(loss, progress_restores_the_budget)
{
    make();
    post(MRC_OP_WRITE, 20 * 1024);
    tx_data();
    for (u32 i = 0; i < 20; i++) {
        u64 before = c.stats.timeouts;

        while (c.stats.timeouts < before + 2) {
            fire();
            tx_all();
        }
        ASSERT_EQ(mrc_conn_failed(&c), MRC_ST_OK) << i;
        sack(1000 + i);
        EXPECT_EQ(c.budget.retries, 0u);
    }
    ack(1019);
    EXPECT_EQ(show(cpls()), "100:0");
}

// mrcsim seed 20962: resending the window when queues are long makes them longer.
TEST_F(loss, a_timeout_resends_little)
{
    make();
    EXPECT_EQ(flight(50).size(), 50u);
    while (!c.stats.timeouts) {
        tx_all();               // tail probes, which nobody answers
        fire();
    }
    EXPECT_EQ(c.stats.timeouts, 1u);
    std::set<u32> resent;
    std::vector<u16> probes;
    for (const mrc_txop &t : tx_all()) {
        if (t.hdr.opcode == MRC_OPC_PROBE)
            probes.push_back(t.hdr.u.probe.probe_id);
        else
            resent.insert(t.hdr.psn);
    }
    EXPECT_EQ(resent, std::set<u32>{1001});
    ASSERT_EQ(probes.size(), 1u);
    // The answer tells that all the others are lost.
    now += 50 * kUs;
    probe_answer(probes[0], 1001);
    if (!c.snd.lost.count)
        fire();
    EXPECT_EQ(tx_data().size(), 49u);
}

TEST_F(loss, the_timeout_grows_with_the_round_trip)
{
    make();
    post(MRC_OP_WRITE, 10);
    tx_data();
    run_to(now + 10 * kUs);
    now += 900 * kUs;
    sack(1000, 0, 1, 1000);
    ack(1000);
    cpls();
    post(MRC_OP_WRITE, 10);
    tx_data();
    tick(2 * kMs);
    EXPECT_EQ(c.stats.timeouts, 0u) << "round trips of 0.9 ms, varying by half";
}

TEST_F(loss, a_lost_transport_ack_is_asked_for)
{
    make();
    post(MRC_OP_WRITE, 10);
    tx_data();
    sack(1000);                 // the D1 was lost
    std::vector<mrc_txop> probe;
    while (probe.empty()) {
        fire();
        probe = tx_ctrl(MRC_OPC_PROBE);
    }
    ack(1000);
    EXPECT_EQ(show(cpls()), "100:0");
    probe_answer(probe[0].hdr.u.probe.probe_id, 1000);
    EXPECT_EQ(mrc_conn_deadline_ns(&c), MRC_TIME_NEVER);
}

TEST_F(loss, timers_early_late_and_repeated)
{
    make();
    flight(3);
    for (int i = 0; i < 100; i++)
        run_to(now);
    EXPECT_EQ(c.stats.timeouts, 0u);
    tick(100 * kMs);
    EXPECT_EQ(c.stats.timeouts, 0u) << "this host slept: what the peer said comes first";
    fire();
    EXPECT_EQ(c.stats.timeouts, 1u);
    run_to(now);
    EXPECT_EQ(c.stats.timeouts, 1u);
}

TEST_F(loss, tick_wrap)
{
    now = (64ull << 32) - 20 * kUs;
    make();
    flight(20);                 // sent just before the ticks wrap
    now += 50 * kUs;
    sack(1000, ~0ull, 2);
    EXPECT_EQ(c.snd.lost.count, 0u);
    fire();
    EXPECT_EQ(psns(tx_data()), psn_list{1001});
    EXPECT_LT(c.rtt.srtt_ns, kMs);
}

// ---- how soon, and how patient ----

// Paths of 10 us of which one dies silently: what is lost there is found within three round
// trips of the first loss, the last packet into it included.
TEST_F(loss, a_dead_path_is_left_within_three_round_trips)
{
    constexpr u64 rtt = 10 * kUs, gap = 200;    // 50 packets per round trip
    rig_cfg k = defaults();
    std::deque<std::pair<u64, u32>> wire;       // arrival of the answer, PSN
    u64 first = 0, last_sent = 0;
    u16 dead = MRC_NONE16;
    u32 cack = 999;
    std::set<u32> got;

    k.conn.mpr_max = 8;
    k.evs = 32;
    make(k);
    post(MRC_OP_WRITE, 3000 * 1024);
    u64 begin = now;
    for (; now < begin + 50 * rtt; now += gap) {
        auto t = now - begin < 45 * rtt ? tx() : std::nullopt;

        if (t && mrc_opc_is_data(t->hdr.opcode)) {
            if (now - begin > 20 * rtt && dead == MRC_NONE16)
                dead = t->ev_idx;
            if (t->ev_idx == dead) {
                first = first ? first : now;
                last_sent = now;
            } else {
                wire.push_back({now + rtt + t->hdr.psn % 7 * 100, t->hdr.psn});
            }
        }
        // A SACK for every fourth packet, as it comes.
        for (int n = 0; !wire.empty() && wire.front().first <= now; n++) {
            u32 psn = wire.front().second;

            got.insert(psn);
            wire.pop_front();
            while (got.count(cack + 1))
                got.erase(++cack);
            if (psn % 4)
                continue;
            // The bitmap follows the trigger and rotates, as the receiver's does.
            u32 base = psn % 8 || psn < cack + 64 ? cack + 1 : psn - 63;
            u64 bits = 0;
            for (u32 g : got)
                if (g >= base && g - base < 64)
                    bits |= 1ull << (g - base);
            sack(cack, bits, static_cast<s16>(base - cack), psn);
        }
        if (now >= mrc_conn_deadline_ns(&c))
            run_to(now);
    }
    ASSERT_NE(first, 0u);
    EXPECT_LE(last_sent - first, 3 * rtt);
    EXPECT_GE(c.stats.rtx_rack, 1u);
    EXPECT_LE(c.stats.rtx_rack, 4u);
    EXPECT_EQ(evs.ev[dead].state, MRC_EV_ASSUMED_BAD);
    EXPECT_EQ(evs.bad, 1u) << "and no other path is blamed";
    EXPECT_EQ(c.stats.rtx_spurious, 0u);
}

// What comes late again and again is waited for.
TEST_F(loss, the_reordering_window_learns)
{
    rig_cfg k = defaults();

    k.tx.timestamps = true;
    make(k);
    u32 psn = 1000, alarms = 0;
    for (; psn < 1030; psn++) {
        post(MRC_OP_WRITE, 10);
        tx_data();
        now += 10 * kUs;
        ack(psn);
        cpls();
    }
    for (int i = 0; i < 20; i++) {
        u64 resent = c.stats.rtx_rack;

        post(MRC_OP_WRITE, 10 * 1024);
        auto v = tx_data();
        mrc_sack s = {};
        now += 10 * kUs;
        s.cack = psn - 1;
        s.ack_psn_offset = 10;
        s.sack_offset = 1;
        s.bitmap = 0x3fe;
        s.tx_ts = v[9].hdr.tx_ts;
        rig::sack(s);
        u64 late = now + 15 * kUs;      // the first of them: 25 us instead of 10
        while (mrc_conn_deadline_ns(&c) <= late) {
            fire();
            tx_data();
        }
        now = late;
        s.cack = psn + 9;
        s.ack_psn_offset = -9;
        s.tx_ts = v[0].hdr.tx_ts;
        rig::sack(s);
        ack(psn + 9);
        cpls();
        alarms += c.stats.rtx_rack != resent;
        psn += 10;
    }
    EXPECT_GE(alarms, 1u);
    EXPECT_LE(alarms, 4u) << "then it is known";
    EXPECT_GT(reo(), 8);
}

TEST_F(loss, late_acknowledgements_are_no_loss)
{
    make();
    post(MRC_OP_WRITE, 10);
    tx_data();
    now += 10 * kUs;
    sack(1000, 0, 1, 1000);
    ack(1000);
    cpls();
    c.rtt.var_ns = 0;
    post(MRC_OP_WRITE, 40 * 1024);
    tx_data();
    now += 60 * kUs;            // their way back is clogged
    sack(1000, ~0ull >> 32, 9, 1040);
    EXPECT_EQ(c.snd.lost.count, 0u);
}

// ---- planes ----

// The QP waits while no plane is up, and goes on at once when one returns.
TEST_F(loss, all_planes_down)
{
    make();
    flight(10);
    mrc_evset_local_planes(&evs, 0, now);
    mrc_conn_plane_event(&c, now);
    sound();
    for (int i = 0; i < 10 && c.snd.lost.count < 10; i++)
        fire();
    EXPECT_EQ(c.snd.lost.count, 10u);
    u64 back = now + 5 * kMs;   // of the 17 that the budget lasts
    while (mrc_conn_deadline_ns(&c) < back) {
        fire();
        EXPECT_TRUE(tx_all().empty());
    }
    now = back;
    EXPECT_EQ(mrc_conn_failed(&c), MRC_ST_OK);
    mrc_evset_local_planes(&evs, 2, now);
    mrc_conn_plane_event(&c, now);
    EXPECT_EQ(tx_data().size(), 10u);
    sack(1010);
    ack(1010);
    EXPECT_EQ(show(cpls()), "101:0");
    EXPECT_EQ(c.budget.retries, 0u);
}

TEST_F(loss, all_planes_down_for_good)
{
    make();
    flight(10);
    mrc_evset_local_planes(&evs, 0, now);
    mrc_conn_plane_event(&c, now);
    u64 begin = now;
    while (mrc_conn_failed(&c) == MRC_ST_OK && now < begin + kMs * 100) {
        fire();
        tx_all();
    }
    EXPECT_EQ(mrc_conn_failed(&c), MRC_ST_RETRY_EXC);
    EXPECT_LE(now - begin, 18 * kMs);
}


// Most of what is out on a plane that goes down arrives: it is resent when it has not.
TEST_F(loss, what_a_dead_plane_does_not_bring_is_resent)
{
    make();
    auto sent = flight(10);
    mrc_evset_local_planes(&evs, 1, now);
    mrc_conn_plane_event(&c, now);
    sound();
    EXPECT_TRUE(tx_data().empty());
    u64 begin = now;
    for (int i = 0; i < 10 && !c.snd.lost.count; i++)
        fire();
    EXPECT_LE(now - begin, 250 * kUs);
    auto v = tx_data();
    EXPECT_EQ(v.size(), 5u);
    for (const mrc_txop &t : v) {
        EXPECT_EQ(t.hdr.plane, 0);
        EXPECT_TRUE(t.hdr.rtx);
        EXPECT_EQ(sent[t.hdr.psn - 1001].hdr.plane, 1);
    }
    EXPECT_EQ(c.stats.rtx_plane, 5u);
    EXPECT_EQ(c.stats.timeouts, 0u);
    for (u16 i = 0; i < evs.n; i++)
        EXPECT_EQ(evs.ev[i].state, MRC_EV_GOOD) << "the port was the fault";
}

} // namespace
