// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_rx_alone.cc - the peer's requests touch nothing that connections to one peer share, until the
// connection's next turn: who takes a lock of the peer's for the rest need not take it for them.
#include "conn_rig.h"

namespace {

class rx_alone : public rig {
protected:
    // Path set and controller, to the last byte.
    std::vector<u8> shared()
    {
        auto bytes = [](const void *p, size_t n) {
            auto *b = static_cast<const u8 *>(p);
            return std::vector<u8>(b, b + n);
        };
        auto all = bytes(&evs, sizeof(evs));
        auto states = bytes(evs_mem.data(), evs_mem.size() * sizeof(evs_mem[0]));
        auto cc = bytes(c.cc, sizeof(*c.cc));

        all.insert(all.end(), states.begin(), states.end());
        all.insert(all.end(), cc.begin(), cc.end());
        return all;
    }
    mrc_pkt by(u8 plane, mrc_pkt p)
    {
        p.plane = plane;
        return p;
    }
    // @p comes in, whatever becomes of it.
    void comes(const mrc_pkt &p)
    {
        auto before = shared();

        EXPECT_FALSE(mrc_conn_rx_shares(&c, &p));
        take(p);
        EXPECT_FALSE(mrc_conn_next_fails(&c));
        EXPECT_EQ(shared(), before);
    }
    mrc_txop turn()
    {
        mrc_txop o = {};

        mrc_conn_tx_next(&c, now, &o);
        return o;
    }
};

// Strict order, with the agreement on dynamic MPR or without it.
class rx_alone_as : public rx_alone, public ::testing::WithParamInterface<std::tuple<bool, bool>> {};
INSTANTIATE_TEST_SUITE_P(all, rx_alone_as, ::testing::Combine(::testing::Bool(), ::testing::Bool()));

TEST_P(rx_alone_as, requests_of_the_peer_wait_for_the_turn)
{
    rig_cfg k = defaults();

    k.conn.strict = k.rx.strict = std::get<0>(GetParam());
    k.rx.dyn_mpr = k.tx.dyn_mpr = std::get<1>(GetParam());
    make(k);
    comes(by(0, write_only(2000)));                                // in order
    comes(by(1, write_only(2002)));                                // out of order
    comes(by(1, write_only(2002)));                                // twice
    comes(by(0, data(MRC_OPC_WRITE_ONLY, 2001, 9, 10)));           // refused
    comes(by(0, data(MRC_OPC_READ_REQ, 2003, 0, 4096)));           // a READ
    comes(by(1, send_only(2004, 0)));                              // a SEND
    comes(by(1, write_only(2000 + 4096)));                         // beyond the window
    mrc_pkt marked = by(0, write_only(2005));
    marked.ecn_ce = true;
    comes(marked);
    mrc_pkt trimmed = by(0, write_only(2006));
    trimmed.trimmed = MRC_NACK_TRIMMED;
    comes(trimmed);
}

TEST_F(rx_alone, a_placement_that_fails_does_too)
{
    make();
    auto before = shared();

    reject(by(0, write_only(2000)), mrc_nack{}, MRC_NAK_REM_ACCESS);
    EXPECT_EQ(shared(), before);
}

TEST_F(rx_alone, the_turn_tells_all_of_it)
{
    make();
    now += kMs;
    for (u32 i = 0; i < 5; i++)
        comes(by(i == 2, write_only(2000 + i)));
    turn();
    EXPECT_EQ(evs.rx_pkts, 5u);
    EXPECT_EQ(evs.rx_tick, mrc_ev_tick(now));
    EXPECT_EQ(evs.plane[0].rx_tick, mrc_ev_tick(now));
    EXPECT_EQ(evs.plane[0].rx_pkts, 5u);
    EXPECT_EQ(evs.plane[1].rx_pkts, 5u);
    turn();
    EXPECT_EQ(evs.rx_pkts, 5u) << "once";
}

// What it says of planes is there before an acknowledgement that follows is judged.
TEST_F(rx_alone, so_does_the_next_answer)
{
    make();
    now += kMs;
    comes(by(1, write_only(2000)));
    mrc_pkt sack = {};
    sack.opcode = MRC_OPC_SACK;
    sack.plane = 0;
    EXPECT_TRUE(mrc_conn_rx_shares(&c, &sack));
    rx(sack);
    EXPECT_EQ(evs.plane[1].rx_tick, mrc_ev_tick(now));
}

TEST_F(rx_alone, and_the_timer)
{
    make();
    now += kMs;
    comes(by(1, write_only(2000)));
    mrc_conn_timer(&c, now);
    EXPECT_EQ(evs.rx_pkts, 1u);
}

TEST_F(rx_alone, doubt_of_a_resent_packet_waits_too)
{
    make();
    comes(by(0, write_only(2000)));
    turn();
    evs.proven[0] = 1;
    mrc_pkt again = by(0, write_only(2000));
    again.rtx = true;
    comes(again);
    EXPECT_EQ(evs.proven[0], 1);
    turn();
    EXPECT_EQ(evs.proven[0], MRC_NONE16);
}

// All slots are taken, and one more request says that the oldest answer has arrived: that tells of paths and of
// bytes in flight, so it is asked for beforehand, and of no other packet.
TEST_F(rx_alone, a_request_that_acknowledges_is_for_all)
{
    u16 slot;

    make();
    mrc_pkt more = data(MRC_OPC_READ_REQ, 2001, 0, 10, 0x1000, 0, 1), write = write_only(2005);
    serve(MRC_OPC_READ_REQ, 2000);
    ASSERT_EQ(tx_data().size(), 1u);
    for (u32 i = 2; i <= 4; i++)
        comes(data(MRC_OPC_READ_REQ, 2000 + i, 0, 10, 0x1000, 0, static_cast<u16>(i)));
    now += kMs;
    EXPECT_FALSE(mrc_conn_rx_shares(&c, &write));
    EXPECT_TRUE(mrc_conn_rx_shares(&c, &more));
    EXPECT_GT(c.cc->inflight_bytes, 0u);
    EXPECT_TRUE(take(more));
    EXPECT_EQ(c.cc->inflight_bytes, 0u);
    EXPECT_TRUE(ev.freed(&slot));
    EXPECT_FALSE(ev.freed(&slot));
    EXPECT_EQ(c.stats.rx_no_slot, 0u);
}

TEST_F(rx_alone, answers_are_for_all)
{
    mrc_pkt p = {};

    for (u8 opcode : {MRC_OPC_SACK, MRC_OPC_NACK, MRC_OPC_ACK, MRC_OPC_PROBE, MRC_OPC_ATOMIC_ACK,
                      MRC_OPC_READ_RESP_ONLY, MRC_OPC_READ_RESP_MIDDLE}) {
        p.opcode = opcode;
        EXPECT_TRUE(mrc_conn_rx_shares(&c, &p)) << int(opcode);
    }
}

} // namespace
