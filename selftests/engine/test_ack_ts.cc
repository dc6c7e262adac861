// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_ack_ts.cc - timestamps that SACKs bring back: round trips, and which copy arrived.
#include "ack_rig.h"

namespace {

class ack_ts : public ack_rig {
protected:
    std::vector<mrc_txop> flight(u32 n)
    {
        rig_cfg k = defaults();

        k.tx.timestamps = true;
        k.evs = 16;
        return ack_rig::flight(n, k);
    }
    // A round trip is known, then @n packets leave from 1001 on, one after the other.
    std::vector<mrc_txop> spread(u32 n)
    {
        std::vector<mrc_txop> v;

        flight(1);
        now += 50 * kUs;
        sack(1000, 0, 1, 1000);
        ack(1000);
        cpls();
        post(MRC_OP_WRITE, n * 1024);
        for (; auto t = tx(); now += 100)
            v.push_back(*t);
        EXPECT_EQ(v.size(), n);
        return v;
    }
    // The packet is lost by a NACK of the plainest kind and leaves again.
    mrc_txop resend(const mrc_txop &t)
    {
        nack(t, MRC_NACK_TRIMMED_LASTHOP);
        auto v = tx_data();
        EXPECT_EQ(v.size(), 1u);
        return v.at(0);
    }
};

TEST_F(ack_ts, every_data_packet_carries_one)
{
    now += 12345;
    auto v = flight(3);
    for (const mrc_txop &t : v) {
        EXPECT_TRUE(t.hdr.has_ts);
        EXPECT_EQ(t.hdr.tx_ts, mrc_ts16(now));
        EXPECT_EQ(t.hdr.tsr, 0);
    }
    now += 5 * kUs;
    EXPECT_EQ(resend(v[0]).hdr.tx_ts, mrc_ts16(now));
}

TEST_F(ack_ts, round_trip_without_service_time)
{
    auto v = flight(3);
    now += 50 * kUs;
    sack(sack_of(v[0], 1000, 20 * kUs));
    EXPECT_NEAR(static_cast<double>(eye.ack.rtt_ns), 30e3, 200);
    EXPECT_NEAR(static_cast<double>(c.rtt.srtt_ns), 30e3, 200);
}

TEST_F(ack_ts, a_stamp_from_the_future_is_refused)
{
    auto v = flight(3);
    now += 50 * kUs;
    sack(sack_of(v[0], 1000, 60 * kUs));
    EXPECT_EQ(eye.ack.rtt_ns, 0u);
    EXPECT_EQ(c.rtt.srtt_ns, 0u);
}

TEST_F(ack_ts, beyond_the_wrap)
{
    auto v = flight(3);
    now += 9 * kMs;     // 8.39 ms wrap
    sack(sack_of(v[0], 1000, 1 * kMs));
    EXPECT_EQ(eye.ack.rtt_ns, 0u) << "held 1 ms or 9.39 ms";
    sack(sack_of(v[1], 1001));
    EXPECT_NEAR(static_cast<double>(eye.ack.rtt_ns), 9e6, 200) << "our own record knows";
}

TEST_F(ack_ts, of_a_retransmission)
{
    auto v = flight(3);
    now += 40 * kUs;
    auto again = resend(v[0]);
    now += 25 * kUs;
    sack(sack_of(again, 1000));
    EXPECT_NEAR(static_cast<double>(eye.ack.rtt_ns), 25e3, 200);
    EXPECT_EQ(c.stats.rtx_spurious, 0u);
}

TEST_F(ack_ts, held_copies_are_ambiguous)
{
    auto v = flight(3);
    now += 40 * kUs;
    auto again = resend(v[0]);
    now += 25 * kUs;
    sack(sack_of(again, 1000, 5 * kUs));
    EXPECT_EQ(eye.ack.rtt_ns, 0u);
    EXPECT_EQ(c.stats.rtx_spurious, 0u);
}

// Eifel: the stamp says that the first copy arrived.
TEST_F(ack_ts, resent_in_vain)
{
    auto v = spread(30);
    now += 50 * kUs;
    mrc_sack s = sack_of(v[29], 1000);
    s.bitmap = (1ull << 30) - 2;    // all but 1001
    sack(s);
    until_lost();
    EXPECT_EQ(evs.ev[v[0].ev_idx].state, MRC_EV_ASSUMED_BAD);
    auto again = tx_data();
    ASSERT_EQ(psns(again), psn_list{1001});
    int mult = reo();
    now += 60 * kUs;            // longer than a round trip: time alone could not tell
    sack(sack_of(v[0], 1030));
    EXPECT_EQ(c.stats.rtx_spurious, 1u);
    EXPECT_EQ(eye.ack.rtt_ns, 0u);
    EXPECT_EQ(reo(), mult) << "one path was late, not its plane";
    EXPECT_LE(evs.ev[v[0].ev_idx].state, MRC_EV_SKIP) << "the blame is taken back";
    EXPECT_LE(evs.ev[again[0].ev_idx].state, MRC_EV_SKIP);
}

TEST_F(ack_ts, arrived_while_it_waited_to_be_resent)
{
    auto v = spread(30);
    now += 50 * kUs;
    mrc_sack s = sack_of(v[29], 1000);
    s.bitmap = (1ull << 30) - 2;    // all but the first
    sack(s);
    until_lost();
    EXPECT_EQ(evs.ev[v[0].ev_idx].state, MRC_EV_ASSUMED_BAD);
    int mult = reo();
    sack(sack_of(v[0], 1030));
    EXPECT_EQ(reo(), mult) << "one path was late, not its plane";
    EXPECT_LE(evs.ev[v[0].ev_idx].state, MRC_EV_SKIP);
    EXPECT_EQ(c.stats.rtx_spurious, 0u) << "it was not resent";
    EXPECT_TRUE(tx_data().empty());
}

TEST_F(ack_ts, off)
{
    auto v = ack_rig::flight(2);
    EXPECT_FALSE(v[0].hdr.has_ts);
    now += 50 * kUs;
    mrc_sack s = sack_of(v[0], 1000);
    s.tx_ts = 0x1234;
    sack(s);
    EXPECT_NEAR(static_cast<double>(eye.ack.rtt_ns), 50e3, 100);
}

} // namespace
