// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_lag.cc - an EV is passed over while its oldest packet is overdue.
#include "loss_rig.h"

namespace {

// One plane of four EVs. Four packets in flight, one by each EV; the first is late.
class lag : public loss {
protected:
    void SetUp() override
    {
        rig_cfg k = defaults();

        k.evs = 4;
        k.planes = 1;
        make(k);
        std::vector<mrc_txop> v = flight(4);
        ASSERT_EQ(v.size(), 4u);
        slow = v[0].ev_idx;
        now += 10 * kUs;
    }
    // How many of the next @n packets leave by the slow EV.
    u32 by_slow(u32 n)
    {
        u32 count = 0;

        post(MRC_OP_WRITE, n * 1024);
        for (const mrc_txop &op : tx_data())
            count += op.ev_idx == slow;
        return count;
    }
    u16 slow = 0;
};

TEST_F(lag, is_passed_over_while_its_packet_is_overdue)
{
    post(MRC_OP_WRITE, 1024);
    ASSERT_EQ(tx_data().size(), 1u);    // 1005
    now += 50 * kUs;
    sack(1000, 0b1111, 2);              // all but the first, 60 us after it left
    now += 4 * kUs;                     // 64 us
    EXPECT_EQ(by_slow(12), 0u);
    EXPECT_EQ(evs.ev[slow].state, MRC_EV_GOOD);
    sack(1005);                         // it arrived: as good as the others
    EXPECT_GT(by_slow(8), 0u);
}

TEST_F(lag, not_before_a_round_trip_and_a_quarter)
{
    post(MRC_OP_WRITE, 1024);
    ASSERT_EQ(tx_data().size(), 1u);
    now += 50 * kUs;
    sack(1000, 0b1111, 2);
    EXPECT_GT(by_slow(8), 0u);
}

// Nothing of the plane that left later has arrived: all of it is late.
TEST_F(lag, not_where_others_are_as_late)
{
    now += 60 * kUs;
    EXPECT_GT(by_slow(8), 0u);
}

} // namespace
