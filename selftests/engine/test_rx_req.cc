// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_rx_req.cc - READs and ATOMICs of the peer: executed in order, answered once.
#include "rx_rig.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

namespace {

TEST_F(rx_stream, requests_execute_in_order_and_behind_what_precedes_them)
{
    mrc_exec x;

    make();
    take(data(MRC_OPC_READ_REQ, 2002, 0, 5000, 0x3000, 0, 7));
    take(data(MRC_OPC_READ_REQ, 2001, 0, 4000, 0x2000, 0, 6));
    EXPECT_FALSE(ev.exec(&x));
    take(write_only(2000));
    ASSERT_TRUE(ev.exec(&x));
    EXPECT_EQ(x.va, 0x2000u);
    EXPECT_EQ(x.len, 4000u);
    EXPECT_EQ(x.op, MRC_OP_READ);
    mrc_exec y;
    EXPECT_FALSE(ev.exec(&y)) << "one at a time";
    auto v = tx_ctrl(MRC_OPC_ACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.psn, 2000u) << "not acknowledged before it is executed";
    mrc_conn_exec_done(&c, x.slot, 0, now);
    ASSERT_TRUE(ev.exec(&x));
    EXPECT_EQ(x.va, 0x3000u);
    mrc_conn_exec_done(&c, x.slot, 0, now);
    EXPECT_FALSE(ev.exec(&x));
    std::vector<u32> offs;
    for (const mrc_txop &t : tx_data()) {
        EXPECT_TRUE(mrc_opc_is_read_resp(t.hdr.opcode));
        EXPECT_EQ(t.src, MRC_SRC_RESP);
        offs.push_back(t.off);
    }
    EXPECT_EQ(offs, (std::vector<u32>{0, 1024, 2048, 3072, 0, 1024, 2048, 3072, 4096}));
}

TEST_F(rx_stream, atomic_returns_the_original)
{
    mrc_exec x;
    u16 slot;

    make();
    mrc_pkt p = data(MRC_OPC_FETCH_ADD, 2000, 0, 8, 0x4000, 0, 3);
    p.swap_add = 5;
    take(p);
    ASSERT_TRUE(ev.exec(&x));
    EXPECT_EQ(x.op, MRC_OP_FETCH_ADD);
    EXPECT_EQ(x.swap_add, 5u);
    mrc_conn_exec_done(&c, x.slot, 41, now);
    auto v = tx_data();
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.opcode, MRC_OPC_ATOMIC_ACK);
    EXPECT_EQ(v[0].hdr.swap_add, 41u);
    EXPECT_EQ(v[0].hdr.msn, 3);
    EXPECT_FALSE(ev.freed(&slot));
    EXPECT_EQ(rx(p), MRC_V_DONE) << "a duplicate is not executed";
    EXPECT_FALSE(ev.exec(&x));
    sack(1000);
    ASSERT_TRUE(ev.freed(&slot));
    EXPECT_EQ(slot, x.slot);
    EXPECT_FALSE(ev.freed(&slot));
}

TEST_F(rx_stream, requests_beyond_the_slots_are_put_off)
{
    make();
    for (u32 i = 0; i < 4; i++)
        EXPECT_TRUE(take(data(MRC_OPC_READ_REQ, 2001 + i, 0, 10)));
    EXPECT_EQ(rx(data(MRC_OPC_READ_REQ, 2005, 0, 10)), MRC_V_DROP);
    auto v = tx_ctrl(MRC_OPC_NACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.u.nack.reason, MRC_NACK_NO_PKT_BUFFER);
}

TEST_F(rx_stream, requests_in_any_order_of_arrival)
{
    std::mt19937 r(9);
    rig_cfg k = defaults();
    u32 next = 2000;

    k.conn.rd_max = 128;
    k.rx.rd_atomic = 128;
    k.conn.mpr_max = 2;
    make(k);
    for (u32 round = 0; round < 30; round++) {
        std::vector<u32> order(1 + r() % 128);
        u32 base = next, slots = 0;
        mrc_exec x;
        u16 slot;

        std::iota(order.begin(), order.end(), base);
        std::shuffle(order.begin(), order.end(), r);
        for (u32 psn : order) {
            EXPECT_TRUE(take(data(MRC_OPC_FETCH_ADD, psn, 0, 8, 8ull * psn)));
            EXPECT_EQ(mrc_ctl_ack_edge(&c), base - 1 + (next - base));
            while (ev.exec(&x)) {
                EXPECT_EQ(x.va, 8ull * next) << "in the order of PSNs";
                EXPECT_EQ(mrc_ctl_ack_edge(&c), next - 1);
                mrc_conn_exec_done(&c, x.slot, 0, now);
                next++;
                EXPECT_EQ(mrc_ctl_ack_edge(&c), std::min(next - 1, c.rcv.cack));
            }
        }
        EXPECT_EQ(next, base + order.size());
        EXPECT_EQ(tx_data().size(), order.size());
        sack(c.snd.next - 1);
        for (; ev.freed(&slot); slots++)
            ;
        EXPECT_EQ(slots, order.size());
        EXPECT_EQ(c.execs.used, 0);
    }
}

