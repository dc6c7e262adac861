// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_told.cc - peers whose SACKs are not as ours: when they come, what they show, what they
// leave out.
#include "ack_rig.h"
#include "loss_rig.h"

#include <algorithm>

namespace {

class told : public loss {
protected:
    // 1001 ... 1000 + @n are in flight, and 1001 is missing. The SACK answers the latest one; its
    // bitmap of @bits begins at cack + @offset.
    void hole(u32 n, u64 bits, s16 offset = 1)
    {
        make();
        EXPECT_EQ(flight(n).size(), n);
        now += 55 * kUs;
        sack(1000, bits, offset, 1000 + n);
    }
    // What is sent again when all that is out is old enough, and the timeout has not come.
    std::vector<u32> again()
    {
        std::vector<u32> psns;

        for (u32 i = 0; i < 20; i++) {
            tick(10 * kUs);
            for (const mrc_txop &t : tx_data())
                psns.push_back(t.hdr.psn);
        }
        std::sort(psns.begin(), psns.end());
        return psns;
    }
};

TEST_F(told, the_packet_that_triggered_a_sack_has_arrived)
{
    make();
    flight(20);
    now += 55 * kUs;
    sack(1000, 0, 1, 1015);
    EXPECT_EQ(c.snd.out, 19u);
    sack(1000, 0, 1, 1015);
    EXPECT_EQ(c.snd.out, 19u);
}

TEST_F(told, but_where_all_is_shown_in_time_it_waits_for_its_bit)
{
    hole(100, ~0ull, 37);
    sack(1000, ~1ull, 1, 1020);
    u32 out = c.snd.out;
    post(MRC_OP_WRITE, 20 * 1024);
    tx_data();
    sack(1000, 0, 1, 1110);
    EXPECT_EQ(c.snd.out, out + 20);
}

TEST_F(told, a_trigger_that_was_not_sent_proves_nothing)
{
    make();
    flight(20);
    sack(1000, 0, 1, 1021);
    sack(1000, 0, 1, 1000 + 128 + 20);
    EXPECT_EQ(c.snd.out, 20u);
}

TEST_F(told, an_answer_to_a_probe_has_no_trigger)
{
    mrc_sack s = {};

    make();
    flight(20);
    s.cack = 1000;
    s.sack_offset = 1;
    s.pr = true;
    s.probe_id = 5;
    s.ack_psn_offset = 5; // the same bytes
    sack(s);
    EXPECT_EQ(c.snd.out, 20u);
}

TEST_F(told, what_no_bitmap_has_covered_is_not_lost)
{
    hole(100, ~1ull); // 1002 ... 1064 have come, and 1100
    EXPECT_EQ(c.snd.out, 36u);
    EXPECT_EQ(again(), std::vector<u32>{1001});
}

// The second copy stands behind all that no bitmap has covered.
TEST_F(told, the_hole_at_the_left_edge_may_be_lost_again)
{
    hole(120, ~1ull);
    EXPECT_EQ(again(), std::vector<u32>{1001});
    post(MRC_OP_WRITE, 1024);
    EXPECT_EQ(tx_data().size(), 1u);
    now += 50 * kUs;
    sack(1000, ~1ull, 1, 1121);
    EXPECT_EQ(again(), std::vector<u32>{1001});
}

TEST_F(told, and_leaves_though_the_window_seems_full)
{
    hole(120, ~1ull);
    c.own_cc->cc.cwnd_bytes = 20000;
    ASSERT_GT(c.snd.inflight, 20000u);
    EXPECT_EQ(again(), std::vector<u32>{1001});
}

TEST_F(told, but_not_where_all_that_is_out_is_covered)
{
    hole(30, ((1ull << 30) - 1) & ~1ull);
    post(MRC_OP_WRITE, 20 * 1024);
    EXPECT_EQ(tx_data().size(), 20u);
    c.own_cc->cc.cwnd_bytes = 10000;
    EXPECT_TRUE(again().empty());
    EXPECT_EQ(c.snd.lost.count, 1u);
}

// The window is full of what no bitmap has covered.
TEST_F(told, behind_an_end_that_is_lost_nothing_has_come)
{
    for (u64 more : {0ull, 1ull << 32, 1ull << 63}) {
        hole(120, 0xfffe | more);
        c.own_cc->cc.cwnd_bytes = 20000;
        EXPECT_EQ(again(), std::vector<u32>{1001}) << more;
        u32 out = c.snd.out;
        sack(1000, 0xfffe | more, 1, 1120);
        EXPECT_EQ(c.snd.out < out, !more) << more;
    }
}

TEST_F(told, an_end_that_is_late_only_says_nothing)
{
    make();
    flight(60);
    now += 100 * kUs;
    flight(60);
    now += 20 * kUs;
    c.own_cc->cc.cwnd_bytes = 20000;
    sack(1000, 0xfffe, 1, 1110);
    ASSERT_GT(c.snd.lost.count, 10u);
    u32 shown = c.report.shown;
    sack(1000, 0xfffe, 1, 1111);
    EXPECT_EQ(c.report.shown, shown);
}

TEST_F(told, what_a_bitmap_covers_and_lacks_is_lost)
{
    hole(60, ~(1ull | 1ull << 29));
    EXPECT_EQ(again(), (std::vector<u32>{1001, 1030}));
}

TEST_F(told, who_shows_more_than_what_follows_cack_shows_all)
{
    hole(100, ~0ull, 37); // 1037 ... 1100
    EXPECT_EQ(again().size(), 36u);
}

TEST_F(told, an_empty_bitmap_denies_the_first_packet_only)
{
    hole(40, 0);
    EXPECT_EQ(c.snd.out, 39u);
    EXPECT_EQ(again(), std::vector<u32>{1001});
}

TEST_F(told, a_bitmap_that_shows_its_trigger_is_believed_again)
{
    hole(40, 0);
    sack(1000, ~1ull & ((1ull << 40) - 1) & ~4ull, 1, 1040); // without 1003
    EXPECT_EQ(again(), (std::vector<u32>{1001, 1003}));
}

TEST_F(told, a_plane_that_is_down_loses_all_the_same)
{
    hole(100, ~1ull);
    mrc_evset_local_planes(&evs, 1, now);
    mrc_conn_plane_event(&c, now);
    EXPECT_GT(again().size(), 10u);
}

// ---- stamps ----

class stampless : public ack_rig {
protected:
    std::vector<mrc_txop> start(u32 n)
    {
        rig_cfg k = defaults();

        k.tx.timestamps = true;
        now = 100 * kMs + 64 * kUs;
        return flight(n, k);
    }
};

TEST_F(stampless, round_trips_come_from_our_own_records)
{
    start(3);
    now += 50 * kUs;
    sack(1000, 0, 1, 1000);
    EXPECT_NEAR(c.rtt.srtt_ns, 50 * kUs, 200);
}

TEST_F(stampless, but_not_of_what_was_sent_twice)
{
    auto v = start(3);
    now += 50 * kUs;
    nack(v[0], MRC_NACK_TRIMMED_LASTHOP);
    EXPECT_EQ(tx_data().size(), 1u);
    now += 70 * kUs;
    u32 before = c.rtt.srtt_ns;
    sack(1000, 0, 1, 1000);
    EXPECT_EQ(c.rtt.srtt_ns, before);
}

TEST_F(stampless, a_nack_gives_one_as_well)
{
    auto v = start(3);
    now += 50 * kUs;
    nack(v[0], MRC_NACK_NO_PKT_BUFFER);
    EXPECT_NEAR(c.rtt.srtt_ns, 50 * kUs, 200);
}

TEST_F(stampless, one_stamp_is_enough_to_wait_for_more)
{
    start(12);
    for (u32 i = 0; i < 8; i++) {
        now += kUs;
        EXPECT_EQ(mrc_report_stamps(&c), i < 4);
        sack(1000 + i, 0, 1, 1000 + i);
    }
    mrc_sack s = {};
    s.cack = 1008;
    s.sack_offset = 1;
    s.tx_ts = 77;
    sack(s);
    EXPECT_TRUE(mrc_report_stamps(&c));
}

// ---- who is silent unless asked ----

class asks : public rig {
protected:
    // PSNs of the packets that ask, of @n that leave.
    std::vector<u32> asking(u32 n)
    {
        std::vector<u32> v;

        post(MRC_OP_WRITE, n * 1024);
        for (const mrc_txop &t : tx_data())
            if (t.hdr.ackreq)
                v.push_back(t.hdr.psn);
        return v;
    }
};

TEST_F(asks, after_a_few_packets_without_a_sack)
{
    make();
    post(MRC_OP_WRITE, 1024);
    tx_data();
    sack(1000, 0, 1, 1000);
    EXPECT_EQ(asking(100), (std::vector<u32>{1033, 1066, 1099}));
}

TEST_F(asks, nothing_before_a_first_answer_can_have_come)
{
    make();
    EXPECT_TRUE(asking(100).empty());
}

TEST_F(asks, no_peer_that_sends_them_unasked)
{
    make();
    post(MRC_OP_WRITE, 1024);
    tx_data();
    for (u32 i = 0; i < 10; i++) {
        sack(1000 + 16 * i, 0, 1, 1000 + 16 * i);
        EXPECT_TRUE(asking(16).empty());
    }
}

TEST_F(asks, larger_packets_sooner)
{
    rig_cfg k = defaults();

    k.rx.mtu = 4096;
    make(k);
    post(MRC_OP_WRITE, 1024);
    tx_data();
    sack(1000, 0, 1, 1000);
    post(MRC_OP_WRITE, 30 * 4096);
    auto v = tx_data();
    EXPECT_TRUE(v.at(12).hdr.ackreq);
    EXPECT_TRUE(v.at(25).hdr.ackreq);
}

// Other QPs have the port meanwhile: before the peer has a SACK's worth, this QP would lose patience and probe.
TEST_F(asks, when_a_message_is_sent_slowly)
{
    make();
    post(MRC_OP_WRITE, 1024);
    tx_data();
    now += 10 * kUs;
    sack(1000, 0, 1, 1000);
    const u64 patience = mrc_rtt_patience_ns(&c);
    post(MRC_OP_WRITE, 8 * 1024);
    EXPECT_FALSE(tx()->hdr.ackreq); // the first may have others right behind it
    now += patience / 5;
    EXPECT_FALSE(tx()->hdr.ackreq);
    now += patience / 4 + 100;
    EXPECT_TRUE(tx()->hdr.ackreq);
    now += patience / 4 + 100;
    EXPECT_FALSE(tx()->hdr.ackreq); // one question is under way
    sack(1004, 0, 1, 1004);
    now += patience / 4 + 100;
    EXPECT_TRUE(tx()->hdr.ackreq);
    sack(1005, 0, 1, 1005);
    EXPECT_FALSE(tx()->hdr.ackreq);
}

TEST_F(asks, again_when_the_question_could_not_leave)
{
    make();
    post(MRC_OP_WRITE, 1024);
    tx_data();
    sack(1000, 0, 1, 1000);
    post(MRC_OP_WRITE, 40 * 1024);
    for (u32 i = 0; i < 32; i++)
        EXPECT_FALSE(tx()->hdr.ackreq);
    auto t = tx();
    EXPECT_TRUE(t->hdr.ackreq);
    mrc_conn_tx_undo(&c, &*t);
    EXPECT_TRUE(tx()->hdr.ackreq);
}

} // namespace
