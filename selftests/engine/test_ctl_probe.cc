// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_ctl_probe.cc - probes and the ACKs that they bring; who doubts the ways of acknowledgements.
#include "ctl_rig.h"

extern "C" {
#include "paths/mrc_no_acks.h"
}

namespace {

class ctl_probe : public ctl_rig {};

// A foreign peer numbers its probes as it likes, from 1, say. It lost the ACK and asks for it.
TEST_F(ctl_probe, every_kind_of_probe_brings_the_ack_again)
{
    make(quiet());
    probe(1);
    EXPECT_TRUE(tx_ctrl(MRC_OPC_ACK).empty()) << "of what?";
    take(write_only(2000));
    EXPECT_EQ(tx_ctrl(MRC_OPC_ACK).size(), 1u); // lost
    for (u16 id : {u16{2}, u16{3}, u16{MRC_PROBE_ID_EV_END - 1}, u16{MRC_PROBE_ID_EV_END},
                   u16{MRC_PROBE_ID_TAIL | 1}}) {
        probe(id);
        auto v = tx_ctrl(MRC_OPC_ACK);
        ASSERT_EQ(v.size(), 1u) << id;
        EXPECT_EQ(v[0].hdr.psn, 2000u);
    }
}

// Probes of EVs are many, and mostly no questions for an ACK: few of them bring one, but
// there is no number of lost ones after which none comes.
TEST_F(ctl_probe, probes_bring_no_flood_of_acks)
{
    u32 acks = 0;

    make(quiet());
    take(write_only(2000));
    tx_all();
    for (u32 i = 0; i < 1000; i++) {
        probe(5);
        acks += static_cast<u32>(tx_ctrl(MRC_OPC_ACK).size());
    }
    EXPECT_GE(acks, 250u);
    EXPECT_LE(acks, 260u);
    take(write_only(2001));
    EXPECT_EQ(tx_ctrl(MRC_OPC_ACK).size(), 1u);
    probe(5);
    EXPECT_EQ(tx_ctrl(MRC_OPC_ACK).size(), 1u) << "counted anew";
}

// Nor does the ACK that such a probe brings call for a verification of ours.
TEST_F(ctl_probe, an_ack_for_a_verification_calls_for_none)
{
    make(quiet());
    take(write_only(2000));
    tx_all();
    now += 10 * kMs;
    probe(3);
    u32 acks = 0, probes = 0;
    for (const mrc_txop &t : tx_all()) {
        acks += t.hdr.opcode == MRC_OPC_ACK;
        probes += t.hdr.opcode == MRC_OPC_PROBE;
    }
    EXPECT_EQ(acks, 1u);
    EXPECT_EQ(probes, 0u);
}

// ---- doubts ----

// Who asks again has not heard us: the EVs that carried our acknowledgements are not proven.
TEST_F(ctl_probe, a_tail_probe_doubts_the_ways_of_acknowledgements)
{
    auto proven = [&] {
        u32 n = 0;

        for (u8 p = 0; p < evs.n_planes; p++)
            n += evs.proven[p] != MRC_NONE16;
        return n;
    };
    make(quiet());
    take(write_only(2000));
    mrc_evset_sign(&evs, 1, MRC_SIGN_DELIVERED, now);
    ASSERT_EQ(proven(), 1u);
    probe(3);
    EXPECT_EQ(proven(), 1u) << "asks about an EV of its own";
    mrc_evset_sign(&evs, 0, MRC_SIGN_BAD, now);
    probe(MRC_PROBE_ID_TAIL | 5);
    EXPECT_EQ(proven(), 0u);
}

// Cables and switches mostly die both ways: where nothing is proven, the answer tries the path of the question.
TEST_F(ctl_probe, the_path_of_a_question_is_tried_first)
{
    for (u16 idx = 0; idx < 4; idx++) {
        make(quiet());
        take(write_only(2000));
        tx_all();
        mrc_pkt p = {};
        p.opcode = MRC_OPC_PROBE;
        p.plane = evs.ev[idx].plane;
        p.u.probe.probe_id = MRC_PROBE_ID_TAIL | 5;
        p.ev = evs.ev[idx].value;
        rx(p);
        EXPECT_EQ(evs.proven[evs.ev[idx].plane], idx);
        bool used = false;
        for (const mrc_txop &t : tx_all())
            used |= t.hdr.opcode == MRC_OPC_SACK && t.ev_idx == idx;
        EXPECT_TRUE(used);
        p.u.probe.probe_id = 3;
        p.ev = evs.ev[(idx + 1) % 4].value;
        rx(p);
        EXPECT_EQ(evs.proven[evs.ev[idx].plane], idx) << "what is proven is not guessed";
    }
}

TEST_F(ctl_probe, data_resent_though_acknowledged_doubts_them_too)
{
    make(quiet());
    take(write_only(2000));
    mrc_evset_sign(&evs, 1, MRC_SIGN_DELIVERED, now);
    u8 plane = evs.ev[1].plane;
    ASSERT_NE(evs.proven[plane], MRC_NONE16);
    mrc_pkt p = write_only(2000);
    rx(p);
    mrc_conn_timer(&c, now);
    EXPECT_NE(evs.proven[plane], MRC_NONE16) << "the network may copy packets";
    p.rtx = true;
    rx(p);
    mrc_conn_timer(&c, now);
    EXPECT_EQ(evs.proven[plane], MRC_NONE16);
}

// Two hosts that only answered each other's verifications would do so for ever.
TEST_F(ctl_probe, a_verification_calls_for_none)
{
    rig_cfg k = defaults();
    mrc_pkt p = {};

    k.rx.sack_pkts = 1;
    make(k);
    for (u16 id : {u16{3}, u16{MRC_PROBE_ID_TAIL | 1}}) {
        p.opcode = MRC_OPC_PROBE;
        p.ev = evs.ev[0].value;
        p.u.probe.probe_id = id;
        rx(p);
        u32 answers = 0, probes = 0;
        for (const mrc_txop &t : tx_all()) {
            answers += t.hdr.opcode == MRC_OPC_SACK;
            probes += t.hdr.opcode == MRC_OPC_PROBE;
        }
        EXPECT_EQ(answers, 1u);
        EXPECT_EQ(probes, id < MRC_PROBE_ID_EV_END ? 0u : 1u);
    }
    now += 10 * kMs;
    take(write_only(2000));
    EXPECT_EQ(tx_ctrl(MRC_OPC_PROBE).size(), 1u) << "an acknowledgement of data does";
}

// ---- which QP of a set asks ----

// Its peer may have failed, which answers nothing: the others are woken, and go first.
TEST_F(ctl_probe, who_hears_no_answer_lets_others_ask_first)
{
    const u64 tick = 1 << MRC_TICK_SHIFT;

    make();
    mrc_evset_sign(&evs, 3, MRC_SIGN_BAD, now);
    for (u32 n = 1; n <= 12; n++) {
        EXPECT_EQ(mrc_conn_deadline_ns(&c), evs.next_probe_ns + (n > 4 ? evs.probe_ns : 0)) << n;
        now = evs.next_probe_ns + tick;
        if (n > 4) {
            EXPECT_TRUE(tx_all().empty()) << n;
        }
        now = mrc_conn_deadline_ns(&c) + tick;
        ASSERT_EQ(tx_ctrl(MRC_OPC_PROBE).size(), 1u) << n;
        EXPECT_EQ(mrc_evset_take_wake(&evs), n % 4 == 0) << n;
        EXPECT_FALSE(mrc_evset_take_wake(&evs)) << n;
    }
    probe_answer(100, 999);     // any SACK
    EXPECT_EQ(mrc_conn_deadline_ns(&c), evs.next_probe_ns);
}

TEST_F(ctl_probe, who_fails_leaves_the_questions_to_others)
{
    make();
    mrc_conn_fail(&c, MRC_ST_FLUSHED, now);
    EXPECT_FALSE(mrc_evset_take_wake(&evs)) << "nothing is to be asked";
    make();
    mrc_evset_sign(&evs, 3, MRC_SIGN_BAD, now);
    mrc_conn_fail(&c, MRC_ST_FLUSHED, now);
    EXPECT_TRUE(mrc_evset_take_wake(&evs));
    now = evs.next_probe_ns;
    EXPECT_TRUE(tx_all().empty());
    EXPECT_EQ(mrc_conn_deadline_ns(&c), MRC_TIME_NEVER);
}

// ---- planes by which acknowledgements are missed (test_no_acks.cc) ----

TEST_F(ctl_probe, a_word_of_missed_acknowledgements_leaves_by_the_plane_that_is_missed)
{
    make();
    for (u32 i = 0; i < 20; i++) {
        post(MRC_OP_WRITE, 4096);
        for (const mrc_txop &t : tx_all())
            ASSERT_NE(t.hdr.opcode, MRC_OPC_PROBE);
        turn_ = 1; // by plane 0 again
        ack(c.snd.next - 1);
        if (c.pto.owed)
            break;
    }
    auto v = tx_ctrl(MRC_OPC_PROBE);
    ASSERT_EQ(v.size(), 1u);
    EXPECT_EQ(v[0].hdr.u.probe.probe_id, MRC_PROBE_ID_NO_ACKS);
    EXPECT_EQ(v[0].hdr.plane, 1u);
    mrc_cpl x;
    while (ev.complete(&x))
        ;
    EXPECT_TRUE(mrc_conn_idle(&c)) << "nothing is waited for";
    probe_answer(MRC_PROBE_ID_NO_ACKS, c.snd.next - 1);
    EXPECT_TRUE(tx_ctrl(MRC_OPC_PROBE).empty());
}

TEST_F(ctl_probe, such_a_word_has_the_plane_verified)
{
    mrc_pkt p = {};

    make();
    p.opcode = MRC_OPC_PROBE;
    p.u.probe.probe_id = MRC_PROBE_ID_NO_ACKS;
    p.plane = 1;
    p.ev = evs.ev[evs.start[1]].value;
    EXPECT_EQ(rx(p), MRC_V_DONE);
    u32 answers = 0, probes = 0;
    for (const mrc_txop &t : tx_all()) {
        answers += t.hdr.opcode == MRC_OPC_SACK && t.hdr.u.sack.probe_id == MRC_PROBE_ID_NO_ACKS;
        if (t.hdr.opcode != MRC_OPC_PROBE)
            continue;
        probes++;
        EXPECT_LT(t.hdr.u.probe.probe_id, MRC_PROBE_ID_EV_END);
        EXPECT_EQ(t.hdr.plane, 1u);
    }
    EXPECT_EQ(answers, 1u);
    EXPECT_EQ(probes, 1u);
    p.plane = 31; // no such plane
    EXPECT_EQ(rx(p), MRC_V_DONE);
    EXPECT_EQ(evs.acks_missing, 0u);
}

// Who asks for data that has arrived did not get the ACK: its plane is asked, and no other first.
TEST_F(ctl_probe, a_tail_probe_asks_about_the_plane_of_the_ack)
{
    for (u32 i = 0; i < 8; i++) {
        rig_cfg k = quiet();

        k.planes = 4;
        make(k);
        now += 10 * kMs;
        for (u32 n = 0; n < i; n++) {
            take(write_only(2000 + n));
            tx_all();
        }
        take(write_only(2000 + i));
        auto acks = tx_ctrl(MRC_OPC_ACK);
        ASSERT_EQ(acks.size(), 1u);
        now += 1 * kMs;
        probe(MRC_PROBE_ID_TAIL | 7, 0, (acks[0].hdr.plane + 1) % 4); // that one lives
        for (const mrc_txop &t : tx_all())
            if (t.hdr.opcode == MRC_OPC_PROBE)
                EXPECT_EQ(t.hdr.plane, acks[0].hdr.plane) << i;
    }
}

// A plane that is dead unnoticed takes one of them, not one after the other.
TEST_F(ctl_probe, no_two_acks_in_a_row_take_the_same_plane)
{
    rig_cfg k = quiet();
    u32 last = MRC_PLANES_MAX, acks = 0, sacks = 0;

    k.planes = 4;
    make(k);
    for (u32 i = 0; i < 300; i++) {
        now += 50 * kUs;
        take(write_only(2000 + i));
        for (u32 n = 0; n < i % 4; n++)
            probe(static_cast<u16>(n));
        for (const mrc_txop &t : tx_all()) {
            sacks += t.hdr.opcode == MRC_OPC_SACK;
            if (t.hdr.opcode != MRC_OPC_ACK)
                continue;
            acks++;
            EXPECT_NE(t.hdr.plane, last) << i;
            last = t.hdr.plane;
        }
    }
    EXPECT_GE(acks, 300u);
    EXPECT_GE(sacks, 300u);
}

TEST_F(ctl_probe, one_timer_of_a_set_waits)
{
    int other;

    make();
    mrc_evset_sign(&evs, 3, MRC_SIGN_BAD, now);
    evs.asker = &other;
    evs.asker_ns = evs.next_probe_ns;
    EXPECT_EQ(mrc_conn_deadline_ns(&c), MRC_TIME_NEVER);
    EXPECT_EQ(evs.asker, &other);
    evs.asker_ns = evs.next_probe_ns + 1; // the other one does not know yet
    EXPECT_EQ(mrc_conn_deadline_ns(&c), evs.next_probe_ns);
    EXPECT_EQ(evs.asker, &c);
    EXPECT_EQ(evs.asker_ns, evs.next_probe_ns);
    evs.next_probe_ns += 1 * kMs;
    EXPECT_EQ(mrc_conn_deadline_ns(&c), evs.next_probe_ns) << "it waits on";
    EXPECT_EQ(evs.asker_ns, evs.next_probe_ns);
    evs.next_probe_ns = MRC_TIME_NEVER;
    EXPECT_EQ(mrc_conn_deadline_ns(&c), MRC_TIME_NEVER);
    EXPECT_EQ(evs.asker, nullptr) << "its time would lie in the past when the next one is to ask";
    evs.asker = &other;
    EXPECT_EQ(mrc_conn_deadline_ns(&c), MRC_TIME_NEVER);
    EXPECT_EQ(evs.asker, &other);
    evs.asker = nullptr;
    mrc_evset_reschedule(&evs, now);
}

// Who is called in time asks, and waits for the next: the one that should have may be stuck.
TEST_F(ctl_probe, who_asked_waits_for_the_next)
{
    int other;

    make();
    mrc_evset_sign(&evs, 3, MRC_SIGN_BAD, now);
    evs.asker = &other;
    evs.asker_ns = now = evs.next_probe_ns;
    now += 1 << MRC_TICK_SHIFT;
    ASSERT_EQ(tx_ctrl(MRC_OPC_PROBE).size(), 1u);
    EXPECT_EQ(mrc_conn_deadline_ns(&c), evs.next_probe_ns);
    EXPECT_GT(evs.next_probe_ns, now);
}

TEST_F(ctl_probe, who_waited_and_leaves_wakes_the_others)
{
    int other;

    for (bool fails : {true, false}) {
        make();
        mrc_evset_sign(&evs, 3, MRC_SIGN_BAD, now);
        ASSERT_NE(mrc_conn_deadline_ns(&c), MRC_TIME_NEVER);
        fails ? mrc_conn_fail(&c, MRC_ST_FLUSHED, now) : mrc_conn_set_path(&c, nullptr);
        EXPECT_EQ(evs.asker, nullptr);
        EXPECT_TRUE(mrc_evset_take_wake(&evs));
    }
    make();
    mrc_evset_sign(&evs, 3, MRC_SIGN_BAD, now);
    evs.asker = &other;
    mrc_conn_fail(&c, MRC_ST_FLUSHED, now);
    EXPECT_EQ(evs.asker, &other);
    EXPECT_FALSE(mrc_evset_take_wake(&evs)) << "the one that waits is another";
}

} // namespace
