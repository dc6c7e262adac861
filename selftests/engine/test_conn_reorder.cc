// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// All packets out of order, within the window: nothing is lost by it, nothing twice.
#include "pair_rig.h"

namespace {

using conn_reorder = pair_rig;

rig_cfg wide()
{
    rig_cfg k = defaults();

    k.conn.mpr_max = 4;
    k.conn.sq_max = 64;
    k.conn.rq_max = 64;
    k.conn.tails = 64;
    k.tx.cwnd_bytes = 8u << 20;
    return k;
}

TEST_F(conn_reorder, backwards)
{
    make(wide());
    meddle = [](wire &w) { std::reverse(w.begin(), w.end()); };
    for (u32 i = 0; i < 48; i++)
        ASSERT_EQ(post(a, i % 2 ? MRC_OP_WRITE_IMM : MRC_OP_SEND, i * 500), 0);
    ASSERT_TRUE(run());
    EXPECT_EQ(a.sent_ok, 48u);
    EXPECT_EQ(b.received, 48u);
    EXPECT_EQ(b.placed, 500u * 47 * 48 / 2);
    EXPECT_GT(b.c.stats.rx_ooo, b.c.stats.rx_pkts / 2);
    EXPECT_EQ(a.c.stats.timeouts, 0u);
    EXPECT_EQ(b.c.stats.rx_dup, 0u);
}

TEST_F(conn_reorder, every_operation_shuffled)
{
    const mrc_op ops[] = {MRC_OP_WRITE, MRC_OP_SEND, MRC_OP_READ, MRC_OP_WRITE_IMM,
                          MRC_OP_FETCH_ADD, MRC_OP_SEND_IMM};

    for (u64 seed = 1; seed <= 20 && !HasFailure(); seed++) {
        mrc_prng r = {seed};

        a = {};
        b = {};
        make(wide());
        meddle = [&r](wire &w) {
            for (u32 i = static_cast<u32>(w.size()); i > 1; i--)
                std::swap(w[i - 1], w[mrc_prng_below(&r, i)]);
        };
        for (u32 i = 0; i < 60; i++) {
            u32 len = mrc_prng_below(&r, 9000);

            ASSERT_EQ(post(a, ops[i % 6], i % 6 == 4 ? 8 : len), 0);
            ASSERT_EQ(post(b, ops[i % 6], i % 6 == 4 ? 8 : len), 0);
        }
        EXPECT_TRUE(run()) << "seed " << seed;
        for (end *x : {&a, &b}) {
            EXPECT_EQ(x->sent_ok, 60u) << "seed " << seed;
            EXPECT_EQ(x->received, 30u) << "seed " << seed;
        }
    }
}

} // namespace
