// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_blame.cc - whose fault a loss is, and what the floor keeps.
#include <random>
#include <vector>

#include "ev_rig.h"

namespace {

class blame : public ev_rig {
protected:
    u32 tick() { return mrc_ev_tick(now); }
    void deliver(u16 idx) { mrc_evset_delivered(&s, static_cast<u8>(s.ev[idx].plane), idx, tick(), now); }
    // A packet of @idx is lost; later ones of its plane and others arrived.
    void lose(u16 idx, bool trims)
    {
        u32 sent = tick();

        now += 40 * kUs;
        for (u8 p = 0; p < s.n_planes; p++)
            deliver(static_cast<u16>(s.start[p + 1] - 1));
        mrc_evset_lost(&s, idx, sent, trims, now);
    }
    // A packet of @idx arrives 100 us after its send, though it was called lost. @overtaken: what its plane took 10 us
    // later was there before. True: the path is slow, and the plane's patience stays.
    bool late(u16 idx, bool overtaken = true)
    {
        u32 sent = tick();
        u8 p = static_cast<u8>(s.ev[idx].plane), reo = s.plane[p].reo;

        now += 10 * kUs;
        if (overtaken)
            mrc_evset_delivered(&s, p, s.start[p], tick(), now);
        now += 90 * kUs;
        bool path = mrc_evset_false_alarm(&s, p, idx, sent, 100 * kUs, now);
        EXPECT_EQ(path, s.plane[p].reo == reo);
        s.plane[p].reo = reo;
        return path;
    }
};

TEST_F(blame, one_loss_where_the_fabric_trims_two_where_not)
{
    for (bool trims : {false, true}) {
        make(16, 2);
        for (int n = 1; state(3) <= MRC_EV_SKIP; n++) {
            lose(3, trims);
            EXPECT_EQ(state(3) == MRC_EV_ASSUMED_BAD, n == (trims ? 1 : 2));
            ASSERT_LT(n, 5);
        }
        EXPECT_EQ(s.open, 0);
    }
}

// Drops of a last hop strike every path.
TEST_F(blame, where_a_queue_shows_it_takes_five_unless_the_fabric_trims)
{
    for (bool trims : {false, true}) {
        make(16, 1);
        mrc_evset_rtt(&s, 0, 10 * kUs, now);
        for (int i = 0; i < 50; i++)
            mrc_evset_rtt(&s, 0, 20 * kUs, now);
        for (int n = 1; state(3) <= MRC_EV_SKIP; n++) {
            lose(3, trims);
            EXPECT_EQ(state(3) == MRC_EV_ASSUMED_BAD, n == (trims ? 1 : 5));
            ASSERT_LT(n, 6);
        }
    }
}

TEST_F(blame, many_evs_of_the_only_plane_with_a_loss_are_congestion)
{
    make(16, 1);
    for (u16 i = 0; i < 3; i++)
        lose(i, false);
    for (int n = 2; n <= 5; n++) {
        EXPECT_EQ(state(0), MRC_EV_GOOD);
        lose(0, false);
    }
    EXPECT_EQ(state(0), MRC_EV_ASSUMED_BAD);
}

// One EV of the only plane lost a packet and delivers again: losses are chance, or a queue that the base contains.
TEST_F(blame, another_ev_that_survived_a_loss_makes_it_four)
{
    struct { u16 survivor; u8 planes; u64 later; bool trims; int want; } const cases[] = {
        {5, 1, 0, false, 4},  {5, 1, 500, false, 4}, {5, 1, 3000, false, 2}, // 64 round trips of 20 us
        {3, 1, 0, false, 2},                                                 // itself
        {5, 2, 0, false, 2},  {5, 1, 0, true, 1},
    };

    for (const auto &c : cases) {
        make(256, c.planes);
        mrc_evset_rtt(&s, 0, 20 * kUs, now);
        lose(c.survivor, false);
        deliver(c.survivor);
        now += c.later * kUs;
        int n = 0;
        for (; state(3) <= MRC_EV_SKIP && n < 9; n++)
            lose(3, c.trims);
        EXPECT_EQ(n, c.want) << (&c - cases);
    }
}

TEST_F(blame, a_delivery_between_begins_anew)
{
    make(16, 2);
    for (int n = 0; n < 20; n++) {
        lose(3, false);
        EXPECT_EQ(s.open, 1);
        deliver(3);
        EXPECT_EQ(s.open, 0);
    }
    EXPECT_EQ(state(3), MRC_EV_GOOD);
}

TEST_F(blame, what_is_lost_at_one_moment_is_one_loss)
{
    make(16, 2);
    lose(3, false);
    for (int i = 0; i < 10; i++)
        mrc_evset_lost(&s, 3, tick() - 500, false, now);
    EXPECT_EQ(state(3), MRC_EV_GOOD);
    lose(3, false);
    EXPECT_EQ(state(3), MRC_EV_ASSUMED_BAD);
}

// A timeout: nothing sent later has arrived. The next loss says more.
TEST_F(blame, a_loss_without_a_later_delivery_is_only_remembered)
{
    make(16, 1);
    for (u16 i = 0; i < 16; i++)
        mrc_evset_lost(&s, i, tick(), true, now);
    EXPECT_EQ(s.bad, 0);
    EXPECT_EQ(s.open, 16);
    now += 100 * kUs;
    for (u16 i = 0; i < 15; i++)
        deliver(i);
    EXPECT_EQ(s.open, 1);
    lose(14, false);
    EXPECT_EQ(s.bad, 0);
    lose(14, false);
    EXPECT_EQ(s.bad, 1);
}

// Probes that refute it: it takes ever more, and fewer again after a while.
TEST_F(blame, refuted_it_takes_more)
{
    make(16, 2);
    auto to_bad = [&] {
        int n = 0;

        for (; state(3) <= MRC_EV_SKIP; n++)
            lose(3, true);
        return n;
    };
    auto refute = [&] {
        now += 200 * kUs;
        for (u16 i : probes())
            mrc_evset_probe_answer(&s, i, false, now);
        answers_to_readmit(3);
    };

    for (int want : {1, 2, 3, 4, 4}) {
        EXPECT_EQ(to_bad(), want);
        refute();
    }
    now += 11 * kMs;
    EXPECT_EQ(to_bad(), 3);
    refute();
    now += 100 * kMs;
    EXPECT_EQ(to_bad(), 1);
}

// EVs of other planes lose packets, too: it takes one more. Those of its own plane do not count,
// nor a single one, nor where the fabric trims.
TEST_F(blame, loss_everywhere_takes_one_more)
{
    struct { std::vector<u16> open; bool trims; int want; } const cases[] = {
        {{}, false, 2},      {{20}, false, 2},    {{20, 40}, false, 3}, {{20, 21}, false, 3},
        {{1, 2, 4}, false, 2}, {{1, 20}, false, 2}, {{20, 40}, true, 1},
    };

    for (const auto &c : cases) {
        make(64, 4);
        for (u16 i : c.open)
            lose(i, false);
        int n = 0;
        for (; state(3) <= MRC_EV_SKIP; n++)
            lose(3, c.trims);
        EXPECT_EQ(n, c.want) << (&c - cases);
        EXPECT_EQ(s.open, c.open.size());
        EXPECT_EQ(mrc_evset_check(&s), 0);
    }
}

TEST_F(blame, everywhere_is_one_ev_in_sixty_four)
{
    for (u16 others : {2, 3}) {
        make(512, 3);               // 170 or 171 EVs a plane
        for (u16 i = 0; i < others; i++) {
            lose(static_cast<u16>(200 + i), false);
            lose(static_cast<u16>(400 + i), false);
        }
        lose(3, false);
        lose(3, false);
        EXPECT_EQ(state(3) == MRC_EV_ASSUMED_BAD, others == 2);
    }
}

// Congestion: 2 % of all packets, by any path, no trimming. A hundred round trips.
TEST_F(blame, congestion_is_not_blamed_on_paths)
{
    std::mt19937 rnd(5);
    u32 most = 0, sent = 0, lost = 0;

    make(128, 4, 32);
    idle = true;
    for (; sent < 40000; sent++, now += 1 * kUs) {
        u16 e = pick();
        u32 at = tick() - 320;          // sent 20 us ago

        mrc_evset_count_tx(&s, e, 1);
        if (rnd() % 50)
            mrc_evset_delivered(&s, static_cast<u8>(s.ev[e].plane), e, at, now);
        else
            mrc_evset_lost(&s, e, at - 100, false, now), lost++;
        for (u16 i : probes())
            if (rnd() % 50)
                mrc_evset_probe_answer(&s, i, false, now);
        most = std::max<u32>(most, s.bad);
        ASSERT_EQ(mrc_evset_check(&s), 0);
    }
    EXPECT_LE(most, 2u);
    EXPECT_LE(s.stats.probes, sent / 50);
    EXPECT_GE(lost, sent / 60) << "there was something to blame";
    EXPECT_EQ(s.stats.suspicions, 0u);
}

// ---- the floor ----

TEST_F(blame, the_floor_keeps_what_was_proven_last)
{
    make(8, 1, 2);
    for (u16 i = 0; i < 8; i++) {
        sign(i, MRC_SIGN_LOST);         // 0 ... 5 go, 6 and 7 are the floor
        now += 1 * kMs;
    }
    ASSERT_EQ(s.usable, 2);
    now += 1 * kMs;
    deliver(2);                         // late, but it was proven since
    sign(6, MRC_SIGN_LOST);
    EXPECT_EQ(s.usable, 2);
    EXPECT_LE(state(2), MRC_EV_SKIP);
    EXPECT_EQ(state(6), MRC_EV_ASSUMED_BAD);
    sign(2, MRC_SIGN_LOST);             // nothing better: it stays
    EXPECT_LE(state(2), MRC_EV_SKIP);
}

// Half of all cables may be dead from the start: then fewer live than the floor has.
TEST_F(blame, who_loses_on_while_others_deliver_leaves_below_the_floor)
{
    make(8, 2, 4);
    for (u16 i : {0, 1, 4, 5})
        lose(i, true);
    ASSERT_EQ(s.usable, s.floor);
    for (int n = 1; n <= 3; n++) {
        EXPECT_EQ(state(2), MRC_EV_GOOD);
        lose(2, true);
    }
    EXPECT_EQ(state(2), MRC_EV_ASSUMED_BAD);
    EXPECT_EQ(s.usable, 3);
}

TEST_F(blame, in_silence_the_floor_stays)
{
    make(8, 2, 4);
    for (u16 i : {0, 1, 4, 5})
        lose(i, true);
    ASSERT_EQ(s.usable, s.floor);
    for (int n = 0; n < 20; n++) {
        now += 40 * kUs;
        mrc_evset_lost(&s, 2, tick(), true, now);
    }
    EXPECT_EQ(state(2), MRC_EV_GOOD);
}

TEST_F(blame, the_last_one_stays)
{
    make(2, 1);
    mrc_evset_set_state(&s, 0, MRC_EV_DENIED, now);
    for (int n = 0; n < 10; n++) {
        u32 sent = tick();

        now += 40 * kUs;
        deliver(0);     // it left before the controller's word
        mrc_evset_lost(&s, 1, sent, true, now);
    }
    EXPECT_EQ(s.usable, 1);
}

// What is well is not noted with each delivery; it is when that ends.
TEST_F(blame, the_floor_takes_back_what_delivered_when_all_was_well)
{
    make(8, 1, 2);
    deliver(3);
    for (u16 i : {3, 0, 1, 2, 4, 5}) {
        now += 1 * kMs;
        sign(i, MRC_SIGN_LOST);
    }
    ASSERT_EQ(s.usable, 2);
    sign(6, MRC_SIGN_LOST);
    EXPECT_LE(state(3), MRC_EV_SKIP);
    EXPECT_EQ(state(6), MRC_EV_ASSUMED_BAD);
}

// Acknowledgements leave by what was proven last: not by what has lost a packet since.
TEST_F(blame, what_lost_a_packet_is_not_proven)
{
    make(8, 2);
    mrc_evset_delivered(&s, 0, 1, tick(), now);
    ASSERT_EQ(s.proven[0], 1);
    now += 100 * kUs;
    mrc_evset_lost(&s, 1, tick(), false, now);
    EXPECT_EQ(state(1), MRC_EV_GOOD);
    EXPECT_EQ(s.proven[0], MRC_NONE16);
}

TEST_F(blame, false_alarms_of_one_ev_say_nothing_of_its_plane)
{
    make(16, 2);
    mrc_evset_rtt(&s, 0, 10 * kUs, now);
    mrc_evset_rtt(&s, 1, 10 * kUs, now);
    EXPECT_TRUE(late(3));
    EXPECT_TRUE(late(3));
    EXPECT_FALSE(late(4)) << "of a second one they do";
    EXPECT_FALSE(late(3));
    EXPECT_TRUE(late(12)) << "the other plane's";
    now += 200 * kUs;
    EXPECT_TRUE(late(5)) << "all that was long ago";
}

TEST_F(blame, a_false_alarm_of_what_nothing_overtook_is_the_planes)
{
    make(16, 2);
    mrc_evset_rtt(&s, 0, 10 * kUs, now);
    EXPECT_FALSE(late(3, false));
    make(16, 2);
    mrc_evset_rtt(&s, 0, 30 * kUs, now);
    EXPECT_FALSE(late(3)) << "nor by a third of a round trip";
    make(2, 2);
    mrc_evset_rtt(&s, 0, 10 * kUs, now);
    EXPECT_FALSE(late(0)) << "it has no other path";
}

TEST_F(blame, of_several_the_floor_takes_back_the_latest)
{
    make(8, 1, 2);
    for (u16 i = 0; i < 6; i++)
        sign(i, MRC_SIGN_LOST);
    for (u16 i : {2, 4}) {
        now += 1 * kMs;
        deliver(i);
    }
    sign(6, MRC_SIGN_LOST);
    EXPECT_EQ(state(2), MRC_EV_ASSUMED_BAD);
    EXPECT_LE(state(4), MRC_EV_SKIP);
    EXPECT_EQ(state(6), MRC_EV_ASSUMED_BAD);
}

} // namespace
