// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_outsider.cc - faults that somebody found who had not written the engine.
#include "ack_rig.h"
#include "loss_rig.h"

#include <algorithm>
#include <vector>

namespace {

struct pauses : loss {
    // One packet after the other, each acknowledged after 50 us.
    void calm()
    {
        for (int i = 0; i < 50; i++) {
            post(MRC_OP_WRITE, 1024);
            tx_all();
            now += 50 * kUs;
            arrived();
            mrc_conn_timer(&c, now);
        }
    }
    void arrived()
    {
        sack(c.snd.next - 1, 0, 1, c.snd.next - 1);
        ack(c.snd.next - 1);
        cpls();
    }
};

// "Not twice in a row" means that nothing came between.
TEST_F(pauses, a_second_one_much_later_is_a_pause_too)
{
    make();
    calm();
    for (int i = 0; i < 2; i++) {
        post(MRC_OP_WRITE, 3 * 1024);
        tx_all();
        now += 100 * kMs;
        mrc_conn_timer(&c, now);
        EXPECT_EQ(c.stats.timeouts, 0u) << "the ring was not read yet, " << i;
        arrived();
        now += kMs;
        mrc_conn_timer(&c, now);
        calm();
        EXPECT_FALSE(c.pto.slept);
    }
}

TEST_F(pauses, progress_ends_one)
{
    make();
    calm();
    post(MRC_OP_WRITE, 3 * 1024);
    tx_all();
    now += 100 * kMs;
    mrc_conn_timer(&c, now);
    ASSERT_TRUE(c.pto.slept);
    sack(c.snd.una, 0, 1, c.snd.una);
    EXPECT_EQ(c.snd.out, 2u);
    EXPECT_FALSE(c.pto.slept);
}

struct queries : rig {
    void traffic() { mrc_evset_earn(&evs, MRC_PROBE_COST * MRC_PROBE_BURST); }

    void heard(u8 p)
    {
        mrc_arrivals h = {};

        mrc_arrivals_add(&h, p);
        mrc_evset_arrived(&evs, &h, now);
    }

    // The first EV that is verified does not answer, the others do. Returns it.
    u16 demote()
    {
        u16 idx = MRC_NONE16, slow = MRC_NONE16;

        for (int i = 0; i < 2000 && !evs.bad; i++, now += 5 * kUs) {
            heard(0);
            heard(1);
            traffic();
            if (!mrc_evset_verify_next(&evs, &c.spray, now, &idx))
                continue;
            if (slow == MRC_NONE16)
                slow = idx;
            else if (idx != slow)
                mrc_evset_probe_answer(&evs, idx, false, now);
        }
        return slow;
    }

