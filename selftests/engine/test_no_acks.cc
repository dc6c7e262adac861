// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_no_acks.cc - the end that gets acknowledgements says which plane brings none.
#include <optional>

#include "ev_rig.h"

extern "C" {
#include "paths/mrc_no_acks.h"
}

namespace {

class miss : public ev_rig {
protected:
    void make4()
    {
        make(16, 4);
        for (u16 i = 0; i < s.n; i++)
            sign(i, MRC_SIGN_DELIVERED);
        for (u8 p = 0; p < 4; p++)
            mrc_evset_delivered(&s, p, s.start[p], mrc_ev_tick(now), now);
        traffic();
    }
    // Acknowledgements by all planes but @silent; who is missed first within @n turns.
    std::optional<u8> turns(u32 n, int silent)
    {
        for (u32 i = 0; i < n * 4; i++) {
            u8 q = static_cast<int>(i % 4) == silent ? MRC_PLANES_MAX : mrc_evset_acked_by(&s, i % 4, now);
            if (q < MRC_PLANES_MAX)
                return q;
        }
        return {};
    }
};

TEST_F(miss, a_plane_that_brings_none_while_others_do)
{
    for (int dead = 0; dead < 4; dead++) {
        make4();
        EXPECT_FALSE(turns(50, -1));
        EXPECT_FALSE(turns(3, dead)) << "chance";
        EXPECT_EQ(turns(8, dead), dead);
        u16 idx = mrc_evset_no_acks_reported(&s, &r, static_cast<u8>(dead), now);
        ASSERT_NE(idx, MRC_NONE16);
        EXPECT_EQ(s.ev[idx].plane, static_cast<u32>(dead)) << "says it by that plane";
        EXPECT_FALSE(turns(100000, dead)) << "once";
        EXPECT_FALSE(turns(8, -1));
        EXPECT_EQ(turns(10, dead), dead) << "it spoke and fell silent again";
        EXPECT_EQ(s.stats.misses, 1u);
    }
}

// 64 QPs get so many within a tenth of a round trip, and those of many QPs leave a plane out by chance.
TEST_F(miss, many_acknowledgements_in_a_moment_prove_nothing)
{
    make4();
    for (u8 p = 0; p < 4; p++)
        mrc_evset_probe_rtt(&s, p, 40 * kUs, now);
    EXPECT_FALSE(turns(1, -1)) << "a period begins";
    now += 19 * kUs;
    EXPECT_FALSE(turns(100, 2));
    now += 2 * kUs;
    EXPECT_EQ(turns(8, 2), 2) << "half of a round trip";
    EXPECT_FALSE(turns(100, 1)) << "and from the start";
    now += 21 * kUs;
    EXPECT_EQ(turns(8, 1), 1);
}

// It fell silent by chance, and was asked; then it died.
TEST_F(miss, silence_that_lasts_is_told_of_again)
{
    u32 told = 0;

    make4();
    for (u8 p = 0; p < 4; p++)
        mrc_evset_probe_rtt(&s, p, 40 * kUs, now);
    for (int i = 0; i < 400; i++, now += 10 * kUs) {
        heard(0);
        mrc_evset_delivered(&s, 2, s.start[2], mrc_ev_tick(now), now);
        if (auto q = turns(1, 2)) {
            traffic();
            EXPECT_NE(mrc_evset_no_acks_reported(&s, &r, *q, now), MRC_NONE16);
            told++;
        }
    }
    EXPECT_GE(told, 4000u / 200 - 3);
    EXPECT_LE(told, 4000u / 160) << "each four round trips";
}

// The other end hears nothing by it, and our own packets will say so.
TEST_F(miss, not_where_the_way_there_is_in_question)
{
    make4();
    s.plane[2].ok = false;
    EXPECT_FALSE(turns(100, 2)) << "nothing was ever delivered";
    make4();
    mrc_suspect_lost(&s, 2, s.start[2], mrc_ev_tick(now) + 1, now);
    EXPECT_FALSE(turns(100, 2)) << "a packet was lost, and nothing since delivered";
    make4();
    mrc_evset_local_planes(&s, 0xb, now);
    EXPECT_FALSE(turns(100, 2)) << "down";
}

TEST_F(miss, what_is_not_paid_for_is_not_said_now)
{
    make4();
    ASSERT_EQ(turns(8, 1), 1);
    s.credit.units = 0;
    s.credit.at_ns = now;
    s.credit.from = s.credit.left = MRC_CREDIT_SLEEP;
    EXPECT_EQ(mrc_evset_no_acks_reported(&s, &r, 1, now), MRC_NONE16);
    EXPECT_EQ(turns(8, 1), 1) << "asked again";
    traffic();
    EXPECT_NE(mrc_evset_no_acks_reported(&s, &r, 1, now), MRC_NONE16);
}

// ---- the end that is told ----

// It has spent its credit on routine; the plane that is missed is asked all the same, and first.
TEST_F(miss, the_plane_is_verified_next)
{
    u16 idx;

    for (u8 p = 0; p < 4; p++) {
        make4();
        now += 100 * kMs;
        s.credit.at_ns = now;
        s.credit.from = s.credit.left = MRC_CREDIT_SLEEP;
        s.credit.units = 2 * MRC_PROBE_COST;
        s.verify_pkts = 0;
        ASSERT_FALSE(mrc_evset_verify_next(&s, &r, now, &idx)) << "of mere routine";
        mrc_evset_acks_missing(&s, p);
        ASSERT_TRUE(mrc_evset_verify_next(&s, &r, now, &idx));
        EXPECT_EQ(s.ev[idx].plane, p);
        EXPECT_FALSE(mrc_evset_verify_next(&s, &r, now, &idx)) << "once";
    }
}

TEST_F(miss, no_acknowledgement_leaves_by_it_until_it_answers)
{
    u16 idx;

    for (bool answered : {true, false}) {
        make4();
        for (u8 p = 0; p < 4; p++)
            heard(p);
        mrc_evset_acks_missing(&s, 2);
        ASSERT_TRUE(mrc_evset_verify_next(&s, &r, now, &idx));
        if (answered) {
            s.muted = 0;       // as if it had been asked for another reason
            mrc_evset_acks_missing(&s, 2);
            EXPECT_FALSE(mrc_evset_verify_next(&s, &r, now, &idx)) << "it is being asked";
        }
        for (int i = 0; i < 100; i++)
            EXPECT_NE(s.ev[mrc_spray_pick_ack(&r, &s, now, false)].plane, 2u);
        for (u16 other = 0; other < s.n; other++)
            EXPECT_TRUE(s.ev[other].plane != 2 || mrc_ev_usable(&s, other)) << "data goes on";
        now += 10 * kMs;
        if (answered)
            mrc_evset_probe_answer(&s, idx, false, now);
        else
            mrc_evset_verify_next(&s, &r, now, &idx);
        EXPECT_EQ(s.muted, 0u) << "nobody was heard since: that is no plane's fault";
        bool used = false;
        for (int i = 0; i < 100; i++)
            used |= s.ev[mrc_spray_pick_ack(&r, &s, now, false)].plane == 2;
        EXPECT_TRUE(used);
    }
}

TEST_F(miss, a_question_of_before_does_not_answer_it)
{
    u16 idx;

    make4();
    for (u8 p = 0; p < 4; p++)
        mrc_evset_probe_rtt(&s, p, 40 * kUs, now);
    mrc_evset_acks_missing(&s, 2);
    now += 50 * kUs;
    ASSERT_TRUE(mrc_evset_verify_next(&s, &r, now, &idx));
    u16 before = idx;
    now += 45 * kUs;
    mrc_evset_acks_missing(&s, 2);
    while (mrc_evset_verify_next(&s, &r, now, &idx))
        EXPECT_NE(s.ev[idx].plane, 2u) << "it is being asked";
    mrc_evset_probe_answer(&s, before, false, now);
    s.verify_ns = 0;
    ASSERT_TRUE(mrc_evset_verify_next(&s, &r, now, &idx));
    EXPECT_EQ(s.ev[idx].plane, 2u);
}

TEST_F(miss, what_was_delivered_before_the_silence_does_not_answer_it)
{
    u16 idx;

    make4();
    mrc_evset_probe_rtt(&s, 1, 40 * kUs, now);
    mrc_evset_delivered(&s, 1, s.start[1], mrc_ev_tick(now), now);
    now += 60 * kUs;
    mrc_evset_acks_missing(&s, 1);
    ASSERT_TRUE(mrc_evset_verify_next(&s, &r, now, &idx));
    EXPECT_EQ(s.ev[idx].plane, 1u);
}

TEST_F(miss, what_was_delivered_just_now_needs_no_question)
{
    u16 idx;

    make4();
    mrc_evset_probe_rtt(&s, 1, 40 * kUs, now);
    mrc_evset_acks_missing(&s, 1);
    EXPECT_FALSE(mrc_evset_verify_next(&s, &r, now, &idx) && s.ev[idx].plane == 1);
    EXPECT_EQ(s.acks_missing, 0u);
    for (u8 p = 4; p; p = static_cast<u8>(p << 1))
        mrc_evset_acks_missing(&s, p); // there are four
    EXPECT_EQ(s.acks_missing, 0u);
}

} // namespace
