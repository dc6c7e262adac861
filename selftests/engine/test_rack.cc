// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_rack.cc - loss by time where planes differ: each waits by its own round trip.
#include "conn_rig.h"

#include <bit>
#include <map>
#include <set>

namespace {

// A link of several planes, each with its own round trip. Packets leave every gap_ns; the
// peer sends a SACK for every fourth packet (and one more or less, in turns), whose bitmap
// follows the trigger.
class rack : public rig {
protected:
    void start(std::vector<u64> round_trips, bool stamps = true)
    {
        rig_cfg k = defaults();

        rtt = round_trips;
        k.planes = static_cast<u8>(rtt.size());
        k.evs = static_cast<u16>(8 * rtt.size());
        k.conn.mpr_max = 32;
        k.tx.timestamps = stamps;
        k.tx.timeout_ns = 67 * kMs;
        k.tx.cwnd_bytes = 64u << 20;
        make(k);
        dead.assign(rtt.size(), false);
        begin = now;
    }
    void run(u64 ns, u64 gap = 1000)
    {
        for (u64 end = now + ns; now < end; now += gap) {
            if (c.msgs.sq_tail - c.msgs.sq_head < 4)
                post(MRC_OP_WRITE, message);
            send();
            answer();
            if (now >= mrc_conn_deadline_ns(&c))
                run_timer();
        }
        sound();
    }
    u64 resent() const { return c.stats.rtx_rack + c.stats.rtx_rto; }

    std::vector<u64> rtt;
    std::vector<bool> dead;
    u64 begin = 0, last_into_dead = 0, into_dead = 0;
    u32 message = 64 * 1024;

    struct copy {
        u32 psn, ev;
        u16 ts;
    };
    void run_timer() { mrc_conn_timer(&c, now); }
    void send()
    {
        mrc_txop t;

        for (int ctrl = 0; ctrl < 4 && mrc_conn_tx_next(&c, now, &t); ctrl++) {
            if (!mrc_opc_is_data(t.hdr.opcode))
                continue;
            if (dead[t.hdr.plane]) {
                last_into_dead = now;
                into_dead++;
                return;
            }
            wire.insert({now + rtt[t.hdr.plane], {t.hdr.psn, t.hdr.ev, t.hdr.tx_ts}});
            return;
        }
    }
    void answer()
    {
        while (!wire.empty() && wire.begin()->first <= now) {
            copy k = wire.begin()->second;

            wire.erase(wire.begin());
            bool again = mrc_psn_diff(k.psn, cack) <= 0 || got.count(k.psn);
            if (!again)
                got.insert(k.psn);
            bytes += again ? 0 : 5;
            u32 was = cack;
            while (got.count(mrc_psn_add(cack, 1)))
                got.erase(cack = mrc_psn_add(cack, 1));
            if (!again && ++since < 4 + (turn & 1))
                continue;
            since = 0;
            turn++;
            tell(k, was);
        }
    }
    void tell(const copy &k, u32)
    {
        mrc_pkt p = {};
        mrc_sack &s = p.u.sack;
        s32 ahead = mrc_psn_diff(k.psn, cack);
        s32 base = turn % 2 && ahead > 63 ? ahead - 63 : 1;

        p.opcode = MRC_OPC_SACK;
        p.plane = rig::turn();
        s.cack = cack;
        s.ack_psn_offset = static_cast<s16>(ahead);
        s.ev = k.ev;
        s.tx_ts = k.ts;
        s.rcvd_bytes = bytes & 0xffffff;
        s.sack_offset = static_cast<s16>(base);
        for (s32 i = 0; i < 64; i++)
            if (got.count(mrc_psn_add(cack, base + i)))
                s.bitmap |= 1ull << i;
        mrc_rxop o;
        mrc_conn_rx_begin(&c, &p, now, &o);
        p = {};
        p.opcode = MRC_OPC_ACK;
        p.plane = rig::turn();
        p.psn = cack;
        p.u.aeth.syndrome = MRC_AETH_CREDIT_NONE;
        mrc_conn_rx_begin(&c, &p, now, &o);
        mrc_cpl x;
        while (ev.complete(&x))
            ;
    }
    std::multimap<u64, copy> wire; // by the time of the answer
    std::set<u32> got;
    u32 cack = 999, since = 0, turn = 0, bytes = 0;
};

// One plane is slower than the others, by any measure: it is learnt, and then nothing is
// resent in vain.
TEST_F(rack, a_slower_plane_is_learnt)
{
    for (bool stamps : {true, false}) {
        for (u64 more : {60 * kUs, 150 * kUs, 300 * kUs, 2 * kMs}) {
            start({20 * kUs, 20 * kUs, 20 * kUs, 20 * kUs + more}, stamps);
            run(10 * kMs);
            u64 before = resent(), sent = c.stats.tx_pkts;
            run(10 * kMs);
            EXPECT_LE((resent() - before) * 1000, c.stats.tx_pkts - sent)
                << more << " ns more, stamps " << stamps;
            EXPECT_GT(c.stats.tx_pkts - sent, 1000u);
            EXPECT_NEAR(static_cast<double>(evs.plane[3].srtt_ns), 20e3 + more, 0.2 * more);
            EXPECT_NEAR(static_cast<double>(evs.plane[0].srtt_ns), 20e3, 4e3);
            TearDown();
            wire.clear();
            got.clear();
            cack = 999;
            bytes = since = 0;
        }
    }
}

// All planes alike, no loss: nothing is resent, and the timer is not needed.
// mrcsim receiver-silent-67ms: a probe finds the queue of an idle receiver, the first window of data does not.
TEST_F(rack, a_plane_that_only_a_probe_has_measured_is_not_judged_by_that)
{
    start({300 * kUs, 400 * kUs});
    mrc_evset_probe_rtt(&evs, 1, 20 * kUs, now);
    run(1 * kMs);
    EXPECT_GT(c.snd.una, 1100u);
    EXPECT_EQ(resent(), 0u);
}

TEST_F(rack, nothing_is_resent_where_nothing_is_lost)
{
    start({40 * kUs, 40 * kUs, 40 * kUs, 40 * kUs});
    run(20 * kMs);
    EXPECT_GT(c.stats.tx_pkts, 1000u);
    EXPECT_EQ(resent(), 0u);
    EXPECT_EQ(c.stats.probes_sent, 0u);
    EXPECT_EQ(evs.bad, 0u);
}

// mrcsim --seed 139089: the time to look again was found while round trips were long. They became short, and what
// was lost meanwhile waited for that time.
TEST_F(rack, a_deadline_shrinks_with_the_round_trips)
{
    start({10 * kMs, 10 * kMs});
    run(60 * kMs, 10 * kUs);
    for (u64 end = now + 30 * kMs; now < end; now += 10 * kUs) {
        since = 9;      // all is told
        answer();
        if (now >= mrc_conn_deadline_ns(&c))
            run_timer();
    }
    ASSERT_EQ(c.snd.busy, 0u);
    ASSERT_EQ(resent(), 0u);
    rtt = {20 * kUs, 20 * kUs};
    message = 4 << 20;
    u64 from = now;
    run(30 * kUs);
    dead[0] = dead[1] = true;
    run(1 * kUs);
    dead[0] = dead[1] = false;
    ASSERT_EQ(into_dead, 1u);
    while (!resent() && now < from + 40 * kMs)
        run(10 * kUs);
    EXPECT_GT(resent(), 0u);
    EXPECT_LT(now - from, 1 * kMs);
}

} // namespace
