// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_history.cc - what happened lately: the like is counted together, storms are bounded.
#include <cstring>
#include <vector>

extern "C" {
#include "peer/mrc_history.h"
}

#include <gtest/gtest.h>

namespace {

constexpr u64 kMs = 1000000, kS = 1000 * kMs;

class history : public testing::Test {
protected:
    void SetUp() override { make(64); }
    void make(u32 size)
    {
        mem.assign(mrc_history_mem_size(size), 0xaa);
        mrc_history_init(&h, mem.data(), size, now);
    }
    bool add(u8 kind, u8 cause, u8 plane, u32 peer = 0, u32 count = 1)
    {
        mrc_history_event d{};
        d.kind = kind;
        d.cause = cause;
        d.plane = plane;
        d.ev = 7;
        d.count = count;
        memcpy(d.peer, &peer, sizeof(peer));
        return mrc_history_add(&h, &d, now, now + 5);
    }
    const mrc_history_rec &rec(u64 n) { return *mrc_history_at(&h, n); }
    // Numbers of the records that are told now.
    std::vector<u64> tell()
    {
        std::vector<u64> out;
        for (u64 n; mrc_history_report(&h, now, &n, &again);)
            out.push_back(n);
        return out;
    }

    mrc_history h;
    std::vector<u8> mem;
    u64 now = 100 * kS, again = 0;
};

TEST_F(history, a_record_has_what_happened_and_when)
{
    EXPECT_TRUE(add(1, 2, 3, 9, 4));
    EXPECT_EQ(h.next, 1u);
    EXPECT_EQ(rec(0).event.kind, 1);
    EXPECT_EQ(rec(0).event.cause, 2);
    EXPECT_EQ(rec(0).event.plane, 3);
    EXPECT_EQ(rec(0).event.ev, 7);
    EXPECT_EQ(rec(0).event.count, 4u);
    EXPECT_EQ(rec(0).at_ns, now);
    EXPECT_EQ(rec(0).real_ns, now + 5);
}

TEST_F(history, the_like_is_counted_for_a_second)
{
    u64 first = now;
    add(1, 2, 3, 9);
    now += kS - 1;
    EXPECT_FALSE(add(1, 2, 3, 9, 10));
    EXPECT_EQ(rec(0).event.count, 11u);
    EXPECT_EQ(rec(0).at_ns, first);
    EXPECT_EQ(rec(0).last_ns, now);
    now += 1;
    EXPECT_TRUE(add(1, 2, 3, 9)) << "a second after the first it is another story";
    EXPECT_EQ(h.next, 2u);
}

TEST_F(history, only_the_like)
{
    add(1, 2, 3, 9);
    EXPECT_TRUE(add(0, 2, 3, 9)) << "another kind";
    EXPECT_TRUE(add(1, 0, 3, 9)) << "another cause";
    EXPECT_TRUE(add(1, 2, 0, 9)) << "another plane";
    EXPECT_TRUE(add(1, 2, 3, 8)) << "another peer";
    EXPECT_EQ(h.next, 5u);
    EXPECT_FALSE(add(1, 2, 3, 9)) << "though others came in between";
    EXPECT_EQ(rec(0).event.count, 2u);
}

TEST_F(history, a_crowd_of_peers_shares_a_record)
{
    for (u32 peer = 1; peer <= 1000; peer++)
        add(1, 2, 3, peer);
    EXPECT_EQ(h.next, MRC_HISTORY_CROWD + 1u);
    EXPECT_EQ(rec(MRC_HISTORY_CROWD).event.count, 1000u - MRC_HISTORY_CROWD);
    for (u8 b : rec(MRC_HISTORY_CROWD).event.peer)
        EXPECT_EQ(b, 0);
    EXPECT_FALSE(add(1, 2, 3, 1)) << "who has a record of its own keeps it";
    EXPECT_EQ(rec(0).event.count, 2u);
    EXPECT_EQ(h.lost, 0u);
}

// 120,000 EVs of 100 peers on 8 planes, one by one.
TEST_F(history, a_storm_leaves_what_came_before)
{
    make(1024);
    add(0, 0, 0);
    for (u32 ev = 0; ev < 150; ev++)
        for (u32 peer = 1; peer <= 100; peer++)
            for (u8 plane = 0; plane < 8; plane++, now += 10)
                add(1, 2, plane, peer);
    u64 sum = h.lost;
    for (u64 n = 1; n < h.next; n++)
        sum += rec(n).event.count;
    EXPECT_EQ(sum, 120000u) << "each is counted";
    EXPECT_EQ(mrc_history_first(&h), 0u);
    EXPECT_LE(h.next, 1u + 8 * (MRC_HISTORY_CROWD + 1));
}

// Whatever is different each time: memory and what listeners get are bounded by time, not by the sender.
TEST_F(history, a_storm_of_unlike_deeds_is_paid_for)
{
    u32 n = 0;
    for (u32 i = 0; i < 100000; i++, now += 100000)
        n += add((u8)i, (u8)(i >> 8), 0, i);
    EXPECT_EQ(n, h.next);
    EXPECT_LE(n, MRC_HISTORY_BURST + 10u * MRC_HISTORY_RATE + 1);
    EXPECT_GE(n, MRC_HISTORY_BURST + 9u * MRC_HISTORY_RATE);
    EXPECT_EQ(h.lost, 100000u - n);
    now += 3600 * kS;
    for (u32 i = 0; i < 2 * MRC_HISTORY_BURST; i++)
        add((u8)i, (u8)(i >> 8), 1, i);
    EXPECT_EQ(h.next, n + MRC_HISTORY_BURST) << "what is saved has a limit";
}

TEST_F(history, the_oldest_make_room)
{
    for (u32 i = 0; i < 70; i++)
        add((u8)i, 0, 0);
    EXPECT_EQ(mrc_history_first(&h), 6u);
    EXPECT_EQ(rec(6).event.kind, 6);
    EXPECT_EQ(rec(69).event.kind, 69);
}

TEST_F(history, each_is_told_at_once_and_again_when_it_has_grown)
{
    add(1, 0, 0);
    add(2, 0, 0);
    EXPECT_EQ(tell(), (std::vector<u64>{0, 1}));
    EXPECT_EQ(again, MRC_TIME_NEVER);
    EXPECT_TRUE(tell().empty());
    now += 10 * kMs;
    add(1, 0, 0, 0, 5);
    EXPECT_TRUE(tell().empty()) << "it may grow more";
    EXPECT_EQ(again, rec(0).at_ns + MRC_HISTORY_MERGE_NS);
    now = again;
    EXPECT_EQ(tell(), (std::vector<u64>{0}));
    EXPECT_TRUE(tell().empty());
    EXPECT_EQ(again, MRC_TIME_NEVER);
    EXPECT_EQ(h.untold, 2u) << "nothing is looked at twice for ever";
}

TEST_F(history, what_was_overwritten_is_not_told)
{
    for (u32 i = 0; i < 100; i++)
        add((u8)i, 0, 0);
    auto told = tell();
    ASSERT_EQ(told.size(), 64u);
    EXPECT_EQ(told.front(), 36u);
    EXPECT_EQ(told.back(), 99u);
}

} // namespace
