// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_cc.cc - the list of controllers, the fixed window, sharing one window, and
// that a third controller needs nothing but its own table of functions.
#include "cc_rig.h"

#include <gtest/gtest.h>

using cc_rig::config;
using cc_rig::rig;

namespace {

constexpr u32 pkt = 4160;

mrc_cc_cfg window(u32 bytes)
{
    mrc_cc_cfg c{};

    c.mtu = pkt;
    c.window_bytes = bytes;
    c.trimming = true;
    return c;
}

TEST(cc, found_by_the_name_of_the_profile)
{
    EXPECT_EQ(mrc_cc_find(nullptr), &mrc_cc_fixed);
    EXPECT_EQ(mrc_cc_find("fixed"), &mrc_cc_fixed);
    EXPECT_EQ(mrc_cc_find("uet-1.0-nscc"), &mrc_nscc);
    EXPECT_EQ(mrc_cc_find("uet-1.0-nsc"), nullptr);
    EXPECT_EQ(mrc_cc_find("uet-1.0-nscc "), nullptr);
    EXPECT_EQ(mrc_cc_find(""), nullptr);
}

TEST(cc, every_controller_has_all_functions)
{
    for (const char* name : {"fixed", "uet-1.0-nscc"}) {
        const mrc_cc_ops* o = mrc_cc_find(name);

        ASSERT_NE(o, nullptr);
        EXPECT_STREQ(o->name, name);
        EXPECT_GE(o->size, sizeof(mrc_cc));
        EXPECT_LE(o->size, 288u);
        EXPECT_TRUE(o->init && o->set_cfg && o->on_ack && o->on_nack && o->on_loss &&
                    o->on_timeout && o->on_spurious);
    }
}

TEST(cc, fixed_never_changes_its_mind)
{
    mrc_fixed_state f;
    mrc_cc& cc = f.cc;
    mrc_cc_cfg cfg = window(100000);
    mrc_cc_sample s{};

    mrc_cc_init(&cc, &mrc_cc_fixed, &cfg, 0);
    s.acked_bytes = s.lost_bytes = ~0u;
    s.ecn = s.trimmed = true;
    cc.ops->on_ack(&cc, &s);
    cc.ops->on_nack(&cc, &s);
    cc.ops->on_loss(&cc, &s);
    cc.ops->on_timeout(&cc, &s);
    cc.ops->on_spurious(&cc, &s);
    EXPECT_EQ(cc.cwnd_bytes, 100000u);
    cfg.window_bytes = 1;
    cc.ops->set_cfg(&cc, &cfg, 0);
    EXPECT_EQ(cc.cwnd_bytes, pkt) << "a packet at least";
    cfg.window_bytes = ~0u;
    cc.ops->set_cfg(&cc, &cfg, 0);
    EXPECT_EQ(cc.cwnd_bytes, u32{MRC_CC_WND_MAX});
}

// A fixed window of @pkts packets whose resends are trimmed, as many as it likes.
struct storm : testing::Test {
    void init(u32 pkts)
    {
        mrc_cc_cfg c = window(pkts * pkt);

        mrc_cc_init(&f.cc, &mrc_cc_fixed, &c, 0);
        s.trimmed = s.trimmed_again = true;
    }
    u32 trimmed(u32 pkts)
    {
        s.lost_bytes = pkt;
        for (u32 i = 0; i < pkts; i++)
            f.cc.ops->on_nack(&f.cc, &s);
        return f.cc.cwnd_bytes;
    }
    u32 arrived(u32 pkts)
    {
        mrc_cc_sample a{};

        a.acked_bytes = pkts * pkt;
        f.cc.ops->on_ack(&f.cc, &a);
        return f.cc.cwnd_bytes;
    }

