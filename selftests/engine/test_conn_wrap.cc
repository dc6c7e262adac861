// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Counters of the wire that come round: PSN (24 bits), MSN and rqmsn (16 bits).
#include "pair_rig.h"

namespace {

using conn_wrap = pair_rig;

// More messages than 16 bits count, of every kind that carries a number.
TEST_F(conn_wrap, msn_and_rqmsn)
{
    const mrc_op ops[] = {MRC_OP_SEND, MRC_OP_WRITE_IMM, MRC_OP_READ, MRC_OP_SEND_INV};
    constexpr u32 messages = 70000;
    rig_cfg k = defaults();

    k.conn.rq_max = 64;
    k.conn.sq_max = 64;
    k.rx_psn = 0xfffff0;
    make(k);
    while (a.sent_ok < messages && !HasFailure()) {
        while (a.next_post < messages && !post(a, ops[a.next_post % 4], a.next_post % 300))
            ;
        round();
    }
    ASSERT_TRUE(run());
    EXPECT_EQ(a.sent_ok, messages);
    EXPECT_EQ(b.received, messages / 4 * 3);
    EXPECT_EQ(a.c.stats.timeouts + b.c.stats.timeouts, 0u);
    EXPECT_EQ(a.c.stats.rx_bad_resp, 0u);
}

// Across the end of the PSN space with losses: every third packet of the first pass.
TEST_F(conn_wrap, psn_with_losses)
{
    rig_cfg k = defaults();
    u32 n = 0;

    k.tx_psn = 0xffffe0;
    k.rx_psn = 0xffffff;
    make(k);
    meddle = [&](wire &w) {
        for (auto i = w.begin(); i != w.end();)
            i = mrc_opc_is_data(i->opcode) && !i->rtx && n++ % 3 == 0 ? w.erase(i) : i + 1;
    };
    for (u32 i = 0; i < 8; i++) {
        ASSERT_EQ(post(a, MRC_OP_SEND, 20000), 0);
        ASSERT_EQ(post(b, MRC_OP_WRITE_IMM, 20000), 0);
    }
    ASSERT_TRUE(run());
    EXPECT_EQ(a.sent_ok, 8u);
    EXPECT_EQ(b.sent_ok, 8u);
    EXPECT_EQ(a.received, 8u);
    EXPECT_EQ(b.received, 8u);
    EXPECT_EQ(a.placed, 8 * 20000u);
    EXPECT_EQ(b.placed, 8 * 20000u);
    EXPECT_LT(a.c.snd.next, 0x1000u);
    EXPECT_LT(b.c.snd.next, 0x1000u);
}

} // namespace
