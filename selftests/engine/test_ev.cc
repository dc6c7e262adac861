// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_ev.cc - EV states, the floor, probes, and the rotation over planes.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <vector>

extern "C" {
#include "mrc_ev.h"
}

#include <gtest/gtest.h>

namespace {

class ev : public testing::Test {
protected:
    void make(u16 n, u8 planes, u16 min_active = 1, u8 readmit = 0)
    {
        mrc_evset_cfg cfg = {};
        std::vector<u32> values;
        std::vector<u8> on;

        for (u16 i = 0; i < n; i++) {
            values.push_back(1000u + i);
            on.push_back(static_cast<u8>(i % planes));
        }
        cfg.n = n;
        cfg.n_planes = planes;
        cfg.min_active = min_active;
        cfg.readmit = readmit;
        cfg.planes_up = (1u << planes) - 1;
        cfg.probe_ns = 100;
        cfg.probe_max_ns = 1000;
        mem.assign(mrc_evset_mem_size(n) / 8 + 1, 0);
        order.assign(n, 0);
        ASSERT_EQ(mrc_evset_init(&s, mem.data(), &cfg, values.data(), on.data()), 0);
        mrc_rot_init(&r, order.data(), n, 42);
    }
    void TearDown() override
    {
        if (!mem.empty()) {
            EXPECT_EQ(mrc_evset_check(&s), 0);
        }
    }
    u16 pick(u16 avoid = MRC_NONE16) { return mrc_rot_pick(&r, &s, avoid); }
    void sign(u16 i, mrc_ev_sign what) { mrc_evset_sign(&s, i, what, now); }
    u8 state(u16 i) { return s.ev[i].state; }
    // All probes due now.
    std::vector<u16> probes()
    {
        std::vector<u16> v;
        u16 i;

        while (mrc_evset_probe_next(&s, now, &i))
            v.push_back(i);
        return v;
    }

