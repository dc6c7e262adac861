// SPDX-License-Identifier: GPL-2.0
#include <gtest/gtest.h>

#include "flap.h"

namespace mrcd {

namespace {

using namespace std::chrono_literals;

constexpr FlapDamper::Time kStart{};

// @n losses, @gap apart, from @t on; true if the last began damping.
bool flap(FlapDamper &d, unsigned n, FlapDamper::Time &t, std::chrono::milliseconds gap)
{
    bool began = false;

    for (unsigned i = 0; i < n; i++) {
        d.carrier(1, true, t);
        t += gap;
        began = d.carrier(1, false, t);
    }
    return began;
}

TEST(flap, five_losses_within_ten_seconds)
{
    FlapDamper d;
    auto t = kStart;

    EXPECT_FALSE(flap(d, 4, t, 1s));
    EXPECT_FALSE(d.damped(1));
    EXPECT_TRUE(flap(d, 1, t, 1s));
    EXPECT_TRUE(d.damped(1));
    EXPECT_FALSE(d.damped(2));
    EXPECT_EQ(d.deadline(), t + kFlapHold);
}

TEST(flap, slow_ones_are_forgotten)
{
    FlapDamper d;
    auto t = kStart;

    EXPECT_FALSE(flap(d, 50, t, 3s));
    EXPECT_FALSE(d.deadline());
}

TEST(flap, repeated_news_of_one_loss_count_once)
{
    FlapDamper d;
    auto t = kStart;

    d.carrier(1, true, t);
    for (int i = 0; i < 20; i++)
        EXPECT_FALSE(d.carrier(1, false, t += 1ms));
}

TEST(flap, down_from_the_beginning_is_no_loss)
{
    FlapDamper d;
    auto t = kStart;

    EXPECT_FALSE(d.carrier(1, false, t));
    EXPECT_FALSE(flap(d, 4, t, 1s));
}

TEST(flap, released_after_the_hold)
{
    FlapDamper d;
    auto t = kStart;

    flap(d, 5, t, 100ms);
    EXPECT_TRUE(d.release(t + kFlapHold - 1ms).empty());
    EXPECT_EQ(d.release(t + kFlapHold), std::vector<std::uint8_t>{1});
    EXPECT_FALSE(d.damped(1));
    EXPECT_FALSE(d.deadline());
    t += kFlapHold;
    EXPECT_FALSE(flap(d, 4, t, 100ms)) << "counting begins anew";
}

TEST(flap, losses_during_the_hold_prolong_it)
{
    FlapDamper d;
    auto t = kStart;

    flap(d, 5, t, 100ms);
    t += kFlapHold / 2;
    EXPECT_FALSE(flap(d, 1, t, 100ms));
    EXPECT_EQ(d.deadline(), t + kFlapHold);
}

}   // namespace

}   // namespace mrcd
