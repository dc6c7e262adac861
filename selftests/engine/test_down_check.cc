// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_down_check.cc - probes by planes that a peer announced as down: each in its round, answered once, not for ever.
extern "C" {
#include "peer/mrc_down_check.h"
}

#include <gtest/gtest.h>
#include <vector>

namespace {

struct doubt : testing::Test {
    struct probe {
        u8 plane;
        u16 id;
    };
    std::vector<probe> round(u32 usable = ~0u)
    {
        std::vector<probe> v;
        probe p;

        while (mrc_down_check_next(&c, usable, now, &p.plane, &p.id))
            v.push_back(p);
        return v;
    }

    mrc_down_check c = {};
    u64 now = 1000;
};

TEST_F(doubt, nothing_to_check)
{
    mrc_down_check_start(&c, 0, now);
    EXPECT_TRUE(round().empty());
    EXPECT_EQ(mrc_down_check_deadline_ns(&c), MRC_TIME_NEVER);
    EXPECT_EQ(mrc_down_check_rx(&c, 0), 0u);
}

TEST_F(doubt, each_plane_is_asked_at_once)
{
    mrc_down_check_start(&c, 0x80000005, now);
    EXPECT_EQ(mrc_down_check_deadline_ns(&c), now);
    auto v = round();
    ASSERT_EQ(v.size(), 3u);
    EXPECT_EQ(v[0].plane, 0);
    EXPECT_EQ(v[1].plane, 2);
    EXPECT_EQ(v[2].plane, 31);
    EXPECT_TRUE(round().empty()) << "once";
}

TEST_F(doubt, an_answer_ends_the_check_of_its_plane)
{
    mrc_down_check_start(&c, 6, now);
    auto v = round();
    ASSERT_EQ(v.size(), 2u);
    EXPECT_EQ(mrc_down_check_rx(&c, v[0].id), 2u);
    EXPECT_EQ(mrc_down_check_rx(&c, v[0].id), 0u) << "once";
    now = mrc_down_check_deadline_ns(&c);
    v = round();
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].plane, 2);
    EXPECT_EQ(mrc_down_check_rx(&c, v[0].id), 4u);
    EXPECT_EQ(mrc_down_check_deadline_ns(&c), MRC_TIME_NEVER);
}

// Farther away than the first pause: the answer to the first probe comes after the second.
TEST_F(doubt, an_answer_to_an_earlier_round_counts)
{
    mrc_down_check_start(&c, 1, now);
    u16 first = round().at(0).id;
    now = mrc_down_check_deadline_ns(&c);
    ASSERT_EQ(round().size(), 1u);
    EXPECT_EQ(mrc_down_check_rx(&c, first), 1u);
}

TEST_F(doubt, rounds_double_and_end)
{
    int rounds = 0;
    u64 gap = 0;

    mrc_down_check_start(&c, 1, now);
    while (mrc_down_check_deadline_ns(&c) != MRC_TIME_NEVER) {
        u64 d = mrc_down_check_deadline_ns(&c);

        if (rounds > 1) {
            EXPECT_EQ(d - now, 2 * gap);
        }
        gap = d - now;
        now = d;
        rounds += !round().empty();
        ASSERT_LT(rounds, 100);
    }
    EXPECT_EQ(rounds, MRC_DOWN_CHECK_TRIES);
    EXPECT_EQ(mrc_down_check_rx(&c, 1u << 5), 0u) << "it stands";
}

// It answered, was announced as down once more, and this time is: what it said before proves nothing.
TEST_F(doubt, late_answers_to_an_older_check)
{
    mrc_down_check_start(&c, 1, now);
    u16 old = round().at(0).id;
    EXPECT_EQ(mrc_down_check_rx(&c, old), 1u);
    mrc_down_check_start(&c, 1, now);
    EXPECT_EQ(mrc_down_check_rx(&c, old), 0u);
    EXPECT_EQ(mrc_down_check_rx(&c, round().at(0).id), 1u);
}

// Whoever announces one plane after the other does not keep the first from being heard.
TEST_F(doubt, another_plane_leaves_an_answer_as_it_is)
{
    mrc_down_check_start(&c, 1, now);
    u16 id = round().at(0).id;
    mrc_down_check_start(&c, 2, now);
    EXPECT_EQ(mrc_down_check_rx(&c, id), 1u);
    auto v = round();
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].plane, 1);
}

TEST_F(doubt, announced_as_up)
{
    mrc_down_check_start(&c, 3, now);
    auto v = round();
    mrc_down_check_end(&c, 1);
    EXPECT_EQ(mrc_down_check_rx(&c, v.at(0).id), 0u) << "nothing to deny";
    mrc_down_check_start(&c, 4, now);
    ASSERT_TRUE(mrc_down_check_next(&c, ~0u, now, &v[0].plane, &v[0].id));
    mrc_down_check_end(&c, 6);
    EXPECT_TRUE(round().empty()) << "what was due is not";
    EXPECT_EQ(mrc_down_check_deadline_ns(&c), MRC_TIME_NEVER);
}

TEST_F(doubt, our_own_port_is_down)
{
    mrc_down_check_start(&c, 3, now);
    auto v = round(2);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].plane, 1);
    EXPECT_GT(mrc_down_check_deadline_ns(&c), now);
    now = mrc_down_check_deadline_ns(&c);
    EXPECT_EQ(round(3).size(), 2u) << "it may come up meanwhile";
}

// A controller's probes have bit 15 of their ids set.
TEST_F(doubt, ids_are_no_controllers)
{
    for (int i = 0; i < 600; i++) {
        mrc_down_check_start(&c, ~0u, now);
        for (auto p : round())
            ASSERT_LT(p.id, 0x8000);
    }
}

} // namespace
