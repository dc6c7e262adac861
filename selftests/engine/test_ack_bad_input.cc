// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Answers that cannot be true: for PSNs never sent, half of the PSN space away, for what
// has not left yet. Found by selftests/fuzz, kept here in the open.
#include <ctime>

#include "conn_rig.h"

namespace {

class ack_bad_input : public rig {
protected:
    void SetUp() override
    {
        make();
        for (int i = 0; i < 4; i++)
            post(MRC_OP_WRITE, 1000);
        ASSERT_EQ(tx_data().size(), 4u);
    }
    void unmoved()
    {
        EXPECT_EQ(c.snd.una, 1000u);
        EXPECT_EQ(show(cpls()), "");
        EXPECT_EQ(mrc_conn_failed(&c), MRC_ST_OK);
    }
};

// Half of all PSNs away, a PSN is neither before nor after: it must be refused
// and above all not be walked to.
TEST_F(ack_bad_input, half_of_the_psn_space_away)
{
    clock_t start = clock();

    for (u32 i = 0; i < 2000; i++) {
        u32 psn = 1000 + 0x800000 + i % 8 - 2;

        sack(psn, ~0ull, 1);
        sack(psn, ~0ull, -1);
        ack(psn);
        ack(psn, MRC_AETH_NAK | MRC_NAK_INV_REQ);
        nack(psn, 7, MRC_NACK_TRIMMED);
        unmoved();
    }
    EXPECT_LT((clock() - start) / CLOCKS_PER_SEC, 5);
}

TEST_F(ack_bad_input, never_sent)
{
    for (u32 psn : {1004u, 1005u, 1200u, 0x7fffffu}) {
        sack(psn);
        ack(psn);
        ack(psn + 1, MRC_AETH_NAK | MRC_NAK_REM_ACCESS);
        nack(psn, 7, MRC_NACK_NO_RESOURCE);
        nack(psn, 7, MRC_NACK_UNEXP_EVENT);
    }
    unmoved();
    EXPECT_EQ(c.stats.rx_bad_ack, 20u);
}

TEST_F(ack_bad_input, bitmaps_of_what_was_never_sent)
{
    sack(999, ~0ull, 5);      // 1004 and up
    sack(999, ~0ull, 32767);
    sack(999, ~0ull, -32768); // all below
    sack(999, 0, 0);
    unmoved();
    // A bitmap that contradicts the cumulative edge: the edge says more, and counts.
    sack(1001, 0, -1);
    EXPECT_EQ(c.snd.una, 1002u);
    EXPECT_EQ(show(cpls()), ""); // no transport ACK yet
}

TEST_F(ack_bad_input, unknown_syndromes_and_reasons)
{
    for (u32 s = 0x20; s < 0x60; s++)
        ack(1003, static_cast<u8>(s));
    for (u32 s = 0x80; s < 0x100; s++)
        ack(1003, static_cast<u8>(s));
    unmoved();
    now += 10 * kUs;
    sack(1000, 0, 1, 1000); // a round trip is known
    // A NACK of a reason nobody knows: that packet is resent, no more.
    mrc_pkt p = {};
    p.opcode = MRC_OPC_NACK;
    p.u.nack.psn = 1001;
    p.u.nack.ev = c.evs->ev[c.snd.rec[1001 & c.snd.mask].ev].value;
    p.u.nack.reason = 0x7e;
    rx(p);
    // Not at once: the peer may be short of something.
    for (int i = 0; i < 5 && !c.stats.rtx_nack; i++) {
        fire();
        tx_data();
    }
    EXPECT_EQ(c.stats.rtx_nack, 1u);
}

// The peer acknowledged what it never got: nothing more can be learnt by asking, so
// the retry budget must run out, however often it answers.
TEST_F(ack_bad_input, a_peer_that_took_back_its_word)
{
    sack(1003);
    EXPECT_EQ(c.snd.una, 1004u);
    for (int i = 0; i < 1000 && mrc_conn_failed(&c) == MRC_ST_OK; i++) {
        fire();
        for (const mrc_txop &t : tx_ctrl(MRC_OPC_PROBE))
            probe_answer(t.hdr.u.probe.probe_id, 999);
    }
    EXPECT_EQ(mrc_conn_failed(&c), MRC_ST_RETRY_EXC);
    EXPECT_EQ(show(cpls()), "100:2 101:1 102:1 103:1");
}

// An answer to a READ whose request has not left: not to be believed.
TEST_F(ack_bad_input, an_answer_before_the_request)
{
    sack(1003);
    ack(1003);
    EXPECT_EQ(cpls().size(), 4u);
    post(MRC_OP_READ, 100);
    post(MRC_OP_LOCAL, 0);
    auto t = tx();
    ASSERT_TRUE(t && t->hdr.opcode == MRC_OPC_READ_REQ);
    mrc_conn_tx_undo(&c, &*t);
    mrc_pkt p = data(MRC_OPC_READ_RESP_ONLY, 2000, 100, 100, 0, 0, 4);
    EXPECT_EQ(rx(p), MRC_V_DROP);
    EXPECT_EQ(c.stats.rx_bad_resp, 1u);
    EXPECT_EQ(show(cpls()), "");
    // The request leaves after all, and its answer counts.
    ASSERT_EQ(psns(tx_data()), psn_list{1004});
    EXPECT_TRUE(take(p));
    EXPECT_EQ(show(cpls()), "104:0 105:0");
}

} // namespace
