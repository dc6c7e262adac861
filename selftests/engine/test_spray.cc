// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_spray.cc - rotation: equal planes, shuffled passes, active set and reserve.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "ev_rig.h"

namespace {

class rot : public ev_rig {
protected:
    u16 ack() { return mrc_spray_pick_ack(&r, &s, now, false); }
    u16 start(int p) { return mrc_spray_start(&r, &s, static_cast<u8>(p)); }
    u16 active(u8 p) { return static_cast<u16>(start(p + 1) - start(p)); }
    // Active EVs are different from each other and on their plane.
    void sound()
    {
        std::set<u16> seen;

        for (u8 p = 0; p < s.n_planes; p++)
            for (u16 i = start(p); i < start(p + 1); i++) {
                ASSERT_LT(order[i], s.n);
                ASSERT_EQ(s.ev[order[i]].plane, p);
                ASSERT_TRUE(seen.insert(order[i]).second) << "twice: " << order[i];
            }
        ASSERT_LE(seen.size(), order.size());
    }
    void deny(u16 i) { ASSERT_EQ(mrc_evset_set_state(&s, i, MRC_EV_DENIED, now), 0); }
};

// ---- the walk ----

TEST_F(rot, planes_take_strict_turns_and_each_ev_comes_once_per_pass)
{
    u8 before = 0;

    make(24, 3);
    for (int pass = 0; pass < 5; pass++) {
        std::set<u16> seen;

        for (int i = 0; i < 24; i++) {
            u16 e = pick();

            EXPECT_TRUE(seen.insert(e).second) << "pass " << pass;
            if (pass + i) {
                EXPECT_EQ(s.ev[e].plane, (before + 1) % 3);
            }
            before = s.ev[e].plane;
        }
    }
}

TEST_F(rot, passes_are_shuffled)
{
    std::vector<u16> a, b;

    make(32, 1);
    for (int i = 0; i < 32; i++)
        a.push_back(pick());
    for (int i = 0; i < 32; i++)
        b.push_back(pick());
    EXPECT_NE(a, b);
}

TEST_F(rot, same_seed_same_walk_other_seed_another)
{
    auto walk = [&](u64 seed) {
        std::vector<u16> v;

        make(64, 2);
        rotate(16, seed);
        for (int i = 0; i < 40; i++)
            v.push_back(pick());
        return v;
    };

    EXPECT_EQ(walk(1), walk(1));
    EXPECT_NE(walk(1), walk(2));
}

// A plane with half of its EVs has its full share; with fewer than that, its part of it.
TEST_F(rot, a_plane_with_few_evs_left_gets_less)
{
    const struct {
        u16 bad;
        int of_thousand;
    } table[] = {{0, 500}, {4, 500}, {6, 333}, {7, 200}};

    for (auto &t : table) {
        std::map<u8, int> share;

        make(16, 2);
        for (u16 i = 0; i < t.bad; i++)
            sign(i, MRC_SIGN_LOST);
        for (int i = 0; i < 1000; i++)
            share[s.ev[pick()].plane]++;
        EXPECT_NEAR(share[0], t.of_thousand, 2) << t.bad << " bad";
        EXPECT_EQ(share[0] + share[1], 1000);
    }
}

// QPs that share a set skip the plane at different turns: each second one of those that begin there skips it now.
TEST_F(rot, many_walks_do_not_skip_a_plane_together)
{
    int first = 0;

    make(16, 2);
    for (u16 i = 0; i < 6; i++)
        sign(i, MRC_SIGN_LOST);
    ASSERT_EQ(s.share[0], MRC_SHARE_FULL / 2);
    for (u64 seed = 0; seed < 400; seed++) {
        rotate(16, seed);
        first += s.ev[pick()].plane == 0;
    }
    EXPECT_NEAR(first, 100, 30);
}

// Picking looks at each bad EV once, whatever else happens, until some EV comes back.
TEST_F(rot, the_bad_are_put_aside_until_something_changes)
{
    std::set<u16> seen;

    make(64, 1);
    pick();
    for (u16 i = 0; i < 48; i++)
        sign(i, MRC_SIGN_LOST);
    for (int i = 0; i < 128; i++)
        EXPECT_GE(pick(), 48);
    EXPECT_EQ(r.at[0].live, 16);
    sound();
    for (int pass = 0; pass < 3; pass++) {      // and still each once per pass
        while (r.at[0].pos)
            pick();
        seen.clear();
        for (int i = 0; i < 16; i++)
            EXPECT_TRUE(seen.insert(pick()).second);
    }
    sign(7, MRC_SIGN_SPURIOUS);
    s.ev[7].passes = 1;
    for (int i = 0; i < 128; i++)
        seen.insert(pick());
    EXPECT_EQ(seen.count(7), 1u);
    EXPECT_EQ(r.at[0].live, 17);
    sound();
}

TEST_F(rot, off_the_planes_of_a_mask_if_there_are_others)
{
    make(32, 4);
    for (int i = 0; i < 40; i++)
        EXPECT_EQ(s.ev[mrc_spray_pick_off(&r, &s, MRC_NONE16, 0xd)].plane, 1u);
    for (u16 i = 8; i < 15; i++)
        sign(i, MRC_SIGN_LOST);
    for (int i = 0; i < 40; i++)        // one EV, and a small share: it is the one
        EXPECT_EQ(mrc_spray_pick_off(&r, &s, MRC_NONE16, 0xd), 15);
    EXPECT_NE(mrc_spray_pick_off(&r, &s, 15, 0xd), 15) << "another plane before the same EV";
    EXPECT_NE(mrc_spray_pick_off(&r, &s, MRC_NONE16, 0xf), MRC_NONE16);
}

TEST_F(rot, a_skip_ev_is_passed_over_once)
{
    std::multiset<u16> seen;

    make(4, 1);
    sign(2, MRC_SIGN_ECN);
    for (int i = 0; i < 3; i++)
        seen.insert(pick());
    EXPECT_EQ(seen.count(2), 0u);
    for (int i = 0; i < 5; i++)
        seen.insert(pick());
    EXPECT_EQ(state(2), MRC_EV_GOOD);
    EXPECT_GE(seen.count(2), 1u);
}

// EV 2, marked or not each time that it was picked: in which lap it is picked next.
TEST_F(rot, an_ev_that_is_marked_again_is_passed_over_for_longer)
{
    u32 steps = 0, lap = 0;
    auto next = [&](bool marked) {
        u32 before = lap;
        u16 e;

        if (marked)
            sign(2, MRC_SIGN_ECN);
        do {
            u16 pos = r.at[0].pos;

            e = pick();
            steps += (r.at[0].pos + 8u - pos) % 8;
        } while (e != 2);
        lap = (steps - 1) / 8;
        return lap - before;
    };

    make(8, 1);
    next(false);
    EXPECT_EQ(lap, 0u);
    EXPECT_EQ(next(true), 2u);          // one lap without it
    EXPECT_EQ(next(true), 5u);
    for (int i = 0; i < 2; i++)         // every other lap of the last level counts
        EXPECT_NEAR(next(true), 29.5, 1);
    EXPECT_EQ(next(false), 1u);         // a clean one
    EXPECT_NEAR(next(true), 29.5, 1);
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(next(false), 1u);
    EXPECT_EQ(next(true), 5u);
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(next(false), 1u);
    EXPECT_EQ(next(true), 2u);
}

TEST_F(rot, at_most_one_skip_is_lifted_per_packet)
{
    for (u8 planes : {1, 2, 4}) {
        make(16, planes);
        for (u16 i = 0; i < 16; i++)
            sign(i, MRC_SIGN_ECN);
        for (int n = 1; n <= 40; n++) {
            int skips = 0, left = 0;

            for (u16 i = 0; i < 16; i++)
                skips += state(i) == MRC_EV_SKIP;
            // Also when the one to avoid makes the pick look at every plane.
            u16 e = n % 2 ? pick() : n % 3 ? pick(static_cast<u16>(n % 16)) : ack();
            EXPECT_NE(e, MRC_NONE16);
            for (u16 i = 0; i < 16; i++)
                left += state(i) == MRC_EV_SKIP;
            EXPECT_GE(left, skips - 1);
            if (n % 3 == 0)
                sign(static_cast<u16>(n % 16), MRC_SIGN_ECN);
        }
    }
}

TEST_F(rot, avoid_is_avoided_unless_it_is_the_only_one)
{
    make(4, 2);
    for (int i = 0; i < 100; i++)
        EXPECT_NE(pick(3), 3);
    make(1, 1);
    EXPECT_EQ(pick(0), 0);
    make(3, 3);                         // the only one of its plane, not of the set
    for (int i = 0; i < 100; i++)
        EXPECT_NE(pick(1), 1);
    make(64, 1);                        // the only active one that is usable
    rotate(2);
    pick();
    for (u16 i = 0; i < 64; i++)
        if (i != order[0] && i != 17 && i != 18)
            sign(i, MRC_SIGN_LOST);
    for (int i = 0; i < 100; i++)
        EXPECT_NE(pick(17), 17);
}

TEST_F(rot, a_plane_down_at_either_end_is_not_used)
{
    make(8, 2);
    mrc_evset_local_planes(&s, 1, now);
    for (int i = 0; i < 20; i++) {
        EXPECT_EQ(s.ev[pick()].plane, 0);
        EXPECT_EQ(s.ev[ack()].plane, 0);
    }
    mrc_evset_local_planes(&s, 3, now);
    mrc_evset_remote_planes(&s, 2, now);
    for (int i = 0; i < 20; i++)
        EXPECT_EQ(s.ev[pick()].plane, 1);
    mrc_evset_local_planes(&s, 1, now);
    EXPECT_EQ(s.usable, 0);
    EXPECT_EQ(pick(), MRC_NONE16);
    EXPECT_EQ(ack(), MRC_NONE16);
}

TEST_F(rot, denied_evs_are_not_picked)
{
    make(16, 2);
    for (u16 i = 0; i < 15; i++)
        deny(i);
    for (int i = 0; i < 20; i++)
        EXPECT_EQ(pick(), 15);
    deny(15);
    EXPECT_EQ(pick(), MRC_NONE16);
}

// ---- the active set ----

TEST_F(rot, the_active_set_has_as_many_of_every_plane)
{
    make(512, 4);
    rotate(128);
    pick();
    for (u8 p = 0; p < 4; p++)
        EXPECT_EQ(active(p), 32);
    sound();
}

TEST_F(rot, planes_with_fewer_give_all_they_have)
{
    make_planes({100, 3, 0, 50, 40});
    rotate(100);
    pick();
    EXPECT_EQ(active(1), 3);
    EXPECT_EQ(active(2), 0);
    EXPECT_EQ(active(0), 32);           // 97 over three: 32 each, one left over
    EXPECT_EQ(active(3), 32);
    EXPECT_EQ(active(4), 32);
    sound();
    make_planes({100, 3, 0, 50, 40});   // room for all: all
    pick();
    EXPECT_EQ(start(5), 193);
    for (int i = 0; i < 400; i++)
        EXPECT_NE(s.ev[pick()].plane, 2);
}

TEST_F(rot, fewer_places_than_planes)
{
    std::map<u8, int> share;

    make(64, 8);
    rotate(5);
    for (int i = 0; i < 800; i++)
        share[s.ev[pick()].plane]++;
    for (u8 p = 0; p < 8; p++)
        EXPECT_EQ(share[p], 100);
    sound();
}

TEST_F(rot, every_ev_is_as_likely_to_be_drawn)
{
    constexpr int draws = 4000;
    std::vector<int> n(64);

    make(64, 2);
    for (int d = 0; d < draws; d++) {
        rotate(16, 0x1234567ull * d);
        pick();
        for (u16 i : order)
            n[i]++;
    }
    for (u16 i = 0; i < 64; i++)        // expected 1,000, standard deviation 27
        EXPECT_NEAR(n[i], draws / 4, 150) << "EV " << i;
}

TEST_F(rot, two_qps_draw_different_sets_from_one)
{
    std::vector<u16> mine;

    make(1024, 4);
    rotate(64, 1);
    pick();
    mine.assign(order.begin(), order.end());
    rotate(64, 2);
    pick();
    std::sort(mine.begin(), mine.end());
    std::sort(order.begin(), order.end());
    EXPECT_FALSE(std::equal(mine.begin(), mine.end(), order.begin()));
}

// ---- the reserve ----

TEST_F(rot, a_lost_ev_is_replaced_from_its_own_plane)
{
    make(256, 4, 16);
    rotate(64);
    pick();
    std::vector<u16> lost(order.begin(), order.begin() + 8);    // of plane 0
    for (u16 i : lost)
        sign(i, MRC_SIGN_LOST);
    for (int i = 0; i < 256; i++) {
        u16 e = pick();

        EXPECT_EQ(std::count(lost.begin(), lost.end(), e), 0);
        EXPECT_EQ(s.ev[e].plane, s.ev[pick()].plane == 0 ? 3 : s.ev[e].plane);
    }
    for (u16 i : lost)
        EXPECT_EQ(std::count(order.begin(), order.end(), i), 0) << "out of the active set";
    for (u8 p = 0; p < 4; p++)
        EXPECT_EQ(active(p), 16);
    sound();
}

TEST_F(rot, denied_evs_are_replaced_too)
{
    make(64, 2);
    rotate(16);
    pick();
    std::vector<u16> gone(order.begin(), order.end());
    for (u16 i : gone)
        deny(i);
    for (int i = 0; i < 200; i++)
        EXPECT_EQ(std::count(gone.begin(), gone.end(), pick()), 0);
    for (u16 i : gone)
        EXPECT_EQ(std::count(order.begin(), order.end(), i), 0);
    sound();
}

// One usable EV in a reserve of four thousand: found at once.
TEST_F(rot, the_last_usable_ev_is_found)
{
    make(4096, 1, 1);
    rotate(8);
    pick();
    u16 keep = 0;
    while (std::count(order.begin(), order.end(), keep))
        keep++;
    for (u16 i = 0; i < 4096; i++)
        if (i != keep)
            deny(i);
    EXPECT_EQ(pick(), keep);
    EXPECT_EQ(ack(), keep);
    EXPECT_EQ(pick(keep), keep);
}

TEST_F(rot, a_reserve_of_skips_does_too)
{
    make(64, 1);
    rotate(4);
    pick();
    std::vector<u16> gone(order.begin(), order.end());
    for (u16 i = 0; i < 64; i++)
        if (std::count(gone.begin(), gone.end(), i))
            deny(i);
        else
            sign(i, MRC_SIGN_ECN);
    for (int i = 0; i < 50; i++)
        EXPECT_EQ(std::count(gone.begin(), gone.end(), pick()), 0);
    sound();
}

// Whatever happens to the set, a pick is usable, in its plane's turn, and there if any is.
TEST_F(rot, random_life)
{
    std::mt19937 rnd(3);
    static const struct {
        u16 n, active;
        u8 planes;
    } shapes[] = {{1, 1, 1}, {7, 3, 3}, {64, 64, 4}, {200, 40, 5}, {64, 4, 8}, {300, 299, 32},
                  {4096, 128, 8}};

    for (auto &k : shapes) {
        make(k.n, k.planes, static_cast<u16>(rnd() % k.n / 2 + 1));
        rotate(k.active, rnd());
        for (int step = 0; step < 4000; step++) {
            u16 i = static_cast<u16>(rnd() % k.n), avoid = rnd() % 3 ? MRC_NONE16 : i, e;

            now += rnd() % (50 * kUs);
            switch (rnd() % 16) {
            case 0: case 1: case 2: case 3:
                sign(i, static_cast<mrc_ev_sign>(rnd() % (MRC_SIGN_DELIVERED + 1)));
                break;
            case 4:
                mrc_evset_set_state(&s, i, rnd() % 2 ? MRC_EV_DENIED : MRC_EV_GOOD, now);
                break;
            case 5:
                mrc_evset_local_planes(&s, rnd() | rnd(), now);
                break;
            case 6:
                mrc_evset_remote_planes(&s, rnd() | rnd() | rnd(), now);
                break;
            case 7:
                for (u16 p : probes())
                    mrc_evset_probe_answer(&s, p, rnd() % 2, now);
                break;
            }
            e = rnd() % 3 ? pick(avoid) : ack();
            ASSERT_EQ(e == MRC_NONE16, s.usable == 0);
            if (e == MRC_NONE16)
                continue;
            ASSERT_TRUE(mrc_ev_usable(&s, e));
            sound();
            ASSERT_EQ(mrc_evset_check(&s), 0);
            e = pick(e);                        // another, if there is one
            ASSERT_TRUE(mrc_ev_usable(&s, e));
            u16 f = pick(e);
            ASSERT_EQ(f == e, s.usable == 1);
        }
        rotate(k.active, rnd());
    }
}

// ---- acknowledgements ----

TEST_F(rot, acknowledgements_leave_by_proven_evs_of_all_planes)
{
    std::map<u16, int> n;

    make(32, 4);
    for (u16 i : {3, 9, 20, 31})
        sign(i, MRC_SIGN_DELIVERED);
    for (int i = 0; i < 400; i++)
        n[ack()]++;
    for (u16 i : {3, 9, 20, 31})
        EXPECT_GE(n[i], 40);
    EXPECT_EQ(n.size(), 32u) << "every other one may be any";
    int on[4] = {};
    for (auto [i, k] : n)
        on[i / 8] += k;
    for (int k : on)
        EXPECT_NEAR(k, 100, 25);
}

TEST_F(rot, what_was_proven_long_ago_is_not_trusted)
{
    std::set<u16> seen;

    make(32, 1);
    sign(5, MRC_SIGN_DELIVERED);
    now += 900 * kUs;
    EXPECT_EQ(ack(), 5);
    ack();
    now += 200 * kUs;
    for (int i = 0; i < 1000; i++)
        seen.insert(ack());
    EXPECT_EQ(seen.size(), 32u) << "any";
    mrc_evset_rtt(&s, 0, 1 * kMs, now);         // a long path: 16 round trips
    now += 10 * kMs;
    EXPECT_EQ(ack(), 5);
    ack();
    now += 10 * kMs;
    seen.clear();
    for (int i = 0; i < 32; i++)
        seen.insert(ack());
    EXPECT_GT(seen.size(), 1u);
}

TEST_F(rot, a_proven_ev_that_fails_is_left_at_once)
{
    make(32, 2);
    sign(5, MRC_SIGN_DELIVERED);
    sign(5, MRC_SIGN_LOST);
    for (int i = 0; i < 100; i++)
        EXPECT_NE(ack(), 5);
}

TEST_F(rot, successive_acknowledgements_leave_by_different_planes)
{
    for (u8 planes : {3, 4, 8}) {
        make(64, planes);
        u32 before = s.ev[ack()].plane;
        for (int i = 0; i < 500; i++) {
            u32 plane = s.ev[ack()].plane;

            EXPECT_NE(plane, before);
            before = plane;
        }
    }
}

// Three SACKs and an ACK for each message: the ACKs do not all meet one plane.
TEST_F(rot, every_fourth_acknowledgement_sees_all_planes)
{
    for (u8 planes : {2, 4}) {
        std::map<u32, int> n;

        make(64, planes);
        for (int i = 0; i < 400; i++) {
            u32 plane = s.ev[ack()].plane;

            if (i % 4 == 3)
                n[plane]++;
        }
        for (u32 p = 0; p < planes; p++)
            EXPECT_NEAR(n[p], 100 / planes, 60 / planes) << planes << " planes";
    }
}

TEST_F(rot, acknowledgements_avoid_planes_of_which_nothing_is_heard)
{
    std::set<u32> seen;

    make(32, 4);
    for (int i = 0; i < 100; i++, now += 10 * kUs)
        for (u8 p : {0, 1, 3})
            heard(p);
    for (int i = 0; i < 100; i++)
        seen.insert(s.ev[ack()].plane);
    EXPECT_EQ(seen, (std::set<u32>{0, 1, 3}));
    mrc_evset_delivered(&s, 2, 17, mrc_ev_tick(now), now);     // unless proven
    for (int i = 0; i < 100; i++)
        seen.insert(s.ev[ack()].plane);
    EXPECT_EQ(seen.count(2), 1u);
}

// A message each millisecond comes by one plane at a time: the others are not dead for that, and
// what answers it, and its probes, must not all leave by the plane that has just died.
TEST_F(rot, acknowledgements_of_lone_messages_leave_by_all_planes)
{
    std::set<u32> seen;

    make(32, 4);
    for (int i = 0; i < 16; i++, now += 1 * kMs) {
        heard(static_cast<u8>(i % 4));
        seen.clear();
        for (int n = 0; n < 20; n++)
            seen.insert(s.ev[ack()].plane);
    }
    EXPECT_EQ(seen.size(), 4u);
}

// Found by fuzz_ev: the second look, at planes that were to be avoided, made one more good.
TEST_F(rot, at_most_one_becomes_good_wherever_it_looks)
{
    make_planes({2, 1});
    for (u16 i = 0; i < 3; i++)
        mrc_evset_sign(&s, i, MRC_SIGN_ECN, now);
    ASSERT_EQ(s.ev[0].state + s.ev[1].state + s.ev[2].state, 3 * MRC_EV_SKIP);
    mrc_spray_pick_off(&r, &s, 2, 1);     // the only one off plane 0 is to be avoided
    u32 skips = 0;
    for (u16 i = 0; i < 3; i++)
        skips += s.ev[i].state == MRC_EV_SKIP;
    EXPECT_EQ(skips, 2u);
}

// Acknowledgements do not take the turns of data.
TEST_F(rot, data_stays_in_strict_turns_among_acknowledgements)
{
    make(32, 4);
    u8 before = s.ev[pick()].plane;
    for (int i = 0; i < 100; i++) {
        for (int k = 0; k < i % 3; k++)
            ack();
        u8 plane = s.ev[pick()].plane;
        EXPECT_EQ(plane, (before + 1) % 4);
        before = plane;
    }
}

} // namespace
