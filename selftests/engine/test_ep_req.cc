// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_ep_req.cc - questions to a peer: each answered once, so many at a time.
#include <cstring>
#include <set>

extern "C" {
#include "peer/mrc_ep_req.h"
}

#include <gtest/gtest.h>

namespace {

struct ask : testing::Test {
    void SetUp() override { mrc_ep_req_init(&a, 0); }

    int probe(u64 cookie)
    {
        mrc_ep_req q = {MRC_EP_EV_PROBE, 0, cookie};

        return mrc_ep_req_probe(&a, &q, now, &id);
    }
    bool answer(u32 psn, u8 op = MRC_EP_EV_PROBE)
    {
        mrc_pkt r = {};

        r.opcode = MRC_OPC_EP_RSP;
        r.psn = psn;
        r.plane = 3;
        r.u.ep.op = op;
        return mrc_ep_req_rx(&a, &r, now);
    }

    mrc_ep_req_table a;
    mrc_ep_rsp got = {};
    u16 id = 0;
    u64 now = 5'000'000'000;
};

TEST_F(ask, nothing_at_first)
{
    EXPECT_FALSE(answer(0));
    EXPECT_FALSE(answer(MRC_EP_REQ_PROBE));
    EXPECT_FALSE(mrc_ep_req_take(&a, &got));
    EXPECT_EQ(mrc_ep_req_waiting(&a), 0);
}

TEST_F(ask, an_answer_says_whose_question_it_was_and_how_long_it_took)
{
    ASSERT_EQ(probe(0xc00c1e), 0);
    EXPECT_EQ(mrc_ep_req_waiting(&a), 1);
    now += 41'500;
    ASSERT_TRUE(answer(id));
    ASSERT_TRUE(mrc_ep_req_take(&a, &got));
    EXPECT_EQ(got.cookie, 0xc00c1eu);
    EXPECT_EQ(got.rtt_ns, 41'500u);
    EXPECT_EQ(got.op, MRC_EP_EV_PROBE);
    EXPECT_EQ(got.plane, 3);
    EXPECT_FALSE(mrc_ep_req_take(&a, &got)) << "once";
    EXPECT_EQ(mrc_ep_req_waiting(&a), 0);
}

TEST_F(ask, each_is_answered_once)
{
    ASSERT_EQ(probe(1), 0);
    EXPECT_TRUE(answer(id));
    EXPECT_FALSE(answer(id)) << "a copy";
}

TEST_F(ask, the_id_of_another_question_in_the_same_place_is_none)
{
    ASSERT_EQ(probe(1), 0);
    EXPECT_FALSE(answer(id + MRC_EP_REQ_MAX));
    EXPECT_FALSE(answer(id ^ MRC_EP_REQ_PROBE));
    EXPECT_FALSE(mrc_ep_req_take(&a, &got));
    EXPECT_TRUE(answer(id)) << "still waiting";
}

TEST_F(ask, an_answer_of_another_kind_is_none)
{
    ASSERT_EQ(probe(1), 0);
    EXPECT_FALSE(answer(id, MRC_EP_PORT_STATUS));
    EXPECT_TRUE(answer(id));
}

TEST_F(ask, only_sixteen_bits_of_a_psn_count)
{
    ASSERT_EQ(probe(1), 0);
    EXPECT_TRUE(answer(0xab0000u | id));
}

TEST_F(ask, ids_differ_and_are_told_apart_from_announcements)
{
    std::set<u16> ids;

    for (u32 i = 0; i < MRC_EP_REQ_MAX; i++) {
        ASSERT_EQ(probe(i), 0);
        EXPECT_TRUE(id & MRC_EP_REQ_PROBE);
        EXPECT_TRUE(ids.insert(id).second);
    }
}

TEST_F(ask, so_many_at_a_time)
{
    for (u32 i = 0; i < MRC_EP_REQ_MAX; i++)
        ASSERT_EQ(probe(i), 0);
    u16 last = id;
    EXPECT_EQ(probe(99), -EBUSY);
    EXPECT_EQ(mrc_ep_req_waiting(&a), MRC_EP_REQ_MAX);
    ASSERT_TRUE(answer(last));
    EXPECT_EQ(probe(99), 0) << "an answer makes room, whichever it is";
    EXPECT_NE(id, last);
    EXPECT_EQ(probe(100), -EBUSY);
}

TEST_F(ask, one_that_waits_does_not_stop_those_behind_it)
{
    ASSERT_EQ(probe(1), 0);
    u16 lost = id;
    for (u32 i = 0; i < 3 * MRC_EP_REQ_MAX; i++) {
        ASSERT_EQ(probe(i), 0) << i;
        ASSERT_TRUE(answer(id));
    }
    ASSERT_TRUE(answer(lost));
    ASSERT_TRUE(mrc_ep_req_take(&a, &got));
    EXPECT_EQ(got.cookie, 1u);
}

TEST_F(ask, the_oldest_makes_room_when_it_is_old)
{
    u16 first = 0, second = 0;

    for (u32 i = 0; i < MRC_EP_REQ_MAX; i++) {
        ASSERT_EQ(probe(i), 0);
        (i == 0 ? first : i == 1 ? second : id) = id;
        now++;
    }
    now += MRC_EP_REQ_OLD_NS - MRC_EP_REQ_MAX - 1;
    EXPECT_EQ(probe(99), -EBUSY) << "not old yet";
    now++;
    ASSERT_EQ(probe(99), 0);
    EXPECT_EQ(mrc_ep_req_waiting(&a), MRC_EP_REQ_MAX);
    EXPECT_EQ(probe(100), -EBUSY) << "the second is a nanosecond younger";
    EXPECT_FALSE(answer(first)) << "answered to nobody any more";
    EXPECT_TRUE(answer(second));
}

TEST_F(ask, an_old_one_is_answered_while_there_is_room)
{
    ASSERT_EQ(probe(1), 0);
    u16 old = id;
    ASSERT_EQ(probe(2), 0);
    now += 40 * MRC_EP_REQ_OLD_NS;
    ASSERT_TRUE(answer(old));
    ASSERT_TRUE(mrc_ep_req_take(&a, &got));
    EXPECT_EQ(got.rtt_ns, 40 * MRC_EP_REQ_OLD_NS);
}

TEST_F(ask, what_was_not_sent_waits_for_nothing)
{
    ASSERT_EQ(probe(1), 0);
    u16 kept = id;
    ASSERT_EQ(probe(2), 0);
    mrc_ep_req_undo(&a, id);
    EXPECT_EQ(mrc_ep_req_waiting(&a), 1);
    EXPECT_FALSE(answer(id));
    mrc_ep_req_undo(&a, id);
    mrc_ep_req_undo(&a, static_cast<u16>(kept + MRC_EP_REQ_MAX));
    EXPECT_EQ(mrc_ep_req_waiting(&a), 1) << "twice is once, and never another's";
    EXPECT_TRUE(answer(kept));
}

TEST_F(ask, ids_of_probes_wrap)
{
    mrc_ep_req_init(&a, 0xffffffff);
    ASSERT_EQ(probe(7), 0);
    EXPECT_EQ(id, MRC_EP_REQ_PROBE);
    ASSERT_TRUE(answer(id));
    for (u32 i = 0; i < 70000; i++) {
        ASSERT_EQ(probe(i), 0);
        ASSERT_TRUE(id & MRC_EP_REQ_PROBE);
        ASSERT_TRUE(answer(id));
    }
}

TEST_F(ask, a_row_that_others_count_in)
{
    mrc_ep_req q = {MRC_EP_PORT_STATUS, 3, 11};

    id = 0xffff;
    ASSERT_EQ(mrc_ep_req_next(&a, &q, now, &id), 0);
    EXPECT_EQ(id, 0);
    ASSERT_EQ(probe(12), 0);
    EXPECT_TRUE(answer(0, MRC_EP_PORT_STATUS));
    EXPECT_FALSE(answer(0, MRC_EP_PORT_STATUS));
}

TEST_F(ask, the_place_of_a_probe_is_passed_over)
{
    mrc_ep_req q = {MRC_EP_PORT_STATUS, 3, 11};

    ASSERT_EQ(probe(12), 0);
    id = static_cast<u16>((id & ~MRC_EP_REQ_PROBE) - 1u);
    u16 behind = id;
    ASSERT_EQ(mrc_ep_req_next(&a, &q, now, &id), 0);
    EXPECT_EQ(id, static_cast<u16>(behind + 2));
    for (u32 i = 2; i < MRC_EP_REQ_MAX; i++)
        ASSERT_EQ(probe(i), 0);
    u16 same = id;
    EXPECT_EQ(mrc_ep_req_next(&a, &q, now, &id), -EBUSY);
    EXPECT_EQ(id, same);
}

TEST_F(ask, size)
{
    EXPECT_LE(sizeof(mrc_ep_req_table), 64u * 24 + 64);
}

} // namespace
