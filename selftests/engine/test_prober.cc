// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_prober.cc - all self-probes of a device: when each is sent, what planes may spend, when the host is no witness.
#include <map>
#include <memory>
#include <vector>

extern "C" {
#include "probe/mrc_prober.h"
#include "wire/mrc_wire.h"
}

#include <gtest/gtest.h>

namespace {

constexpr u64 ms = 1'000'000, s = 1'000 * ms;
constexpr u32 least = 128;

mrc_selfprobe_cfg test(u32 id, u8 plane = 0, u32 interval_us = 10'000)
{
    mrc_selfprobe_cfg c = {};

    c.id = id;
    c.plane = plane;
    c.interval_us = interval_us;
    c.dscp = MRC_SELFPROBE_CONTROL;
    return c;
}

struct prober : testing::Test {
    void SetUp() override
    {
        mrc_prober_init(&p, 1, least);
        plane(0);
        plane(1);
    }
    void TearDown() override { drop(&p.t); }

    void plane(u8 n, u32 mtu = 9000, u64 rate = 1'000'000) { mrc_prober_plane(&p, n, mtu, rate); }
    static void drop(mrc_prober_table *t)
    {
        for (u32 i = 0; i < t->n; i++)
            free(t->test[i]);
        free(t->test);
        free(t->heap);
    }
    mrc_prober_news set(const std::vector<mrc_selfprobe_cfg> &cfgs)
    {
        mrc_prober_table t = {};

        t.n = static_cast<u32>(cfgs.size());
        t.test = static_cast<mrc_selfprobe **>(calloc(t.n + 1, sizeof(*t.test)));
        t.heap = static_cast<mrc_selfprobe **>(calloc(t.n + 1, sizeof(*t.heap)));
        for (u32 i = 0; i < t.n; i++) {
            t.test[i] = static_cast<mrc_selfprobe *>(malloc(sizeof(**t.test)));
            mrc_selfprobe_init(t.test[i], &cfgs[i], 0x100 + i);
        }
        auto news = mrc_prober_replace(&p, &cfg, &t, now);
        drop(&t);
        mrc_prober_arm(&p, now);
        return news;
    }
    mrc_selfprobe *of(u32 id) { return mrc_prober_from(&p, id); }

    void answer(const mrc_prober_op &op, u8 plane)
    {
        mrc_selfprobe_arrival c = {};

        c.id = op.cfg.id;
        c.seq = op.seq;
        c.secret = op.secret;
        c.plane = plane;
        mrc_prober_rx(&p, &c, now);
    }
    // One run of the timer, @late ns after it was due; what it sends is answered at once unless @silent.
    mrc_prober_news tick(u64 late = 0, bool silent = false)
    {
        mrc_prober_op op;

        now = std::max(now, p.tick_ns + late);
        auto news = mrc_prober_tick(&p, now);
        while (mrc_prober_next(&p, now, &op)) {
            last = op;
            sent.push_back(op);
            at[op.cfg.id].push_back(now);
            if (!silent)
                answer(op, op.cfg.plane);
        }
        mrc_prober_arm(&p, now);
        return news;
    }
    // Until @end; nothing but the timer happens.
    void run(u64 end, bool silent = false)
    {
        while (p.tick_ns <= end)
            tick(0, silent);
        now = std::max(now, end);
    }

    mrc_prober p;
    mrc_prober_cfg cfg = {60 * s, 10 * ms, 5 * ms, 0};
    u64 now = 1'000 * s;
    mrc_prober_op last = {};
    std::vector<mrc_prober_op> sent;
    std::map<u32, std::vector<u64>> at;
};

TEST_F(prober, sends_at_the_interval_with_jitter_and_a_random_phase)
{
    set({test(1), test(2), test(3)});
    u64 begin = now;
    run(now + 10 * s);
    for (u32 id = 1; id <= 3; id++) {
        EXPECT_NEAR(static_cast<double>(of(id)->count.sent), 1000, 60);
        EXPECT_EQ(of(id)->count.received, of(id)->count.sent);
        u64 low = ~0ull, high = 0;
        for (size_t i = 1; i < at[id].size(); i++) {
            low = std::min(low, at[id][i] - at[id][i - 1]);
            high = std::max(high, at[id][i] - at[id][i - 1]);
        }
        EXPECT_GE(low, 9 * ms - MRC_PROBER_TICK_NS);
        EXPECT_LE(high, 11 * ms + MRC_PROBER_TICK_NS);
        EXPECT_GT(high - low, ms / 2) << "not all alike";
        EXPECT_LE(at[id][0], begin + 11 * ms);
    }
    EXPECT_NE(at[1][0], at[2][0]);
    EXPECT_EQ(p.count.stalls, 0u);
}

TEST_F(prober, silence_is_loss_by_the_timeout_not_by_the_next_probe)
{
    set({test(1, 0, 1'000'000)});
    while (sent.empty())
        tick(0, true);
    u64 left = now;
    EXPECT_EQ(of(1)->count.lost, 0u);
    tick(0, true);
    EXPECT_EQ(now, left + cfg.timeout_ns);
    EXPECT_EQ(of(1)->count.lost, 1u);
    EXPECT_EQ(of(1)->count.run, 1u);
}

TEST_F(prober, a_late_timer_voids_what_is_under_way_and_pauses)
{
    set({test(1), test(2, 1)});
    run(now + s);
    u64 received = of(1)->count.received;
    while (mrc_selfprobe_oldest_ns(of(1)) == MRC_TIME_NEVER)
        tick(0, true);
    tick(cfg.stall_ns, true);
    EXPECT_TRUE(p.paused);
    EXPECT_EQ(p.count.stalls, 1u);
    EXPECT_EQ(of(1)->count.lost, 0u);
    EXPECT_GE(of(1)->count.voided, 1u);
    EXPECT_EQ(of(1)->count.received, received);
    size_t before = sent.size();
    for (u32 i = 1; i < MRC_PROBER_CALM; i++) {
        tick();
        EXPECT_TRUE(p.paused) << i;
    }
    EXPECT_EQ(sent.size(), before) << "nothing is sent meanwhile";
    tick();
    EXPECT_FALSE(p.paused);
    run(now + s);
    EXPECT_GT(of(1)->count.received, received + 80);
    EXPECT_EQ(of(1)->count.lost + of(2)->count.lost, 0u);
}

TEST_F(prober, just_in_time_is_in_time)
{
    set({test(1)});
    for (u32 i = 0; i < 100; i++)
        tick(cfg.stall_ns - 1);
    EXPECT_EQ(p.count.stalls, 0u);
    EXPECT_EQ(p.count.lag_high_ns, cfg.stall_ns - 1);
    EXPECT_EQ(p.count.lag_hist[mrc_selfprobe_bucket(cfg.stall_ns - 1)], 100u);
}

TEST_F(prober, each_stall_makes_the_pause_begin_anew)
{
    set({test(1)});
    tick();
    tick(cfg.stall_ns);
    for (u32 i = 0; i < 50; i++)
        tick(i % MRC_PROBER_CALM ? 0 : cfg.stall_ns);
    EXPECT_TRUE(p.paused);
    EXPECT_EQ(p.count.stalls, 1u) << "it is one pause";
}

TEST_F(prober, a_long_pause_is_news_and_its_end_a_short_one_is_not)
{
    set({test(1)});
    tick(cfg.stall_ns);
    while (p.paused)
        EXPECT_EQ(tick(), MRC_PROBER_NOTHING);
    u64 begin = now;
    u32 starved = 0;
    while (now < begin + 3 * s)
        starved += tick(cfg.stall_ns) == MRC_PROBER_STARVED;
    EXPECT_EQ(starved, 1u) << "once";
    mrc_prober_news news = MRC_PROBER_NOTHING;
    while (p.paused)
        news = tick();
    EXPECT_EQ(news, MRC_PROBER_FED);
}

TEST_F(prober, the_hosts_own_probe_that_waits_voids_the_others)
{
    cfg.timeout_ns = 20 * ms;
    set({test(1, 0, 2'000), test(9, MRC_PLANE_NONE, 2'000)});
    run(now + s);
    ASSERT_FALSE(p.paused);
    u64 end = now + 15 * ms;	// nothing comes back, not even from our own stack
    while (now < end)
        tick(0, true);
    EXPECT_EQ(p.count.stalls, 1u);
    EXPECT_EQ(of(1)->count.lost, 0u);
    EXPECT_GE(of(1)->count.voided, 1u);
    sent.clear();
    run(now + 50 * ms, true);
    for (auto &op : sent)
        EXPECT_EQ(op.cfg.id, 9u) << "the host is probed in the pause, planes are not";
    EXPECT_TRUE(p.paused);
    run(now + s);
    EXPECT_FALSE(p.paused);
}

TEST_F(prober, the_hosts_own_probe_that_is_slow_voids_the_others)
{
    set({test(1), test(9, MRC_PLANE_NONE)});
    run(now + s);
    while (mrc_selfprobe_oldest_ns(of(9)) == MRC_TIME_NEVER)
        tick(0, true);
    auto op = last;
    for (auto &o : sent)
        if (o.cfg.id == 9)
            op = o;
    now = mrc_selfprobe_oldest_ns(of(9)) + cfg.stall_ns;
    p.tick_ns = now;	// the timer itself is in time
    answer(op, MRC_PLANE_NONE);
    tick();
    EXPECT_TRUE(p.paused);
    EXPECT_EQ(of(1)->count.lost, 0u);
}

TEST_F(prober, a_plane_spends_its_budget_and_no_more)
{
    plane(0, 9000, 20'000);
    plane(1, 9000, 1'000'000'000);
    set({test(1, 0, 1'000), test(2, 1, 1'000)});
    run(now + 10 * s);
    u64 bytes = of(1)->count.sent * (least + MRC_PROBER_FRAME);
    EXPECT_LE(bytes, 11 * 20'000u) << "ten seconds, and what it may spend at once";
    EXPECT_GE(bytes, 10 * 20'000u - 1'000u);
    EXPECT_GT(of(1)->count.over_budget, 8'000u);
    EXPECT_EQ(of(2)->count.over_budget, 0u) << "others have their own";
    EXPECT_GT(of(2)->count.sent, 9'000u);
}

TEST_F(prober, a_full_probe_can_be_paid_even_by_a_small_budget)
{
    cfg.full_every = 1;
    plane(0, 9000, 10);
    set({test(1)});
    run(now + s);
    EXPECT_EQ(of(1)->count.full_sent, 1u);
}

TEST_F(prober, one_in_so_many_is_full)
{
    cfg.full_every = 10;
    auto c = test(1), h = test(9, MRC_PLANE_NONE);
    c.size = 500;
    plane(0, 4200, 1'000'000'000);
    set({c, h});
    run(now + 10 * s);
    u64 full = 0;
    for (auto &op : sent) {
        EXPECT_TRUE(op.size == 4200 || op.size == (op.cfg.id == 9 ? least : 500u)) << op.size;
        full += op.size == 4200;
    }
    EXPECT_EQ(full, of(1)->count.sent / 10);
    EXPECT_EQ(of(1)->count.full_sent, full);
    EXPECT_EQ(of(9)->count.full_sent, 0u);
    plane(0, 300, 1'000'000'000);
    sent.clear();
    run(now + s);
    for (auto &op : sent)
        EXPECT_LE(op.size, 300u);
}

TEST_F(prober, without_a_plane_nothing_is_sent_or_lost)
{
    plane(0, 0);
    set({test(1)});
    run(now + s);
    EXPECT_EQ(of(1)->count.sent, 0u);
    EXPECT_GT(of(1)->count.unsent, 80u);
    plane(0);
    run(now + s);
    EXPECT_GT(of(1)->count.received, 80u);
}

TEST_F(prober, undone_is_unsent)
{
    mrc_prober_op op;

    set({test(1)});
    now += 20 * ms;
    ASSERT_TRUE(mrc_prober_next(&p, now, &op));
    mrc_prober_undo(&p, &op);
    EXPECT_EQ(of(1)->count.sent, 0u);
    EXPECT_EQ(of(1)->count.unsent, 1u);
    op.cfg.id = 5;
    mrc_prober_undo(&p, &op);	// gone meanwhile
}

TEST_F(prober, they_stop_when_nobody_renews_them)
{
    cfg.expiry_ns = 2 * s;
    set({test(1)});
    u64 begin = now;
    EXPECT_EQ(mrc_prober_left_ns(&p, now), 2 * s);
    u32 expired = 0;
    while (p.tick_ns != MRC_TIME_NEVER)
        expired += tick() == MRC_PROBER_EXPIRED;
    EXPECT_EQ(expired, 1u);
    EXPECT_NEAR(static_cast<double>(now - begin), 2e9, 2e7);
    EXPECT_NEAR(static_cast<double>(of(1)->count.sent), 200, 20);
    EXPECT_EQ(mrc_prober_left_ns(&p, now), 0u);
    now += 100 * s;
    u64 sent_so_far = of(1)->count.sent;
    EXPECT_EQ(set({test(1)}), MRC_PROBER_RENEWED);
    EXPECT_EQ(of(1)->count.sent, sent_so_far) << "its counters are kept";
    run(now + s);
    EXPECT_NEAR(static_cast<double>(of(1)->count.sent - sent_so_far), 100, 12);
}

TEST_F(prober, renewed_in_time_they_go_on)
{
    cfg.expiry_ns = 2 * s;
    set({test(1)});
    for (u32 i = 0; i < 10; i++) {
        run(now + s);
        EXPECT_EQ(set({test(1)}), MRC_PROBER_NOTHING);
    }
    EXPECT_NEAR(static_cast<double>(of(1)->count.sent), 1000, 60);
}

TEST_F(prober, those_that_are_as_they_were_go_on_others_begin_or_end)
{
    set({test(1), test(3), test(5)});
    run(now + s);
    while (mrc_selfprobe_oldest_ns(of(3)) == MRC_TIME_NEVER)
        tick(0, true);
    auto op = last;
    u64 sent1 = of(1)->count.sent, secret3 = of(3)->secret;
    set({test(1), test(2), test(3), test(5, 1)});
    EXPECT_EQ(p.t.n, 4u);
    EXPECT_EQ(of(1)->count.sent, sent1);
    EXPECT_EQ(of(2)->count.sent, 0u);
    EXPECT_EQ(of(3)->secret, secret3);
    EXPECT_EQ(of(5)->count.sent, 0u) << "by another plane it is another test";
    if (op.cfg.id == 3) {
        u64 received = of(3)->count.received;
        answer(op, 0);
        EXPECT_EQ(of(3)->count.received, received + 1) << "what was under way comes back";
    }
    set({test(2)});
    EXPECT_EQ(p.t.n, 1u);
    set({});
    EXPECT_EQ(p.t.n, 0u);
    EXPECT_EQ(mrc_prober_arm(&p, now), MRC_TIME_NEVER);
    answer(op, 0);
    EXPECT_EQ(p.count.forged, 1u) << "of a test that is no more";
}

TEST_F(prober, a_thousand_tests_in_order_of_time)
{
    std::vector<mrc_selfprobe_cfg> all;
    for (u32 i = 0; i < MRC_PROBER_TESTS; i++)
        all.push_back(test(3 * i, i % 2, 100'000 + 777 * i));
    plane(0, 9000, 1'000'000'000);
    plane(1, 9000, 1'000'000'000);
    set(all);
    run(now + 20 * s);
    for (u32 i = 0; i < MRC_PROBER_TESTS; i++) {
        double want = 20e6 / all[i].interval_us;
        EXPECT_NEAR(static_cast<double>(of(3 * i)->count.sent), want, want / 10 + 2);
        EXPECT_EQ(of(3 * i)->count.received, of(3 * i)->count.sent);
    }
    for (u32 i = 1; i < p.t.n; i++)
        ASSERT_LE(p.t.heap[(i - 1) / 2]->key_ns, p.t.heap[i]->key_ns);
}

TEST_F(prober, the_timer_runs_no_more_often_than_each_millisecond)
{
    std::vector<mrc_selfprobe_cfg> all;
    for (u32 i = 0; i < 30; i++)
        all.push_back(test(i, 0, 1'000));
    set(all);
    u64 end = now + s, runs = 0;
    for (; now < end; runs++)
        tick();
    EXPECT_LE(runs, 1001u);
}

TEST_F(prober, a_run_that_took_long_is_followed_by_a_rest)
{
    set({test(1, 0, 1'000)});
    now = p.tick_ns;
    mrc_prober_tick(&p, now);
    now += 3 * ms;
    EXPECT_EQ(mrc_prober_arm(&p, now), now + MRC_PROBER_REST * 3 * ms);
    now += ms;
    EXPECT_EQ(mrc_prober_arm(&p, now), now + MRC_PROBER_TICK_NS) << "tests that are set run nothing";
}

TEST_F(prober, what_fits_no_test_is_counted)
{
    mrc_selfprobe_arrival c = {};

    set({test(1)});
    c.id = 77;
    EXPECT_EQ(mrc_prober_rx(&p, &c, now), MRC_SELFPROBE_FORGED);
    c.id = 1;
    c.secret = 1;
    EXPECT_EQ(mrc_prober_rx(&p, &c, now), MRC_SELFPROBE_FORGED);
    EXPECT_EQ(p.count.forged, 2u);
}

} // namespace
