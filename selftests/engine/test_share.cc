// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_share.cc - shares of planes: of what they are a part.
#include <algorithm>
#include <array>
#include <deque>

#include "ev_rig.h"

namespace {

constexpr double kBaseUs = 44;

// Four equal planes behind a window that stands in their queues, which only shares can move.
class share : public ev_rig {
protected:
    // @us, packets taken away from nobody: a window is a window.
    void run(int us)
    {
        for (int end = time_ + us; time_ < end; time_ += kStepUs, now += kStepUs * kUs)
            step();
    }
    double spread() const
    {
        auto [least, most] = std::minmax_element(queue_.begin(), queue_.end());

        return *most - *least;
    }
    // In us of the plane's rate.
    std::array<double, 4> queue_ = {34, 34, 34, 34};

private:
    static constexpr int kStepUs = 3;

    void step()
    {
        double out[4], all = 0, shares = 0;

        past_.push_front(queue_);
        past_.resize(100, queue_);
        for (u8 p = 0; p < 4; p++) {
            out[p] = std::min<double>(kStepUs, queue_[p]);
            all += out[p];
            shares += s.share[p];
        }
        for (u8 p = 0; p < 4; p++)
            queue_[p] += all * s.share[p] / shares - out[p];
        answer(static_cast<u8>(time_ / kStepUs % 4));
    }
    // A packet that met the queue of then.
    void answer(u8 p)
    {
        for (size_t i = 0; i < past_.size(); i++) {
            double rtt = kBaseUs + past_[i][p];

            if (rtt > static_cast<double>(i) * kStepUs)
                continue;
            mrc_evset_delivered(&s, p, static_cast<u16>(p * 8), mrc_ev_tick(now), now);
            mrc_evset_rtt(&s, p, static_cast<u64>(rtt * kUs), now);
            break;
        }
    }