    void readmit()
    {
        u16 idx;

        for (int i = 0; i < 1000 && evs.bad; i++, now += 50 * kUs) {
            traffic();
            while (mrc_evset_probe_next(&evs, now, &idx))
                mrc_evset_probe_answer(&evs, idx, false, now);
        }
    }
};

// It was demoted once for a late answer, and readmitted. Its next answer is to the question after a loss.
TEST_F(queries, an_answer_is_not_taken_for_one_of_long_ago)
{
    rig_cfg k = defaults();
    u16 idx;
    int asked = 0;

    k.evs = 8;
    k.planes = 2;
    make(k);
    now += 100 * kMs;
    for (u8 p = 0; p < 2; p++)
        mrc_evset_rtt(&evs, p, 20 * kUs, now);
    now += kMs;
    u16 slow = demote();
    ASSERT_EQ(evs.bad, 1);
    u8 p = evs.ev[slow].plane;
    readmit();
    ASSERT_EQ(evs.bad, 0);
    now += 5 * kMs;
    u64 before = evs.stats.suspicions;
    u16 lost = static_cast<u16>(evs.start[p] == slow ? slow + 1 : evs.start[p]);
    u32 sent = mrc_ev_tick(now);
    now += 100 * kUs;
    mrc_evset_lost(&evs, lost, sent, false, now);
    evs.plane[p].probe_pos = static_cast<u16>(slow - evs.start[p]);
    for (int i = 0; i < 100 && asked < 2; i++, now += 20 * kUs) {
        traffic();
        mrc_evset_delivered(&evs, !p, evs.start[!p], mrc_ev_tick(now), now);
        while (asked < 2 && mrc_evset_probe_next(&evs, now, &idx)) {
            asked++;
            EXPECT_EQ(idx, slow);
            mrc_evset_probe_answer(&evs, idx, false, now + 10 * kUs);
        }
    }
    EXPECT_GE(asked, 1);
    EXPECT_EQ(evs.stats.suspicions, before) << "it has answered";
}

struct tail_probes : rig {
    std::vector<u16> asked(s32 credit)
    {
        std::vector<u16> ids;

        for (int i = 0; i < 50 && ids.empty(); i++) {
            fire();
            mrc_credit_has(&evs, 0, now);
            evs.credit.units = credit;
            for (const mrc_txop &t : tx_ctrl(MRC_OPC_PROBE))
                if (t.hdr.u.probe.probe_id >= MRC_PROBE_ID_TAIL)
                    ids.push_back(t.hdr.u.probe.probe_id);
        }
        return ids;
    }
};

// Without credit the rest of a burst is not sent later, when the peer answers.
TEST_F(tail_probes, a_burst_without_credit_is_over)
{
    rig_cfg k = defaults();

    k.planes = 1;
    k.evs = 4;
    k.tx.timeout_ns = 0;
    k.rx.sack_pkts = 5000;
    make(k);
    post(MRC_OP_WRITE, 10);
    tx_data();
    for (int i = 0; i < 6; i++)
        EXPECT_EQ(asked(0).size(), 1u);
    EXPECT_EQ(c.pto.more, 0u);
    for (u16 back = 0; back < 4; back++)
        probe_answer(static_cast<u16>(c.pto.id - back), c.snd.una - 1);
    EXPECT_EQ(asked(MRC_PROBE_COST * MRC_PROBE_BURST).size(), 1u) << "the peer answers";
}

TEST_F(tail_probes, numbers_have_twelve_bits)
{
    for (u16 start : {u16{0xf100}, u16{0xfffe}}) {
        rig_cfg k = defaults();
        std::vector<u16> ids;

        k.tx.timeout_ns = 0;
        make(k);
        c.pto.id = start;
        post(MRC_OP_WRITE, 10);
        tx_data();
        for (int i = 0; i < 50 && ids.size() < 3; i++) {
            fire();
            for (const mrc_txop &t : tx_ctrl(MRC_OPC_PROBE))
                ids.push_back(t.hdr.u.probe.probe_id);
        }
        ASSERT_GE(ids.size(), 3u);
        probe_answer(static_cast<u16>(ids[0] & 0xfff), 999);
        EXPECT_EQ(c.rtt.srtt_ns, 0u) << "an EV probe's number";
        probe_answer(ids[0], 999);
        EXPECT_NE(c.rtt.srtt_ns, 0u) << std::hex << start;
        evs_mem.clear();
    }
}

using told = ack_rig;

// What the controller was not told of as lost is not given back to it.
TEST_F(told, nothing_is_given_back_that_was_not_taken)
{
    rig_cfg k = defaults();

    k.tx.timeout_ns = 0;
    auto v = flight(4, k);
    now += 50 * kUs;
    sack(sack_of(v[0], 1000));
    for (int i = 0; i < 100 && !c.stats.rtx_rto; i++) {
        fire();
        tx_all();
    }
    ASSERT_EQ(c.stats.rtx_rto, 1u);
    EXPECT_EQ(eye.lost, 0u);
    EXPECT_EQ(eye.timeouts, 0u);
    now += kUs;
    sack(1003, 0, 1, 1003);
    EXPECT_EQ(eye.spurious_n, 0u);
}

// A READ whose answer is slow, of a peer that answers probes: nothing is in flight.
TEST_F(told, a_slow_answer_is_no_congestion)
{
    mrc_cc_cfg cc = {};
    rig_cfg k = defaults();

    cc.window_bytes = 1u << 30;
    mrc_cc_init(&eye.cc, &spy_ops, &cc, now);
    k.tx.cc = &eye.cc;
    make(k);
    post(MRC_OP_READ, 1024);
    auto v = tx_data();
    now += 50 * kUs;
    sack(v[0].hdr.psn, 0, 1, v[0].hdr.psn);
    ack(v[0].hdr.psn);
    for (int i = 0; i < 30; i++) {
        fire();
        for (const mrc_txop &t : tx_ctrl(MRC_OPC_PROBE)) {
            now += 50 * kUs;
            probe_answer(t.hdr.u.probe.probe_id, v[0].hdr.psn);
        }
    }
    EXPECT_GT(c.stats.timeouts, 0u);
    EXPECT_EQ(eye.timeouts, 0u);
}

TEST_F(told, what_could_not_be_sent_may_leave_beyond_the_window_again)
{
    auto v = flight(8);

    now += 50 * kUs;
    sack(sack_of(v[7], 999));
    ASSERT_GE(c.snd.inflight, 2 * kFull);
    eye.cc.cwnd_bytes = kFull;
    mrc_budget_lose(&c, c.snd.una & c.snd.mask, now);
    ASSERT_TRUE(c.budget.beyond);
    auto t = tx();
    ASSERT_TRUE(t && t->hdr.rtx);
    EXPECT_FALSE(c.budget.beyond);
    mrc_conn_tx_undo(&c, &*t);
    EXPECT_TRUE(tx().has_value());
}

// ---- and what no test saw ----

TEST_F(told, an_ack_tells_what_was_in_flight)
{
    flight(4);
    now += 50 * kUs;
    ack(1001);
    EXPECT_EQ(eye.ack.inflight_bytes, 4 * kFull);
    EXPECT_EQ(eye.ack.acked_bytes, 2 * kFull);
}

TEST_F(told, a_nack_tells_the_base_of_all_planes)
{
    auto v = flight(8);

    now += 50 * kUs;
    sack(sack_of(v[0], 1000));
    ASSERT_GT(mrc_evset_mean_base_ns(&evs), 0u);
    nack(v[3], MRC_NACK_TRIMMED);
    EXPECT_EQ(eye.nack.mean_base_ns, mrc_evset_mean_base_ns(&evs));
}

TEST_F(told, each_trim_costs_a_retry)
{
    for (mrc_nack why : {MRC_NACK_TRIMMED, MRC_NACK_TRIMMED_LASTHOP}) {
        auto v = flight(2);

        now += 50 * kUs;
        EXPECT_EQ(c.budget.retries, 0u);
        nack(v[0], why);
        EXPECT_EQ(c.budget.retries, 1u) << why;
        ack(1001);
    }
}

// Where the round trip is known, silence says something sooner.
TEST_F(tail_probes, bursts_begin_sooner_where_a_round_trip_is_known)
{
    std::vector<size_t> sizes[2];

    for (bool known : {false, true}) {
        rig_cfg k = defaults();

        k.planes = 1;
        k.evs = 4;
        k.tx.timeout_ns = 0;
        make(k);
        post(MRC_OP_WRITE, 2048);
        tx_data();
        now += 50 * kUs;
        if (known)
            sack(1000, 0, 1, 1000);
        EXPECT_EQ(c.rtt.srtt_ns != 0, known);
        for (int i = 0; i < 7; i++)
            sizes[known].push_back(asked(MRC_PROBE_COST * MRC_PROBE_BURST).size());
        evs_mem.clear();
    }
    EXPECT_EQ(sizes[0], (std::vector<size_t>{1, 1, 1, 1, 2, 4, 4}));
    EXPECT_EQ(sizes[1], (std::vector<size_t>{1, 1, 2, 4, 4, 4, 4}));
}

} // namespace
