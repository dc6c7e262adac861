// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_sleek.cc - SLEEK: what is missed is counted, not timed.
#include "loss_rig.h"

namespace {

class sleek : public loss {
protected:
    void make_sleek(u32 cwnd_pkts)
    {
        rig_cfg k = defaults();

        k.conn.mpr_max = 2;
        k.tx.sleek = true;
        k.tx.cwnd_bytes = cwnd_pkts * (1024 + MRC_PKT_OVERHEAD);
        make(k);
    }
    // All but 1001 up to @to is there.
    void holding(u32 to)
    {
        mrc_sack s = {};

        s.cack = 1000;
        s.ack_psn_offset = static_cast<s16>(to - 1000);
        s.sack_offset = 2;
        s.bitmap = to - 1001 >= 64 ? ~0ull : (1ull << (to - 1001)) - 1;
        s.ooo_count = static_cast<u16>(to - 1001);
        rig::sack(s);
    }
};

TEST_F(sleek, by_count_not_by_time)
{
    make_sleek(10);
    auto sent = flight(200);
    for (u32 to = 1003; to <= 1015; to++) {
        now += 100 * kUs;
        holding(to);
        EXPECT_EQ(c.snd.lost.count, 0u) << to;
        tx_data();
    }
    holding(1016);              // 15 out of order: one and a half windows
    EXPECT_EQ(c.snd.lost.count, 1u);
    EXPECT_TRUE(c.sleek.on);
    auto v = tx_data();
    ASSERT_FALSE(v.empty());
    EXPECT_EQ(v[0].hdr.psn, 1001u);
    EXPECT_EQ(c.stats.rtx_sleek, 1u);
    EXPECT_EQ(c.stats.rtx_rack, 0u);
    EXPECT_EQ(evs.count[sent[0].ev_idx].lost_pkts, 1u) << "and its path is blamed";
    u32 end = c.sleek.psn;
    sack(end - 2);
    EXPECT_TRUE(c.sleek.on);
    sack(end - 1);
    EXPECT_FALSE(c.sleek.on) << "all sent before it began has arrived";
}

// Of a window of 1024 packets it has room for 128: the count cannot get to half of that window.
TEST_F(sleek, a_small_connection_counts_within_what_it_has_room_for)
{
    rig_cfg k = defaults();

    k.conn.mpr_max = 8;
    k.conn.small = true;
    k.tx.sleek = true;
    k.tx.cwnd_bytes = 8u << 20;
    make(k);
    flight(200);
    ASSERT_EQ(c.snd.out, 128u);
    now += 100 * kUs;
    holding(1064);
    EXPECT_FALSE(c.sleek.on);
    holding(1065);
    EXPECT_TRUE(c.sleek.on);
    EXPECT_EQ(c.snd.lost.count, 1u);
}

// A plane is so much longer than the others that half of the window is out of order for it: the
// count begins a recovery, and what has not been out for that plane's round trip is not lost.
TEST_F(sleek, a_longer_plane_is_waited_for)
{
    make_sleek(10);
    auto sent = flight(200);
    u8 longer = sent[0].hdr.plane;
    evs.plane[longer].srtt_ns = 400 * kUs;
    evs.plane[longer].var_ns = 10 * kUs;
    now += 100 * kUs;
    holding(1016);
    EXPECT_TRUE(c.sleek.on);
    EXPECT_EQ(c.snd.lost.count, 0u);
    now += 600 * kUs;
    holding(1017);
    EXPECT_EQ(c.snd.lost.count, 1u);
}

TEST_F(sleek, in_recovery_the_window_is_passed_over)
{
    make_sleek(10);
    flight(200);
    now += 60 * kUs;
    c.cc->cwnd_bytes = 100;     // as after a deep cut: nothing new may leave
    mrc_sack s = {};
    s.cack = 1000;
    s.sack_offset = 5;          // 1001 to 1004 are missing, 1011 still comes
    s.bitmap = 0x3f;
    s.ooo_count = 40;
    s.ack_psn_offset = 10;
    c.cc->cwnd_bytes = 4 * (1024 + MRC_PKT_OVERHEAD);
    rig::sack(s);
    c.cc->cwnd_bytes = 100;
    EXPECT_EQ(psns(tx_data()), (psn_list{1001, 1002, 1003, 1004}));
}

TEST_F(sleek, a_lost_tail_is_found_by_the_probe)
{
    make_sleek(10);
    flight(5);
    sack(1003);
    std::vector<mrc_txop> probe;
    for (int i = 0; i < 10 && probe.empty(); i++) {
        fire();
        probe = tx_ctrl(MRC_OPC_PROBE);
    }
    ASSERT_EQ(probe.size(), 1u);
    now += 50 * kUs;
    probe_answer(probe[0].hdr.u.probe.probe_id, 1003);
    EXPECT_EQ(psns(tx_data()), (psn_list{1004, 1005}));
    EXPECT_EQ(c.stats.rtx_sleek, 2u);
}

// A call looks at 256 packets. What is lost behind them is found by the answer to the next probe (mrcsim seed 233913).
TEST_F(sleek, a_large_window_is_walked_to_its_end)
{
    rig_cfg k = defaults();

    k.conn.mpr_max = 8;
    k.tx.mpr = k.rx.mpr = 8;
    k.tx.sleek = true;
    k.tx.cwnd_bytes = 2000 * (1024 + MRC_PKT_OVERHEAD);
    k.tx.timeout_ns = 0;
    make(k);
    auto v = flight(600);
    u32 first = v.front().hdr.psn, last = v.back().hdr.psn, far = first + 400;
    now += 50 * kUs;
    for (u32 at = first + 1; at < last; at += 64) { // all but the first and a far one, and nothing said of a count
        mrc_sack s = {};

        s.cack = first - 1;
        s.ack_psn_offset = s.sack_offset = static_cast<s16>(at - s.cack);
        for (u32 i = 0; i < 64 && at + i <= last; i++)
            s.bitmap |= u64(at + i != far) << i;
        rig::sack(s);
    }
    ASSERT_EQ(c.snd.una, first);
    ASSERT_EQ(c.snd.out, 2u);
    u32 found = 0;
    for (int i = 0; i < 40; i++) {
        fire();
        for (const mrc_txop &t : tx_all()) {
            found += t.hdr.psn == far && mrc_opc_is_data(t.hdr.opcode);
            if (t.hdr.opcode == MRC_OPC_PROBE && t.hdr.u.probe.probe_id >= MRC_PROBE_ID_EV_END) {
                now += 50 * kUs;
                probe_answer(t.hdr.u.probe.probe_id, first - 1);
            }
        }
    }
    EXPECT_GT(found, 0u);
}

} // namespace