    mrc_fixed_state f;
    mrc_cc_sample s{};
};

// Section 5.3, as for NSCC: what is in flight at most, less its part of what arrived.
TEST_F(storm, the_receiver_asks_for_less)
{
    mrc_cc_sample a{};

    init(64);
    a.rcv_cwnd_pen = 64;
    a.acked_bytes = 4 * pkt;
    a.inflight_bytes = 40 * pkt;
    f.cc.ops->on_ack(&f.cc, &a);
    EXPECT_EQ(f.cc.cwnd_bytes, 41 * pkt - 1 - 2 * pkt);
    a.rcv_cwnd_pen = 1;
    a.inflight_bytes = 100 * pkt;
    f.cc.ops->on_ack(&f.cc, &a);
    EXPECT_EQ(f.cc.cwnd_bytes, 39 * pkt - 1 - 4 * pkt / 128) << "and does not grow";
    a.rcv_cwnd_pen = 127;
    a.acked_bytes = ~0u;
    f.cc.ops->on_ack(&f.cc, &a);
    EXPECT_EQ(f.cc.cwnd_bytes, pkt) << "a packet at least";
    EXPECT_EQ(arrived(4), 2 * pkt) << "no penalty: a quarter of what arrives";
    a = {};
    a.restore_cwnd = true;
    f.cc.ops->on_ack(&f.cc, &a);
    EXPECT_EQ(f.cc.cwnd_bytes, 64 * pkt);
}

TEST_F(storm, which_is_enough_for_a_trim)
{
    mrc_cc_sample a{};

    init(64);
    EXPECT_EQ(trimmed(1), 32 * pkt);
    a.rcv_cwnd_pen = 1;
    a.acked_bytes = 64 * pkt;
    a.inflight_bytes = 64 * pkt;
    f.cc.ops->on_ack(&f.cc, &a);
    EXPECT_EQ(trimmed(1), 32 * pkt - 64 * pkt / 128);
    a = {};
    a.acked_bytes = 64 * pkt;
    f.cc.ops->on_ack(&f.cc, &a);
    u32 was = f.cc.cwnd_bytes;
    EXPECT_EQ(trimmed(1), was / 2) << "without a penalty it is not";
}

// Where nothing trims, the receiver knows of no incast.
TEST_F(storm, and_is_not_heard_where_nothing_trims)
{
    mrc_cc_cfg c = window(64 * pkt);
    mrc_cc_sample a{};

    c.trimming = false;
    mrc_cc_init(&f.cc, &mrc_cc_fixed, &c, 0);
    u32 was = f.cc.cwnd_bytes;
    a.rcv_cwnd_pen = 127;
    a.acked_bytes = 4 * pkt;
    f.cc.ops->on_ack(&f.cc, &a);
    EXPECT_EQ(f.cc.cwnd_bytes, was);
}

TEST_F(storm, halves_the_window_once_a_round_trip)
{
    init(64);
    EXPECT_EQ(trimmed(1), 32 * pkt);
    EXPECT_EQ(trimmed(63), 32 * pkt) << "of the same round trip";
    EXPECT_EQ(trimmed(1), 16 * pkt);
    EXPECT_EQ(trimmed(31), 16 * pkt);
    EXPECT_EQ(trimmed(1), 8 * pkt);
    EXPECT_EQ(trimmed(1000), pkt) << "a packet at least";
}

TEST_F(storm, what_arrives_is_of_a_round_trip_as_well)
{
    init(64);
    trimmed(1);
    EXPECT_EQ(arrived(60), 32 * pkt + 60 * pkt / 4);
    EXPECT_EQ(trimmed(3), 32 * pkt + 60 * pkt / 4);
    EXPECT_EQ(trimmed(1), (32 * pkt + 60 * pkt / 4) / 2);
}

TEST_F(storm, passes_and_the_window_is_what_it_was)
{
    init(64);
    trimmed(1000);
    for (u32 was = pkt, is; was < 64 * pkt; was = is) {
        is = arrived(was / pkt);
        ASSERT_GT(is, was);
        ASSERT_LE(is, was + was / 4);
    }
    EXPECT_EQ(arrived(1), 64 * pkt);
    EXPECT_EQ(arrived(~0u / pkt), 64 * pkt) << "and no more";
    EXPECT_EQ(trimmed(1), 32 * pkt) << "what was spared is forgotten";
}

TEST_F(storm, ends_with_another_window)
{
    mrc_cc_cfg c = window(10 * pkt);

    init(64);
    trimmed(1000);
    f.cc.ops->set_cfg(&f.cc, &c, 0);
    EXPECT_EQ(f.cc.cwnd_bytes, 10 * pkt);
    EXPECT_EQ(trimmed(1), 5 * pkt);
}

TEST(cc, packet_size_defaults_and_is_limited)
{
    mrc_fixed_state f;
    mrc_cc& cc = f.cc;
    mrc_cc_cfg cfg{};

    mrc_cc_init(&cc, &mrc_cc_fixed, &cfg, 0);
    EXPECT_EQ(cc.mtu, pkt);
    cfg.mtu = ~0u;
    mrc_cc_init(&cc, &mrc_cc_fixed, &cfg, 0);
    EXPECT_EQ(cc.mtu, u32{MRC_CC_MTU_MAX});
}

// ---- sharing ----

struct sharing : testing::Test {
    void SetUp() override { init(10 * pkt); }
    void init(u32 bytes)
    {
        mrc_cc_cfg c = window(bytes);

        mrc_cc_init(&cc, &mrc_cc_fixed, &c, 0);
        own.assign(own.size(), 0);
    }
    bool send(size_t i)
    {
        if (!mrc_cc_room(&cc, own[i], pkt))
            return false;
        mrc_cc_account(&cc, own[i], s32{pkt});
        own[i] += pkt;
        return true;
    }
    void answer(size_t i, u32 bytes)
    {
        mrc_cc_account(&cc, own[i], -s32(bytes));
        own[i] -= bytes;
    }
    u32 rnd(u32 n)
    {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        return u32(state >> 33) % n;
    }
    void check()
    {
        u64 sum = 0;
        u32 n = 0;

        for (u32 o : own) {
            sum += o;
            n += o != 0;
        }
        ASSERT_EQ(cc.inflight_bytes, sum);
        ASSERT_EQ(cc.n_active, n);
    }

