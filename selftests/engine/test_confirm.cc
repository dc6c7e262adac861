// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_confirm.cc - a QP that may not be its peer's: before the peer's QP has spoken to it, nothing but probes leaves.
#include "ctl_rig.h"

namespace {

constexpr u32 kSqpn = 0x120055;
constexpr u16 kOurs = kSqpn & 0xffff, kPeers = kDqpn & 0xffff;

class meet : public ctl_rig {
protected:
    rig_cfg muted()
    {
        rig_cfg k = defaults();

        k.rx.sqpn = kSqpn;
        k.rx.mute = true;
        return k;
    }
    mrc_pkt probe_by(u16 spdcid, u16 dpdcid)
    {
        mrc_pkt p = {};

        p.opcode = MRC_OPC_PROBE;
        p.ev = evs.ev[0].value;
        p.u.probe.probe_id = MRC_PROBE_ID_TAIL | 5;
        p.u.probe.spdcid = spdcid;
        p.u.probe.dpdcid = dpdcid;
        return p;
    }
    mrc_pkt answer_by(u16 id, u16 spdcid, u16 dpdcid)
    {
        mrc_pkt p = {};

        p.opcode = MRC_OPC_SACK;
        p.u.sack.pr = true;
        p.u.sack.probe_id = id;
        p.u.sack.cack = cfg.tx_psn - 1;
        p.u.sack.spdcid = spdcid;
        p.u.sack.dpdcid = dpdcid;
        return p;
    }
    // Until nothing is waited for, or for so many deadlines: what left.
    std::vector<mrc_txop> for_long(int deadlines)
    {
        std::vector<mrc_txop> v = tx_all();

        while (deadlines-- && mrc_conn_deadline_ns(&c) != MRC_TIME_NEVER) {
            fire();
            for (const mrc_txop &t : tx_all())
                v.push_back(t);
        }
        return v;
    }
};

TEST_F(meet, a_request_waits_for_the_peers_answer)
{
    make(muted());
    ASSERT_EQ(post(MRC_OP_SEND, 100), 0);
    auto v = tx_all();
    ASSERT_EQ(opcodes(v), (std::vector<u8>{MRC_OPC_PROBE}));
    EXPECT_FALSE(mrc_conn_confirmed(&c));
    now += 50 * kUs;
    EXPECT_EQ(rx(answer_by(v[0].hdr.u.probe.probe_id, kPeers, kOurs)), MRC_V_DONE);
    EXPECT_TRUE(mrc_conn_confirmed(&c));
    EXPECT_EQ(opcodes(tx_all()), (std::vector<u8>{MRC_OPC_SEND_ONLY}));
    EXPECT_EQ(c.stats.rx_not_ready, 0u);
    EXPECT_EQ(c.budget.retries, 0u);
}

TEST_F(meet, one_that_the_peer_never_speaks_to_says_nothing_and_ends)
{
    make(muted());
    ASSERT_EQ(post(MRC_OP_SEND, 3000), 0);
    ASSERT_EQ(post(MRC_OP_READ, 3000), 0);
    auto v = for_long(200);
    EXPECT_GT(v.size(), 2u);
    EXPECT_LT(v.size(), 100u); // no flood
    for (const mrc_txop &t : v)
        EXPECT_EQ(t.hdr.opcode, MRC_OPC_PROBE);
    EXPECT_EQ(show(cpls()), "100:" + std::to_string(MRC_ST_RETRY_EXC) + " 101:" + std::to_string(MRC_ST_FLUSHED));
}

TEST_F(meet, the_peers_probe_is_its_word_too)
{
    make(muted());
    EXPECT_EQ(rx(probe_by(kPeers, kOurs)), MRC_V_DONE);
    EXPECT_TRUE(mrc_conn_confirmed(&c));
    EXPECT_EQ(tx_ctrl(MRC_OPC_SACK).size(), 1u); // and is answered at once
    ASSERT_EQ(post(MRC_OP_SEND, 100), 0);
    EXPECT_EQ(tx_data().size(), 1u);
}

// A QP of the peer's host that another one of ours is for: an accomplice.
TEST_F(meet, another_qps_word_is_none)
{
    make(muted());
    ASSERT_EQ(post(MRC_OP_SEND, 100), 0);
    u16 id = tx_all().at(0).hdr.u.probe.probe_id;
    EXPECT_EQ(rx(answer_by(id, kPeers + 1, kOurs)), MRC_V_DROP);
    EXPECT_EQ(rx(answer_by(id, kPeers, kOurs + 1)), MRC_V_DROP);
    EXPECT_EQ(rx(answer_by(id, 0, kOurs)), MRC_V_DROP);
    EXPECT_EQ(rx(probe_by(kPeers - 1, kOurs)), MRC_V_DROP);
    EXPECT_EQ(rx(probe_by(kOurs, kPeers)), MRC_V_DROP); // as we would send it
    mrc_pkt p = {};
    p.opcode = MRC_OPC_ACK; // names nobody
    p.psn = 999;
    p.u.aeth.syndrome = MRC_AETH_CREDIT_NONE;
    EXPECT_EQ(rx(p), MRC_V_DROP);
    p.opcode = MRC_OPC_NACK;
    p.u.nack = {};
    EXPECT_EQ(rx(p), MRC_V_DROP);
    EXPECT_FALSE(mrc_conn_confirmed(&c));
    EXPECT_EQ(c.stats.rx_not_ready, 7u);
    EXPECT_EQ(tx_data().size(), 0u);
}

// Other implementations fill in what they like; zeros are what can be told.
TEST_F(meet, zeros_name_whoever_it_is)
{
    make(muted());
    EXPECT_EQ(rx(probe_by(0, 0)), MRC_V_DONE);
    EXPECT_TRUE(mrc_conn_confirmed(&c));
}

// Data comes first: it is taken, and asks for the peer's word. All answers wait for that.
TEST_F(meet, data_is_acknowledged_once_the_peer_has_spoken)
{
    rig_cfg k = muted();

    k.rx.sack_pkts = 1;
    make(k);
    mrc_pkt p = write_only(2000);
    p.ackreq = true;
    EXPECT_TRUE(take(p));
    trim(2001);
    auto v = tx_all();
    ASSERT_EQ(opcodes(v), (std::vector<u8>{MRC_OPC_PROBE}));
    EXPECT_EQ(rx(answer_by(v[0].hdr.u.probe.probe_id, kPeers, kOurs)), MRC_V_DONE);
    std::multiset<u8> said;
    for (const mrc_txop &t : tx_all())
        if (!is_ev_probe(t))
            said.insert(t.hdr.opcode);
    EXPECT_EQ(said, (std::multiset<u8>{MRC_OPC_ACK, MRC_OPC_NACK, MRC_OPC_SACK}));
}

TEST_F(meet, what_is_refused_is_not_told_before)
{
    make(muted());
    mrc_pkt p = write_only(2000);
    p.va = ~0ull; // around the end of all addresses
    p.payload_len = 100;
    EXPECT_EQ(rx(p), MRC_V_DROP);
    for (const mrc_txop &t : for_long(20))
        EXPECT_EQ(t.hdr.opcode, MRC_OPC_PROBE);
    mrc_conn_fail(&c, MRC_ST_FLUSHED, now);
    EXPECT_EQ(tx_all().size(), 0u);
}

// In RTR, too: the answer to a READ.
TEST_F(meet, a_response_waits)
{
    make(muted());
    serve(MRC_OPC_READ_REQ, 2000, 100);
    auto v = tx_all();
    ASSERT_EQ(opcodes(v), (std::vector<u8>{MRC_OPC_PROBE}));
    EXPECT_EQ(rx(answer_by(v[0].hdr.u.probe.probe_id, kPeers, kOurs)), MRC_V_DONE);
    EXPECT_EQ(tx_data().size(), 1u);
}

// A NACK that is owed and may not leave holds up no question about an EV, or the timer would ask again and again.
TEST_F(meet, no_deadline_is_left_behind)
{
    make(muted());
    trim(2000);
    evs.next_probe_ns = now;
    tx_all();
    int asked = 0;
    for (u64 at; (at = mrc_conn_deadline_ns(&c)) != MRC_TIME_NEVER; asked++) {
        ASSERT_GT(at, now);
        fire();
        tx_all();
    }
    EXPECT_GT(asked, 3);
}

TEST_F(meet, who_may_speak_first_does)
{
    rig_cfg k = muted();

    k.rx.mute = false;
    make(k);
    EXPECT_FALSE(mrc_conn_confirmed(&c));
    ASSERT_EQ(post(MRC_OP_SEND, 100), 0);
    EXPECT_EQ(opcodes(tx_all()), (std::vector<u8>{MRC_OPC_SEND_ONLY}));
    EXPECT_EQ(rx(probe_by(kPeers + 1, kOurs)), MRC_V_DONE);
    EXPECT_FALSE(mrc_conn_confirmed(&c)); // and knows who spoke
    EXPECT_EQ(rx(probe_by(kPeers, kOurs)), MRC_V_DONE);
    EXPECT_TRUE(mrc_conn_confirmed(&c));
}

TEST_F(meet, the_next_peer_is_unknown_again)
{
    make(muted());
    rx(probe_by(kPeers, kOurs));
    ASSERT_TRUE(mrc_conn_confirmed(&c));
    mrc_conn_reset(&c);
    EXPECT_FALSE(mrc_conn_confirmed(&c));
    mrc_conn_set_rx(&c, &cfg.rx, now);
    EXPECT_FALSE(mrc_conn_confirmed(&c));
}

} // namespace
