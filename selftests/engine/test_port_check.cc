// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_port_check.cc - a Port Status Update says that a port is down: is it true? (mrc_down_check alone: test_down_check.cc)
#include <vector>

#include "port_rig.h"

namespace {

struct port_check : port {
    // The peer's word that @mask is up, which is answered; then the probes that leave, by plane.
    std::vector<mrc_pkt> word(u32 mask, u32 id)
    {
        std::vector<mrc_pkt> v;
        mrc_pkt r = request(mask, id);

        changed = mrc_port_rx(&p, &r, now);
        while (tx())
            if (pkt.opcode == MRC_OPC_EP_REQ)
                v.push_back(pkt);
        return v;
    }
    bool answers(const mrc_pkt &probe, u8 op = MRC_EP_EV_PROBE)
    {
        mrc_pkt r = response(probe.psn);

        r.u.ep.op = op;
        return mrc_port_rx(&p, &r, now);
    }

    bool changed;
};

TEST_F(port_check, a_port_that_went_down_is_probed_by_its_plane)
{
    auto v = word(1, 9);
    EXPECT_TRUE(changed) << "at once";
    EXPECT_EQ(p.remote_up, 1u);
    ASSERT_EQ(v.size(), 1u) << "of ours, which are two";
    EXPECT_EQ(v[0].plane, 1);
    EXPECT_EQ(v[0].dqpn, u32{MRC_QPN_ENDPOINT});
    EXPECT_EQ(v[0].u.ep.op, MRC_EP_EV_PROBE);
    EXPECT_EQ(v[0].u.ep.port_status_mask, 0u);
    EXPECT_NE(mrc_port_deadline_ns(&p), MRC_TIME_NEVER);
    now = mrc_port_deadline_ns(&p);
    ASSERT_TRUE(tx());
    EXPECT_NE(pkt.ev, v[0].ev) << "by another path";
}

TEST_F(port_check, silence_means_that_it_is_true)
{
    word(1, 9);
    while (mrc_port_deadline_ns(&p) != MRC_TIME_NEVER) {
        now = mrc_port_deadline_ns(&p);
        tx();
    }
    EXPECT_EQ(p.remote_up, 1u);
    EXPECT_EQ(mrc_port_denied(&p), 0u);
}

TEST_F(port_check, an_answer_denies_it)
{
    auto v = word(1, 9);
    EXPECT_FALSE(answers(v.at(0), MRC_EP_PORT_STATUS)) << "of another kind";
    EXPECT_TRUE(answers(v[0]));
    EXPECT_EQ(p.remote_up, 3u);
    EXPECT_EQ(mrc_port_denied(&p), 1u);
    EXPECT_EQ(mrc_port_deadline_ns(&p), MRC_TIME_NEVER);
    EXPECT_FALSE(answers(v[0]));
    EXPECT_EQ(mrc_port_unmatched(&p), 2u);
}

// Its id was a guess, and may lie far ahead of the peer's own.
TEST_F(port_check, a_denied_word_takes_no_place_in_the_row)
{
    word(~0u, 20);
    auto v = word(1, 0x7000);
    ASSERT_TRUE(answers(v.at(0)));
    word(2, 21);
    EXPECT_TRUE(changed);
    EXPECT_EQ(p.remote_up, 2u);
}

TEST_F(port_check, who_forges_on_is_believed_once_in_a_while)
{
    int changes = 0;

    for (u32 id = 1; id <= 1000; id++, now += MRC_PORT_DOUBT_NS / 100) {
        auto v = word(1, id);
        changes += changed;
        if (!v.empty())
            answers(v[0]);
    }
    EXPECT_EQ(changes, 10);
    EXPECT_EQ(mrc_port_denied(&p), 10u);
    EXPECT_EQ(p.remote_up, 3u);
}

TEST_F(port_check, doubt_is_of_the_port_that_was_denied)
{
    ASSERT_TRUE(answers(word(1, 9).at(0)));
    word(2, 10);
    EXPECT_TRUE(changed) << "the other one may be down";
    word(1, 11);
    EXPECT_FALSE(changed);
    EXPECT_EQ(p.limited, 1u);
    now += MRC_PORT_DOUBT_NS;
    word(1, 12);
    EXPECT_TRUE(changed) << "an honest peer says it again";
}

TEST_F(port_check, announced_as_up_meanwhile)
{
    auto v = word(1, 9);
    word(3, 10);
    EXPECT_FALSE(answers(v.at(0)));
    EXPECT_EQ(mrc_port_denied(&p), 0u);
    EXPECT_EQ(mrc_port_deadline_ns(&p), MRC_TIME_NEVER);
}

// Our end of it. A port that is drained works: the peer's probe would find it up.
TEST_F(port_check, by_a_port_that_we_announced_as_down_no_probe_is_answered)
{
    mrc_pkt probe = request(0, 4, MRC_EP_EV_PROBE);

    probe.plane = 1;
    mrc_port_rx(&p, &probe, now);
    EXPECT_TRUE(tx());
    mrc_port_set(&p, 1, now);
    ASSERT_TRUE(tx());
    mrc_port_rx(&p, &probe, now);
    EXPECT_FALSE(tx());
    EXPECT_EQ(mrc_port_withheld(&p), 1u);
    probe.plane = 0;
    mrc_port_rx(&p, &probe, now);
    EXPECT_TRUE(tx());
    probe.plane = MRC_PLANE_NONE;
    mrc_port_rx(&p, &probe, now);
    EXPECT_TRUE(tx());
    mrc_port_set(&p, 3, now);
    ASSERT_TRUE(tx());
    probe.plane = 1;
    mrc_port_rx(&p, &probe, now);
    EXPECT_TRUE(tx());
    EXPECT_EQ(mrc_port_withheld(&p), 1u);
}

} // namespace
