// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_read_waits.cc - what a requester waits for while a READ is answered, and afterwards.
#include "pair_rig.h"

namespace {

class read_waits : public pair_rig {};

TEST_F(read_waits, the_answer_ends_the_wait)
{
    make();
    for (u32 n = 1; n <= 20; n++) {
        ASSERT_EQ(post(a, MRC_OP_READ, 64), 0);
        for (int i = 0; i < 5 && a.sent_ok < n; i++)
            round();
        ASSERT_EQ(a.sent_ok, n);
        EXPECT_EQ(mrc_conn_deadline_ns(&a.c), MRC_TIME_NEVER) << "READ " << n;
    }
}

// The answer says all that the acknowledgement would have said.
TEST_F(read_waits, an_answer_whose_acknowledgement_is_lost_ends_the_wait_too)
{
    make();
    meddle = [&](wire &w) {
        if (&w == &a.in)
            std::erase_if(w, [](const mrc_pkt &p) {
                return p.opcode == MRC_OPC_ACK || p.opcode == MRC_OPC_SACK;
            });
    };
    for (u32 n = 1; n <= 20; n++) {
        ASSERT_EQ(post(a, MRC_OP_READ, 64), 0);
        for (int i = 0; i < 5 && a.sent_ok < n; i++)
            round();
        ASSERT_EQ(a.sent_ok, n);
        EXPECT_EQ(mrc_conn_deadline_ns(&a.c), MRC_TIME_NEVER) << "READ " << n;
    }
    EXPECT_EQ(a.c.stats.timeouts, 0u);
}

TEST_F(read_waits, each_piece_of_a_long_answer_puts_the_probe_off)
{
    make();
    ASSERT_EQ(post(a, MRC_OP_READ, 8 << 20), 0);
    for (int i = 0; i < 5; i++)
        round();
    for (int i = 0; i < 100 && !a.sent_ok; i++) {
        round();
        if (!a.sent_ok) {
            EXPECT_GE(a.c.pto.at_ns, now + mrc_rtt_patience_ns(&a.c) / 2);
        }
    }
    EXPECT_EQ(a.c.stats.probes_sent, 0u) << "the peer talks all the time";
}

// mrcsim --seed 9774: a port so slow that between two pieces more than the patience passes.
TEST_F(read_waits, a_slow_answer_is_not_asked_for_again_and_again)
{
    make();
    ASSERT_EQ(post(a, MRC_OP_READ, 8 << 20), 0);
    for (int i = 0; i < 5; i++)
        round();
    u64 patience = mrc_rtt_patience_ns(&a.c);
    wire pieces;
    for (int i = 0; i < 40; i++) {
        while (pieces.empty()) {
            send(b, a);
            pieces.swap(a.in);
        }
        a.in.push_back(pieces.front());
        pieces.pop_front();
        receive(a);
        for (u64 until = now + 10 * patience; now < until; now += patience / 2) {
            mrc_conn_timer(&a.c, now);
            send(a, b);
            b.in.clear();
        }
    }
    EXPECT_GT(a.c.stats.probes_sent, 0u);
    EXPECT_LT(a.c.stats.probes_sent, 12u) << "of 40 pieces";
}

TEST_F(read_waits, an_answer_does_not_hide_that_a_write_behind_it_is_lost)
{
    make();
    ASSERT_EQ(post(a, MRC_OP_READ, 8 << 20), 0);
    for (int i = 0; i < 5; i++)
        round();
    ASSERT_EQ(post(a, MRC_OP_WRITE, 64), 0);
    bool lost = false;
    meddle = [&](wire &w) {
        for (auto i = w.begin(); !lost && i != w.end(); ++i)
            if (mrc_opc_is_write(i->opcode)) {
                w.erase(i);
                lost = true;
                break;
            }
    };
    round();
    ASSERT_TRUE(lost);
    u64 patience = mrc_rtt_patience_ns(&a.c), until = now + 4 * patience;
    while (now < until && !a.c.stats.probes_sent)
        round();
    EXPECT_GT(a.c.stats.probes_sent, 0u) << "after " << patience << " ns of patience";
}

} // namespace
