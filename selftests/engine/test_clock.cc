// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_clock.cc - round trips are smoothed, surprises are cut, and what is waited for follows from that.
#include "conn_rig.h"

namespace {

mrc_clock clock_of(u32 srtt_ns, u32 var_ns)
{
    mrc_clock k = {};

    k.srtt_ns = srtt_ns;
    k.var_ns = var_ns;
    return k;
}

TEST(clock, three_waits)
{
    const struct {
        u32 srtt, var;
        u64 late, lost, due; // lost: with a window of a quarter of a round trip
    } cases[] = {
        {0, 0, 0, 0, 0},
        {20000, 1000, 25000, 25000, 44000},
        {20000, 3000, 32000, 25000, 52000},
        {2000, 0, 3000, 3000, 4000},
        {4000, 200, 5000, 5000, 8800},
        {1000000000, 1000000000, 5000000000, 1250000000, 6000000000},
    };

    for (const auto &x : cases) {
        mrc_clock k = clock_of(x.srtt, x.var);

        EXPECT_EQ(mrc_clock_late_ns(&k), x.late) << x.srtt;
        EXPECT_EQ(mrc_clock_lost_ns(&k, x.srtt / 4), x.lost) << x.srtt;
        EXPECT_EQ(mrc_clock_due_ns(&k), x.due) << x.srtt;
    }
}

TEST(clock, the_first_sample_is_all_that_is_known)
{
    const struct {
        u64 rtt;
        u32 srtt;
    } cases[] = {{20000, 20000}, {0, 1}, {~0ull, 1000000000}};

    for (const auto &x : cases) {
        mrc_clock k = clock_of(0, 0);

        EXPECT_EQ(mrc_clock_sample(&k, x.rtt, 5 * kMs), x.srtt);
        EXPECT_EQ(k.srtt_ns, x.srtt);
        EXPECT_EQ(k.var_ns, x.srtt / 2);
    }
}

TEST(clock, variation_rises_fast_and_falls_slowly)
{
    mrc_clock k = clock_of(20000, 1000);

    EXPECT_EQ(mrc_clock_sample(&k, 29000, kMs), 29000u);
    EXPECT_EQ(k.srtt_ns, 21125u);
    EXPECT_EQ(k.var_ns, 3000u);
    mrc_clock_sample(&k, 21125, kMs);
    EXPECT_EQ(k.srtt_ns, 21125u);
    EXPECT_EQ(k.var_ns, 2813u);
    mrc_clock_sample(&k, 17125, kMs);
    EXPECT_EQ(k.srtt_ns, 20625u);
    EXPECT_EQ(k.var_ns, 3109u);
}

// mrcsim pause-lost: a peer that paused answers a whole window late.
TEST(clock, a_pause_counts_once)
{
    for (u64 pause : {1 * kMs, 10 * kMs, 100 * kMs}) {
        mrc_clock k = clock_of(10000, 1250);
        u64 now = 1000 * kMs;

        EXPECT_EQ(mrc_clock_sample(&k, pause, now), 50000u) << "twice what is due";
        for (int i = 1; i < 64; i++)
            EXPECT_EQ(mrc_clock_sample(&k, pause - 10, now + 10u * static_cast<u64>(i)), 0u);
        EXPECT_EQ(k.srtt_ns, 15000u);
        EXPECT_EQ(mrc_clock_sample(&k, 10000, now + 11000), 10000u) << "what follows is believed";
        for (int i = 0; i < 60; i++)
            mrc_clock_sample(&k, 10000, now + 12000);
        EXPECT_LT(mrc_clock_due_ns(&k), 30 * kUs);
    }
}

TEST(clock, what_is_due_is_not_cut)
{
    mrc_clock k = clock_of(10000, 1250);

    EXPECT_EQ(mrc_clock_sample(&k, 50000, 1000 * kMs), 50000u);
    k = clock_of(10000, 1250);
    EXPECT_EQ(mrc_clock_sample(&k, 50001, 1000 * kMs), 50000u);
    // Sent at the time of the cut: it is the next round trip's.
    EXPECT_GT(mrc_clock_sample(&k, 400 * kUs, 1000 * kMs + 400 * kUs), 50000u);
}

TEST(clock, a_longer_route_is_learnt)
{
    mrc_clock k = clock_of(10000, 1250);
    u64 now = 1000 * kMs;
    int n = 0;

    for (; mrc_clock_late_ns(&k) < 10 * kMs; n++)
        mrc_clock_sample(&k, 10 * kMs, now += 10 * kMs);
    EXPECT_EQ(n, 6);
}

// 274 s later the tick of the cut comes round again.
TEST(clock, an_old_cut_cuts_nothing)
{
    mrc_clock k = clock_of(10000, 1250);
    u64 now = 1000 * kMs;

    mrc_clock_sample(&k, kMs, now);
    k = clock_of(10000, 1250);
    EXPECT_EQ(mrc_clock_sample(&k, kMs, now + 200'000 * kMs), 50000u);
}

class clocks : public rig {};

// A flow that begins waits by what others know of the paths, and else for little.
TEST_F(clocks, the_first_flight_takes_its_patience_from_the_path_set)
{
    make();
    EXPECT_EQ(mrc_rtt_patience_ns(&c), 200 * kUs);
    for (int i = 0; i < 100; i++)
        mrc_evset_rtt(&evs, 0, 30 * kUs, now);
    u64 due = mrc_evset_patience_ns(&evs);
    EXPECT_NEAR(static_cast<double>(due), 60e3, 3e3);
    EXPECT_EQ(mrc_rtt_patience_ns(&c), due);
    mrc_rtt_sample(&c, MRC_PLANES_MAX, 100 * kUs, now);
    EXPECT_EQ(mrc_rtt_patience_ns(&c), 400 * kUs) << "and by its own, as soon as it has one";
}

// The best of planes: timers and batches take as long as a quarter of its round trip.
TEST_F(clocks, nothing_is_late_within_a_microsecond)
{
    make();
    for (int i = 0; i < 300; i++)
        mrc_evset_rtt(&evs, 0, 2 * kUs, now);
    evs.plane[0].reo = 1;
    EXPECT_EQ(mrc_evset_late_ns(&evs, 0), 3 * kUs);
    EXPECT_EQ(mrc_evset_lost_ns(&evs, 0), 3 * kUs);
}

// Nothing is known, and nothing is answered: 200 us, then twice as long each time.
TEST_F(clocks, an_unknown_peer_is_asked_at_doubling_times)
{
    rig_cfg k = defaults();
    std::vector<u64> asked;

    k.tx.timeout_ns = 0;
    make(k);
    post(MRC_OP_WRITE, 10);
    tx_data();
    u64 begin = now;
    while (asked.size() < 5 && now < begin + 100 * kMs) {
        fire();
        if (tx_ctrl(MRC_OPC_PROBE).size())
            asked.push_back((now - begin) / kUs);
    }
    EXPECT_EQ(asked, (std::vector<u64>{200, 600, 1400, 3000, 6200}));
}

} // namespace
