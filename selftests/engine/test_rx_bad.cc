// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_rx_bad.cc - what a peer must not send: fields at their extremes, PSNs half of
// all PSNs away, floods. Counted and bounded; never a byte outside its message.
#include "conn_rig.h"

#include <limits>
#include <random>

namespace {

class rx_bad : public rig {
protected:
    // Refused for good, with this code.
    void refused(const mrc_pkt &p, mrc_nak code)
    {
        u32 psn = p.psn;

        EXPECT_EQ(rx(p), MRC_V_DROP);
        auto v = tx_ctrl(MRC_OPC_ACK);
        ASSERT_EQ(v.size(), 1u);
        EXPECT_EQ(v[0].hdr.psn, psn);
        EXPECT_EQ(v[0].hdr.u.aeth.syndrome, MRC_AETH_NAK | code);
        sound();
    }
    void taken(const mrc_pkt &p)
    {
        EXPECT_EQ(rx(p), MRC_V_PLACE);
        mrc_conn_rx_drop(&c, &op);
        EXPECT_EQ(c.rcv.nak, MRC_NAK_NONE);
    }
};

constexpr u64 kTop = std::numeric_limits<u64>::max();

// ---- RETH ----

TEST_F(rx_bad, more_payload_than_the_message_or_the_mtu)
{
    make();
    refused(data(MRC_OPC_WRITE_ONLY, 2000, 11, 10), MRC_NAK_INV_REQ);
    make();
    refused(data(MRC_OPC_WRITE_ONLY, 2000, 1025, 1025), MRC_NAK_INV_REQ);
    make();
    taken(data(MRC_OPC_WRITE_MIDDLE, 2000, 1024, 0xffffffff));
}

// A WRITE: every packet is as long as its place in a message of this length makes it.
TEST_F(rx_bad, packets_of_a_write_that_are_too_short_or_too_long)
{
    const struct {
        u8 opcode;
        u32 len, dmalen;
        bool good;
    } t[] = {
        {MRC_OPC_WRITE_FIRST, 1024, 1025, true},
        {MRC_OPC_WRITE_FIRST, 1024, 0xffffffff, true},
        {MRC_OPC_WRITE_FIRST, 1023, 3000, false},
        {MRC_OPC_WRITE_FIRST, 0, 3000, false},
        {MRC_OPC_WRITE_FIRST, 1024, 1024, false},
        {MRC_OPC_WRITE_MIDDLE, 1024, 2049, true},
        {MRC_OPC_WRITE_MIDDLE, 1023, 3000, false},
        {MRC_OPC_WRITE_MIDDLE, 1, 3000, false},
        {MRC_OPC_WRITE_MIDDLE, 0, 3000, false},
        {MRC_OPC_WRITE_MIDDLE, 1024, 2048, false},
        {MRC_OPC_WRITE_LAST, 952, 3000, true},
        {MRC_OPC_WRITE_LAST, 1024, 2048, true},
        {MRC_OPC_WRITE_LAST, 1, 1025, true},
        {MRC_OPC_WRITE_LAST, 1023, 0xffffffff, true},
        {MRC_OPC_WRITE_LAST, 951, 3000, false},
        {MRC_OPC_WRITE_LAST, 953, 3000, false},
        {MRC_OPC_WRITE_LAST, 0, 3000, false},
        {MRC_OPC_WRITE_LAST, 0, 2048, false},
        {MRC_OPC_WRITE_LAST, 0, 0, false},
        {MRC_OPC_WRITE_LAST, 1024, 1024, false},
        {MRC_OPC_WRITE_LAST_IMM, 952, 3000, true},
        {MRC_OPC_WRITE_LAST_IMM, 900, 3000, false},
        {MRC_OPC_WRITE_LAST_IMM, 1025, 3073, false},
        {MRC_OPC_WRITE_ONLY, 0, 0, true},
        {MRC_OPC_WRITE_ONLY, 1024, 1024, true},
        {MRC_OPC_WRITE_ONLY, 9, 10, false},
        {MRC_OPC_WRITE_ONLY, 1024, 1025, false},
        {MRC_OPC_WRITE_ONLY_IMM, 10, 10, true},
        {MRC_OPC_WRITE_ONLY_IMM, 0, 10, false},
    };

    for (const auto &x : t) {
        make();
        if (x.good)
            taken(data(x.opcode, 2000, x.len, x.dmalen, 0x10000));
        else
            refused(data(x.opcode, 2000, x.len, x.dmalen, 0x10000), MRC_NAK_INV_REQ);
    }
}

TEST_F(rx_bad, an_address_that_wraps)
{
    make();
    taken(data(MRC_OPC_WRITE_ONLY, 2000, 16, 16, kTop - 15));
    taken(data(MRC_OPC_WRITE_ONLY, 2000, 0, 0, kTop));
    refused(data(MRC_OPC_WRITE_ONLY, 2000, 17, 17, kTop - 15), MRC_NAK_REM_ACCESS);
    make();
    taken(data(MRC_OPC_READ_REQ, 2000, 0, 16, kTop - 15));
    refused(data(MRC_OPC_READ_REQ, 2000, 0, 17, kTop - 15), MRC_NAK_REM_ACCESS);
    EXPECT_EQ(c.stats.naks_access, 1u);
}

TEST_F(rx_bad, a_read_longer_than_a_message_may_be)
{
    make();
    taken(data(MRC_OPC_READ_REQ, 2000, 0, 0x80000000u));
    refused(data(MRC_OPC_READ_REQ, 2000, 0, 0x80000001u), MRC_NAK_INV_REQ);
    make();
    refused(data(MRC_OPC_READ_REQ, 2000, 0, 0xffffffffu), MRC_NAK_INV_REQ);
}

TEST_F(rx_bad, atomics_of_other_sizes_or_places)
{
    make();
    taken(data(MRC_OPC_FETCH_ADD, 2000, 0, 8, 0x1008));
    refused(data(MRC_OPC_FETCH_ADD, 2000, 0, 8, 0x1004), MRC_NAK_INV_REQ);
    make();
    refused(data(MRC_OPC_CMP_SWAP, 2000, 0, 16, 0x1000), MRC_NAK_INV_REQ);
}

TEST_F(rx_bad, requests_where_none_are_allowed)
{
    rig_cfg k = defaults();

    k.rx.rd_atomic = 0;
    make(k);
    refused(data(MRC_OPC_READ_REQ, 2000, 0, 8), MRC_NAK_INV_REQ);
}

TEST_F(rx_bad, nothing_but_writes_on_an_mrc_qp)
{
    rig_cfg k = defaults();

    k.rx.mrc_only = true;
    for (u8 opcode : {MRC_OPC_SEND_ONLY, MRC_OPC_READ_REQ, MRC_OPC_READ_RESP_ONLY,
                      MRC_OPC_ATOMIC_ACK, MRC_OPC_FETCH_ADD, MRC_OPC_SEND_ONLY_INV}) {
        make(k);
        refused(data(opcode, 2000, 0, 0, 0), MRC_NAK_INV_REQ);
    }
}

// A SEND: offset and length are of the message, whose bytes must all come.
TEST_F(rx_bad, sends_that_leave_their_message_or_gaps_in_it)
{
    const struct {
        u8 opcode;
        u32 len, dmalen;
        u64 off;
        bool good;
    } t[] = {
        {MRC_OPC_SEND_FIRST, 1024, 3000, 0, true},
        {MRC_OPC_SEND_FIRST, 1024, 0xffffffff, 0, true},
        {MRC_OPC_SEND_FIRST, 1023, 3000, 0, false},
        {MRC_OPC_SEND_FIRST, 1024, 3000, 1024, false},
        {MRC_OPC_SEND_MIDDLE, 1024, 3000, 1024, true},
        {MRC_OPC_SEND_MIDDLE, 0, 3000, 1024, false},
        {MRC_OPC_SEND_MIDDLE, 1024, 3000, 1025, false},
        {MRC_OPC_SEND_MIDDLE, 1024, 2047, 1024, false},
        {MRC_OPC_SEND_MIDDLE, 1024, 0xffffffff, 0xfffffc00, false},
        {MRC_OPC_SEND_MIDDLE, 1024, 0xffffffff, 0xfffff800, true},
        {MRC_OPC_SEND_MIDDLE, 1024, 3000, kTop - 1023, false},
        {MRC_OPC_SEND_MIDDLE, 1024, 3000, 0x100000000ull, false},
        {MRC_OPC_SEND_LAST, 952, 3000, 2048, true},
        {MRC_OPC_SEND_LAST, 1023, 0xffffffff, 0xfffffc00, true},
        {MRC_OPC_SEND_LAST, 952, 3001, 2048, false},
        {MRC_OPC_SEND_LAST, 953, 3000, 2047, false},
        {MRC_OPC_SEND_FIRST, 1024, 1024, 0, false},
        {MRC_OPC_SEND_MIDDLE, 1024, 3000, 0, false},
        {MRC_OPC_SEND_MIDDLE, 1024, 2048, 1024, false},
        {MRC_OPC_SEND_LAST, 0, 0, kTop, false},
        {MRC_OPC_SEND_LAST, 0, 2048, 2048, false},
        {MRC_OPC_SEND_LAST, 0, 0, 0, false},
        {MRC_OPC_SEND_LAST, 10, 10, 0, false},
        {MRC_OPC_SEND_ONLY, 10, 10, 0, true},
        {MRC_OPC_SEND_ONLY, 0, 0, 0, true},
        {MRC_OPC_SEND_ONLY, 10, 1034, 1024, false},
        {MRC_OPC_SEND_ONLY_IMM, 10, 11, 0, false},
    };

    for (const auto &x : t) {
        make();
        if (x.good)
            taken(data(x.opcode, 2000, x.len, x.dmalen, x.off));
        else
            refused(data(x.opcode, 2000, x.len, x.dmalen, x.off), MRC_NAK_INV_REQ);
    }
}

// All its packets, each once: nothing less completes a receive.
TEST_F(rx_bad, a_send_without_its_middle)
{
    make();
    EXPECT_TRUE(take(data(MRC_OPC_SEND_FIRST, 2000, 1024, 3000, 0)));
    refused(data(MRC_OPC_SEND_LAST, 2001, 952, 3000, 2048), MRC_NAK_INV_REQ);
    EXPECT_EQ(show(cpls()), "");
}

TEST_F(rx_bad, a_send_with_the_same_piece_twice)
{
    make();
    EXPECT_TRUE(take(data(MRC_OPC_SEND_FIRST, 2000, 1024, 4000, 0)));
    EXPECT_TRUE(take(data(MRC_OPC_SEND_MIDDLE, 2001, 1024, 4000, 1024)));
    refused(data(MRC_OPC_SEND_MIDDLE, 2002, 1024, 4000, 1024), MRC_NAK_INV_REQ);
}

TEST_F(rx_bad, a_send_whose_length_changes)
{
    make();
    EXPECT_TRUE(take(data(MRC_OPC_SEND_LAST, 2002, 952, 3000, 2048)));
    EXPECT_EQ(rx(data(MRC_OPC_SEND_FIRST, 2000, 1024, 2999, 0)), MRC_V_DROP);
    refused(data(MRC_OPC_SEND_FIRST, 2000, 1024, 4000, 0), MRC_NAK_INV_REQ);
}

TEST_F(rx_bad, something_else_where_a_piece_of_a_send_belongs)
{
    make();
    EXPECT_TRUE(take(data(MRC_OPC_SEND_FIRST, 2000, 1024, 3000, 0)));
    EXPECT_TRUE(take(write_only(2001)));
    EXPECT_TRUE(take(data(MRC_OPC_SEND_LAST, 2002, 952, 3000, 2048)));
    EXPECT_EQ(show(cpls()), "");
    auto v = tx_ctrl(MRC_OPC_ACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.psn, 2002u);
    EXPECT_EQ(v[0].hdr.u.aeth.syndrome, MRC_AETH_NAK | MRC_NAK_INV_REQ);
}

TEST_F(rx_bad, a_write_that_ends_a_send)
{
    make();
    EXPECT_TRUE(take(data(MRC_OPC_SEND_FIRST, 2000, 1024, 1025, 0)));
    EXPECT_TRUE(take(data(MRC_OPC_WRITE_LAST_IMM, 2001, 1, 1025, 0x10000)));
    EXPECT_EQ(show(cpls()), "");
    EXPECT_EQ(c.rcv.nak, MRC_NAK_INV_REQ);
}

// ---- METH ----

TEST_F(rx_bad, receives_beyond_wimm)
{
    rig_cfg k = defaults();

    k.rx.wimm = 8;
    for (u16 rqmsn : {8, 9, 0x7fff, 0x8000, 0xffff}) {
        make(k);
        refused(send_only(2000, rqmsn), MRC_NAK_INV_REQ);
        make(k);
        refused(data(MRC_OPC_WRITE_ONLY_IMM, 2000, 1, 1, 0x1000, rqmsn), MRC_NAK_INV_REQ);
        make(k);
        refused(data(MRC_OPC_SEND_MIDDLE, 2000, 1024, 3000, 1024, rqmsn), MRC_NAK_INV_REQ);
    }
    make(k);
    taken(send_only(2000, 7));
    make(k);
    taken(data(MRC_OPC_WRITE_ONLY, 2000, 1, 1, 0x1000, 0xffff));    // of no meaning there
}

TEST_F(rx_bad, two_ends_of_one_message)
{
    make();
    EXPECT_TRUE(take(send_only(2001, 0)));
    EXPECT_EQ(rx(send_only(2002, 0)), MRC_V_DROP);
    EXPECT_EQ(c.rcv.nak, MRC_NAK_INV_REQ);
    EXPECT_EQ(c.rcv.nak_psn, 2002u);
}

TEST_F(rx_bad, a_message_that_is_complete)
{
    make();
    EXPECT_TRUE(take(send_only(2000, 0)));
    EXPECT_EQ(show(cpls()), "r0:0");
    refused(send_only(2001, 0), MRC_NAK_INV_REQ);
}

TEST_F(rx_bad, rqmsn_wraps)
{
    make();
    for (u32 i = 0; i < 0x10010; i++) {
        EXPECT_EQ(rx(send_only(2000 + i, static_cast<u16>(i))), MRC_V_PLACE);
        EXPECT_EQ(op.rq_idx, i);
        mrc_conn_rx_commit(&c, &op, now);
        mrc_cpl x;
        ASSERT_TRUE(ev.complete(&x));
        ASSERT_EQ(x.rq_idx, i);
    }
    refused(send_only(2000 + 0x10010, 0xf), MRC_NAK_INV_REQ);
}

TEST_F(rx_bad, answers_to_other_questions)
{
    const u16 msns[] = {1, 0x8000, 0xffff};
    u64 n = 0;

    make();
    ASSERT_EQ(post(MRC_OP_READ, 2000), 0);
    u16 msn = tx_data().at(0).hdr.msn;
    auto bad = [&](const mrc_pkt &p) {
        EXPECT_EQ(rx(p), MRC_V_DROP);
        EXPECT_EQ(c.stats.rx_bad_resp, ++n);
        auto v = tx_ctrl(MRC_OPC_NACK);
        ASSERT_EQ(v.size(), 1u);
        EXPECT_EQ(v[0].hdr.u.nack.reason, MRC_NACK_UNEXP_EVENT);
    };
    for (u16 m : msns)
        bad(data(MRC_OPC_READ_RESP_FIRST, 2000, 1024, 2000, 0, 0, static_cast<u16>(msn + m)));
    bad(data(MRC_OPC_ATOMIC_ACK, 2000, 0, 8, 0, 0, msn));
    bad(data(MRC_OPC_READ_RESP_FIRST, 2000, 1023, 2000, 0, 0, msn));
    bad(data(MRC_OPC_READ_RESP_FIRST, 2000, 1024, 2000, 1, 0, msn));
    bad(data(MRC_OPC_READ_RESP_FIRST, 2000, 1024, 2000, 2048, 0, msn));
    bad(data(MRC_OPC_READ_RESP_FIRST, 2000, 1024, 2000, kTop - 1023, 0, msn));
    bad(data(MRC_OPC_READ_RESP_FIRST, 2000, 1024, 2000, 0x100000000ull, 0, msn));
    EXPECT_TRUE(take(data(MRC_OPC_READ_RESP_FIRST, 2000, 1024, 2000, 0, 0, msn)));
    bad(data(MRC_OPC_READ_RESP_FIRST, 2001, 1024, 2000, 0, 0, msn)); // the same piece again
    EXPECT_TRUE(cpls().empty());
    EXPECT_TRUE(take(data(MRC_OPC_READ_RESP_LAST, 2001, 976, 2000, 1024, 0, msn)));
    EXPECT_EQ(show(cpls()), "100:0");
}

// An empty piece behind the end would count as one, and the READ complete with bytes that never came.
TEST_F(rx_bad, an_empty_answer_behind_the_end)
{
    make();
    ASSERT_EQ(post(MRC_OP_READ, 1024), 0);
    u16 msn = tx_data().at(0).hdr.msn;
    EXPECT_EQ(rx(data(MRC_OPC_READ_RESP_ONLY, 2000, 0, 1024, 1024, 0, msn)), MRC_V_DROP);
    EXPECT_EQ(c.stats.rx_bad_resp, 1u);
    EXPECT_TRUE(cpls().empty());
    EXPECT_TRUE(take(data(MRC_OPC_READ_RESP_ONLY, 2000, 1024, 1024, 0, 0, msn)));
    ASSERT_EQ(post(MRC_OP_READ, 0), 0);
    msn = tx_data().at(0).hdr.msn;
    EXPECT_TRUE(take(data(MRC_OPC_READ_RESP_ONLY, 2001, 0, 0, 0, 0, msn))) << "nothing was asked for";
    EXPECT_EQ(show(cpls()), "100:0 101:0");
}

// ---- PSN ----

// Neither before nor after: half of all PSNs away from the expected one.
TEST_F(rx_bad, the_other_half_of_the_psn_space)
{
    for (u32 first : {2000u, 0u, 0x7fffffu, 0x800000u, 0xffffffu}) {
        rig_cfg k = defaults();

        k.rx_psn = first;
        make(k);
        EXPECT_EQ(rx(write_only(first + (1 << 23))), MRC_V_DROP);
        EXPECT_EQ(c.stats.rx_oor, 1u);
        EXPECT_EQ(rx(write_only(first + (1 << 23) - 1)), MRC_V_DROP);
        EXPECT_EQ(c.stats.rx_oor, 2u);
        EXPECT_TRUE(tx_all().empty()) << "no word to either";
        EXPECT_EQ(rx(write_only(first + (1 << 23) + 1)), MRC_V_DONE) << "a very old duplicate";
        EXPECT_EQ(c.stats.rx_dup, 1u);
        auto v = tx_ctrl(MRC_OPC_SACK);
        ASSERT_EQ(v.size(), 1u);
        EXPECT_EQ(v[0].hdr.u.sack.ack_psn_offset, -32768);
        EXPECT_TRUE(take(write_only(first)));
    }
}

// ---- floods ----

TEST_F(rx_bad, floods_of_duplicates_and_strays)
{
    make();
    take(write_only(2000));
    take(write_only(2005));
    tx_all();
    for (u32 i = 0; i < 10000; i++) {
        rx(write_only(i % 2 ? 2005 : 2000));
        rx(write_only(2000 + 300 + i));
        rx(write_only(2000 - 40 * i));
    }
    EXPECT_LE(tx_ctrl(MRC_OPC_SACK).size(), size_t{MRC_OWED_SACKS});
    EXPECT_EQ(c.rcv.held, 1u);
    EXPECT_EQ(c.stats.rx_pkts, 2u);
}

TEST_F(rx_bad, a_flood_of_requests_finds_no_slot)
{
    make();
    for (u32 i = 0; i < 100; i++)
        rx(data(MRC_OPC_READ_REQ, 2001 + i, 0, 10)) == MRC_V_PLACE
            ? mrc_conn_rx_commit(&c, &op, now)
            : void();
    EXPECT_EQ(c.execs.used, 4);
    EXPECT_EQ(c.stats.rx_no_slot, 96u);
    EXPECT_LE(tx_ctrl(MRC_OPC_NACK).size(), size_t{MRC_OWED_NACKS});
}

// Any bytes that parse: the state stays sound, the work bounded.
TEST_F(rx_bad, noise)
{
    std::mt19937 r(11);
    const u64 odd[] = {0, 1, 15, 16, 1023, 1024, 1025, 0x7fffffff, 0x80000000, 0xffffffff,
                       0x100000000, kTop, kTop - 1, kTop - 1024};
    auto pick = [&] { return odd[r() % (sizeof(odd) / sizeof(*odd))]; };

    for (u32 round = 0; round < 300; round++) {
        rig_cfg k = defaults();
        u32 slot;
        u16 done;

        k.conn.strict = k.rx.strict = round & 1;
        k.rx.dyn_mpr = round & 2;
        k.rx.svc_time = round & 4;
        k.rx.oor_nack = round & 8;
        k.rx.mpr = round & 16 ? 2 : 0;
        make(k);
        post(MRC_OP_READ, 3000);
        for (u32 i = 0; i < 200; i++) {
            mrc_pkt p = data(static_cast<u8>(0xc0 + r() % 0x20),
                             2000 + (r() % 8 ? r() % 40 : r() & MRC_PSN_MASK),
                             static_cast<u32>(r() % 3 ? pick() & 1023 : 1024),
                             static_cast<u32>(pick()), pick(), static_cast<u16>(pick()),
                             static_cast<u16>(pick()));
            p.rtx = r() % 4 == 0;
            p.ackreq = r() % 4 == 0;
            p.ecn_ce = r() % 4 == 0;
            p.trimmed = static_cast<u8>(r() % 8 == 0 ? MRC_NACK_TRIMMED_LASTHOP : 0);
            if (!mrc_opc_is_data(p.opcode))
                p.opcode = MRC_OPC_PROBE;
            mrc_verdict v = rx(p);
            if (v == MRC_V_PLACE && r() % 8) {
                mrc_conn_rx_commit(&c, &op, now);
            } else if (v == MRC_V_PLACE && r() % 2) {
                mrc_reject why = {op.hold ? MRC_NACK_NO_PKT_BUFFER : MRC_NACK_NO_RESOURCE,
                                  r() % 32 ? MRC_NAK_NONE : MRC_NAK_REM_ACCESS};
                mrc_conn_rx_reject(&c, &op, &why, now);
            } else if (v == MRC_V_PLACE) {
                mrc_conn_rx_drop(&c, &op);
            }
            while (ev.hold(&slot))
                mrc_conn_hold_done(&c, r() % 64 ? MRC_NAK_NONE : MRC_NAK_REM_ACCESS, now);
            mrc_tail t;
            mrc_exec x;
            while (ev.tail(&t))
                EXPECT_LE(t.len, u32{MRC_TAIL_LEN});
            while (ev.exec(&x))
                r() % 16 ? mrc_conn_exec_done(&c, x.slot, 1, now)
                         : mrc_conn_exec_fail(&c, x.slot, MRC_NAK_REM_ACCESS, now);
            while (ev.freed(&done))
                ;
            cpls();
            if (r() % 4 == 0) {
                u32 ctrl = 0;
                for (const mrc_txop &t2 : tx_all())
                    ctrl += !mrc_opc_is_data(t2.hdr.opcode);
                EXPECT_LE(ctrl, 2 * MRC_OWED_SACKS + MRC_OWED_NACKS);
            }
            now += r() % 100000;
            mrc_conn_timer(&c, now);
            ASSERT_EQ(mrc_conn_check(&c), 0);
        }
    }
}

} // namespace
