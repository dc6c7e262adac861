// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_port.cc - Port Status Updates: told until answered, a few times at most.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <vector>

#include "port_rig.h"

namespace {

TEST_F(port, quiet_at_first)
{
    EXPECT_FALSE(tx());
    EXPECT_EQ(mrc_port_deadline_ns(&p), MRC_TIME_NEVER);
    mrc_port_set(&p, 3, now);
    EXPECT_FALSE(tx()) << "nothing changed";
}

TEST_F(port, once_more_without_a_change)
{
    mrc_port_set(&p, 1, now);
    ASSERT_TRUE(tx());
    mrc_pkt first = response(pkt.psn);
    mrc_port_rx(&p, &first, now);
    mrc_port_announce(&p, now);
    ASSERT_TRUE(tx());
    EXPECT_EQ(pkt.u.ep.port_status_mask, 1u);
    EXPECT_EQ(pkt.psn, first.psn + 1) << "not to be taken for an old one";
}

// The answer to the one under way would else come to nothing that was asked, and whoever makes us remind would end it.
TEST_F(port, a_reminder_leaves_an_announcement_as_it_is)
{
    mrc_port_remind(&p, now);
    ASSERT_TRUE(tx()) << "there was none";
    mrc_pkt answer = response(pkt.psn);
    EXPECT_FALSE(tx());
    u64 again = mrc_port_deadline_ns(&p);
    now += MRC_PORT_WAIT_NS / 2;
    mrc_port_remind(&p, now);
    EXPECT_FALSE(tx());
    EXPECT_EQ(mrc_port_deadline_ns(&p), again);
    EXPECT_EQ(mrc_port_tries(&p), 1);
    mrc_port_rx(&p, &answer, now);
    EXPECT_FALSE(mrc_port_announcing(&p));
    EXPECT_EQ(mrc_port_unmatched(&p), 0u);
    mrc_port_remind(&p, now);
    EXPECT_TRUE(tx());
}

// ---- a connection is made: each end may have begun anew ----

// The peer may hold what a former one of ours said. Before it knows us it would not listen.
// A forger said that port 2, which is down, is up: the peer sends by it.
TEST_F(port, who_sends_by_a_port_that_is_down_is_told_again)
{
    mrc_pkt first, again;

    mrc_port_set(&p, 1, now);
    ASSERT_TRUE(mrc_port_tx_next(&p, now, &first));
    mrc_pkt answer = response(first.psn);
    mrc_port_rx(&p, &answer, now);
    mrc_port_stray(&p, 1, now + MRC_PORT_STRAY_NS - 1);
    EXPECT_FALSE(mrc_port_announcing(&p)) << "it was under way";
    mrc_port_stray(&p, 0, now + MRC_PORT_STRAY_NS);
    mrc_port_stray(&p, MRC_PLANE_NONE, now + MRC_PORT_STRAY_NS);
    EXPECT_FALSE(mrc_port_announcing(&p)) << "by a port that is up, or by none";
    mrc_port_stray(&p, 1, now + MRC_PORT_STRAY_NS);
    ASSERT_TRUE(mrc_port_tx_next(&p, now + MRC_PORT_STRAY_NS, &again));
    EXPECT_EQ(again.u.ep.port_status_mask, 1u);
    EXPECT_NE(again.psn, first.psn);
    mrc_port_stray(&p, 1, now + 3 * MRC_PORT_STRAY_NS);
    EXPECT_EQ(mrc_port_tries(&p), 1) << "what is being told goes on";
}

TEST_F(port, that_all_are_up_is_told_to_a_peer_that_was_heard)
{
    mrc_port_peer_alive(&p, now);
    EXPECT_FALSE(tx()) << "nothing waits for that";
    mrc_port_meet(&p, 3, true, now);
    EXPECT_TRUE(mrc_port_greeting(&p));
    EXPECT_EQ(mrc_port_deadline_ns(&p), MRC_TIME_NEVER);
    EXPECT_FALSE(tx());
    mrc_port_peer_alive(&p, now);
    ASSERT_TRUE(tx());
    EXPECT_EQ(pkt.opcode, MRC_OPC_EP_REQ);
    EXPECT_EQ(pkt.u.ep.port_status_mask, 3u);
    mrc_pkt answer = response(pkt.psn);
    mrc_port_peer_alive(&p, now);
    mrc_port_rx(&p, &answer, now);
    mrc_port_peer_alive(&p, now);
    EXPECT_FALSE(tx()) << "once";
    mrc_port_meet(&p, 3, false, now);
    mrc_port_peer_alive(&p, now);
    EXPECT_FALSE(tx()) << "and not for each connection";
    mrc_port_meet(&p, 3, true, now);
    mrc_port_peer_alive(&p, now);
    EXPECT_TRUE(tx()) << "but when there was none any more";
}

TEST_F(port, that_some_are_down_is_told_without_waiting)
{
    mrc_port_set(&p, 1, now);
    ASSERT_TRUE(tx());
    mrc_pkt answer = response(pkt.psn);
    mrc_port_rx(&p, &answer, now);
    mrc_port_meet(&p, 3, true, now + 5);
    EXPECT_FALSE(mrc_port_greeting(&p));
    EXPECT_EQ(mrc_port_deadline_ns(&p), now + 5) << "it may be another peer than the one that knows";
    now += 5;
    ASSERT_TRUE(tx());
    EXPECT_EQ(pkt.u.ep.port_status_mask, 1u);
    EXPECT_NE(pkt.psn, answer.psn) << "not to be taken for an old one";
    u64 again = mrc_port_deadline_ns(&p);
    mrc_port_meet(&p, 3, false, now);
    EXPECT_EQ(mrc_port_deadline_ns(&p), again) << "it is being told";
    answer = response(pkt.psn);
    mrc_port_rx(&p, &answer, now);
    mrc_port_meet(&p, 3, false, now);
    EXPECT_TRUE(tx()) << "a connection more may be to a peer that began anew";
}

// What was under way when the last connection ended: the first one that comes waits for the peer.
TEST_F(port, a_first_connection_begins_anew)
{
    mrc_port_set(&p, 1, now);
    ASSERT_TRUE(tx());
    mrc_port_meet(&p, 3, true, now);
    EXPECT_EQ(mrc_port_tries(&p), 0);
    mrc_port_set(&p, 3, now);
    ASSERT_TRUE(tx());
    mrc_port_meet(&p, 3, true, now);
    EXPECT_EQ(mrc_port_deadline_ns(&p), MRC_TIME_NEVER);
    EXPECT_TRUE(mrc_port_greeting(&p));
    mrc_port_set(&p, 2, now);
    EXPECT_TRUE(tx()) << "a change waits for nobody";
    mrc_port_peer_alive(&p, now);
    EXPECT_FALSE(tx()) << "and says it all";
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

// It is repeated after 200 us: a peer farther away answers more than one.
TEST_F(port, answers_to_repeats_were_asked_for)
{
    mrc_port_set(&p, 1, now);
    ASSERT_TRUE(tx());
    now = mrc_port_deadline_ns(&p);
    ASSERT_TRUE(tx());
    mrc_pkt answer = response(pkt.psn);
    mrc_port_rx(&p, &answer, now);
    mrc_port_rx(&p, &answer, now);
    EXPECT_EQ(mrc_port_unmatched(&p), 0u);
    EXPECT_FALSE(mrc_port_announcing(&p));
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
    ASSERT_TRUE(tx());
    EXPECT_EQ(pkt.u.ep.op, MRC_EP_EV_PROBE) << "is it true?";
    EXPECT_FALSE(tx());
    EXPECT_FALSE(mrc_port_rx(&p, &r, now)) << "said again: no change";
    EXPECT_TRUE(tx()) << "but answered again";
}

// It came by a port of the peer that leads to one of ours: whoever says that there is none lies, and would keep us from
// sending for good.
TEST_F(port, a_word_that_leaves_no_port_in_common)
{
    for (u32 mask : {0u, 4u, 0xfffffffcu}) {
        mrc_pkt r = request(mask, 9);

        EXPECT_FALSE(mrc_port_rx(&p, &r, now));
        EXPECT_EQ(p.remote_up, ~0u);
        EXPECT_FALSE(tx()) << "not answered: an honest peer says it again";
    }
    EXPECT_EQ(p.severed, 3u);
    mrc_pkt r = request(6, 9);
    EXPECT_TRUE(mrc_port_rx(&p, &r, now)) << "its id is not known yet";
    EXPECT_TRUE(tx());
    mrc_port_set(&p, 1, now);
    mrc_port_rx(&p, &r, now);
    EXPECT_EQ(p.severed, 3u) << "nothing new: our own port went";
}

// A repeat of what was said before the latest word may come late.
TEST_F(port, an_older_word_does_not_win)
{
    mrc_pkt a = request(1, 5), b = request(3, 6);

    EXPECT_TRUE(mrc_port_rx(&p, &a, now));
    EXPECT_TRUE(mrc_port_rx(&p, &b, now));
    ASSERT_TRUE(tx());
    EXPECT_EQ(pkt.psn, 6u);
    EXPECT_FALSE(mrc_port_rx(&p, &a, now));
    EXPECT_EQ(p.remote_up, 3u);
    EXPECT_EQ(p.stale, 1u);
    EXPECT_FALSE(tx()) << "nor answered";
}

TEST_F(port, an_older_word_does_not_take_the_latest_ones_answer)
{
    mrc_pkt a = request(1, 5), b = request(3, 6);

    EXPECT_TRUE(mrc_port_rx(&p, &b, now));
    EXPECT_FALSE(mrc_port_rx(&p, &a, now));
    ASSERT_TRUE(tx());
    EXPECT_EQ(pkt.psn, 6u);
    EXPECT_FALSE(tx());
}

// It lay in the ring of this host, which slept for 200 ms (seed 5867).
TEST_F(port, an_older_word_that_waited_in_the_ring_does_not_win)
{
    mrc_pkt a = request(1, 15), b = request(3, 16);

    EXPECT_TRUE(mrc_port_rx(&p, &b, now));
    now += 200000000;
    EXPECT_FALSE(mrc_port_rx(&p, &a, now));
    EXPECT_EQ(p.remote_up, 3u);
}

TEST_F(port, ids_wrap)
{
    mrc_pkt a = request(1, 0xffff), b = request(2, 0), c = request(1, 0x8001);

    EXPECT_TRUE(mrc_port_rx(&p, &a, now));
    EXPECT_TRUE(mrc_port_rx(&p, &b, now));
    EXPECT_FALSE(mrc_port_rx(&p, &c, now)) << "half the circle back";
    EXPECT_EQ(p.remote_up, 2u);
}

// A peer that began anew counts from 1: believed when no repeat can be that late.
TEST_F(port, a_peer_that_began_anew)
{
    mrc_pkt a = request(1, 500), b = request(3, 1);

    EXPECT_TRUE(mrc_port_rx(&p, &a, now));
    EXPECT_FALSE(mrc_port_rx(&p, &b, now));
    now += MRC_PORT_WAIT_NS << MRC_PORT_TRIES;
    EXPECT_TRUE(mrc_port_rx(&p, &b, now));
    EXPECT_EQ(p.remote_up, 3u);
}

// If it does so at once its first word looks old: with an answer it would never be said again.
TEST_F(port, a_peer_that_began_anew_at_once_says_it_until_it_is_believed)
{
    mrc_pkt said = request(1, 500), answer = {};
    mrc_port anew;
    int tries = 0;

    EXPECT_TRUE(mrc_port_rx(&p, &said, now));
    ASSERT_TRUE(tx());
    now++;
    mrc_port_init(&anew, 3);
    mrc_port_announce(&anew, now);
    while (mrc_port_deadline_ns(&anew) != MRC_TIME_NEVER) {
        now = mrc_port_deadline_ns(&anew);
        if (!mrc_port_tx_next(&anew, now, &said))
            break;
        mrc_port_rx(&p, &said, now);
        tries++;
        while (mrc_port_tx_next(&p, now, &answer))
            mrc_port_rx(&anew, &answer, now);
    }
    EXPECT_EQ(p.remote_up, 3u);
    EXPECT_LT(tries, MRC_PORT_TRIES);
    EXPECT_FALSE(mrc_port_announcing(&anew)) << "and answered";
}

// ---- EV probes ----

TEST_F(port, an_ev_probe_is_only_answered)
{
    mrc_pkt r = request(0, 4, MRC_EP_EV_PROBE);

    r.u.ep.tx_ts = 0xbeef;
    EXPECT_FALSE(mrc_port_rx(&p, &r, now));
    EXPECT_EQ(p.remote_up, ~0u);
    ASSERT_TRUE(tx());
    EXPECT_EQ(pkt.opcode, MRC_OPC_EP_RSP);
    EXPECT_EQ(pkt.dqpn, u32{MRC_QPN_ENDPOINT});
    EXPECT_EQ(pkt.u.ep.op, MRC_EP_EV_PROBE);
    EXPECT_EQ(pkt.psn, 4u);
    EXPECT_EQ(pkt.u.ep.tx_ts, 0xbeef) << "reflected";
    EXPECT_EQ(pkt.u.ep.port_status_mask, 0u);
    EXPECT_FALSE(tx());
}

// A controller probes in batches: each gets its answer, in order.
TEST_F(port, a_batch_of_probes_is_answered_in_order)
{
    for (int round = 0; round < 3; round++) {
        for (u32 i = 0; i < 11; i++) {
            mrc_pkt r = request(0, 100 + i, MRC_EP_EV_PROBE);

            r.u.ep.tx_ts = static_cast<u16>(i);
            mrc_port_rx(&p, &r, now);
        }
        for (u32 i = 0; i < 11; i++) {
            ASSERT_TRUE(tx());
            EXPECT_EQ(pkt.psn, 100 + i);
            EXPECT_EQ(pkt.u.ep.tx_ts, i);
        }
        EXPECT_FALSE(tx());
    }
}

TEST_F(port, port_status_is_answered_before_probes)
{
    mrc_pkt probe = request(0, 1, MRC_EP_EV_PROBE), status = request(1, 2);

    for (int i = 0; i < 100; i++)
        mrc_port_rx(&p, &probe, now);
    EXPECT_TRUE(mrc_port_rx(&p, &status, now)) << "a flood of probes does not drown it";
    mrc_port_set(&p, 1, now);
    ASSERT_TRUE(tx());
    EXPECT_EQ(pkt.u.ep.op, MRC_EP_PORT_STATUS);
    EXPECT_EQ(pkt.psn, 2u);
    for (int i = 0; i < MRC_PORT_ANSWERS; i++) {
        ASSERT_TRUE(tx());
        EXPECT_EQ(pkt.u.ep.op, MRC_EP_EV_PROBE);
    }
    ASSERT_TRUE(tx());
    EXPECT_EQ(pkt.opcode, MRC_OPC_EP_REQ) << "and our own word after them";
    EXPECT_FALSE(tx());
    EXPECT_EQ(p.limited, 100u - MRC_PORT_ANSWERS);
}

// ---- what a controller asks ----

struct port_ask : port {
    void SetUp() override
    {
        port::SetUp();
        mrc_ep_req_init(&a, 0);
        mrc_port_set_reqs(&p, &a);
    }

    int asks(u8 op, u64 cookie, u32 ports = 0)
    {
        mrc_ep_req q = {op, ports, cookie};

        return mrc_port_request(&p, &q, now, &pkt);
    }
    bool answered(u32 id, u8 op)
    {
        mrc_pkt r = response(id);

        r.u.ep.op = op;
        EXPECT_FALSE(mrc_port_rx(&p, &r, now));
        return mrc_port_take_rsp(&p, &got);
    }

    mrc_ep_req_table a;
    mrc_ep_rsp got = {};
};

TEST_F(port, nobody_asks_without_memory)
{
    mrc_ep_req q = {MRC_EP_EV_PROBE, 0, 1};
    mrc_ep_rsp got;

    EXPECT_FALSE(mrc_port_reqs(&p));
    EXPECT_EQ(mrc_port_request(&p, &q, now, &pkt), -EBUSY);
    EXPECT_FALSE(mrc_port_take_rsp(&p, &got));
}

TEST_F(port_ask, a_probe_and_its_answer)
{
    EXPECT_TRUE(mrc_port_reqs(&p));
    now = 0x1234ull << 7;
    ASSERT_EQ(asks(MRC_EP_EV_PROBE, 77, 5), 0);
    EXPECT_EQ(pkt.opcode, MRC_OPC_EP_REQ);
    EXPECT_EQ(pkt.dqpn, u32{MRC_QPN_ENDPOINT});
    EXPECT_EQ(pkt.u.ep.op, MRC_EP_EV_PROBE);
    EXPECT_EQ(pkt.u.ep.tx_ts, 0x1234) << "units of 128 ns";
    EXPECT_EQ(pkt.u.ep.port_status_mask, 0u) << "says nothing of ports";
    EXPECT_FALSE(tx()) << "leaves once, by the way that was named";
    now += 900;
    ASSERT_TRUE(answered(pkt.psn, MRC_EP_EV_PROBE));
    EXPECT_EQ(got.cookie, 77u);
    EXPECT_EQ(got.rtt_ns, 900u);
    EXPECT_EQ(mrc_port_unmatched(&p), 0u);
}

// Only a peer that knows the extension says that its answer took the named switch.
TEST_F(port_ask, a_probe_names_the_switch_of_its_answer)
{
    mrc_ep_req q = {.op = MRC_EP_EV_PROBE, .ports_up = 0, .cookie = 9, .via = 0x1102};
    mrc_pkt r;

    ASSERT_EQ(mrc_port_request(&p, &q, now, &pkt), 0);
    EXPECT_EQ(pkt.u.ep.vendor_info, MRC_EP_RETURN);
    EXPECT_EQ(pkt.ev, 0x1102u);
    r = response(pkt.psn);
    r.u.ep.op = MRC_EP_EV_PROBE;
    r.u.ep.vendor_info = MRC_EP_RETURN;
    mrc_port_rx(&p, &r, now);
    ASSERT_TRUE(mrc_port_take_rsp(&p, &got));
    EXPECT_EQ(got.via, 0x1102);
    ASSERT_EQ(mrc_port_request(&p, &q, now, &pkt), 0);
    r.psn = pkt.psn;
    r.u.ep.vendor_info = 0;
    mrc_port_rx(&p, &r, now);
    ASSERT_TRUE(mrc_port_take_rsp(&p, &got));
    EXPECT_EQ(got.via, 0) << "a peer that does not know it";
    q.via = 0;
    ASSERT_EQ(mrc_port_request(&p, &q, now, &pkt), 0);
    EXPECT_EQ(pkt.u.ep.vendor_info, 0);
    EXPECT_EQ(pkt.ev, 0u);
    r.psn = pkt.psn;
    r.u.ep.vendor_info = MRC_EP_RETURN;
    mrc_port_rx(&p, &r, now);
    ASSERT_TRUE(mrc_port_take_rsp(&p, &got));
    EXPECT_EQ(got.via, 0) << "none was named";
}

TEST_F(port_ask, strangers_answers_are_unasked)
{
    ASSERT_EQ(asks(MRC_EP_EV_PROBE, 1), 0);
    u32 id = pkt.psn;
    EXPECT_FALSE(answered(id + 1, MRC_EP_EV_PROBE));
    EXPECT_FALSE(answered(id, MRC_EP_PORT_STATUS));
    EXPECT_EQ(mrc_port_unmatched(&p), 2u);
    EXPECT_TRUE(answered(id, MRC_EP_EV_PROBE));
    EXPECT_FALSE(answered(id, MRC_EP_EV_PROBE));
    EXPECT_EQ(mrc_port_unmatched(&p), 3u);
}

TEST_F(port_ask, taken_back)
{
    ASSERT_EQ(asks(MRC_EP_EV_PROBE, 1), 0);
    mrc_port_request_undo(&p, &pkt);
    EXPECT_FALSE(answered(pkt.psn, MRC_EP_EV_PROBE));
    EXPECT_EQ(mrc_port_unmatched(&p), 1u);
}

TEST_F(port_ask, a_controllers_word_of_ports_is_newer_than_ours_before)
{
    mrc_port_set(&p, 1, now);
    ASSERT_TRUE(tx());
    u32 ours = pkt.psn;
    EXPECT_EQ(asks(MRC_EP_PORT_STATUS, 5, 0xf0), -EBUSY) << "the peer is being told";
    EXPECT_EQ(asks(MRC_EP_EV_PROBE, 6), 0) << "which stops no probe";
    EXPECT_FALSE(answered(ours, MRC_EP_PORT_STATUS)) << "to our own word: no answer of a controller's";
    ASSERT_EQ(asks(MRC_EP_PORT_STATUS, 5, 0xf0), 0);
    EXPECT_EQ(pkt.u.ep.port_status_mask, 0xf0u);
    EXPECT_GT(static_cast<s16>(pkt.psn - ours), 0);
    u32 said = pkt.psn;
    mrc_port_announce(&p, now);
    ASSERT_TRUE(tx());
    EXPECT_EQ(pkt.u.ep.port_status_mask, 1u) << "and ours after it is newer again";
    EXPECT_GT(static_cast<s16>(pkt.psn - said), 0);
    ASSERT_TRUE(answered(said, MRC_EP_PORT_STATUS));
    EXPECT_EQ(got.cookie, 5u);
    EXPECT_EQ(got.op, MRC_EP_PORT_STATUS);
    EXPECT_NE(mrc_port_deadline_ns(&p), MRC_TIME_NEVER) << "ours waits for its own answer";
    EXPECT_EQ(mrc_port_unmatched(&p), 0u);
}

// A controller drains a port that we think is up.
TEST_F(port_ask, a_controllers_word_is_what_probes_go_by)
{
    mrc_pkt probe = request(0, 4, MRC_EP_EV_PROBE);

    probe.plane = 1;
    ASSERT_EQ(asks(MRC_EP_PORT_STATUS, 5, 1), 0);
    mrc_port_rx(&p, &probe, now);
    EXPECT_FALSE(tx());
    EXPECT_EQ(mrc_port_withheld(&p), 1u);
    ASSERT_EQ(asks(MRC_EP_PORT_STATUS, 5, 3), 0);
    mrc_port_rx(&p, &probe, now);
    EXPECT_TRUE(tx());
}

TEST_F(port_ask, a_controllers_word_is_the_latest)
{
    mrc_port_set(&p, 1, now);
    ASSERT_TRUE(tx());
    EXPECT_FALSE(answered(pkt.psn, MRC_EP_PORT_STATUS));
    mrc_port_set(&p, 3, now);
    ASSERT_TRUE(tx());
    EXPECT_FALSE(answered(pkt.psn, MRC_EP_PORT_STATUS));
    mrc_port_meet(&p, 3, true, now);
    ASSERT_EQ(asks(MRC_EP_PORT_STATUS, 5, 0xf0), 0) << "we have not begun";
    u32 said = pkt.psn;
    mrc_port_peer_alive(&p, now);
    EXPECT_FALSE(tx()) << "and do not take it back";
    EXPECT_TRUE(answered(said, MRC_EP_PORT_STATUS));
    EXPECT_EQ(mrc_port_unmatched(&p), 0u);
    EXPECT_FALSE(answered(said, MRC_EP_PORT_STATUS));
    EXPECT_EQ(mrc_port_unmatched(&p), 1u) << "no repeat of ours";
}

TEST_F(port_ask, a_word_that_found_no_room_takes_no_id)
{
    for (u32 i = 0; i < MRC_EP_REQ_MAX; i++)
        ASSERT_EQ(asks(MRC_EP_EV_PROBE, i), 0);
    u16 before = p.req_id;
    EXPECT_EQ(asks(MRC_EP_PORT_STATUS, 1, 1), -EBUSY);
    EXPECT_EQ(p.req_id, before);
}

// ---- bad input ----

TEST_F(port, responses_to_nothing_are_ignored)
{
    mrc_pkt r = response(0), probe = response(0);

    probe.u.ep.op = MRC_EP_EV_PROBE;
    EXPECT_FALSE(mrc_port_rx(&p, &r, now));
    mrc_port_set(&p, 1, now);
    r = response(1);
    mrc_port_rx(&p, &r, now);
    EXPECT_EQ(mrc_port_deadline_ns(&p), now) << "not even sent yet";
    ASSERT_TRUE(tx());
    probe.psn = pkt.psn;
    mrc_port_rx(&p, &probe, now);
    EXPECT_NE(mrc_port_deadline_ns(&p), MRC_TIME_NEVER) << "of another kind";
    EXPECT_EQ(p.unasked, 3u);
    EXPECT_EQ(p.remote_up, ~0u);
    EXPECT_FALSE(tx());
}

TEST_F(port, other_packets_are_ignored)
{
    for (int opc = 0; opc < 256; opc++) {
        mrc_pkt r = request(1, 1);

        if (opc == MRC_OPC_EP_REQ || opc == MRC_OPC_EP_RSP)
            continue;
        r.opcode = static_cast<u8>(opc);
        EXPECT_FALSE(mrc_port_rx(&p, &r, now));
    }
    mrc_pkt r = request(1, 1, 2);       // no such operation
    EXPECT_FALSE(mrc_port_rx(&p, &r, now));
    EXPECT_FALSE(tx());
}

// A mask that changes with every packet makes work for all QPs of the peer: bounded.
TEST_F(port, a_flood_of_changes_is_believed_slowly_and_honest_ones_get_through)
{
    int changes = 0, answers = 0;
    u32 id = 0;

    for (u64 end = now + 100 * MRC_PORT_CHANGE_NS; now < end; now += 1000) {
        id = (id + 1) & 0xffff;
        mrc_pkt r = request(id & 1 ? 1 : 3, id);
        changes += mrc_port_rx(&p, &r, now);
        while (tx())
            answers++;
    }
    EXPECT_LE(changes, 100 + MRC_PORT_CHANGES);
    EXPECT_GE(changes, 100);
    EXPECT_GT(p.limited, 40000u);
    EXPECT_LE(answers, 100000);
    // The last word of the flood is repeated as the protocol has it, until answered.
    bool taken = false;
    for (int i = 0; i < MRC_PORT_TRIES && !taken; i++) {
        mrc_pkt r = request(7, id + 1);
        mrc_port_rx(&p, &r, now);
        taken = tx();
        now += MRC_PORT_WAIT_NS << i;
    }
    EXPECT_TRUE(taken);
    EXPECT_EQ(p.remote_up, 7u);
}

TEST_F(port, the_same_word_in_a_flood_costs_nothing_but_answers)
{
    mrc_pkt r = request(1, 1);

    EXPECT_TRUE(mrc_port_rx(&p, &r, now));
    for (int i = 0; i < 10000; i++)
        EXPECT_FALSE(mrc_port_rx(&p, &r, now));
    EXPECT_TRUE(tx());
    EXPECT_EQ(pkt.opcode, MRC_OPC_EP_RSP);
    EXPECT_TRUE(tx());
    EXPECT_EQ(pkt.opcode, MRC_OPC_EP_REQ) << "is it true?";
    EXPECT_FALSE(tx()) << "one answer and one probe for all";
    EXPECT_EQ(p.limited, 0u);
}

TEST_F(port, size)
{
    EXPECT_LE(sizeof(mrc_port), 304u);
}

} // namespace
