// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_nscc_pen.cc - NSCC: the lever in the hand of the responder, section 5.3.
#include "nscc_rig.h"

namespace {

TEST_F(nscc, penalty_64_for_a_round_trip_halves)
{
    spare = 0;
    warm();
    set_wnd(50 * pkt);
    for (int i = 0; i < 50; i++)
        ack(pkt, base + 3000, false, 64);
    EXPECT_NEAR(cc->cwnd_bytes, 25 * pkt, pkt);
}

TEST_F(nscc, penalty_127_leaves_a_packet)
{
    warm();
    for (int i = 0; i < 120; i++)
        ack(pkt, base + 3000, false, 127);
    EXPECT_EQ(cc->cwnd_bytes, pkt);
}

TEST_F(nscc, penalty_takes_away_what_is_not_used)
{
    warm();
    mrc_cc_sample s = sample();
    s.inflight_bytes = 5 * pkt;
    s.rtt_ns = base;
    s.rcv_cwnd_pen = 1;
    mrc_nscc.on_ack(cc, &s);
    EXPECT_GE(cc->cwnd_bytes, 5 * pkt);
    EXPECT_LT(cc->cwnd_bytes, 6 * pkt);
}

TEST_F(nscc, penalty_1_holds_whole_packets)
{
    warm();
    set_wnd(6 * pkt);
    for (int i = 0; i < 12; i++) { // as many in flight as the window has room for
        mrc_cc_sample s = sample();

        now += 3000;
        s.now_ns = now;
        s.acked_bytes = pkt;
        s.rtt_ns = base + 2 * target;
        s.rcv_cwnd_pen = 1;
        s.inflight_bytes = cc->cwnd_bytes / pkt * pkt;
        mrc_nscc.on_ack(cc, &s);
    }
    EXPECT_LE(cc->cwnd_bytes, 6 * pkt) << "no growth";
    EXPECT_GE(cc->cwnd_bytes, 5 * pkt);
}

TEST_F(nscc, restore_gives_back_what_the_first_penalty_found)
{
    warm();
    set_wnd(150000);
    for (int i = 0; i < 120; i++)
        ack(pkt, base + 3000, false, 127);
    ASSERT_EQ(cc->cwnd_bytes, pkt);
    ack(pkt, base + 3000, false, 0, true);
    EXPECT_NEAR(cc->cwnd_bytes, 150000, pkt);
    set_wnd(10 * pkt);
    ack(1, base + 3000, false, 0, true);
    EXPECT_LT(cc->cwnd_bytes, 11 * pkt) << "only once";
}

TEST_F(nscc, restore_without_penalty_is_nothing)
{
    warm();
    set_wnd(10 * pkt);
    ack(1, base + 3000, false, 0, true);
    EXPECT_LT(cc->cwnd_bytes, 11 * pkt);
}

TEST_F(nscc, restore_gives_back_what_the_first_trim_found)
{
    cfg.nscc.disable_qa = true;
    init();
    warm();
    u32 before = cc->cwnd_bytes;
    mrc_cc_sample s = sample();
    s.trimmed = true;
    s.lost_bytes = pkt;
    s.inflight_bytes = before / 5 * 3;
    mrc_nscc.on_nack(cc, &s);
    ASSERT_LT(cc->cwnd_bytes, before);
    ack(pkt, base + 3000, false, 0, true);
    EXPECT_EQ(cc->cwnd_bytes, before);
}

} // namespace
