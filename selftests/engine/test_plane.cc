// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_plane.cc - round trips by plane, their base, and how late is lost.
#include <random>
#include <vector>

#include "ev_rig.h"

namespace {

class plane : public ev_rig {
protected:
    void rtt(u8 p, u64 ns, int n = 1, u64 step = 5 * kUs)
    {
        for (; n; n--, now += step)
            mrc_evset_rtt(&s, p, ns, now);
    }
};

TEST_F(plane, nothing_is_known_at_first)
{
    make(8, 2);
    EXPECT_EQ(mrc_evset_srtt_ns(&s, 0), 0u);
    EXPECT_EQ(mrc_evset_base_ns(&s, 0), 0u);
    EXPECT_EQ(mrc_evset_mean_base_ns(&s), 0u);
    EXPECT_EQ(mrc_evset_late_ns(&s, 0), 0u);
    EXPECT_EQ(mrc_evset_lost_ns(&s, 0), 0u);
    EXPECT_EQ(mrc_evset_patience_ns(&s), 0u);
    EXPECT_EQ(mrc_evset_share(&s, 0), MRC_SHARE_FULL);
}

TEST_F(plane, planes_are_known_apart)
{
    make(8, 2);
    rtt(0, 20 * kUs, 200);
    rtt(1, 2 * kMs, 200);
    EXPECT_EQ(mrc_evset_srtt_ns(&s, 0), 20 * kUs);
    EXPECT_EQ(mrc_evset_srtt_ns(&s, 1), 2 * kMs);
    EXPECT_EQ(mrc_evset_late_ns(&s, 0), 25 * kUs);
    EXPECT_EQ(mrc_evset_lost_ns(&s, 0), 32500u);
    EXPECT_EQ(mrc_evset_lost_ns(&s, 1), 3250 * kUs);
    EXPECT_GE(mrc_evset_patience_ns(&s), 4 * kMs) << "of the slowest";
    EXPECT_EQ(mrc_evset_mean_base_ns(&s), 1010 * kUs);
    mrc_evset_local_planes(&s, 1, now);
    EXPECT_LT(mrc_evset_patience_ns(&s), 100 * kUs) << "in use";
    EXPECT_EQ(mrc_evset_mean_base_ns(&s), 20 * kUs);
}

TEST_F(plane, variation_is_remembered_for_more_than_a_few_samples)
{
    make(8, 2);
    rtt(0, 20 * kUs, 200);
    rtt(0, 70 * kUs);
    u32 after = s.plane[0].var_ns;
    EXPECT_GE(after, 12 * kUs);
    rtt(0, 20 * kUs, 4);
    EXPECT_GE(s.plane[0].var_ns, after * 3 / 4);
    rtt(0, 20 * kUs, 100);
    EXPECT_LE(s.plane[0].var_ns, 1 * kUs);
}

TEST_F(plane, the_base_expires_within_seconds)
{
    make(8, 2);
    rtt(0, 20 * kUs, 10);
    rtt(0, 70 * kUs, 900, 1 * kMs);
    EXPECT_EQ(mrc_evset_base_ns(&s, 0), 20 * kUs);
    rtt(0, 70 * kUs, 1200, 1 * kMs);
    EXPECT_EQ(mrc_evset_base_ns(&s, 0), 70 * kUs);
    rtt(0, 30 * kUs);
    EXPECT_EQ(mrc_evset_base_ns(&s, 0), 30 * kUs) << "a shorter one counts at once";
}

// Once so late, allowed for; the allowance goes by a quarter of a round trip in sixteen.
TEST_F(plane, the_window_grows_to_what_was_late_and_decays)
{
    make(8, 2);
    rtt(0, 20 * kUs, 200);
    mrc_evset_false_alarm(&s, 0, MRC_NONE16, mrc_ev_tick(now), 90 * kUs, now);
    EXPECT_GE(mrc_evset_lost_ns(&s, 0), 90 * kUs);
    EXPECT_LE(mrc_evset_lost_ns(&s, 0), 96 * kUs);
    EXPECT_EQ(mrc_evset_lost_ns(&s, 1), 0u) << "of this plane";
    rtt(0, 20 * kUs, 63);               // 315 us: not yet sixteen
    u64 grown = mrc_evset_lost_ns(&s, 0);
    EXPECT_GE(grown, 90 * kUs);
    rtt(0, 20 * kUs, 2);
    EXPECT_EQ(mrc_evset_lost_ns(&s, 0), grown - 5 * kUs);
    rtt(0, 20 * kUs, 8);
    EXPECT_EQ(mrc_evset_lost_ns(&s, 0), grown - 5 * kUs) << "once in sixteen round trips";
    rtt(0, 20 * kUs, 3000);
    EXPECT_EQ(mrc_evset_lost_ns(&s, 0), 32500u) << "a round trip and five eighths";
    mrc_evset_false_alarm(&s, 0, MRC_NONE16, mrc_ev_tick(now), 0, now);
    EXPECT_EQ(mrc_evset_lost_ns(&s, 0), 37500u) << "by how much is not known: a bit";
    mrc_evset_false_alarm(&s, 0, MRC_NONE16, mrc_ev_tick(now), 10 * kMs, now);
    EXPECT_EQ(mrc_evset_lost_ns(&s, 0), 100 * kUs) << "four round trips more, whatever it was";
    rtt(0, 20 * kUs, 3000);
    EXPECT_EQ(mrc_evset_lost_ns(&s, 0), 32500u) << "it does not fall below that";
}

TEST_F(plane, what_is_out_on_a_plane_that_went_waits_an_eighth)
{
    make(8, 2);
    rtt(0, 80 * kUs, 200);
    mrc_evset_remote_planes(&s, 2, now);
    EXPECT_EQ(mrc_evset_lost_ns(&s, 0), 90 * kUs);
}

TEST_F(plane, absurd_samples_do_no_harm)
{
    make(8, 2);
    for (u64 ns : {0ull, 1ull, ~0ull, 1ull << 33, 0ull, ~0ull, 0ull}) {
        rtt(0, ns);
        EXPECT_LE(mrc_evset_lost_ns(&s, 0), 100000 * kMs);
        EXPECT_LE(mrc_evset_patience_ns(&s), 100000 * kMs);
        EXPECT_GE(mrc_evset_srtt_ns(&s, 0), 1u);
        EXPECT_EQ(mrc_evset_check(&s), 0);
    }
}

// ---- capacity ----

// Four planes, the last of a fifth of the others' speed: each carries what it can. Delay alone tells.
TEST_F(plane, a_slow_plane_gets_what_it_carries)
{
    const double cap[4] = {1, 1, 1, 0.2};
    double queue[4] = {}, load[4] = {}, sum = 0;

    make(32, 4);
    for (int round = 0; round < 4000; round++, now += 20 * kUs) {
        // A window's worth in this round trip, by the shares.
        double shares = 0;
        for (u8 p = 0; p < 4; p++)
            shares += s.share[p];
        for (u8 p = 0; p < 4; p++) {
            // A QP has no more than so much outstanding on one plane.
            double in = std::min(3.2 * s.share[p] / shares, cap[p] + 2 - queue[p]);

            queue[p] = std::max(0.0, queue[p] + in - cap[p]);
            if (round >= 1000)
                load[p] += std::min(cap[p], in);
            for (int k = 0; k < 4; k++)
                mrc_evset_rtt(&s, p, static_cast<u64>(20000 * (1 + queue[p] / cap[p])), now + 5000 * k);
        }
    }
    for (double l : load)
        sum += l;
    EXPECT_GE(sum, 0.9 * 3.2 * 3000);
    EXPECT_LT(mrc_evset_share(&s, 3), 128u);
    EXPECT_GE(mrc_evset_share(&s, 0), 200u);
}

// Emulated hosts: most round trips are three times the shortest, one in eight takes milliseconds, each
// plane's for itself. None of four equal planes gets less for that.
TEST_F(plane, noise_is_no_queue)
{
    std::mt19937 gen(42);
    u64 rounds = 0, less = 0;

    make(32, 4);
    for (int i = 0; i < 20000; i++, now += 100 * kUs) {
        u8 p = static_cast<u8>(gen() % 4);
        u32 kind = static_cast<u32>(gen() % 64);

        rtt(p, kind == 0 ? 60 * kUs : kind < 9 ? (1 + gen() % 4) * kMs : (150 + gen() % 100) * kUs, 1, 0);
        for (u8 q = 0; q < 4; q++, rounds++)
            less += s.share[q] < MRC_SHARE_FULL * 9 / 10;
    }
    EXPECT_LE(less, rounds / 100);
}

TEST_F(plane, congestion_of_all_planes_is_no_planes)
{
    make(32, 4);
    auto run = [&](int rounds, enum mrc_ev_sign kind) {
        for (; rounds; rounds--, now += 20 * kUs)
            for (u8 p = 0; p < 4; p++) {
                sign(static_cast<u16>(p * 8), kind);
                mrc_evset_delivered(&s, p, static_cast<u16>(p * 8), mrc_ev_tick(now), now);
                rtt(p, 20 * kUs, 1, 0);
            }
    };
    run(500, MRC_SIGN_ECN);
    for (u8 p = 0; p < 4; p++) {
        EXPECT_EQ(mrc_evset_share(&s, p), MRC_SHARE_FULL);
        EXPECT_GE(s.share[p], 192u);
    }
    run(10, MRC_SIGN_TRIMMED);
    s.plane[0].weight = MRC_SHARE_FULL / 2;
    EXPECT_EQ(mrc_evset_share(&s, 0), MRC_SHARE_FULL) << "slower once, but now all are congested";
}

// Links of 50 Mbit/s: a probe takes 0.5 ms, data 3 ms. Two planes had probes, two had none: all
// are alike.
TEST_F(plane, a_probe_is_no_base_for_data)
{
    make(32, 4);
    for (u8 p : {0, 3})
        mrc_evset_probe_rtt(&s, p, 500 * kUs, now);
    EXPECT_EQ(mrc_evset_base_ns(&s, 0), 0u);
    EXPECT_EQ(mrc_evset_srtt_ns(&s, 0), 500 * kUs) << "but a round trip";
    for (int round = 0; round < 200; round++, now += 3 * kMs)
        for (u8 p = 0; p < 4; p++) {
            mrc_evset_delivered(&s, p, static_cast<u16>(p * 8), mrc_ev_tick(now), now);
            mrc_evset_rtt(&s, p, 3 * kMs, now);
        }
    for (u8 p = 0; p < 4; p++) {
        EXPECT_EQ(mrc_evset_share(&s, p), MRC_SHARE_FULL);
        EXPECT_EQ(mrc_evset_base_ns(&s, p), 3 * kMs);
    }
}

TEST_F(plane, a_plane_that_is_well_again_gets_its_share_back)
{
    make(32, 4);
    auto run = [&](int rounds, bool marked) {
        for (; rounds; rounds--, now += 21 * kUs)
            for (u8 p = 0; p < 4; p++) {
                if (marked && p == 2)
                    mrc_evset_sign(&s, 16, MRC_SIGN_ECN, now);
                mrc_evset_delivered(&s, p, static_cast<u16>(p * 8), mrc_ev_tick(now), now);
                mrc_evset_rtt(&s, p, marked && p == 2 ? 24 * kUs : 20 * kUs, now);
            }
    };
    run(2, false);
    run(100, true);
    EXPECT_LE(mrc_evset_share(&s, 2), 20u);
    EXPECT_EQ(s.full, 0xbu);
    run(200, false);
    EXPECT_EQ(mrc_evset_share(&s, 2), MRC_SHARE_FULL);
    EXPECT_EQ(s.full, 0xfu);
}

} // namespace
