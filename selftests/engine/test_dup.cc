// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_dup.cc - datagrams that come twice: the first is delivered, the other dropped, no third one with them.
#include <cstring>
#include <memory>

extern "C" {
#include "peer/mrc_dup.h"
}

#include <gtest/gtest.h>

namespace {

constexpr u64 kTick = 1ull << MRC_DUP_SHIFT;
constexpr bool kOriginal = false, kCopy = true;

struct dup : testing::Test {
    bool take(u64 digest, bool copy) { return mrc_dup_take(t.get(), digest, copy, now); }
    // The n-th digest of one set.
    static u64 of_set(u64 set, u64 n) { return set << 32 | n; }
    void fill(u64 set)
    {
        for (u64 n = 0; n < MRC_DUP_WAYS; n++)
            ASSERT_TRUE(take(of_set(set, 1000 + n), kOriginal));
    }

    std::unique_ptr<mrc_dup> t = std::make_unique<mrc_dup>();
    u64 now = 1;
};

TEST_F(dup, the_later_of_two_is_refused_in_either_order)
{
    EXPECT_TRUE(take(7, kOriginal));
    EXPECT_FALSE(take(7, kCopy));
    EXPECT_TRUE(take(8, kCopy));
    EXPECT_FALSE(take(8, kOriginal));
    EXPECT_FALSE(take(7, kCopy)) << "a third";
    EXPECT_FALSE(take(8, kOriginal));
}

TEST_F(dup, one_that_comes_alone_is_delivered_be_it_the_copy)
{
    EXPECT_TRUE(take(1, kCopy));
    EXPECT_TRUE(take(2, kOriginal));
    EXPECT_TRUE(take(3, kCopy));
}

TEST_F(dup, one_bit_makes_another_datagram)
{
    const u64 digest = 0x123456789abcdef0;

    for (int i = 0; i < 64; i++) {
        *t = {};
        EXPECT_TRUE(take(digest, kOriginal));
        EXPECT_TRUE(take(digest ^ 1ull << i, i % 2)) << i;
    }
}

TEST_F(dup, digest_0_is_one_as_any_other)
{
    EXPECT_TRUE(take(0, kCopy));
    EXPECT_FALSE(take(0, kOriginal));
}

TEST_F(dup, known_for_so_long_and_no_longer)
{
    now = 5 * kTick;
    EXPECT_TRUE(take(7, kOriginal));
    now += MRC_DUP_NS;
    EXPECT_FALSE(take(7, kCopy));
    now += kTick;
    EXPECT_TRUE(take(7, kOriginal));
}

TEST_F(dup, a_clock_of_another_cpu_that_is_behind)
{
    now = 100 * kTick;
    EXPECT_TRUE(take(7, kOriginal));
    now -= 3 * kTick;
    EXPECT_FALSE(take(7, kCopy));
}

TEST_F(dup, what_could_not_be_delivered_does_not_stop_the_other)
{
    EXPECT_TRUE(take(7, kOriginal));
    mrc_dup_untake(t.get(), 7);
    EXPECT_TRUE(take(7, kCopy));
    EXPECT_FALSE(take(7, kOriginal));
    mrc_dup_untake(t.get(), 99); // nobody's
    EXPECT_FALSE(take(7, kCopy));
}

TEST_F(dup, a_full_set_refuses_copies_and_lets_originals_pass)
{
    fill(3);
    EXPECT_FALSE(take(of_set(3, 1), kCopy));
    EXPECT_TRUE(take(of_set(3, 2), kOriginal));
    EXPECT_FALSE(take(of_set(3, 2), kCopy)) << "it passed without a trace: none of the set is delivered";
    EXPECT_TRUE(take(of_set(4, 1), kCopy)) << "another set";
    for (u64 n = 0; n < MRC_DUP_WAYS; n++)
        EXPECT_FALSE(take(of_set(3, 1000 + n), kCopy)) << "nothing young was replaced";
}

TEST_F(dup, an_original_without_a_trace_is_remembered_as_such_when_places_are_free_again)
{
    fill(3);
    now += MRC_DUP_NS / 2;
    EXPECT_TRUE(take(of_set(3, 2), kOriginal));
    now += MRC_DUP_NS / 2 + kTick; // the eight are old by now, that one is not
    EXPECT_FALSE(take(of_set(3, 2), kCopy));
    EXPECT_TRUE(take(of_set(3, 5), kOriginal));
    now += MRC_DUP_NS / 2;
    EXPECT_TRUE(take(of_set(3, 6), kCopy)) << "over";
}

TEST_F(dup, after_weeks_without_a_datagram_nothing_is_young)
{
    fill(3);
    for (u64 days : {1, 20, 30, 45, 49}) {
        auto t_then = std::make_unique<mrc_dup>(*t);

        now = 1 + days * 86'400'000'000'000;
        EXPECT_TRUE(mrc_dup_take(t_then.get(), of_set(3, 1), kCopy, now)) << days;
    }
}

} // namespace
