// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_rx_strict.cc - strict placement: what is ahead of a hole is held, and
// handed back in the order of PSNs; nothing that is visible runs ahead of it.
#include "conn_rig.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

namespace {

class rx_strict : public rig {
protected:
    rig_cfg strict()
    {
        rig_cfg k = defaults();

        k.conn.strict = true;
        k.rx.strict = true;
        return k;
    }
    // Take a packet as a caller does: place at once, or keep.
    bool arrive(const mrc_pkt &p)
    {
        if (!take(p))
            return false;
        if (op.hold)
            kept[p.psn & c.rcv_mask] = p;
        else if (op.place != MRC_PLACE_NONE)
            placed.push_back(p.psn);
        return true;
    }
    void place_held()
    {
        u32 slot;

        while (ev.hold(&slot)) {
            auto it = kept.find(slot);
            ASSERT_NE(it, kept.end());
            placed.push_back(it->second.psn);
            kept.erase(it);
            mrc_conn_hold_done(&c, MRC_NAK_NONE, now);
            sound();
        }
    }
    mrc_sack sack_now()
    {
        auto v = tx_ctrl(MRC_OPC_SACK);

        EXPECT_FALSE(v.empty());
        return v.empty() ? mrc_sack{} : v.back().hdr.u.sack;
    }

    std::map<u32, mrc_pkt> kept; // by slot
    psn_list placed;
};

TEST_F(rx_strict, needs_memory_of_its_own)
{
    rig_cfg k = strict();
    size_t with = mrc_conn_mem_size(&k.conn);

    k.conn.strict = false;
    EXPECT_EQ(with - mrc_conn_mem_size(&k.conn), 128u / 8);
    make();
    k.rx.psn = 1;
    EXPECT_EQ(mrc_conn_set_rx(&c, &k.rx, now), -EINVAL);
    make(strict());
}

TEST_F(rx_strict, in_order_nothing_is_held)
{
    make(strict());
    for (u32 i = 0; i < 300; i++) {
        EXPECT_TRUE(arrive(write_only(2000 + i)));
        EXPECT_FALSE(op.hold);
    }
    EXPECT_EQ(c.rcv.cack, 2299u);
    EXPECT_EQ(c.stats.rx_held, 0u);
}

TEST_F(rx_strict, held_ones_are_sacked_but_not_passed)
{
    make(strict());
    EXPECT_TRUE(arrive(write_only(2001)));
    EXPECT_TRUE(op.hold);
    mrc_pkt p = write_only(2002);
    p.ackreq = true;
    EXPECT_TRUE(arrive(p));
    mrc_sack s = sack_now();
    EXPECT_EQ(s.cack, 1999u);
    EXPECT_EQ(s.bitmap << s.sack_offset, 6u << 1) << "2001 and 2002 are here";
    u32 slot;
    EXPECT_FALSE(ev.hold(&slot));
    EXPECT_TRUE(arrive(write_only(2000)));
    EXPECT_FALSE(op.hold) << "everything before it is placed";
    EXPECT_EQ(c.rcv.cack, 2000u) << "the edge waits for the placing";
    auto v = tx_ctrl(MRC_OPC_ACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.psn, 2000u);
    place_held();
    EXPECT_EQ(placed, (psn_list{2000, 2001, 2002}));
    EXPECT_EQ(c.rcv.cack, 2002u);
    v = tx_ctrl(MRC_OPC_ACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.psn, 2002u);
    EXPECT_EQ(v[0].hdr.u.aeth.msn, 3u);
    EXPECT_EQ(c.stats.rx_held, 2u);
}

// A caller that takes a whole batch in before it places what it holds.
TEST_F(rx_strict, behind_a_held_one_everything_is_held)
{
    make(strict());
    arrive(write_only(2001));
    arrive(write_only(2000));
    EXPECT_FALSE(op.hold);
    arrive(write_only(2002));
    EXPECT_TRUE(op.hold) << "2001 is not placed yet";
    place_held();
    EXPECT_EQ(placed, (psn_list{2000, 2001, 2002}));
}

TEST_F(rx_strict, duplicates_of_held_packets)
{
    make(strict());
    arrive(write_only(2003));
    tx_all();
    EXPECT_EQ(rx(write_only(2003)), MRC_V_DONE);
    EXPECT_EQ(c.stats.rx_dup, 1u);
    EXPECT_EQ(tx_ctrl(MRC_OPC_SACK).size(), 1u);
    mrc_pkt p = write_only(2003);
    p.trimmed = MRC_NACK_TRIMMED;
    EXPECT_EQ(rx(p), MRC_V_DONE);
    auto v = tx_all();
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.opcode, MRC_OPC_SACK) << "no NACK for what is here";
}