    mrc_evset s = {};
    mrc_rot r = {};
    std::vector<u64> mem;
    std::vector<u16> order;
    u64 now = 1000;
};

TEST_F(ev, init_refuses_what_is_out_of_range)
{
    mrc_evset_cfg cfg = {};
    u32 value = 1;
    u8 plane = 0, bad = 2;
    u64 space[64];

    cfg.n = 1;
    cfg.n_planes = 2;
    EXPECT_EQ(mrc_evset_init(&s, space, &cfg, &value, &plane), 0);
    EXPECT_EQ(mrc_evset_init(&s, space, &cfg, &value, &bad), -EINVAL);
    cfg.n_planes = 0;
    EXPECT_EQ(mrc_evset_init(&s, space, &cfg, &value, &plane), -EINVAL);
    cfg.n_planes = 33;
    EXPECT_EQ(mrc_evset_init(&s, space, &cfg, &value, &plane), -EINVAL);
    cfg.n_planes = 1;
    cfg.n = 0;
    EXPECT_EQ(mrc_evset_init(&s, space, &cfg, &value, &plane), -EINVAL);
    cfg.n = MRC_EVS_MAX + 1;
    EXPECT_EQ(mrc_evset_init(&s, space, &cfg, &value, &plane), -EINVAL);
}

TEST_F(ev, find)
{
    make(64, 4);
    for (u16 i = 0; i < 64; i++)
        EXPECT_EQ(mrc_evset_find(&s, 1000u + i), i);
    EXPECT_EQ(mrc_evset_find(&s, 999), MRC_NONE16);
}

TEST_F(ev, planes_take_strict_turns_and_each_ev_comes_once_per_pass)
{
    make(24, 3);
    for (int pass = 0; pass < 5; pass++) {
        std::set<u16> seen;

        for (int i = 0; i < 24; i++) {
            u16 e = pick();

            EXPECT_TRUE(seen.insert(e).second) << "pass " << pass;
            static u8 before;
            if (pass + i) {
                EXPECT_EQ(s.ev[e].plane, (before + 1) % 3);
            }
            before = s.ev[e].plane;
        }
    }
}

TEST_F(ev, passes_are_shuffled)
{
    std::vector<u16> a, b;

    make(32, 1);
    for (int i = 0; i < 32; i++)
        a.push_back(pick());
    for (int i = 0; i < 32; i++)
        b.push_back(pick());
    EXPECT_NE(a, b);
}

TEST_F(ev, planes_stay_equal_however_many_evs_they_have_left)
{
    std::map<u8, int> share;

    make(16, 2);
    for (u16 i = 0; i < 14; i += 2)     // plane 0 keeps one of eight
        sign(i, MRC_SIGN_LOST);
    for (int i = 0; i < 1000; i++)
        share[s.ev[pick()].plane]++;
    EXPECT_EQ(share[0], 500);
    EXPECT_EQ(share[1], 500);
}

TEST_F(ev, a_skip_ev_is_passed_over_once)
{
    make(4, 1);
    sign(2, MRC_SIGN_ECN);
    EXPECT_EQ(state(2), MRC_EV_SKIP);
    std::multiset<u16> seen;
    for (int i = 0; i < 3; i++)
        seen.insert(pick());
    EXPECT_EQ(seen.count(2), 0u);
    for (int i = 0; i < 5; i++)
        seen.insert(pick());
    EXPECT_EQ(state(2), MRC_EV_GOOD);
    EXPECT_GE(seen.count(2), 1u);
}

TEST_F(ev, at_most_one_skip_is_lifted_per_pick)
{
    make(8, 1);
    for (u16 i = 0; i < 8; i++)
        sign(i, MRC_SIGN_ECN);
    for (int n = 1; n <= 4; n++) {
        int good = 0;

        EXPECT_NE(pick(), MRC_NONE16);
        for (u16 i = 0; i < 8; i++)
            good += state(i) == MRC_EV_GOOD;
        EXPECT_LE(good, n);
        EXPECT_GE(good, 1);
    }
}

TEST_F(ev, trimming_skips_and_the_last_hop_is_nobodys_fault)
{
    make(4, 1);
    sign(1, MRC_SIGN_TRIMMED);
    EXPECT_EQ(state(1), MRC_EV_SKIP);
    sign(2, MRC_SIGN_DELIVERED);
    EXPECT_EQ(state(2), MRC_EV_GOOD);
    EXPECT_EQ(s.stats.skips, 1u);
}

TEST_F(ev, avoid_is_avoided_unless_it_is_the_only_one)
{
    make(4, 2);
    for (int i = 0; i < 100; i++)
        EXPECT_NE(pick(3), 3);
    make(1, 1);
    EXPECT_EQ(pick(0), 0);
}

TEST_F(ev, the_floor_holds)
{
    make(8, 2, 3);
    for (u16 i = 0; i < 8; i++)
        sign(i, MRC_SIGN_LOST);
    EXPECT_EQ(s.usable, 3);
    EXPECT_EQ(s.stats.demotions, 5u);
    EXPECT_EQ(s.stats.floor_hits, 3u);
    EXPECT_EQ(s.bad, 5);
}

TEST_F(ev, denied_is_the_controllers_word_only)
{
    make(4, 1);
    EXPECT_EQ(mrc_evset_set_state(&s, 1, MRC_EV_DENIED, now), 0);
    sign(1, MRC_SIGN_PROBE_OK);
    sign(1, MRC_SIGN_ECN);
    sign(1, MRC_SIGN_LOST);
    EXPECT_EQ(state(1), MRC_EV_DENIED);
    for (int i = 0; i < 20; i++)
        EXPECT_NE(pick(), 1);
    EXPECT_EQ(mrc_evset_set_state(&s, 1, MRC_EV_GOOD, now), 0);
    EXPECT_EQ(state(1), MRC_EV_GOOD);
    EXPECT_EQ(mrc_evset_set_state(&s, 1, MRC_EV_SKIP, now), -EINVAL);
    EXPECT_EQ(mrc_evset_set_state(&s, 4, MRC_EV_GOOD, now), -EINVAL);
}

TEST_F(ev, a_plane_down_at_either_end_is_not_used)
{
    make(8, 2);
    mrc_evset_local_planes(&s, 1, now);
    for (int i = 0; i < 20; i++)
        EXPECT_EQ(s.ev[pick()].plane, 0);
    mrc_evset_local_planes(&s, 3, now);
    mrc_evset_remote_planes(&s, 2, now);
    for (int i = 0; i < 20; i++)
        EXPECT_EQ(s.ev[pick()].plane, 1);
    mrc_evset_local_planes(&s, 1, now);
    EXPECT_EQ(s.usable, 0);
    EXPECT_EQ(pick(), MRC_NONE16);
}

TEST_F(ev, a_plane_that_returns_is_forgiven)
{
    make(8, 2);
    sign(0, MRC_SIGN_LOST);
    sign(1, MRC_SIGN_LOST);
    mrc_evset_remote_planes(&s, 2, now);
    mrc_evset_remote_planes(&s, 3, now);
    EXPECT_EQ(state(0), MRC_EV_GOOD);
    EXPECT_EQ(state(1), MRC_EV_ASSUMED_BAD) << "its plane was up all the time";
}

// The last EVs in use were on the plane that goes; the other plane has bad ones only.
TEST_F(ev, the_floor_is_kept_when_a_plane_goes)
{
    make(4, 2);
    sign(0, MRC_SIGN_LOST);
    sign(2, MRC_SIGN_LOST);
    ASSERT_EQ(s.usable, 2);
    mrc_evset_local_planes(&s, 1, now);
    EXPECT_NE(pick(), MRC_NONE16);
}

TEST_F(ev, probes_back_off_and_readmit)
{
    make(4, 1, 1, 2);
    sign(3, MRC_SIGN_LOST);
    EXPECT_EQ(state(3), MRC_EV_ASSUMED_BAD);
    EXPECT_TRUE(probes().empty());
    std::vector<u64> at;
    for (int i = 0; i < 6; i++) {
        EXPECT_NE(s.next_probe_ns, MRC_TIME_NEVER);
        now = s.next_probe_ns;
        auto v = probes();
        ASSERT_EQ(v, (std::vector<u16>{3}));
        at.push_back(now);
    }
    for (size_t i = 2; i < at.size(); i++) {
        u64 gap = at[i] - at[i - 1], before = at[i - 1] - at[i - 2];

        EXPECT_GE(gap, before);
        EXPECT_LE(gap, 1000u);
    }
    EXPECT_EQ(at.back() - at[at.size() - 2], 1000u);
    mrc_evset_probe_answer(&s, 3, false, now);
    EXPECT_EQ(state(3), MRC_EV_ASSUMED_BAD);
    EXPECT_EQ(probes(), (std::vector<u16>{3})) << "the second question comes at once";
    mrc_evset_probe_answer(&s, 3, false, now);
    EXPECT_EQ(state(3), MRC_EV_GOOD);
    EXPECT_EQ(s.next_probe_ns, MRC_TIME_NEVER);
    EXPECT_EQ(s.stats.readmissions, 1u);
}

TEST_F(ev, a_marked_answer_readmits_to_skip)
{
    make(4, 1, 1, 1);
    sign(3, MRC_SIGN_LOST);
    now += 200;
    ASSERT_EQ(probes().size(), 1u);
    mrc_evset_probe_answer(&s, 3, true, now);
    EXPECT_EQ(state(3), MRC_EV_SKIP);
}

TEST_F(ev, a_lost_probe_starts_the_count_again)
{
    make(4, 1, 1, 2);
    sign(3, MRC_SIGN_LOST);
    now = s.next_probe_ns;
    probes();
    mrc_evset_probe_answer(&s, 3, false, now);
    probes();
    now = s.next_probe_ns;              // no answer to the second
    ASSERT_EQ(probes().size(), 1u);
    mrc_evset_probe_answer(&s, 3, false, now);
    EXPECT_EQ(state(3), MRC_EV_ASSUMED_BAD);
}

TEST_F(ev, unknown_answers_do_no_harm)
{
    make(4, 1);
    mrc_evset_probe_answer(&s, 4, false, now);
    mrc_evset_probe_answer(&s, 0xffff, false, now);
    mrc_evset_probe_answer(&s, 0, false, now);
    EXPECT_EQ(state(0), MRC_EV_GOOD);
}

TEST_F(ev, verification_finds_a_dead_path)
{
    u16 idx, other;

    make(4, 1);
    ASSERT_TRUE(mrc_evset_verify_next(&s, &r, now, &idx));
    EXPECT_FALSE(mrc_evset_verify_next(&s, &r, now + 10, &other)) << "one at a time";
    mrc_evset_probe_answer(&s, idx, false, now + 10);
    EXPECT_EQ(state(idx), MRC_EV_GOOD);
    now += 1000;
    ASSERT_TRUE(mrc_evset_verify_next(&s, &r, now, &idx));
    now += 1000;
    ASSERT_TRUE(mrc_evset_verify_next(&s, &r, now, &other));
    EXPECT_EQ(state(idx), MRC_EV_ASSUMED_BAD);
}

TEST_F(ev, changes_are_told_once)
{
    make(4, 1);
    mrc_evset_take_change(&s);
    sign(0, MRC_SIGN_LOST);
    EXPECT_TRUE(mrc_evset_take_change(&s));
    EXPECT_FALSE(mrc_evset_take_change(&s));
    sign(1, MRC_SIGN_ECN);
    EXPECT_FALSE(mrc_evset_take_change(&s)) << "SKIP is internal";
}

TEST_F(ev, a_rotation_smaller_than_the_set_uses_part_of_every_plane)
{
    std::set<u8> planes;
    std::set<u16> used;

    make(32, 4);
    mrc_rot_init(&r, order.data(), 8, 1);
    for (int i = 0; i < 64; i++) {
        u16 e = pick();

        used.insert(e);
        planes.insert(s.ev[e].plane);
    }
    EXPECT_EQ(used.size(), 8u);
    EXPECT_EQ(planes.size(), 4u);
}

TEST_F(ev, same_seed_same_walk)
{
    std::vector<u16> a, b;

    make(16, 2);
    for (int i = 0; i < 40; i++)
        a.push_back(pick());
    make(16, 2);
    for (int i = 0; i < 40; i++)
        b.push_back(pick());
    EXPECT_EQ(a, b);
}

} // namespace
