// SPDX-License-Identifier: GPL-2.0
// What hosts sent over time, in runs of one rate; and results as bytes.
#include <gtest/gtest.h>

#include <limits>

#include "../../tools/lib/verdict/packed.h"
#include "../../tools/lib/verdict/sent.h"

namespace mrcver {

namespace {

HostSent sent_each(std::uint64_t n)
{
    HostSent s;

    s.planes.resize(2, {n, n, n});
    return s;
}

std::uint64_t sum_of(const SentLog &log, double from, double to, unsigned host = 1)
{
    const auto sum = log.between(from, to);
    const auto it = sum.find(host);

    return it == sum.end() ? 0 : it->second.planes[1][2];
}

// Each second of a line of ten has a tenth, and together they are the whole.
TEST(sent, shares_add_up)
{
    SentLog log;
    std::uint64_t all = 0;

    ASSERT_TRUE(log.add(1, 100, 110, sent_each(1003)));
    for (unsigned i = 0; i < 10; i++) {
        const auto n = sum_of(log, 100 + i, 101 + i);
        EXPECT_NEAR(static_cast<double>(n), 100.3, 1);
        all += n;
    }
    EXPECT_EQ(all, 1003u);
    EXPECT_EQ(sum_of(log, 0, 1000), 1003u);
    EXPECT_TRUE(log.between(0, 100).empty());
    EXPECT_TRUE(log.between(110, 200).empty());
}

TEST(sent, told_once)
{
    SentLog log;

    ASSERT_TRUE(log.add(1, 120, 130, sent_each(1000)));
    ASSERT_TRUE(log.add(1, 100, 110, sent_each(1000)));   // a file that was rotated comes after the newer one
    EXPECT_FALSE(log.add(1, 105, 106, sent_each(100)));
    EXPECT_FALSE(log.add(1, 109, 121, sent_each(1200)));
    EXPECT_FALSE(log.add(1, 90, 101, sent_each(1100)));
    ASSERT_TRUE(log.add(1, 110, 120, sent_each(1001)));   // now all three are one run
    EXPECT_FALSE(log.add(1, 125, 126, sent_each(100)));
    EXPECT_TRUE(log.add(2, 105, 106, sent_each(100)));
    EXPECT_EQ(sum_of(log, 100, 130), 3001u);
    EXPECT_EQ(sum_of(log, 100, 130, 2), 100u);
}

// A pause of the host is seen when it was, and so is a change of the rate.
TEST(sent, rates)
{
    SentLog log;

    for (unsigned i = 0; i < 100; i++)
        ASSERT_TRUE(log.add(1, 100 + i, 101 + i, sent_each(i == 50 ? 0 : i < 70 ? 99 + i % 3 : 10)));
    log.compact(201);
    EXPECT_EQ(sum_of(log, 150, 151), 0u);
    EXPECT_NEAR(static_cast<double>(sum_of(log, 151, 170)), 1900, 20);
    EXPECT_NEAR(static_cast<double>(sum_of(log, 180, 190)), 100, 1);
    log.forget(175);
    EXPECT_GE(log.begin(), 150);
    EXPECT_NEAR(static_cast<double>(sum_of(log, 180, 190)), 100, 1);
}

// How often a host was starved is no rate.
TEST(sent, stalls_are_not_shared_out)
{
    SentLog log;
    HostSent starved = sent_each(100);

    starved.stalls = 1;
    starved.strays = 7;
    ASSERT_TRUE(log.add(1, 100, 110, sent_each(1000)));
    ASSERT_TRUE(log.add(1, 110, 111, starved));
    ASSERT_TRUE(log.add(1, 111, 120, sent_each(900)));
    EXPECT_EQ(log.between(100, 110).at(1).stalls, 0u);
    EXPECT_EQ(log.between(110.9, 120).at(1).stalls, 1u);
    EXPECT_EQ(log.between(110.9, 120).at(1).strays, 7u);
    EXPECT_EQ(log.between(111, 120).at(1).stalls, 0u);
    starved.planes = sent_each(1000).planes;
    ASSERT_TRUE(log.add(1, 120, 130, starved));
    std::uint64_t stalls = 0, strays = 0;
    for (unsigned i = 0; i < 10; i++) {
        const auto sum = log.between(120 + i, 121 + i);
        stalls += sum.at(1).stalls;
        strays += sum.at(1).strays;
    }
    EXPECT_EQ(stalls, 1u) << "once, and not in each second";
    EXPECT_EQ(strays, 7u);
}

// Short slices of mrcd: none is lost when they become one.
TEST(sent, old_slices_are_joined)
{
    SentLog log;

    for (unsigned i = 0; i < 5000; i++) {
        const double from = 100 + 0.2 * i;
        ASSERT_TRUE(log.add(1, from, 100 + 0.2 * (i + 1), sent_each(20)));
        log.compact(from + 0.2);
    }
    EXPECT_EQ(sum_of(log, 0, 2000), 100000u);
    EXPECT_NEAR(static_cast<double>(sum_of(log, 1000, 1100)), 10000, 21);
    // A clock that is set back: it counts, and to no time of its own.
    EXPECT_TRUE(log.add(1, 1100, 1099, sent_each(20)));
    EXPECT_EQ(sum_of(log, 0, 2000), 100020u);
    EXPECT_FALSE(log.add(2, 1100, 1099, sent_each(20)));
}

TEST(packed, there_and_back)
{
    constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
    const std::pair<Probe, Result> all[] = {
        {{ProbeKind::kT0Loop, 1, 1, 1, 0, 0, 0}, {{.sent = 1, .lost = 1}, 0, 0}},
        {{ProbeKind::kSplit, 8, 131072, 512, 256, 127, 128},
         {{.sent = kMost, .lost = 128, .corrupt = 127, .other_plane = 16384, .full_sent = 1, .control_lost = kMost, .rtt_low = 9000}, 1.5, 1e11}},
        {{ProbeKind::kT1Loop, 3, 4, 5, 6, 0, 0}, {{.sent = 25, .lost = 25, .late = 3, .queued = 2, .rtt_sum = 1u << 31}, 1764504000.25, 1764504000.75}},
    };
    std::string bytes;

    for (const auto &[probe, result] : all)
        pack(bytes, probe, result);
    std::string_view rest = bytes;
    for (const auto &[probe, result] : all) {
        const auto [p, r] = unpack(rest);
        EXPECT_EQ(p, probe);
        EXPECT_NEAR(r.first, result.first, 2e-6);
        EXPECT_LE(r.last, result.last);
        for (const auto n : {&Counts::sent, &Counts::lost, &Counts::corrupt, &Counts::other_plane, &Counts::full_sent, &Counts::full_lost,
                             &Counts::control_sent, &Counts::control_lost, &Counts::late, &Counts::queued, &Counts::rtt_sum, &Counts::rtt_low})
            EXPECT_EQ(r.n.*n, result.n.*n);
    }
    EXPECT_TRUE(rest.empty());
}

}   // namespace

}   // namespace mrcver
