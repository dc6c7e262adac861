// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_ack_lies.cc - what no honest peer says: sound after each, and no harm done.
#include "ack_rig.h"

#include <random>

namespace {

class ack_lies : public ack_rig {};

TEST_F(ack_lies, never_sent)
{
    flight(5);
    sack(1005);
    sack(1000 + (1 << 23) - 1);
    EXPECT_EQ(c.stats.rx_bad_ack, 2u);
    EXPECT_EQ(c.snd.out, 5u);
    sack(999, 0xff, 4);         // 1003 and 1004, and six that do not exist
    EXPECT_EQ(c.stats.rx_bad_ack, 3u);
    EXPECT_EQ(c.snd.out, 3u);
    ack(1005);
    ack(1004, 0x20);            // not an ACK, not a NAK
    nack(1005, 0, MRC_NACK_TRIMMED);
    nack(1005, 0, MRC_NACK_UNEXP_EVENT);
    EXPECT_EQ(c.stats.rx_bad_ack, 7u);
    EXPECT_EQ(mrc_conn_failed(&c), MRC_ST_OK);
    EXPECT_EQ(c.snd.una, 1000u);
}

// Whoever guesses at PSNs hits what is out less often than what was: only the first is fatal.
TEST_F(ack_lies, an_unexpected_event_long_ago)
{
    flight(5);
    sack(1002);
    nack(1002, 0, MRC_NACK_UNEXP_EVENT);
    nack(999, 0, MRC_NACK_UNEXP_EVENT);
    nack(1000 - (1 << 22), 0, MRC_NACK_UNEXP_EVENT);
    EXPECT_EQ(mrc_conn_failed(&c), MRC_ST_OK);
    EXPECT_EQ(c.stats.rx_bad_ack, 3u);
    nack(1003, 0, MRC_NACK_UNEXP_EVENT);
    EXPECT_EQ(mrc_conn_failed(&c), MRC_ST_REM_OP);
}

TEST_F(ack_lies, a_naks_psn_must_be_waited_for)
{
    flight(5);
    ack(1001);
    ack(1001, MRC_AETH_NAK | MRC_NAK_REM_OP);   // acknowledged before
    ack(1005, MRC_AETH_NAK | MRC_NAK_REM_OP);   // never sent
    EXPECT_FALSE(c.msgs.stopped);
    ack(1002, MRC_AETH_NAK | MRC_NAK_REM_OP);
    EXPECT_TRUE(c.msgs.stopped);
}

TEST_F(ack_lies, cack_and_bitmap_disagree)
{
    flight(40);
    sack(1009, 0, -8);          // "nothing of 1001 to 1020": cack has said otherwise
    EXPECT_EQ(c.snd.una, 1010u);
    sack(1004, 0x3, 1);         // back, and what is behind it
    EXPECT_EQ(c.snd.una, 1010u);
    sack(1009, 0x1, 1);         // the PSN that cack says is missing
    EXPECT_EQ(c.snd.una, 1011u);
    EXPECT_EQ(c.stats.rx_bad_ack, 0u);
}

// mrcsim seed 1289: an old SACK whose bitmap reached beyond the window of its own cack.
TEST_F(ack_lies, a_bitmap_beyond_what_its_cack_allows)
{
    flight(300);                // window 128: 1000 to 1127
    sack(1063);
    EXPECT_EQ(tx_data().size(), 64u);
    sack(999, 0b111, 127);      // 1126, 1127, and 1128, which that cack did not allow
    EXPECT_EQ(c.stats.rx_bad_ack, 1u);
    EXPECT_EQ(c.snd.rec[1127 & c.snd.mask].state, MRC_REC_FREE);
    EXPECT_EQ(c.snd.rec[1128 & c.snd.mask].state, MRC_REC_SENT);
}

TEST_F(ack_lies, msn)
{
    mrc_pkt p = {};

    flight(5);
    p.opcode = MRC_OPC_ACK;
    p.psn = 1002;
    p.u.aeth.syndrome = MRC_AETH_CREDIT_NONE;
    p.u.aeth.msn = 77;
    rx(p);
    EXPECT_EQ(c.stats.rx_bad_ack, 1u);
    p.psn = 1003;
    p.u.aeth.msn = 1;
    rx(p);
    EXPECT_EQ(c.stats.rx_bad_ack, 1u);
    EXPECT_EQ(c.snd.una, 1004u);
}

// Anything in any field: sound after each, and the honest end comes all the same.
TEST_F(ack_lies, at_random)
{
    for (u32 seed = 1; seed <= 20; seed++) {
        std::mt19937_64 r(seed);
        rig_cfg k = defaults();

        k.conn.mpr_max = 2;
        k.tx.timestamps = seed & 1;
        k.tx.dyn_mpr = seed & 2;
        k.tx.sleek = seed & 4;
        k.tx.exp_cnt = MRC_EXP_FOREVER;
        k.tx_psn = seed & 8 ? 0xffffc0 : 1000;
        next_cookie = 100;
        auto v = flight(200, k);
        for (int i = 0; i < 2000 && !mrc_conn_failed(&c); i++) {
            mrc_pkt p = {};
            u32 near = (c.snd.una + static_cast<u32>(r() % 600) - 200) & MRC_PSN_MASK;

            now += r() % (20 * kUs);
            p.psn = r() & 1 ? near : r() & MRC_PSN_MASK;
            if (r() % 3) {
                p.opcode = MRC_OPC_SACK;
                mrc_sack &s = p.u.sack;
                s.cack = r() % 8 ? (c.snd.una - 1 - r() % 4) & MRC_PSN_MASK : p.psn;
                s.m = r() & 3;
                s.pr = r() % 8 == 0;
                s.ack_psn_offset = static_cast<s16>(r() & 1 ? r() % 256 : r());
                s.probe_id = static_cast<u16>(r());
                s.ev = evs.ev[r() % evs.n].value;
                s.mpr = static_cast<u8>(r());
                s.sack_offset = static_cast<s16>(r() & 1 ? r() % 64 : r());
                s.bitmap = r() & r() & r() & r();
                s.tx_ts = static_cast<u16>(r() & 1 ? r() : mrc_ts16(now - r() % (99 * kUs)));
                s.ooo_count = static_cast<u16>(r() & 0x7fff);
                s.restore_cwnd = r() & 1;
                s.rcv_cwnd_pen = r() & 0x7f;
                s.rcvd_bytes = r() & 0xffffff;
            } else {
                static const u8 why[] = {1, 2, 6, 7, 0xb, 0x77};

                p.opcode = MRC_OPC_NACK;
                p.u.nack.psn = p.psn;
                p.u.nack.ev = evs.ev[r() % evs.n].value;
                p.u.nack.reason = why[r() % 6];
            }
            rx(p);
            sound();
            run_to(now);
            tx_all();
        }
        ASSERT_EQ(mrc_conn_failed(&c), MRC_ST_OK) << seed;
        for (int i = 0; i < 1000 && c.snd.una != c.snd.next; i++) {
            fire();
            tx_all();
            sack((c.snd.next - 1) & MRC_PSN_MASK);
        }
        ack((c.snd.next - 1) & MRC_PSN_MASK);
        for (int i = 0; i < 100 && (c.msgs.sq_seg != c.msgs.sq_tail || c.snd.una != c.snd.next); i++) {
            tx_all();
            sack((c.snd.next - 1) & MRC_PSN_MASK);
            ack((c.snd.next - 1) & MRC_PSN_MASK);
        }
        EXPECT_EQ(show(cpls()), "100:0") << seed;
    }
}

} // namespace