    mrc_fixed_state fixed;
    mrc_cc& cc = fixed.cc;
    std::vector<u32> own = std::vector<u32>(8);
    u64 state = 7;
};

TEST_F(sharing, alone_it_has_the_whole_window_and_no_more)
{
    for (int i = 0; i < 10; i++)
        EXPECT_TRUE(send(0));
    EXPECT_FALSE(send(0));
    answer(0, pkt);
    EXPECT_TRUE(send(0));
    EXPECT_FALSE(send(0));
}

TEST_F(sharing, window_below_a_packet_still_sends_one)
{
    cc.cwnd_bytes = 1;
    EXPECT_TRUE(send(0));
    EXPECT_FALSE(send(0));
    EXPECT_TRUE(send(1)) << "nobody waits for another one's answers";
    EXPECT_FALSE(send(1));
    answer(0, pkt);
    EXPECT_TRUE(send(0));
}

TEST_F(sharing, late_comer_gets_half_and_the_first_gives_way)
{
    while (send(0))
        ;
    EXPECT_EQ(own[0], 10 * pkt);
    while (send(1))
        ;
    EXPECT_EQ(own[1], 5 * pkt) << "its even share, although there is no room";
    for (int i = 0; i < 5; i++) {
        answer(0, pkt);
        EXPECT_FALSE(send(0)) << "until the sum fits";
    }
    answer(0, pkt);
    EXPECT_TRUE(send(0));
    check();
}

// Whatever order of sends and answers: the counts are right, who may not send
// has packets in flight, the sum stays below what the header promises.
TEST_F(sharing, property_random_connections)
{
    for (u32 round = 0; round < 200; round++) {
        double limit = 0;
        size_t n = 1 + rnd(40);

        own.resize(n);
        init(pkt * (1 + rnd(64)) + rnd(pkt));
        for (size_t i = 1; i <= n; i++)
            limit += double(cc.cwnd_bytes) / double(i);
        limit += double(n) * pkt;
        for (u32 step = 0; step < 500; step++) {
            size_t i = rnd(u32(n));

            if (rnd(3)) {
                bool sent = send(i);

                ASSERT_TRUE(sent || own[i]) << "starved";
            } else if (own[i]) {
                answer(i, pkt * (1 + rnd(own[i] / pkt)));
            }
            ASSERT_LE(cc.inflight_bytes, limit);
            check();
        }
    }
}

// All have much to send and are answered one packet at a time, oldest first.
TEST_F(sharing, property_shares_become_even)
{
    for (u32 n : {2u, 3u, 7u, 20u}) {
        std::deque<size_t> line;
        std::vector<u64> served(n);

        own.resize(n);
        init(100 * pkt);
        for (size_t i = 0; i < n; i++) // one after the other: the first takes it all
            while (send(i))
                line.push_back(i);
        for (u32 step = 0; step < 20000; step++) {
            size_t i = line.front();

            line.pop_front();
            answer(i, pkt);
            served[i] += step >= 2000;
            while (send(i))
                line.push_back(i);
        }
        for (size_t i = 0; i < n; i++) {
            EXPECT_NEAR(double(served[i]), 18000.0 / n, 18000.0 / n * 0.15) << i << " of " << n;
            EXPECT_NEAR(double(own[i]), 100.0 * pkt / n, 2.0 * pkt);
        }
        EXPECT_LE(cc.inflight_bytes, cc.cwnd_bytes);
    }
}

TEST_F(sharing, through_a_port_nobody_starves)
{
    config c;
    mrc_cc_cfg w = window(60 * pkt);

    c.ops = &mrc_cc_fixed;
    c.cc = w;
    c.conns_per_cc = 6;
    rig r(c, 6);
    for (u32 i = 0; i < 6; i++)
        r.offer(i, 1u << 20, i * 50000);
    r.run(2000000);
    u64 least = ~0ull, most = 0;
    std::vector<u64> before;
    for (auto& f : r.flows)
        before.push_back(f.delivered);
    r.run(10000000);
    for (size_t i = 0; i < 6; i++) {
        u64 got = r.flows[i].delivered - before[i];

        least = std::min(least, got);
        most = std::max(most, got);
    }
    EXPECT_GT(double(least), 0.8 * double(most));
}

// ---- a third controller: all it takes ----

struct aimd {
    mrc_cc cc;
    u32 floor_hits;
};

void aimd_set(mrc_cc* cc, const mrc_cc_cfg* cfg, u64)
{
    cc->cwnd_bytes = std::max(cfg->window_bytes, cc->mtu);
}

void aimd_ack(mrc_cc* cc, const mrc_cc_sample* s)
{
    u64 add = u64{cc->mtu} * s->acked_bytes / cc->cwnd_bytes;

    if (s->ecn)
        cc->cwnd_bytes -= std::min(cc->cwnd_bytes - cc->mtu, s->acked_bytes / 2);
    else
        cc->cwnd_bytes = u32(std::min<u64>(cc->cwnd_bytes + add, MRC_CC_WND_MAX));
}

void aimd_none(mrc_cc*, const mrc_cc_sample*) {}

void aimd_lost(mrc_cc* cc, const mrc_cc_sample*)
{
    aimd* a = reinterpret_cast<aimd*>(cc);

    cc->cwnd_bytes = std::max(cc->cwnd_bytes / 2, cc->mtu);
    a->floor_hits += cc->cwnd_bytes == cc->mtu;
}

const mrc_cc_ops aimd_ops = {"aimd", sizeof(aimd), aimd_set, aimd_set, aimd_ack,
                             aimd_lost, aimd_lost, aimd_lost, aimd_none};

TEST(cc, a_third_controller_is_one_table)
{
    config c;

    c.ops = &aimd_ops;
    c.cc = window(4 * pkt);
    rig r(c, 3);
    for (u32 i = 0; i < 3; i++)
        r.offer(i, 1u << 20);
    r.run(2000000);
    u64 start = r.delivered();
    r.run(4000000);
    // 2 ms of 100 Gb/s are 6,009 packets.
    EXPECT_GT(r.delivered() - start, 5700u);
    EXPECT_STREQ(r.flows[0].cc->ops->name, "aimd");
}

} // namespace