TEST_F(rx_strict, the_window_counts_from_the_placed_edge)
{
    make(strict());
    EXPECT_TRUE(arrive(write_only(2127)));
    arrive(write_only(2001));
    arrive(write_only(2000));
    EXPECT_EQ(rx(write_only(2129)), MRC_V_DROP);
    place_held();
    EXPECT_TRUE(arrive(write_only(2129)));
}

TEST_F(rx_strict, no_tails)
{
    mrc_tail t;

    make(strict());
    for (u32 i = 0; i < 8; i++) {
        EXPECT_TRUE(arrive(data(MRC_OPC_WRITE_LAST, 2002 + 2 * i, 6, 1030, 0x10400)));
        EXPECT_LT(op.tail, 0);
        EXPECT_TRUE(op.hold);
    }
    EXPECT_FALSE(ev.tail(&t));
}

TEST_F(rx_strict, receives_complete_when_placed)
{
    make(strict());
    EXPECT_TRUE(arrive(send_only(2001, 0)));
    EXPECT_TRUE(op.hold);
    EXPECT_TRUE(op.needs_rq);
    arrive(write_only(2000));
    EXPECT_TRUE(cpls().empty()) << "held: its bytes are not there";
    place_held();
    EXPECT_EQ(show(cpls()), "r0:0");
}

TEST_F(rx_strict, no_receive_is_said_when_the_packet_comes)
{
    make(strict());
    reject(send_only(2001, 0), MRC_NACK_NO_RESOURCE, MRC_NAK_NONE);
    EXPECT_EQ(tx_ctrl(MRC_OPC_NACK).size(), 1u);
    EXPECT_EQ(c.rcv.held, 0u);
    EXPECT_TRUE(arrive(send_only(2001, 0))) << "and again";
}

TEST_F(rx_strict, nowhere_to_keep_it)
{
    make(strict());
    reject(write_only(2001), MRC_NACK_NO_PKT_BUFFER, MRC_NAK_NONE);
    auto v = tx_ctrl(MRC_OPC_NACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.u.nack.reason, MRC_NACK_NO_PKT_BUFFER);
    EXPECT_EQ(c.stats.rx_no_slot, 1u);
    EXPECT_EQ(c.rcv.held, 0u);
    EXPECT_EQ(c.stats.rx_rnr, 0u);
}

TEST_F(rx_strict, requests_wait_for_the_placed_edge)
{
    mrc_exec x;

    make(strict());
    arrive(write_only(2001));
    arrive(data(MRC_OPC_READ_REQ, 2002, 0, 10));
    EXPECT_FALSE(op.hold) << "nothing to place";
    arrive(write_only(2003));
    arrive(write_only(2000));
    EXPECT_FALSE(ev.exec(&x)) << "2001 is not placed";
    place_held();
    EXPECT_EQ(c.rcv.cack, 2003u);
    EXPECT_TRUE(ev.exec(&x));
    EXPECT_EQ(placed, (psn_list{2000, 2001, 2003}));
}

TEST_F(rx_strict, responses_are_never_held)
{
    make(strict());
    ASSERT_EQ(post(MRC_OP_READ, 2000), 0);
    auto t = tx_data();
    ASSERT_EQ(t.size(), 1u);
    ASSERT_TRUE(take(data(MRC_OPC_READ_RESP_LAST, 2001, 976, 2000, 1024, 0, t[0].hdr.msn)));
    EXPECT_FALSE(op.hold);
    EXPECT_EQ(op.place, MRC_PLACE_RESP);
    ASSERT_TRUE(take(data(MRC_OPC_READ_RESP_FIRST, 2000, 1024, 2000, 0, 0, t[0].hdr.msn)));
    EXPECT_EQ(show(cpls()), "100:0");
    EXPECT_EQ(c.rcv.cack, 2001u);
}

