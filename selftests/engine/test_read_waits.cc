// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_read_waits.cc - what a requester waits for while a READ is answered, and afterwards.
#include "pair_rig.h"

namespace {

class read_waits : public pair_rig {
protected:
    u64 controls() const { return a.c.stats.tx_ctrl_pkts + b.c.stats.tx_ctrl_pkts; }
};

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
    EXPECT_EQ(a.c.stats.probes_sent, 0u) << "the peer is at work";
}

// mrcsim --seed 168347: one probe asks whether the request has arrived. Then the answer takes its time.
TEST_F(read_waits, an_answer_that_takes_long_is_not_asked_for)
{
    for (mrc_op op : {MRC_OP_READ, MRC_OP_FETCH_ADD}) {
        for (u64 ns : {20 * kUs, 100 * kUs, 500 * kUs, 2 * kMs, 5 * kMs}) {
            rig_cfg k = defaults();

            k.tx.timeout_ns = 67 * kMs;
            a = {}, b = {};
            make(k);
            exec_ns = 0;
            for (u32 n = 1; n <= 8; n++) {
                ASSERT_EQ(post(a, op, 8), 0);
                for (int i = 0; i < 10 && a.sent_ok < n; i++)
                    round();
            }
            ASSERT_EQ(a.sent_ok, 8u);
            for (int i = 0; i < 10; i++)
                round();
            u64 ctrl = controls(), tail = a.c.stats.probes_sent - a.evs.stats.probes;
            u64 others = a.evs.stats.probes + b.evs.stats.probes;
            exec_ns = ns;
            ASSERT_EQ(post(a, op, 8), 0);
            for (int i = 0; i < 1100 && a.sent_ok < 9; i++)
                round();
            ASSERT_EQ(a.sent_ok, 9u);
            EXPECT_LE(a.c.stats.probes_sent - a.evs.stats.probes - tail, 1u) << ns << " ns";
            // Those and the ACK of the answer. A probe of an EV is answered by an ACK and a SACK.
            others = a.evs.stats.probes + b.evs.stats.probes - others;
            EXPECT_LE(controls() - ctrl - 3 * others, 3u + 1u) << ns << " ns";
        }
    }
}

// What says that the READ fails may get lost, and only a question brings it again.
TEST_F(read_waits, an_answer_that_never_comes_is_asked_for_now_and_then)
{
    rig_cfg k = defaults();

    k.tx.timeout_ns = 0;
    make(k);
    exec_ns = 1'000'000 * kMs;
    ASSERT_EQ(post(a, MRC_OP_READ, 8), 0);
    u64 begin = now;
    // Whether the request has arrived is asked at once.
    while (a.c.stats.probes_sent - a.evs.stats.probes < 2 && now < begin + 60'000 * kMs) {
        round();
        sleep();
    }
    EXPECT_EQ(a.c.snd.una, a.c.snd.next);
    EXPECT_EQ(a.c.stats.probes_sent - a.evs.stats.probes, 2u);
    EXPECT_GT(now - begin, 1000 * mrc_rtt_patience_ns(&a.c));
    EXPECT_LT(now - begin, 4000 * mrc_rtt_patience_ns(&a.c));
}

// A WRITE that left before the READ has not been acknowledged: that is asked for.
TEST_F(read_waits, the_acknowledgement_before_a_slow_answer_is_asked_for)
{
    make();
    for (u32 n = 1; n <= 8; n++) {
        ASSERT_EQ(post(a, MRC_OP_READ, 8), 0);
        for (int i = 0; i < 10 && a.sent_ok < n; i++)
            round();
    }
    exec_ns = 5 * kMs;
    meddle = [&](wire &w) {
        if (&w == &a.in)
            std::erase_if(w, [](const mrc_pkt &p) { return p.opcode == MRC_OPC_ACK; });
    };
    ASSERT_EQ(post(a, MRC_OP_WRITE, 8), 0);
    ASSERT_EQ(post(a, MRC_OP_READ, 8), 0);
    u64 tail = a.c.stats.probes_sent - a.evs.stats.probes;
    for (int i = 0; i < 100; i++)
        round();
    EXPECT_EQ(a.c.snd.una, a.c.snd.next);
    EXPECT_GT(a.c.stats.probes_sent - a.evs.stats.probes, tail + 1u) << "and not only for the packets";
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
