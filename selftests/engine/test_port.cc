// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_port.cc - Port Status Updates: told until answered, a few times at most.
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
#include "mrc_port.h"
}

#include <gtest/gtest.h>

namespace {

struct port : testing::Test {
    void SetUp() override { mrc_port_init(&p, 3); }

    bool tx() { return mrc_port_tx_next(&p, now, &pkt); }
    mrc_pkt request(u32 mask, u32 id, u8 what = MRC_EP_PORT_STATUS)
    {
        mrc_pkt r = {};

        r.opcode = MRC_OPC_EP_REQ;
        r.psn = id;
        r.dqpn = MRC_QPN_ENDPOINT;
        r.u.ep.op = what;
        r.u.ep.port_status_mask = mask;
        r.u.ep.tx_ts = 77;
        return r;
    }
    mrc_pkt response(u32 id)
    {
        mrc_pkt r = {};

        r.opcode = MRC_OPC_EP_RSP;
        r.psn = id;
        r.u.ep.op = MRC_EP_PORT_STATUS;
        return r;
    }

    mrc_port p;
    mrc_pkt pkt;
    u64 now = 1000;
};

TEST_F(port, quiet_at_first)
{
    EXPECT_FALSE(tx());
    EXPECT_EQ(mrc_port_deadline_ns(&p), MRC_TIME_NEVER);
    mrc_port_set(&p, 3, now);
    EXPECT_FALSE(tx()) << "nothing changed";
}

TEST_F(port, a_change_is_announced_until_answered)
{
    mrc_port_set(&p, 1, now);
    EXPECT_EQ(mrc_port_deadline_ns(&p), now);
    ASSERT_TRUE(tx());
    EXPECT_EQ(pkt.opcode, MRC_OPC_EP_REQ);
    EXPECT_EQ(pkt.dqpn, u32{MRC_QPN_ENDPOINT});
    EXPECT_EQ(pkt.u.ep.op, MRC_EP_PORT_STATUS);
    EXPECT_EQ(pkt.u.ep.port_status_mask, 1u);
    EXPECT_FALSE(tx());
    now = mrc_port_deadline_ns(&p);
    ASSERT_TRUE(tx());
    mrc_pkt wrong = response(pkt.psn + 1), right = response(pkt.psn);
    mrc_port_rx(&p, &wrong, now);
    EXPECT_NE(mrc_port_deadline_ns(&p), MRC_TIME_NEVER);
    EXPECT_FALSE(mrc_port_rx(&p, &right, now));
    EXPECT_EQ(mrc_port_deadline_ns(&p), MRC_TIME_NEVER);
    EXPECT_FALSE(tx());
}

TEST_F(port, repeats_double_and_end)
{
    int sent = 0;
    u64 gap = 0;

    mrc_port_set(&p, 1, now);
    while (mrc_port_deadline_ns(&p) != MRC_TIME_NEVER) {
        u64 d = mrc_port_deadline_ns(&p);

        if (sent > 1) {
            EXPECT_EQ(d - now, 2 * gap);
        }
        gap = d - now;
        now = d;
        sent += tx();
        ASSERT_LT(sent, 100);
    }
    EXPECT_EQ(sent, MRC_PORT_TRIES);
}

TEST_F(port, a_newer_change_replaces_the_older)
{
    mrc_port_set(&p, 1, now);
    ASSERT_TRUE(tx());
    u32 old = pkt.psn;
    mrc_port_set(&p, 2, now);
    ASSERT_TRUE(tx());
    EXPECT_EQ(pkt.u.ep.port_status_mask, 2u);
    EXPECT_NE(pkt.psn, old);
    mrc_pkt late = response(old);
    mrc_port_rx(&p, &late, now);
    EXPECT_NE(mrc_port_deadline_ns(&p), MRC_TIME_NEVER);
}

TEST_F(port, the_peers_word)
{
    mrc_pkt r = request(2, 9);

    EXPECT_TRUE(mrc_port_rx(&p, &r, now));
    EXPECT_EQ(p.remote_up, 2u);
    ASSERT_TRUE(tx());
    EXPECT_EQ(pkt.opcode, MRC_OPC_EP_RSP);
    EXPECT_EQ(pkt.psn, 9u);
    EXPECT_EQ(pkt.u.ep.tx_ts, 77);
    EXPECT_FALSE(tx());
    EXPECT_FALSE(mrc_port_rx(&p, &r, now)) << "said again: no change";
    EXPECT_TRUE(tx()) << "but answered again";
}

// A repeat of what was said before the latest word may come late.
TEST_F(port, an_older_word_does_not_win)
{
    mrc_pkt a = request(1, 5), b = request(3, 6);

    EXPECT_TRUE(mrc_port_rx(&p, &a, now));
    EXPECT_TRUE(mrc_port_rx(&p, &b, now));
    EXPECT_FALSE(mrc_port_rx(&p, &a, now));
    EXPECT_EQ(p.remote_up, 3u);
}

TEST_F(port, an_ev_probe_is_only_answered)
{
    mrc_pkt r = request(0, 4, MRC_EP_EV_PROBE);

    EXPECT_FALSE(mrc_port_rx(&p, &r, now));
    EXPECT_EQ(p.remote_up, ~0u);
    ASSERT_TRUE(tx());
    EXPECT_EQ(pkt.u.ep.op, MRC_EP_EV_PROBE);
}

} // namespace