// mrcsim seed 303: both ends full of requests, each waiting for the other's window.
TEST_F(rx_stream, one_request_more_than_are_unanswered_finds_a_slot)
{
    u16 slot;

    make();
    // One executed and answered, the answer not acknowledged ...
    u16 first = serve(MRC_OPC_READ_REQ, 2000);
    ASSERT_EQ(tx_data().size(), 1u);
    // ... and later requests overtake the one at the left edge.
    for (u32 i = 2; i <= 4; i++)
        take(data(MRC_OPC_READ_REQ, 2000 + i, 0, 10, 0x1000, 0, static_cast<u16>(i)));
    EXPECT_TRUE(take(data(MRC_OPC_READ_REQ, 2001, 0, 10, 0x5000, 0, 1)));
    EXPECT_EQ(c.snd.inflight, 0u) << "its answer must have arrived";
    // It has that one's slot, whose references go first.
    mrc_todo todo;
    ASSERT_TRUE(mrc_conn_next(&c, &todo));
    EXPECT_EQ(todo.what, MRC_DO_FREE);
    EXPECT_EQ(todo.slot, first);
    ASSERT_TRUE(mrc_conn_next(&c, &todo));
    ASSERT_EQ(todo.what, MRC_DO_EXEC);
    EXPECT_EQ(todo.exec.slot, first);
    EXPECT_EQ(todo.exec.va, 0x5000u);
    EXPECT_FALSE(ev.freed(&slot));
    // None is answered but that: another one is too many.
    EXPECT_FALSE(take(data(MRC_OPC_READ_REQ, 2005, 0, 10, 0x1000, 0, 5)));
    EXPECT_EQ(c.stats.rx_no_slot, 1u);
}

// The references of some wait to be dropped, which take no slot from others.
TEST_F(rx_stream, a_slot_whose_references_are_not_gone_yet_is_one)
{
    std::set<u16> freed;
    u16 slot;

    make();
    for (u32 i = 0; i < 4; i++)
        serve(MRC_OPC_READ_REQ, 2000 + i);
    ASSERT_EQ(tx_data().size(), 4u);
    sack(1002);
    for (u32 i = 4; i < 6; i++)
        EXPECT_TRUE(take(data(MRC_OPC_READ_REQ, 2000 + i, 0, 10, 0x1000, 0, static_cast<u16>(i))));
    EXPECT_EQ(c.stats.rx_no_slot, 0u);
    EXPECT_EQ(c.snd.una, 1003u) << "nobody said anything of that";
    while (ev.freed(&slot))
        EXPECT_TRUE(freed.insert(slot).second) << "once each";
    EXPECT_EQ(freed.size(), 3u);
    EXPECT_EQ(c.execs.used, 3u);
    EXPECT_EQ(c.execs.done | c.execs.drops, 0);
    EXPECT_TRUE(take(data(MRC_OPC_READ_REQ, 2006, 0, 10, 0x1000, 0, 6)));
    EXPECT_EQ(c.snd.una, 1003u);
    EXPECT_TRUE(take(data(MRC_OPC_READ_REQ, 2007, 0, 10, 0x1000, 0, 7)));
    EXPECT_EQ(c.snd.una, 1004u) << "one more than may be unanswered";
    EXPECT_FALSE(take(data(MRC_OPC_READ_REQ, 2008, 0, 10, 0x1000, 0, 8)));
}

TEST_F(rx_stream, answers_before_a_refusal_are_delivered_first)
{
    mrc_exec x;

    make();
    take(data(MRC_OPC_READ_REQ, 2000, 0, 10, 0x1000, 0, 0));
    reject(write_only(2001), static_cast<mrc_nack>(0), MRC_NAK_REM_ACCESS);
    ASSERT_TRUE(ev.exec(&x));
    mrc_conn_exec_done(&c, x.slot, 0, now);
    auto v = tx_all();
    for (const mrc_txop &t : v)
        EXPECT_FALSE(t.hdr.opcode == MRC_OPC_ACK && t.hdr.u.aeth.syndrome & 0x60);
    EXPECT_FALSE(mrc_conn_nak_sent(&c));
    sack(1000);
    v = tx_ctrl(MRC_OPC_ACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.u.aeth.syndrome, MRC_AETH_NAK | MRC_NAK_REM_ACCESS);
}