    std::deque<std::array<double, 4>> past_;
    int time_ = 0;
};

// What made one plane's queue shorter is over: the others give it some of theirs, and no more than
// that. (User-Mode Linux, NSCC at 40 us: queues of 25 to 130 us swung for milliseconds.)
TEST_F(share, queues_of_equal_planes_do_not_swing)
{
    make(32, 4);
    queue_ = {0, 0, 0, 0};
    run(200);
    for (double &q : queue_)
        q = 34;
    run(1000);
    queue_ = {4, 44, 44, 44};
    run(1000);
    double most = 0;
    for (int i = 0; i < 100; i++) {
        run(50);
        most = std::max(most, spread());
    }
    EXPECT_LT(most, 34);
}

// Three planes grow a queue together; the fourth one's round trip was measured when it had none.
TEST_F(share, what_was_usual_long_ago_is_no_contrast)
{
    make(32, 4);
    for (u8 p = 0; p < 4; p++)
        for (int i = 0; i < 3; i++)
            mrc_evset_rtt(&s, p, 40 * kUs, now);
    for (int i = 0; i < 400; i++, now += 3 * kUs)
        if (i > 150)
            mrc_evset_rtt(&s, static_cast<u8>(i % 3), 75 * kUs, now);
    for (u8 p = 0; p < 4; p++)
        EXPECT_EQ(s.share[p], MRC_SHARE_FULL) << int(p);
}

// Congested for one look, the plane has less as long as that is all; for two, its weight is less.
TEST_F(share, an_accident_costs_no_weight)
{
    auto round = [this](u64 rtt_ns) {
        for (int i = 0; i < 8; i++, now += 10 * kUs)
            for (u8 p = 0; p < 4; p++)
                mrc_evset_rtt(&s, p, p == 1 ? rtt_ns : 40 * kUs, now);
    };
    auto until = [&](u64 rtt_ns, u32 share) {
        for (int i = 0; i < 10 && s.share[1] != share; i++)
            round(rtt_ns);
        EXPECT_EQ(s.share[1], share);
    };

    make(32, 4);
    round(40 * kUs);
    until(75 * kUs, MRC_SHARE_FULL * 7 / 8);
    EXPECT_EQ(s.plane[1].weight, MRC_SHARE_FULL);
    until(40 * kUs, MRC_SHARE_FULL);
    for (int i = 0; i < 8; i++)
        round(75 * kUs);
    EXPECT_LT(s.plane[1].weight, MRC_SHARE_FULL * 3 / 4);
    EXPECT_LT(s.share[1], s.plane[1].weight);
}

// 256 QPs with one packet each: a long queue needs many round trips to drain. The eighth less is enough while it does.
TEST_F(share, a_queue_that_drains_costs_no_weight)
{
    auto rounds = [this](u64 rtt_ns, u64 less_ns) {
        for (int i = 0; i < 80; i++, now += 10 * kUs, rtt_ns -= less_ns)
            for (u8 p = 0; p < 4; p++)
                mrc_evset_rtt(&s, p, p == 1 ? rtt_ns : 40 * kUs, now);
    };

    make(32, 4);
    rounds(40 * kUs, 0);
    rounds(90 * kUs, 100);
    EXPECT_TRUE(s.plane[1].slow);
    EXPECT_GE(s.plane[1].weight, MRC_SHARE_FULL * 3 / 4) << "the first looks have nothing to compare with";
    rounds(80 * kUs, 0);
    EXPECT_LT(s.plane[1].weight, MRC_SHARE_FULL / 2) << "it stands";
}

// Some switches mark what waited for nothing: plane 1's do. Its round trips take @more than the base.
class marks : public ev_rig {
protected:
    void SetUp() override
    {
        make(32, 4);
        trips(0);
        for (u8 p = 0; p < 4; p++)
            ASSERT_EQ(s.plane[p].base_ns, 40 * kUs);
    }
    // Eight of each plane, a round trip of time.
    void trips(u32 marked, u64 more = 0, u64 others = 0)
    {
        for (u32 i = 0; i < 8; i++, now += 6 * kUs)
            for (u8 p = 0; p < 4; p++) {
                u16 e = static_cast<u16>(p * 8 + i);

                if (p == 1 && i < marked)
                    sign(e, MRC_SIGN_ECN_PLANE);
                mrc_evset_delivered(&s, p, e, mrc_ev_tick(now), now);
                mrc_evset_rtt(&s, p, 40 * kUs + (p == 1 ? more : others), now);
            }
    }
    void many(u32 marked, u64 more, u64 others = 0)
    {
        for (int i = 0; i < 20; i++)
            trips(marked, more, others);
    }
};

TEST_F(marks, without_a_queue_tell_nothing)
{
    many(8, 0);
    EXPECT_EQ(s.share[1], MRC_SHARE_FULL);
    many(8, 500);
    EXPECT_EQ(s.share[1], MRC_SHARE_FULL) << "nor with a difference of noise";
    many(8, 20 * kUs, 20 * kUs);
    EXPECT_EQ(s.share[1], MRC_SHARE_FULL) << "nor with a queue that all have";
}

TEST_F(marks, with_a_queue_cost_turns)
{
    many(8, 4 * kUs);
    EXPECT_LT(s.share[1], MRC_SHARE_FULL / 2);
    many(0, 4 * kUs);
    many(0, 4 * kUs);
    EXPECT_EQ(s.share[1], MRC_SHARE_FULL) << "a queue so short tells nothing alone";
}

TEST_F(marks, of_long_ago_are_none)
{
    many(8, 500);
    many(0, 4 * kUs);
    EXPECT_EQ(s.share[1], MRC_SHARE_FULL);
}

// A set that hears of one plane only: nothing says that the marks are wrong.
TEST_F(marks, tell_where_nothing_else_does)
{
    now += 10 * kMs;
    for (int n = 0; n < 20; n++)
        for (u32 i = 0; i < 8; i++, now += 6 * kUs) {
            sign(static_cast<u16>(8 + i), MRC_SIGN_ECN_PLANE);
            mrc_evset_delivered(&s, 1, static_cast<u16>(8 + i), mrc_ev_tick(now), now);
            mrc_evset_rtt(&s, 1, 40 * kUs, now);
        }
    EXPECT_LT(s.share[1], MRC_SHARE_FULL);
}

// The largest share belongs to a plane that becomes suspect: the one left has the full one.
TEST_F(share, a_suspect_plane_is_no_measure)
{
    make(8, 2);
    s.plane[1].weight = MRC_SHARE_FULL / 2;
    mrc_share_update(&s);
    ASSERT_EQ(s.share[1], MRC_SHARE_FULL / 2);
    ASSERT_EQ(s.full, 1u);
    u32 then = mrc_ev_tick(now);
    now += 100 * kUs;
    mrc_evset_delivered(&s, 1, 4, mrc_ev_tick(now), now);
    ASSERT_TRUE(mrc_evset_overdue(&s, 0, then, now));
    EXPECT_EQ(s.share[0], 0u);
    EXPECT_EQ(s.share[1], MRC_SHARE_FULL);
    EXPECT_EQ(s.full, 2u);
}

} // namespace
