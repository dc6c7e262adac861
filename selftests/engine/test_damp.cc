// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_damp.cc - flap damping: failures at once, returns when they deserve it.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

extern "C" {
#include "peer/mrc_damp.h"
}

#include <gtest/gtest.h>

namespace {

constexpr u64 kMs = 1000000, kS = 1000 * kMs;

class damp : public testing::Test {
protected:
    void SetUp() override { make({}); }
    void make(mrc_damp_cfg cfg, u32 up = 3)
    {
        mrc_damp_init(&d, &cfg, up);
        ports = up;
    }
    // Port 0 goes and comes @n times, a millisecond each; what is believed then.
    u32 flap(int n)
    {
        u32 believed = 0;

        for (int i = 0; i < n; i++) {
            EXPECT_FALSE(set(ports & ~1u) & 1) << "failures act at once";
            now += 1 * kMs;
            believed = set(ports | 1u);
            now += 1 * kMs;
        }
        return believed;
    }
    u32 set(u32 up)
    {
        ports = up;
        return mrc_damp_set(&d, up, now);
    }
    u32 poll() { return mrc_damp_poll(&d, now); }
    u64 deadline() { return mrc_damp_deadline_ns(&d); }

    mrc_damp d;
    u32 ports = 0;
    u64 now = 5 * kS;
};

TEST_F(damp, defaults)
{
    EXPECT_EQ(d.cfg.half_life_ns, 2 * kS);
    EXPECT_EQ(d.cfg.suppress, 2500u);
    EXPECT_EQ(d.cfg.reuse, 1000u);
    EXPECT_EQ(d.cfg.max_ns, 8 * kS);
    EXPECT_EQ(poll(), 3u);
    EXPECT_EQ(deadline(), MRC_TIME_NEVER);
}

TEST_F(damp, a_first_failure_is_never_damped)
{
    EXPECT_EQ(flap(1), 3u);
    make({.half_life_ns = 3600 * kS, .suppress = 1, .reuse = 1});
    EXPECT_EQ(flap(1), 3u) << "whatever the thresholds say";
    now += 360000 * kS;
    EXPECT_EQ(flap(1), 3u) << "and a first one again, when the other is forgotten";
}

TEST_F(damp, many_flaps_hold_a_port_and_no_other)
{
    EXPECT_EQ(flap(2), 3u);
    EXPECT_EQ(flap(1), 2u);
    EXPECT_EQ(mrc_damp_held(&d), 1u);
    EXPECT_EQ(set(2), 2u);
    EXPECT_EQ(mrc_damp_held(&d), 0u) << "it is down";
    EXPECT_EQ(deadline(), MRC_TIME_NEVER);
    EXPECT_EQ(set(3), 2u) << "and still not believed";
    EXPECT_EQ(set(0), 0u);
    EXPECT_EQ(set(2), 2u) << "the other one's first failure";
}

TEST_F(damp, it_is_believed_at_the_deadline_and_not_before)
{
    for (int flaps : {3, 4, 5, 10, 40}) {
        make({});
        ASSERT_EQ(flap(flaps), 2u);
        u64 at = deadline();
        ASSERT_GT(at, now);
        ASSERT_LT(at, now + 8 * kS);
        now = at - 1;
        EXPECT_EQ(poll(), 2u);
        EXPECT_EQ(deadline(), at);
        now = at;
        EXPECT_EQ(poll(), 3u) << flaps << " flaps";
        EXPECT_EQ(deadline(), MRC_TIME_NEVER);
        EXPECT_EQ(poll(), 3u);
    }
}

// Three failures are 3,000 (less what has decayed): log2(3) half-lives to 1,000.
TEST_F(damp, the_time_is_what_the_half_life_says)
{
    ASSERT_EQ(flap(3), 2u);
    double waited = static_cast<double>(deadline() - (now - 2 * kMs)) / 2e9;

    EXPECT_NEAR(waited, std::log2(3), 0.09);
    make({.half_life_ns = 16 * kMs, .suppress = 1500, .reuse = 100, .max_ns = 1 * kS});
    now += 100 * kS;
    set(2);
    set(3);
    set(2);
    ASSERT_EQ(set(3), 2u);
    waited = static_cast<double>(deadline() - now) / 16e6;
    EXPECT_NEAR(waited, std::log2(20), 0.09);
}

TEST_F(damp, time_forgives)
{
    flap(2);
    now += 4 * kS;      // 2,000 have become 500
    EXPECT_EQ(flap(1), 3u);
    EXPECT_EQ(flap(1), 3u) << "500 + 1,000 + 1,000";
    EXPECT_EQ(flap(1), 2u);
}

// A pause of as many half-lives as a shift of 32 bits cannot do.
TEST_F(damp, time_forgives_all)
{
    for (int halves = 30; halves < 36; halves++) {
        make({});
        flap(100);
        now += halves * 2 * kS;
        EXPECT_EQ(flap(2), 3u) << halves;
        EXPECT_EQ(flap(1), 2u) << halves;
    }
}

// However long it flapped, max_ns after the last failure is enough.
TEST_F(damp, the_longest_suppression)
{
    ASSERT_EQ(flap(10000), 2u);
    u64 at = deadline();
    EXPECT_LE(at, now + 8 * kS);
    EXPECT_GE(at, now + 7 * kS);
    now = at;
    EXPECT_EQ(poll(), 3u);
    EXPECT_EQ(flap(1), 3u) << "what it did before is no more than one failure now";
    // A short limit wins over the half-life.
    make({.half_life_ns = 1000 * kS, .max_ns = 50 * kMs});
    ASSERT_EQ(flap(10), 2u);
    EXPECT_LE(deadline(), now + 50 * kMs);
    now = deadline();
    EXPECT_EQ(poll(), 3u);
}

TEST_F(damp, a_port_that_stays_down_long_enough_comes_back_at_once)
{
    flap(3);
    set(2);
    now += 20 * kS;
    EXPECT_EQ(set(3), 3u);
}

TEST_F(damp, off)
{
    make({.off = true});
    EXPECT_EQ(flap(100), 3u);
    EXPECT_EQ(deadline(), MRC_TIME_NEVER);
}

TEST_F(damp, ports_that_begin_down_have_not_failed)
{
    make({}, 0);
    for (int i = 0; i < 5; i++)
        EXPECT_EQ(set(0), 0u);
    EXPECT_EQ(set(~0u), ~0u);
    EXPECT_EQ(set(0), 0u);
    EXPECT_EQ(set(~0u), ~0u);
    EXPECT_EQ(set(0x80000000), 0x80000000u);
    EXPECT_EQ(set(~0u), ~0u);
    EXPECT_EQ(set(0), 0u);
    EXPECT_EQ(set(~0u), 0x80000000u) << "three failures each, but for the last port's two";
}

TEST_F(damp, the_earliest_of_several_deadlines)
{
    flap(3);
    u64 first = deadline();
    now += 500 * kMs;
    for (int i = 0; i < 3; i++) {
        set(1);
        set(3);
    }
    EXPECT_EQ(mrc_damp_held(&d), 3u);
    EXPECT_EQ(deadline(), first);
    now = first;
    EXPECT_EQ(poll(), 1u);
    EXPECT_GT(deadline(), first);
}

TEST_F(damp, clocks_at_their_ends)
{
    for (u64 start : {u64{0}, u64{1}, (u64{1} << 32) - 1, u64{1} << 42, (u64{1} << 63) - 1,
                      ~u64{0} - 30 * kS}) {
        make({});
        now = start;
        ASSERT_EQ(flap(4), 2u) << start;
        now = deadline();
        EXPECT_GT(now, start);
        EXPECT_EQ(poll(), 3u) << start;
        EXPECT_EQ(flap(2), 2u) << "one failure is not yet forgotten";
    }
    make({});
    now = ~u64{0} - 1 * kS;             // no time left for the deadline: no wrap either
    ASSERT_EQ(flap(4), 2u);
    EXPECT_EQ(deadline(), MRC_TIME_NEVER - 1);
    EXPECT_EQ(poll(), 2u);
    make({});
    flap(3);
    now -= 1 * kS;                      // a clock that went back
    EXPECT_EQ(poll(), 2u);
    EXPECT_EQ(flap(1), 2u);
}

// Any configuration, any history: soon enough free, failures at once, the deadline right.
TEST_F(damp, random_life)
{
    std::mt19937_64 rnd(17);

    for (int n = 0; n < 300; n++) {
        mrc_damp_cfg cfg = {};

        cfg.half_life_ns = rnd() >> rnd() % 64;
        cfg.suppress = static_cast<u32>(rnd() >> (32 + rnd() % 32));
        cfg.reuse = static_cast<u32>(rnd() >> (32 + rnd() % 32));
        cfg.max_ns = rnd() >> (1 + rnd() % 63);
        now = rnd() >> (2 + rnd() % 60);
        make(cfg, static_cast<u32>(rnd()));
        ASSERT_LE(d.cfg.reuse, d.cfg.suppress);
        ASSERT_GT(d.ceiling, d.cfg.suppress);
        for (int i = 0; i < 200; i++) {
            u32 believed = set(static_cast<u32>(rnd() | rnd()));

            ASSERT_EQ(believed & ~ports, 0u);
            if (deadline() == MRC_TIME_NEVER) {
                ASSERT_EQ(believed, ports);
            } else {
                ASSERT_GT(deadline(), now);
                ASSERT_LE(deadline() - now, d.cfg.max_ns);
                ASSERT_EQ(mrc_damp_poll(&d, deadline() - 1), believed);
            }
            now += (rnd() % d.cfg.half_life_ns) >> rnd() % 20;
        }
        u32 believed = poll();
        for (int i = 0; deadline() != MRC_TIME_NEVER; i++) {
            ASSERT_LT(i, 32);
            now = deadline();
            ASSERT_NE(poll(), believed);
            believed = poll();
        }
        ASSERT_EQ(believed, ports);
    }
}

// Within a half-life it falls in a line, not in steps.
TEST_F(damp, a_penalty_decays_all_the_time)
{
    flap(2);
    now += 1200 * kMs;  // 2,000 have become 1,400
    EXPECT_EQ(flap(1), 3u) << "2,400 are less than 2,500";
}

TEST_F(damp, a_port_that_flaps_beats_none)
{
    flap(3);
    ASSERT_EQ(mrc_damp_held(&d), 1u);
    EXPECT_EQ(mrc_damp_suppressed(&d, 3), 1u);
    EXPECT_EQ(mrc_damp_suppressed(&d, 1), 0u) << "the other may not be used";
    EXPECT_EQ(mrc_damp_suppressed(&d, 0), 1u) << "nor may it: nothing is gained";
}

// Somebody else said so (mrc_down_check.h).
TEST_F(damp, a_failure_that_was_none_is_forgiven)
{
    for (int i = 0; i < 20; i++) {
        EXPECT_EQ(flap(1), 3u);
        mrc_damp_forgive(&d, 0);
    }
    EXPECT_EQ(flap(2), 3u);
    EXPECT_EQ(flap(1), 2u) << "those that were are not";
    mrc_damp_forgive(&d, 1);
    EXPECT_EQ(d.penalty[1], 0u) << "there was none";
}

TEST_F(damp, another_port_behind_the_number_begins_anew)
{
    flap(2);
    mrc_damp_forget(&d, 0);
    flap(2);
    EXPECT_EQ(mrc_damp_held(&d), 0u);
}

} // namespace