// mrcsim seed 784: what follows the refused request has landed, the NAK waits for an
// earlier answer. No ACK may cover the refused one meanwhile.
TEST_F(rx_stream, no_ack_covers_a_refused_request)
{
    mrc_exec x;

    make();
    take(data(MRC_OPC_READ_REQ, 2000, 0, 10, 0x1000, 0, 0));
    take(data(MRC_OPC_READ_REQ, 2001, 0, 10, 0x2000, 0, 1));
    take(send_only(2002, 0));
    ASSERT_TRUE(ev.exec(&x));
    mrc_conn_exec_done(&c, x.slot, 0, now);
    ASSERT_TRUE(ev.exec(&x));
    mrc_conn_exec_fail(&c, x.slot, MRC_NAK_REM_ACCESS, now);
    EXPECT_EQ(c.rcv.cack, 2002u);
    EXPECT_EQ(mrc_ctl_ack_edge(&c), 2000u);
    for (const mrc_txop &t : tx_all()) {
        if (t.hdr.opcode == MRC_OPC_ACK) {
            EXPECT_EQ(t.hdr.u.aeth.syndrome, MRC_AETH_CREDIT_NONE);
            EXPECT_EQ(t.hdr.psn, 2000u);
        }
    }
    EXPECT_FALSE(mrc_conn_nak_sent(&c));
    EXPECT_TRUE(cpls().empty());
    sack(1000); // the answer to 2000 is delivered
    auto v = tx_ctrl(MRC_OPC_ACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.psn, 2001u);
    EXPECT_EQ(v[0].hdr.u.aeth.syndrome, MRC_AETH_NAK | MRC_NAK_REM_ACCESS);
}

TEST_F(rx_stream, exec_fail)
{
    mrc_exec x;
    u16 slot;

    make();
    take(data(MRC_OPC_READ_REQ, 2000, 0, 10));
    take(send_only(2001, 0));
    ASSERT_TRUE(ev.exec(&x));
    mrc_conn_exec_fail(&c, x.slot, MRC_NAK_REM_ACCESS, now);
    EXPECT_TRUE(ev.freed(&slot));
    EXPECT_TRUE(cpls().empty()) << "what follows does not complete";
    auto v = tx_ctrl(MRC_OPC_ACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.u.aeth.syndrome, MRC_AETH_NAK | MRC_NAK_REM_ACCESS);
    EXPECT_EQ(v[0].hdr.psn, 2000u);
}

// The memory of an answer may be deregistered while it is sent.
TEST_F(rx_stream, exec_revoke)
{
    mrc_exec x, y;

    make();
    take(data(MRC_OPC_READ_REQ, 2000, 0, 10, 0x1000, 0, 0));
    take(data(MRC_OPC_READ_REQ, 2001, 0, 10, 0x2000, 0, 1));
    ASSERT_TRUE(ev.exec(&x));
    mrc_conn_exec_done(&c, x.slot, 0, now);
    ASSERT_TRUE(ev.exec(&y));
    mrc_conn_exec_done(&c, y.slot, 0, now);
    tx_all();
    mrc_conn_exec_revoke(&c, y.slot, MRC_NAK_REM_ACCESS, now);
    mrc_conn_exec_revoke(&c, y.slot, MRC_NAK_REM_ACCESS, now);
    EXPECT_EQ(c.stats.naks_access, 1u);
    tx_all();
    EXPECT_FALSE(mrc_conn_nak_sent(&c)) << "the answer before it is under way";
    sack(1000);
    auto v = tx_ctrl(MRC_OPC_ACK);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.psn, 2001u);
    EXPECT_EQ(v[0].hdr.u.aeth.syndrome, MRC_AETH_NAK | MRC_NAK_REM_ACCESS);
    EXPECT_TRUE(mrc_conn_nak_sent(&c));
}

// The order is the engine's: who has asked before a program was told must be answered from
// memory as it was before. mrc_conn_next() cannot be called wrongly.
TEST_F(rx_stream, nothing_completes_while_a_request_runs)
{
    mrc_todo e;

    make();
    ASSERT_TRUE(take(data(MRC_OPC_READ_REQ, 2000, 0, 100)));
    ASSERT_TRUE(take(send_only(2001, 0)));
    ASSERT_TRUE(mrc_conn_next(&c, &e));
    ASSERT_EQ(e.what, MRC_DO_EXEC);
    u16 slot = e.exec.slot;
    EXPECT_FALSE(mrc_conn_next(&c, &e)) << "its answer is due";
    EXPECT_FALSE(mrc_conn_next(&c, &e)) << "however often one asks";
    mrc_conn_exec_done(&c, slot, 0, now);
    ASSERT_TRUE(mrc_conn_next(&c, &e));
    ASSERT_EQ(e.what, MRC_DO_COMPLETE);
    EXPECT_EQ(e.cpl.kind, MRC_CPL_RECV);
    EXPECT_FALSE(mrc_conn_next(&c, &e));
}

} // namespace
