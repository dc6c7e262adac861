// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_pto.cc - the ways of tail probes and of their answers: each of them by a plane that lives, if one that is known to.
#include "ctl_rig.h"

extern "C" {
#include "paths/mrc_no_acks.h"
}

namespace {

constexpr u8 kPlanes = 4;

class pto : public ctl_rig {
protected:
    void make_planes(u8 n)
    {
        rig_cfg k = quiet();

        k.evs = static_cast<u16>(4 * n);
        k.planes = n;
        k.tx.timeout_ns = 0;
        make(k);
    }
    void four_planes() { make_planes(kPlanes); }
    // What the peer sends when its acknowledgements of ours stop.
    void ask(u8 plane) { probe(MRC_PROBE_ID_TAIL | 1, 0, plane); }
    // The planes of what answers: the ACK's, the first SACK's.
    std::pair<u8, u8> answer()
    {
        u8 by[2] = {MRC_PLANES_MAX, MRC_PLANES_MAX};

        for (const mrc_txop &t : tx_all())
            if ((t.hdr.opcode == MRC_OPC_ACK || t.hdr.opcode == MRC_OPC_SACK) &&
                by[t.hdr.opcode == MRC_OPC_SACK] == MRC_PLANES_MAX)
                by[t.hdr.opcode == MRC_OPC_SACK] = t.hdr.plane;
        return {by[0], by[1]};
    }
    // A packet leaves, and @by brings an acknowledgement of all but that.
    u8 lone(u8 by)
    {
        mrc_pkt p = {};

        post(MRC_OP_WRITE, 10);
        std::vector<mrc_txop> v = tx_data();
        p.opcode = MRC_OPC_ACK;
        p.plane = by;
        p.psn = mrc_psn_add(c.snd.una, -1);
        p.u.aeth.syndrome = MRC_AETH_CREDIT_NONE;
        rx(p);
        return v.at(0).hdr.plane;
    }
    // What is out is lost, and leaves again by the plane returned.
    u8 resent(mrc_cause cause)
    {
        mrc_snd_lose(&c, c.snd.una, cause, now);
        return tx_data().at(0).hdr.plane;
    }
    // The plane of the next tail probe.
    u8 asked()
    {
        for (;;) {
            fire();
            for (const mrc_txop &t : tx_ctrl(MRC_OPC_PROBE))
                if (t.hdr.u.probe.probe_id >= MRC_PROBE_ID_TAIL)
                    return t.hdr.plane;
        }
    }
};

// ---- who asks ----

TEST_F(pto, first_by_the_plane_that_brought_the_latest_acknowledgement)
{
    for (u8 by = 0; by < kPlanes; by++) {
        four_planes();
        u8 data = lone(by);
        if (data != by) {
            EXPECT_EQ(asked(), by);
        }
    }
}

TEST_F(pto, not_by_the_plane_of_the_data_if_there_is_a_third)
{
    for (u8 by = 0; by < kPlanes; by++) {
        four_planes();
        u8 data = lone(by);
        for (int i = 0; i < 8; i++)
            EXPECT_NE(asked(), data);
    }
}

// With one plane left there is no choice.
TEST_F(pto, by_the_plane_of_the_data_if_there_is_no_other)
{
    four_planes();
    u8 data = lone(0);
    mrc_evset_local_planes(&evs, 1u << data, now);
    EXPECT_EQ(asked(), data);
}

// What is out names no EV of a set that came later.
TEST_F(pto, after_a_change_of_path_set_too)
{
    four_planes();
    u8 data = lone(0);
    mrc_conn_set_path(&c, nullptr);
    mrc_conn_set_path(&c, &evs);
    u8 by = asked();
    EXPECT_LT(by, kPlanes);
    EXPECT_NE(by, data);
}

// mrcsim lone-messages, two planes of four dead: the one heard last may be one of them.
TEST_F(pto, every_other_one_by_planes_in_turn)
{
    std::set<u8> used;

    four_planes();
    u8 data = lone(0);
    if (data == 0)
        data = lone(1);
    for (int i = 0; i < 8; i++) {
        u8 by = asked();

        if (i % 2)
            used.insert(by);
        else
            EXPECT_EQ(by, evs.ack_by);
    }
    EXPECT_EQ(used.size(), 2u);
    EXPECT_FALSE(used.contains(data));
    EXPECT_FALSE(used.contains(evs.ack_by)) << "not the same again";
}

// mrcsim lone-messages, one of two planes dead: either may be, whichever was heard last.
TEST_F(pto, of_two_planes_both_are_asked)
{
    for (u8 by = 0; by < 2; by++) {
        make_planes(2);
        u8 first = static_cast<u8>(!lone(by)), last = asked();
        EXPECT_EQ(last, first) << "not by the data's";
        for (int i = 0; i < 4; i++) {
            u8 next = asked();
            EXPECT_NE(next, last);
            last = next;
        }
    }
}

// Paths that are in use may all be dead: more leave together, and every other one by any EV, bad ones too.
TEST_F(pto, in_silence_more_leave_together_by_all_evs)
{
    std::set<u16> used;
    std::vector<size_t> sizes;

    make_planes(1);
    lone(0);
    mrc_evset_sign(&evs, 2, MRC_SIGN_LOST, now);
    for (int i = 0; i < 100 && sizes.size() < 12; i++) {
        size_t n = 0;

        mrc_evset_earn(&evs, MRC_PROBE_COST * MRC_PROBE_BURST);
        fire();
        for (const mrc_txop &t : tx_ctrl(MRC_OPC_PROBE))
            if (t.hdr.u.probe.probe_id >= MRC_PROBE_ID_TAIL) {
                used.insert(t.ev_idx);
                n++;
            }
        if (n)
            sizes.push_back(n);
    }
    EXPECT_EQ(sizes, (std::vector<size_t>{1, 1, 1, 1, 2, 4, 4, 4, 4, 4, 4, 4}));
    EXPECT_EQ(used.size(), 4u) << "each EV in turn";
}

TEST_F(pto, who_answers_in_silence_is_usable)
{
    make_planes(1);
    lone(0);
    mrc_evset_sign(&evs, 2, MRC_SIGN_LOST, now);
    for (int i = 0; i < 100 && evs.ev[2].state > MRC_EV_SKIP; i++) {
        mrc_evset_earn(&evs, MRC_PROBE_COST * MRC_PROBE_BURST);
        fire();
        for (const mrc_txop &t : tx_ctrl(MRC_OPC_PROBE))
            if (t.hdr.u.probe.probe_id >= MRC_PROBE_ID_TAIL && t.ev_idx == 2)
                probe_answer(t.hdr.u.probe.probe_id, mrc_psn_add(c.snd.una, -1));
    }
    EXPECT_EQ(evs.ev[2].state, MRC_EV_GOOD);
}

// A peer that answers is not silent, though nothing new is there.
TEST_F(pto, one_at_a_time_while_the_peer_answers)
{
    make_planes(1);
    lone(0);
    for (int i = 0, n = 0; i < 200 && n < 10; i++) {
        mrc_evset_earn(&evs, MRC_PROBE_COST * MRC_PROBE_BURST);
        fire();
        std::vector<u16> ids;
        for (const mrc_txop &t : tx_ctrl(MRC_OPC_PROBE))
            if (t.hdr.u.probe.probe_id >= MRC_PROBE_ID_TAIL)
                ids.push_back(t.hdr.u.probe.probe_id);
        ASSERT_LE(ids.size(), 1u);
        for (u16 id : ids)
            probe_answer(id, mrc_psn_add(c.snd.una, -1));
        n += !ids.empty();
    }
}

// ---- what is resent ----

// With one plane there is no other: the path that was proven last.
TEST_F(pto, what_silence_took_twice_takes_the_path_that_was_proven)
{
    for (u16 idx = 0; idx < 4; idx++) {
        make_planes(1);
        lone(0);
        resent(MRC_CAUSE_RACK);
        mrc_evset_delivered(&evs, 0, idx, mrc_tick(now), now);
        mrc_snd_lose(&c, c.snd.una, MRC_CAUSE_RACK, now);
        evs.proven[0] = idx;
        u16 lost = c.snd.rec[c.snd.una & c.snd.mask].ev, by = tx_data().at(0).ev_idx;
        if (lost != idx) {
            EXPECT_EQ(by, idx);
        } else {
            EXPECT_NE(by, idx);
        }
    }
}

// mrcsim lone-messages-2-of-4: resent by one dead plane after the other.
TEST_F(pto, what_silence_took_twice_takes_the_plane_that_was_heard_last)
{
    for (u8 by = 0; by < kPlanes; by++) {
        for (mrc_cause cause : {MRC_CAUSE_RACK, MRC_CAUSE_RTO, MRC_CAUSE_TRIM}) {
            four_planes();
            u8 first = lone(by), second = resent(cause), third = resent(cause);
            EXPECT_NE(second, first);
            EXPECT_NE(third, second);
            if (cause != MRC_CAUSE_TRIM && second != by) {
                EXPECT_EQ(third, by);
            }
        }
    }
}

// A trim is no silence: the path lives, and turns go on.
TEST_F(pto, what_was_trimmed_twice_takes_planes_in_turn)
{
    u32 other = 0;

    for (u8 by = 0; by < kPlanes; by++) {
        four_planes();
        lone(by);
        u8 second = resent(MRC_CAUSE_TRIM), third = resent(MRC_CAUSE_TRIM);
        other += second != by && third != by;
    }
    EXPECT_GT(other, 0u);
}

// ---- who answers ----

// mrcsim lone-messages seed 12: seven SACKs in a row left by the dead plane, for 15 ms.
TEST_F(pto, the_answer_leaves_by_the_plane_of_the_question)
{
    four_planes();
    take(write_only(2000));
    answer();
    for (u32 i = 0; i < 40; i++) {
        u8 by = static_cast<u8>((i + i / kPlanes) % kPlanes), before = c.ctl.ack_plane;
        ask(by);
        auto [ack, sack] = answer();
        EXPECT_EQ(sack, by);
        if (before == by) {
            EXPECT_NE(ack, by) << "the latest may have been lost there";
        } else {
            EXPECT_EQ(ack, by);
        }
        now += kMs;
    }
}

// An EV is what is asked about, not the way back; or a plane by which acknowledgements are missed is named.
TEST_F(pto, the_answer_to_another_probe_takes_any)
{
    for (u16 id : {u16{3}, u16{MRC_PROBE_ID_NO_ACKS}}) {
        std::set<u8> used;

        four_planes();
        take(write_only(2000));
        answer();
        for (u32 i = 0; i < 40; i++) {
            probe(id, 0, 1);
            used.insert(answer().second);
            now += kMs;
        }
        EXPECT_EQ(used.size(), kPlanes) << id;
    }
}

// Nor is a SACK bound that nobody asked for.
TEST_F(pto, a_word_of_the_receiver_takes_any)
{
    std::set<u8> used;

    four_planes();
    take(write_only(2000));
    answer();
    for (u32 i = 0; i < 40; i++) {
        mrc_conn_set_penalty(&c, 0, false);
        mrc_conn_set_penalty(&c, 5, false);
        used.insert(answer().second);
        now += kMs;
    }
    EXPECT_EQ(used.size(), kPlanes);
}

TEST_F(pto, not_by_one_that_is_out_of_use_or_unknown)
{
    four_planes();
    take(write_only(2000));
    answer();
    mrc_evset_local_planes(&evs, 0xfu & ~(1u << 1), now);
    for (u8 by : {u8{1}, kPlanes, u8{MRC_PLANES_MAX}, u8{255}}) {
        ask(by);
        auto [ack, sack] = answer();
        EXPECT_TRUE(ack < kPlanes && ack != 1);
        EXPECT_TRUE(sack < kPlanes && sack != 1);
    }
}

// The peer asks by the plane that it heard last. That one would be hushed, and the answer leave by another.
TEST_F(pto, the_plane_of_the_question_is_not_missed)
{
    four_planes();
    take(write_only(2000));
    u8 by = answer().first;
    ask(by);
    EXPECT_EQ(evs.acks_missing, 0u);
    answer();
    u8 other = static_cast<u8>((c.ctl.ack_plane + 1) % kPlanes), last = c.ctl.ack_plane;
    ask(other);
    EXPECT_EQ(evs.acks_missing, 1u << last);
}

// mrcsim spines-24-of-32-dead: the question comes through again and again, and its answers leave by paths that are dead.
TEST_F(pto, answers_to_repeated_questions_leave_by_several_paths)
{
    make_planes(1);
    std::set<u16> used;
    auto sacks = [&] {
        std::vector<mrc_txop> v = tx_ctrl(MRC_OPC_SACK);
        for (const mrc_txop &t : v)
            used.insert(t.ev_idx);
        return v;
    };

    ask(0);
    EXPECT_EQ(sacks().size(), 1u) << "the first, before any data";
    take(write_only(2000));
    sacks();
    ask(0);
    EXPECT_EQ(sacks().size(), 1u) << "data came";
    for (u32 i = 0; i < 20; i++) {
        ask(0);
        std::vector<mrc_txop> v = sacks();
        ASSERT_EQ(v.size(), 4u);
        for (const mrc_txop &t : v) {
            EXPECT_TRUE(t.hdr.u.sack.pr);
            EXPECT_EQ(t.hdr.u.sack.probe_id, v[0].hdr.u.sack.probe_id);
            EXPECT_EQ(t.hdr.u.sack.ev, v[0].hdr.u.sack.ev);
            EXPECT_EQ(t.hdr.u.sack.tx_ts, v[0].hdr.u.sack.tx_ts);
            EXPECT_EQ(t.hdr.u.sack.cack, 2000u);
        }
        now += kMs;
    }
    EXPECT_EQ(used.size(), 4u);
    probe(3, 0, 0);
    ask(0);
    std::vector<mrc_txop> v = sacks();
    ASSERT_EQ(v.size(), 5u);
    EXPECT_EQ(v[0].hdr.u.sack.probe_id, 3);
    EXPECT_GE(v[1].hdr.u.sack.probe_id, MRC_PROBE_ID_TAIL) << "only these are repeated";
    take(write_only(2001));
    sacks();
    ask(0);
    EXPECT_EQ(sacks().size(), 1u) << "data came again";
    for (u32 i = 0; i < 8; i++) {
        probe(3, 0, 0);
        EXPECT_EQ(sacks().size(), 1u) << "an EV is asked about";
    }
}

// Beside many packets that wait, a burst of probes costs little: it leaves from the second time on, without credit. Before
// the first sample it is smaller, because the round trip may be long.
TEST_F(pto, more_leave_together_if_many_packets_wait)
{
    const std::vector<size_t> few(6, 1), first{1, 2, 4, 4, 4, 4}, many{1, 4, 8, 8, 8, 8};

    for (u32 packets : {32u, 64u, 128u}) {
        for (bool sampled : {false, true}) {
            std::vector<size_t> sizes;
            rig_cfg k = quiet();

            k.evs = 16;
            k.tx.timeout_ns = 0;
            make(k);
            if (sampled) {
                post(MRC_OP_WRITE, 1024);
                tx_all();
                after_a_round_trip(packets);
            } else {
                post(MRC_OP_WRITE, packets * 1024);
                tx_all();
            }
            if (packets == 128) {    // lost ones wait, too, here for room
                for (u32 i = 0; i < 100; i++)
                    mrc_snd_lose(&c, mrc_psn_add(c.snd.una, static_cast<s32>(i)), MRC_CAUSE_RACK, now);
                c.cc->cwnd_bytes = 1;
            }
            for (int i = 0; i < 40 && sizes.size() < 6; i++) {
                u32 had = sizes.size() < 4 ? 0 : 8 * MRC_PROBE_COST;    // too little for more at once
                fire();
                mrc_credit_has(&evs, 0, now);    // what time has earned
                evs.credit.units = had;
                size_t n = 0;
                for (const mrc_txop &t : tx_ctrl(MRC_OPC_PROBE))
                    n += t.hdr.u.probe.probe_id >= MRC_PROBE_ID_TAIL;
                if (n)
                    sizes.push_back(n);
                if (n && had) {
                    EXPECT_LE(had - evs.credit.units, MRC_PROBE_COST) << "EVs that are bad need the rest";
                }
            }
            EXPECT_EQ(sizes, packets < 64 ? few : sampled ? many : first) << packets;
        }
    }
}

// The peer is alive: it answers all probes, or every other one. More of them would not help.
TEST_F(pto, no_bursts_while_the_peer_answers)
{
    for (u32 packets : {8u, 64u}) {
        rig_cfg k = quiet();

        k.evs = 16;
        k.tx.timeout_ns = 0;
        make(k);
        post(MRC_OP_WRITE, 1024);
        tx_all();
        after_a_round_trip(packets);
        size_t asked_for = 0;
        for (int i = 0; i < 400 && asked_for < 6; i++) {
            size_t n = 0;
            u16 id = 0;

            mrc_evset_earn(&evs, MRC_PROBE_COST * MRC_PROBE_BURST);
            fire();
            for (const mrc_txop &t : tx_ctrl(MRC_OPC_PROBE))
                if (t.hdr.u.probe.probe_id >= MRC_PROBE_ID_TAIL) {
                    id = t.hdr.u.probe.probe_id;
                    n++;
                }
            if (!n)
                continue;
            EXPECT_EQ(n, 1u) << packets;
            if (packets == 64 || asked_for++ % 2)
                probe_answer(id, mrc_psn_add(c.snd.una, -1));
            asked_for += packets == 64;
        }
        EXPECT_EQ(asked_for, 6u);
        EXPECT_GT(c.pto.backoff, 2u);
    }
}

// All EVs in use may be dead: each of such a burst that takes any takes another.
TEST_F(pto, a_large_burst_asks_by_several_evs)
{
    rig_cfg k = quiet();
    std::set<u16> used;
    size_t bursts = 0;

    k.evs = 16;
    k.tx.timeout_ns = 0;
    make(k);
    post(MRC_OP_WRITE, 1024);
    tx_all();
    after_a_round_trip(64);
    for (u16 i = 1; i < 16; i++)
        mrc_evset_sign(&evs, i, MRC_SIGN_LOST, now);
    for (int i = 0; i < 400 && bursts < 8; i++) {
        std::set<u16> now_used;
        size_t n = 0;

        fire();
        for (const mrc_txop &t : tx_ctrl(MRC_OPC_PROBE))
            if (t.hdr.u.probe.probe_id >= MRC_PROBE_ID_TAIL) {
                now_used.insert(t.ev_idx);
                n++;
            }
        if (n == 8) {
            bursts++;
            EXPECT_GE(now_used.size(), 3u);
            used.merge(now_used);
        }
    }
    EXPECT_EQ(bursts, 8u);
    EXPECT_EQ(used.size(), 16u) << "none is passed over";
}

// Acknowledgements were lost until a tail probe brought one. How late that is says nothing about the path.
TEST_F(pto, what_only_a_question_brought_is_no_round_trip)
{
    for (bool by_ack : {true, false}) {
        make_planes(1);
        post(MRC_OP_WRITE, 20 * 1024);
        tx_data();
        u32 first = c.snd.una;
        for (int i = 0; i < 3; i++)
            asked();
        now += 5 * kMs;
        if (by_ack) {
            ack(first);
        } else {
            for (u32 i = 0; i < 4; i++)
                mrc_snd_lose(&c, mrc_psn_add(first, static_cast<s32>(i)), MRC_CAUSE_RACK, now);
            sack(mrc_psn_add(first, -1), 0xf);
        }
        EXPECT_EQ(c.rtt.srtt_ns, 0u);
        EXPECT_EQ(evs.plane[0].srtt_ns, 0u);
    }
}

} // namespace