TEST_F(rx_strict, refused_when_placed)
{
    u32 slot;

    make(strict());
    arrive(write_only(2001));
    arrive(send_only(2002, 0));
    arrive(write_only(2000));
    ASSERT_TRUE(ev.hold(&slot));
    EXPECT_EQ(slot, 2001u & c.rcv_mask);
    tx_all();
    mrc_conn_hold_done(&c, MRC_NAK_REM_ACCESS, now);
    sound();
    EXPECT_FALSE(ev.hold(&slot)) << "nor what follows";
    EXPECT_TRUE(cpls().empty());
    auto v = tx_ctrl(MRC_OPC_ACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.psn, 2001u);
    EXPECT_EQ(v[0].hdr.u.aeth.syndrome, MRC_AETH_NAK | MRC_NAK_REM_ACCESS);
    EXPECT_TRUE(mrc_conn_nak_sent(&c));
    EXPECT_EQ(rx(write_only(2001)), MRC_V_DONE) << "the NAK was lost";
    v = tx_ctrl(MRC_OPC_ACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.u.aeth.syndrome, MRC_AETH_NAK | MRC_NAK_REM_ACCESS);
}

TEST_F(rx_strict, what_was_acknowledged_cannot_be_asked_for_again)
{
    const struct { mrc_reject why; u8 nak; } cases[] = {
        { { MRC_NACK_NO_RESOURCE, MRC_NAK_NONE }, MRC_NAK_REM_OP },
        { { MRC_NACK_NO_PKT_BUFFER, MRC_NAK_NONE }, MRC_NAK_REM_OP },
        { { static_cast<mrc_nack>(0), MRC_NAK_REM_ACCESS }, MRC_NAK_REM_ACCESS },
    };

    for (const auto &k : cases) {
        u32 slot;

        make(strict());
        arrive(write_only(2001));
        arrive(write_only(2000));
        ASSERT_TRUE(ev.hold(&slot));
        tx_all();
        mrc_conn_hold_reject(&c, &k.why, now);
        sound();
        auto v = tx_ctrl(MRC_OPC_ACK);
        ASSERT_EQ(v.size(), 1u);
        EXPECT_EQ(v[0].hdr.u.aeth.syndrome, MRC_AETH_NAK | k.nak);
        EXPECT_TRUE(tx_ctrl(MRC_OPC_NACK).empty());
    }
}

TEST_F(rx_strict, what_precedes_a_refused_one_is_still_placed)
{
    make(strict());
    arrive(write_only(2001));
    reject(write_only(2002), static_cast<mrc_nack>(0), MRC_NAK_REM_ACCESS);
    arrive(write_only(2000));
    EXPECT_FALSE(mrc_conn_nak_sent(&c));
    tx_all();
    EXPECT_FALSE(mrc_conn_nak_sent(&c));
    place_held();
    auto v = tx_ctrl(MRC_OPC_ACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.psn, 2002u);
    EXPECT_TRUE(mrc_conn_nak_sent(&c));
}

TEST_F(rx_strict, a_reset_forgets_what_is_held)
{
    rig_cfg k = strict();
    u32 slot;

    make(k);
    arrive(write_only(2001));
    mrc_conn_reset(&c);
    EXPECT_FALSE(ev.hold(&slot));
    k.rx.psn = 2001;
    ASSERT_EQ(mrc_conn_set_rx(&c, &k.rx, now), 0);
    EXPECT_FALSE(ev.hold(&slot));
    EXPECT_TRUE(take(write_only(2001)));
    EXPECT_EQ(c.rcv.cack, 2001u);
}

TEST_F(rx_strict, a_failed_one_places_nothing)
{
    u32 slot;

    make(strict());
    arrive(write_only(2001));
    arrive(write_only(2000));
    mrc_conn_fail(&c, MRC_ST_RETRY_EXC, now);
    EXPECT_FALSE(ev.hold(&slot));
}

// Whatever the order of arrival, and however seldom the caller places.
TEST_F(rx_strict, any_order)
{
    std::mt19937 r(3);

    for (u32 round = 0; round < 50; round++) {
        psn_list order(128), all(128);

        make(strict());
        kept.clear();
        placed.clear();
        std::iota(order.begin(), order.end(), 2000);
        std::iota(all.begin(), all.end(), 2000);
        std::shuffle(order.begin(), order.end(), r);
        for (u32 psn : order) {
            EXPECT_TRUE(arrive(write_only(psn)));
            if (r() % (round + 1) == 0)
                place_held();
        }
        place_held();
        EXPECT_EQ(placed, all);
        EXPECT_EQ(c.rcv.cack, 2127u);
        EXPECT_TRUE(kept.empty());
    }
}

} // namespace
