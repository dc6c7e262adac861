// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Connections that begin small: what holds them back, and growing in the midst of traffic.
#include "pair_rig.h"

namespace {

rig_cfg small()
{
    rig_cfg k = defaults();

    k.conn.mpr_max = 8;
    k.conn.tails = 96;
    k.conn.small = true;
    k.tx.cwnd_bytes = 8u << 20;
    return k;
}

class room : public pair_rig {
protected:
    std::vector<u64> rest; // looked into at the end, too
};

class room_one : public rig {
protected:
    // All that may leave now.
    u32 out()
    {
        u32 n = 0;

        while (tx())
            n++;
        return n;
    }
    void grow()
    {
        rest.assign(mrc_conn_grow_size(&c) / 8, 0x5a5a5a5a5a5a5a5a);
        mrc_conn_grow(&c, rest.data());
        EXPECT_EQ(mrc_conn_grow_size(&c), 0u);
        EXPECT_FALSE(mrc_conn_wants_mem(&c));
        sound();
    }

    std::vector<u64> rest;
};

// As the module makes them for 16 requests each way.
TEST_F(room_one, a_small_one_takes_less_than_half)
{
    mrc_conn_cfg k = {};

    k.mpr_max = 8;
    k.sq_max = 16;
    k.rq_max = 32;
    k.tails = 96;
    size_t all = mrc_conn_mem_size(&k);
    k.small = true;
    EXPECT_LE(mrc_conn_mem_size(&k), 10u << 10);
    EXPECT_LE(mrc_conn_mem_size(&k), all * 2 / 5);
}

TEST_F(room_one, its_own_window_holds_it_back)
{
    make(small());
    ASSERT_EQ(post(MRC_OP_WRITE, 1 << 20), 0);
    EXPECT_FALSE(mrc_conn_wants_mem(&c));
    EXPECT_EQ(out(), 128u);
    EXPECT_TRUE(mrc_conn_wants_mem(&c));
    grow();
    EXPECT_EQ(out(), 1024u - 128);
    sack(1000 + 1023);
    ack(1000 + 1023);
    EXPECT_EQ(cpls().size(), 1u);
}

// What holds it back there is the peer, and no memory helps.
TEST_F(room_one, a_window_of_the_peers_needs_none)
{
    rig_cfg k = small();

    k.tx.mpr = 1;
    make(k);
    ASSERT_EQ(post(MRC_OP_WRITE, 1 << 20), 0);
    EXPECT_EQ(out(), 128u);
    EXPECT_FALSE(mrc_conn_wants_mem(&c));
}

TEST_F(room_one, one_that_is_not_small_never_wants)
{
    rig_cfg k = small();

    k.conn.small = false;
    make(k);
    ASSERT_EQ(post(MRC_OP_WRITE, 1 << 20), 0);
    EXPECT_EQ(out(), 1024u);
    EXPECT_FALSE(mrc_conn_wants_mem(&c));
    EXPECT_EQ(mrc_conn_grow_size(&c), 0u);
}

// Slots 128 ... of the old ring lie elsewhere in the new one: lists must follow. PSNs wrap under them.
TEST_F(room_one, lists_follow_the_records)
{
    rig_cfg k = small();

    k.tx_psn = MRC_PSN_MASK - 60;
    make(k);
    ASSERT_EQ(post(MRC_OP_WRITE, 1 << 20), 0);
    std::vector<mrc_txop> t;

    while (auto next = tx())
        t.push_back(*next);
    ASSERT_EQ(t.size(), 128u);
    // Some arrived, of each plane: holes before and behind, so that records in the middle are free.
    sack(k.tx_psn + 9, 0xff00, 1);
    for (u32 i = 40; i < 44; i++)
        nack(t[i], MRC_NACK_TRIMMED);
    for (u32 i = 50; i < 52; i++)
        nack(t[i], MRC_NACK_NO_PKT_BUFFER);
    sound();
    grow();
    for (u32 i = 40; i < 44; i++)
        EXPECT_EQ(tx()->hdr.psn, (k.tx_psn + i) & MRC_PSN_MASK) << "in the order of loss";
    EXPECT_EQ(c.snd.paced.head, (k.tx_psn + 50) & MRC_PSN_MASK & c.snd.mask);
    now += 2 * kMs;
    mrc_conn_timer(&c, now);
    out();
    EXPECT_EQ(c.snd.paced.count, 0u);
    sound();
    sack(c.snd.next - 1);
    EXPECT_EQ(c.snd.lost.count, 0u);
    EXPECT_EQ(c.snd.inflight, 0u);
}

// What the peer sends needs no room: all of what was offered to it is there from the start.
TEST_F(room_one, tails_need_none)
{
    rig_cfg k = small();

    make(k);
    // Two packets each, of which the first is missing.
    for (u32 i = 0; i < 96; i++)
        ASSERT_TRUE(take(data(MRC_OPC_WRITE_LAST, 2001 + 2 * i, 10, 1034, 0x10000 + 0x1000 * i)));
    EXPECT_FALSE(mrc_conn_wants_mem(&c));
    EXPECT_EQ(c.stats.rx_no_slot, 0u);
    EXPECT_FALSE(take(data(MRC_OPC_WRITE_LAST, 2001 + 2 * 96, 10, 1034)));
    grow();
    for (u32 i = 0; i < 96; i++)
        ASSERT_TRUE(take(data(MRC_OPC_WRITE_FIRST, 2000 + 2 * i, 1024, 1034, 0x10000 + 0x1000 * i)));
    for (u32 i = 0; i < 96; i++) {
        mrc_todo e;

        ASSERT_TRUE(mrc_conn_next(&c, &e)) << i;
        ASSERT_EQ(e.what, MRC_DO_TAIL);
        EXPECT_EQ(e.tail.va, 0x10000 + 0x1000 * u64{i}) << "in the order of PSNs";
    }
    sound();
}

// A 17th packet resent within a second pushes one out of the table.
TEST_F(room_one, many_resends_want_room)
{
    make(small());
    ASSERT_EQ(post(MRC_OP_WRITE, 64 << 10), 0);
    EXPECT_EQ(out(), 64u);
    now += 100 * kUs;
    sack(1000 - 1, 1ull << 63, 1);
    now += 2 * kMs; // the timeout, several times
    for (u32 i = 0; i < 4 && !mrc_conn_wants_mem(&c); i++) {
        mrc_conn_timer(&c, now);
        out();
        now += 2 * kMs;
    }
    EXPECT_TRUE(mrc_conn_wants_mem(&c));
    u32 noted = 0, kept = 0;

    for (u32 i = 0; i < c.resent.n; i++)
        noted += c.resent.tab[i].used;
    EXPECT_GT(noted, 4u);
    grow();
    for (u32 i = 0; i < c.resent.n; i++)
        kept += c.resent.tab[i].used;
    EXPECT_EQ(kept, noted);
}

// ---- both ends ----

TEST_F(room, grows_under_losses_and_nothing_is_lost)
{
    rig_cfg k = small();
    u32 n = 0, most = 0;

    k.tx_psn = MRC_PSN_MASK - 300;
    make(k);
    meddle = [&](wire &w) {
        for (auto i = w.begin(); i != w.end();)
            i = ++n % 7 == 0 ? w.erase(i) : i + 1;
    };
    for (u32 i = 0; i < 4; i++) {
        ASSERT_EQ(post(a, MRC_OP_WRITE_IMM, 1 << 20), 0);
        ASSERT_EQ(post(b, MRC_OP_SEND, 100000), 0);
    }
    for (u32 i = 0; i < 400; i++) {
        round();
        sound();
        most = std::max(most, (a.c.snd.next - a.c.snd.una) & MRC_PSN_MASK);
        if (i == 20) {
            EXPECT_EQ(most, 128u);
            ASSERT_TRUE(mrc_conn_wants_mem(&a.c));
            rest.assign(mrc_conn_grow_size(&a.c) / 8, 0x5a5a5a5a5a5a5a5a);
            mrc_conn_grow(&a.c, rest.data());
            sound();
        }
    }
    EXPECT_GT(most, 256u);
    ASSERT_TRUE(run());
    EXPECT_EQ(a.sent_ok, 4u);
    EXPECT_EQ(b.sent_ok, 4u);
    EXPECT_EQ(b.placed, 4ull << 20);
    EXPECT_EQ(a.placed, 400000u);
}

// It has the memory of messages for as many receives as can be posted; its peer may send more.
TEST_F(room, messages_beyond_all_receives_wait)
{
    rig_cfg k = small();

    k.conn.rq_max = 4;
    k.conn.sq_max = 16;
    k.rx.wimm = 16;
    k.tx.wimm = 16;
    make(k);
    // The first message comes late: the others cannot complete, and the fifth has no receive.
    bool held = true;
    mrc_pkt first = {};

    meddle = [&](wire &w) {
        for (auto i = w.begin(); held && i != w.end(); i++)
            if (i->opcode == MRC_OPC_SEND_ONLY && i->rqmsn == 0) {
                first = *i;
                w.erase(i);
                break;
            }
    };
    for (u32 i = 0; i < 12; i++)
        ASSERT_EQ(post(a, i & 1 ? MRC_OP_WRITE_IMM : MRC_OP_SEND, 100), 0);
    round();
    EXPECT_EQ(b.c.rcv.rq_used, 3u);
    EXPECT_EQ(b.c.stats.rx_rnr, 8u);
    EXPECT_EQ(b.c.rcv.nak, MRC_NAK_NONE);
    held = false;
    b.in.push_back(first);
    ASSERT_TRUE(run());
    EXPECT_EQ(b.received, 12u);
    EXPECT_EQ(a.sent_ok, 12u);
}

} // namespace
