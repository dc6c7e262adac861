// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// The checkers themselves: simulator and fuzzers trust them to see what is broken, so each
// invariant is broken here by hand, found, and mended again.
#include "conn_rig.h"

namespace {

class conn_check : public rig {
protected:
    // Something in flight both ways, out of order, with a tail deferred.
    void busy(bool strict = false)
    {
        rig_cfg k = defaults();

        k.conn.strict = k.rx.strict = strict;
        make(k);
        for (int i = 0; i < 3; i++)
            post(MRC_OP_WRITE, 1000);
        ASSERT_EQ(tx_data().size(), 3u);
        ASSERT_TRUE(take(data(MRC_OPC_WRITE_LAST, 2003, 100, 1124)));
        ASSERT_TRUE(take(data(MRC_OPC_WRITE_LAST, 2005, 100, 1124)));
        ASSERT_EQ(mrc_conn_check(&c), 0);
    }
    // With `field` changed to `to` the check must fail; then it is as it was.
    template <class T, class V> void broken(const char *name, T &field, V to)
    {
        T was = field;

        field = static_cast<T>(to);
        EXPECT_NE(mrc_conn_check(&c), 0) << name;
        field = was;
        EXPECT_EQ(mrc_conn_check(&c), 0) << name;
    }
};

#define BROKEN(field, to) broken(#field, field, to)

TEST_F(conn_check, receive_window)
{
    busy();
    BROKEN(c.rcv.held, 1);
    BROKEN(c.rcv.bits[2001 % 128 / 64], c.rcv.bits[2001 % 128 / 64] ^ 1ull << 2001 % 64);
    BROKEN(c.rcv.max, c.rcv.cack);
    BROKEN(c.rcv.max, c.rcv.cack + 129);
}

TEST_F(conn_check, tails)
{
    busy();
    u8 oldest = c.tails.first, newest = c.tails.last;
    BROKEN(c.tails.used, 1);
    BROKEN(c.tails.slot[newest].prev, newest);
    BROKEN(c.tails.last, oldest);
    BROKEN(c.tails.slot[newest].psn, 2001);
    BROKEN(c.tails.slot[newest].next, oldest);   // a ring
    BROKEN(c.tails.free, c.tails.slot[c.tails.free].next); // one lost
    BROKEN(c.tails.slot[c.tails.free].next, c.tails.free); // a ring of free ones
}

TEST_F(conn_check, requests)
{
    make();
    serve(MRC_OPC_READ_REQ, 2000);
    tx_all();
    for (u32 psn : {2002, 2003, 2004, 2005})   // the last one takes the slot of the first
        ASSERT_TRUE(take(data(MRC_OPC_READ_REQ, psn, 0, 8, 0x4000)));
    ASSERT_EQ(c.execs.drops, 1u);
    BROKEN(c.execs.used, 3);
    BROKEN(c.execs.waiting, 3);
    BROKEN(c.execs.done, 1);
    BROKEN(c.execs.drops, 0);
    BROKEN(c.execs.first, (c.execs.first + 1) % 4);
}

TEST_F(conn_check, held)
{
    busy(true);
    u32 slot = 2001 & c.rcv_mask;
    BROKEN(c.rcv.hold[slot >> 6], c.rcv.hold[slot >> 6] | 1ull << (slot & 63));
}

TEST_F(conn_check, send_queue)
{
    busy();
    BROKEN(c.msgs.sq_head, c.msgs.sq_head - 20);
    BROKEN(c.msgs.sq_seg, c.msgs.sq_tail + 1);
    BROKEN(c.msgs.sq_acked, c.msgs.sq_seg + 1);
    BROKEN(c.msgs.rd_out, 5);
    BROKEN(c.msgs.rqm_out, 17);
}

TEST_F(conn_check, send_window)
{
    busy();
    BROKEN(c.snd.next, c.snd.una + 129);
    mrc_rec r = c.snd.rec[1000 & c.snd.mask];
    r.state = MRC_REC_FREE; // una should have moved
    BROKEN(c.snd.rec[1000 & c.snd.mask], r);
    r.state = MRC_REC_LOST;
    BROKEN(c.snd.rec[1000 & c.snd.mask], r);
    BROKEN(c.snd.out, 2);
    BROKEN(c.snd.busy, 0);
    BROKEN(c.snd.lost.count, 1);
    BROKEN(c.snd.paced.count, 1);
    BROKEN(c.snd.inflight, 0);
    BROKEN(c.cc->inflight_bytes, 0);
    BROKEN(c.cc->n_active, 0);
}

TEST_F(conn_check, shared_controller)
{
    mrc_fixed_state fixed = {};
    mrc_cc &shared = fixed.cc;
    mrc_cc_cfg cc = {};
    rig_cfg k = defaults();

    cc.window_bytes = 100000;
    mrc_cc_init(&shared, mrc_cc_find(nullptr), &cc, now);
    k.tx.cc = &shared;
    make(k);
    post(MRC_OP_WRITE, 1000);
    ASSERT_EQ(tx_data().size(), 1u);
    BROKEN(shared.inflight_bytes, shared.inflight_bytes - 1);
    BROKEN(shared.n_active, 0);
    // Other connections have something in flight too.
    shared.inflight_bytes += 5000;
    shared.n_active++;
    EXPECT_EQ(mrc_conn_check(&c), 0);
    shared.inflight_bytes -= 5000;
    shared.n_active--;
    // A failed one gives back what it has.
    mrc_conn_fail(&c, MRC_ST_FLUSHED, now);
    EXPECT_EQ(mrc_conn_check(&c), 0);
    EXPECT_EQ(shared.inflight_bytes, 0u);
    EXPECT_EQ(shared.n_active, 0u);
    BROKEN(c.snd.inflight, 1);
}

TEST_F(conn_check, path_set)
{
    auto bad = [this](const char *name, auto &field, auto to) {
        auto was = field;

        field = static_cast<decltype(was)>(to);
        EXPECT_NE(mrc_evset_check(&evs), 0) << name;
        field = was;
        EXPECT_EQ(mrc_evset_check(&evs), 0) << name;
    };

    make();
    mrc_evset_sign(&evs, 1, MRC_SIGN_DELIVERED, now);
    mrc_evset_sign(&evs, 2, MRC_SIGN_BAD, now);
    ASSERT_EQ(evs.ev[2].state, MRC_EV_ASSUMED_BAD);
    bad("usable", evs.usable, 1);
    bad("bad", evs.bad, 0);
    bad("usable_on", evs.usable_on[1], 3);
    bad("start", evs.start[1], 3);
    bad("proven", evs.proven[0], 5);
    bad("proven", evs.proven[1], 0);
    bad("proven", evs.proven[0], 2);
    bad("next_probe_ns", evs.next_probe_ns, MRC_TIME_NEVER);
    mrc_ev was = evs.ev[3];
    evs.ev[3].plane = 1; // grouped wrongly
    EXPECT_NE(mrc_evset_check(&evs), 0);
    evs.ev[3].plane = 5; // no such plane
    EXPECT_NE(mrc_evset_check(&evs), 0);
    evs.ev[3] = was;
    EXPECT_EQ(mrc_evset_check(&evs), 0);
}

} // namespace
