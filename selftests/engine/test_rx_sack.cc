// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_rx_sack.cc - when the receiver sends a SACK (7.5.2), and what it says.
#include "rx_rig.h"

#include <array>

namespace {

// ---- when a SACK is sent (7.5.2) ----

TEST_F(rx_stream, trigger_count)
{
    rig_cfg k = defaults();

    k.rx.sack_pkts = 3;
    k.rx.mrc_only = true; // none is spared
    make(k);
    take(write_only(2000));
    EXPECT_TRUE(due_sack()) << "the very first";
    take(write_only(2001));
    take(write_only(2002));
    EXPECT_FALSE(due_sack());
    take(write_only(2003));
    auto s = due_sack();
    ASSERT_TRUE(s);
    EXPECT_EQ(s->cack, 2003u);
    EXPECT_EQ(s->bitmap, 0u);
    take(write_only(2004));
    EXPECT_FALSE(due_sack()) << "counted anew";
}

// In the midst of a message and in order, where nothing else is looked at.
TEST_F(rx_stream, trigger_in_the_midst_of_a_message)
{
    quiet();
    u32 mtu = c.rx.mtu, all = 16 * mtu;
    mrc_pkt p = data(MRC_OPC_WRITE_FIRST, 2000, mtu, all);

    take(p);
    EXPECT_FALSE(due_sack());
    p = data(MRC_OPC_WRITE_MIDDLE, 2001, mtu, all);
    p.ackreq = true;
    take(p);
    EXPECT_TRUE(due_sack()) << "it asks";
    p = data(MRC_OPC_WRITE_MIDDLE, 2002, mtu, all);
    p.rtx = true;
    take(p);
    EXPECT_TRUE(due_sack()) << "it was resent";
    p = data(MRC_OPC_WRITE_MIDDLE, 2003, mtu, all);
    p.ecn_ce = true;
    take(p);
    auto s = due_sack();
    ASSERT_TRUE(s) << "it is marked";
    EXPECT_EQ(s->m, MRC_M_SKIP_ONCE);
    EXPECT_EQ(c.stats.rx_ecn, 1u);
    EXPECT_EQ(s->cack, 2003u);
    take(data(MRC_OPC_WRITE_MIDDLE, 2004, mtu, all));
    EXPECT_FALSE(due_sack());
    EXPECT_EQ(c.stats.rx_pkts, 5u);
}

TEST_F(rx_stream, trigger_bytes_small_packets_count_1k)
{
    rig_cfg k = defaults();

    k.rx.sack_pkts = 1000;
    k.rx.sack_bytes = 3 * 1024;
    k.rx.mrc_only = true;
    make(k);
    take(write_only(2000, 1));
    EXPECT_TRUE(due_sack()) << "the very first";
    take(write_only(2001, 1));
    take(write_only(2002, 1));
    EXPECT_FALSE(due_sack());
    take(write_only(2003, 1));
    EXPECT_TRUE(due_sack());
}

// Planes take turns and SACKs come every so many packets: were it always as many, the same
// planes would be heard of for ever, and round trips of the others never.
TEST_F(rx_stream, triggers_do_not_lock_to_planes)
{
    for (u32 run = 0; run < 10; run++) {
        u8 planes = std::array<u8, 5>{2, 3, 4, 6, 8}[run / 2];
        std::vector<u32> heard(planes);
        // Each packet ends a message: but on QPs of mrc.h every second SACK is spared beside its ACK.
        u32 every = run % 2 ? 8 : 4, n = 1500 * every, sacks = 0, since = 0, longest = 0;
        rig_cfg k = defaults();

        k.evs = planes;
        k.planes = planes;
        k.conn.seed = planes;
        k.rx.mtu = 4096;
        k.rx.mrc_only = every == 4;
        make(k); // 16 KiB: every fourth
        for (u32 i = 0; i < n; i++) {
            mrc_pkt p = write_only(2000 + i, 4096);

            p.ev = evs.ev[i % planes].value;
            take(p);
            since++;
            for (const mrc_txop &t : tx_ctrl(MRC_OPC_SACK)) {
                longest = std::max(longest, since);
                since = 0;
                sacks++;
                for (u8 e = 0; e < planes; e++)
                    heard[e] += t.hdr.u.sack.ev == evs.ev[e].value;
            }
        }
        EXPECT_EQ(longest, every) << "never later than agreed";
        EXPECT_GE(sacks, n / every);
        EXPECT_LE(sacks, n / every * 11 / 10) << "and few more of them";
        for (u8 e = 0; e < planes; e++)
            EXPECT_GT(heard[e], sacks / planes * 8 / 10) << int(e) << " of " << int(planes);
    }
}

TEST_F(rx_stream, triggers_are_the_same_for_the_same_seed)
{
    auto triggers = [&](u64 seed) {
        rig_cfg k = defaults();
        std::vector<u32> at;

        k.conn.seed = seed;
        k.rx.mtu = 4096;
        make(k);
        for (u32 i = 0; i < 200; i++) {
            take(write_only(2000 + i, 4096));
            if (due_sack())
                at.push_back(i);
        }
        return at;
    };
    EXPECT_EQ(triggers(7), triggers(7));
    EXPECT_NE(triggers(7), triggers(8));
}

TEST_F(rx_stream, trigger_ackreq)
{
    quiet();
    mrc_pkt p = write_only(2000);
    p.ackreq = true;
    take(p);
    EXPECT_TRUE(due_sack());
}

TEST_F(rx_stream, trigger_rtx)
{
    quiet();
    mrc_pkt p = write_only(2000);
    p.rtx = true;
    take(p);
    EXPECT_TRUE(due_sack());
}

TEST_F(rx_stream, trigger_ecn_names_the_ev)
{
    quiet();
    mrc_pkt p = write_only(2000);
    p.ecn_ce = true;
    p.tx_ts = 0x1234;
    take(p);
    auto s = due_sack();
    ASSERT_TRUE(s);
    EXPECT_EQ(s->m, MRC_M_SKIP_ONCE);
    EXPECT_EQ(s->ev, p.ev);
    EXPECT_EQ(s->tx_ts, 0x1234);
    EXPECT_EQ(c.stats.rx_ecn, 1u);
}

TEST_F(rx_stream, trigger_probe)
{
    quiet();
    take(write_only(2001));
    mrc_pkt p = {};
    p.opcode = MRC_OPC_PROBE;
    p.u.probe.probe_id = 0xf123;
    p.u.probe.tx_ts = 77;
    p.ev = evs.ev[3].value;
    EXPECT_EQ(rx(p), MRC_V_DONE);
    auto s = due_sack();
    ASSERT_TRUE(s);
    EXPECT_TRUE(s->pr);
    EXPECT_EQ(s->probe_id, 0xf123);
    EXPECT_EQ(s->tx_ts, 77);
    EXPECT_EQ(s->cack, 1999u);
    EXPECT_EQ(said(*s), std::set<u32>{2001});
}

// ---- what a SACK says ----

TEST_F(rx_stream, sack_bitmap_near)
{
    rig_cfg k = defaults();

    k.rx.sack_pkts = 1;
    make(k);
    take(write_only(2002));
    take(write_only(2004));
    auto s = due_sack();
    ASSERT_TRUE(s);
    EXPECT_EQ(s->cack, 1999u);
    EXPECT_EQ(said(*s), (std::set<u32>{2002, 2004}));
    EXPECT_EQ(s->ooo_count, 2u);
}

TEST_F(rx_stream, sack_bitmap_far_reaches_the_trigger)
{
    rig_cfg k = defaults();

    k.rx.sack_pkts = 1;
    k.rx_psn = 0xffffc0;    // across the wrap
    make(k);
    std::vector<u32> have = {3, 90, 100};
    for (u32 i : have)
        take(write_only(mrc_psn_add(0xffffc0, static_cast<s32>(i))));
    auto s = due_sack();
    ASSERT_TRUE(s);
    EXPECT_EQ(s->cack, 0xffffbfu);
    EXPECT_EQ(mrc_psn_add(s->cack, s->ack_psn_offset), mrc_psn_add(0xffffc0, 100));
    EXPECT_EQ(said(*s), (std::set<u32>{mrc_psn_add(0xffffc0, 90), mrc_psn_add(0xffffc0, 100)}));
}

// The ring bitmap must not show old bits as new ones.
TEST_F(rx_stream, sack_bitmap_beyond_the_ring)
{
    rig_cfg k = defaults();

    k.rx.sack_pkts = 1;
    k.rx.mrc_only = true;
    make(k);
    for (u32 i = 0; i < 300; i++) {
        if (i % 100 == 50)
            continue;
        take(write_only(2000 + i));
        if (i % 100 == 99)
            take(write_only(2000 + i - 49));
        auto s = due_sack();
        ASSERT_TRUE(s);
        for (u32 psn : said(*s)) {
            EXPECT_GT(mrc_psn_diff(psn, s->cack), 1);
            EXPECT_LE(mrc_psn_diff(psn, 2000 + i), 0);
        }
    }
}

TEST_F(rx_stream, rcvd_bytes_are_nominal_and_rounded_up)
{
    rig_cfg k = defaults();

    k.rx.sack_pkts = 1;
    make(k);
    mrc_pkt p = write_only(2000, 100);
    p.udp_len = 500;
    take(p);
    auto s = due_sack();
    ASSERT_TRUE(s);
    EXPECT_EQ(s->rcvd_bytes, (500u + 40 + 255) / 256);
}

TEST_F(rx_stream, marks_of_different_evs_are_all_told)
{
    quiet();
    for (u32 i = 0; i < 4; i++) {
        mrc_pkt p = write_only(2000 + i);
        p.ecn_ce = true;
        p.ev = evs.ev[i].value;
        take(p);
    }
    std::set<u32> told;
    for (const mrc_txop &t : tx_ctrl(MRC_OPC_SACK))
        told.insert(t.hdr.u.sack.ev);
    EXPECT_EQ(told.size(), 4u);
}

TEST_F(rx_stream, trimmed_is_nacked_not_placed)
{
    make();
    mrc_pkt p = write_only(2000);
    p.trimmed = MRC_NACK_TRIMMED;
    EXPECT_EQ(rx(p), MRC_V_DONE);
    auto v = tx_ctrl(MRC_OPC_NACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.u.nack.reason, MRC_NACK_TRIMMED);
    EXPECT_EQ(v[0].hdr.u.nack.psn, 2000u);
    EXPECT_EQ(v[0].hdr.u.nack.ev, p.ev);
    EXPECT_EQ(c.rcv.cack, 1999u);
}

} // namespace
