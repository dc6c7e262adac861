// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_nscc_loss.cc - NSCC: what trims, losses and timeouts do to the window and the pace.
#include "nscc_rig.h"

#include <functional>

namespace {

// ---- trims, losses, quick adapt ----

TEST_F(nscc, trim_takes_its_bytes_off)
{
    warm();
    ack(pkt, base);
    u32 before = cc->cwnd_bytes;
    nack(pkt);
    EXPECT_EQ(cc->cwnd_bytes, before - pkt);
}

// What the window allows beyond what is in flight has not been tried by anybody.
TEST_F(nscc, trim_on_the_way_counts_from_what_is_in_flight)
{
    cfg.nscc.disable_qa = true;
    for (bool last_hop : {false, true}) {
        init();
        warm();
        set_wnd(200000);
        mrc_cc_sample s = sample();
        s.inflight_bytes = 150000;
        s.lost_bytes = pkt;
        s.trimmed = true;
        s.last_hop = last_hop;
        mrc_nscc.on_nack(cc, &s);
        EXPECT_EQ(cc->cwnd_bytes, (last_hop ? 200000 : 150000) - pkt);
    }
    // Of a window that was hardly used a trim says little.
    init();
    warm();
    set_wnd(200000);
    mrc_cc_sample s = sample();
    s.inflight_bytes = 3 * pkt;
    s.lost_bytes = pkt;
    s.trimmed = true;
    mrc_nscc.on_nack(cc, &s);
    EXPECT_EQ(cc->cwnd_bytes, 200000 - pkt);
}

// One burst of others is no reason to stop; one at the last hop is.
TEST_F(nscc, trims_of_one_round_trip_on_the_way_leave_five_eighths)
{
    cfg.nscc.disable_qa = true;
    init();
    warm();
    set_wnd(200000);
    for (int i = 0; i < 60; i++)
        nack(pkt, true, 0, false);
    EXPECT_EQ(cc->cwnd_bytes, 125000u);
    now += base;
    for (int i = 0; i < 60; i++)
        nack(pkt, true, 0, false);
    EXPECT_EQ(cc->cwnd_bytes, 78125u);
    for (int i = 0; i < 60; i++)
        nack(pkt);
    EXPECT_EQ(cc->cwnd_bytes, pkt);
    nack(pkt, true, 0, false);          // a floor gives nothing back
    EXPECT_EQ(cc->cwnd_bytes, pkt);
}

// A third of a flight of 30 packets is trimmed, then nothing for a round trip: the window is
// given back. @after: what happens before that round trip is over.
struct burst : nscc {
    u32 window_after(int trims, const std::function<void()>& after = [] {})
    {
        cfg.nscc.disable_qa = true;
        init();
        warm();
        set_wnd(30 * pkt);
        trim(trims);
        after();
        now += base + 1;
        u32 before = cc->cwnd_bytes;
        ack(1, base);
        return cc->cwnd_bytes - before;
    }
    void trim(int n)
    {
        for (int i = 0; i < n; i++)
            nack(pkt, true, 0, false);
    }
};

TEST_F(burst, what_a_burst_that_passed_took_is_given_back)
{
    EXPECT_GE(window_after(10), 10 * pkt);
    EXPECT_GE(window_after(20), (30 * 3 / 8) * pkt);   // the floor had kept the rest
}

TEST_F(burst, not_after_trims_of_few_paths)
{
    EXPECT_LT(window_after(9), pkt);
}

TEST_F(burst, not_before_a_round_trip_is_over)
{
    EXPECT_LT(window_after(10, [&] { now -= 2; }), pkt);
    now += 2;
    u32 before = cc->cwnd_bytes;
    ack(1, base);
    EXPECT_GE(cc->cwnd_bytes - before, 9 * pkt);
}

TEST_F(burst, a_mark_or_delay_puts_it_off)
{
    for (bool mark : {false, true}) {
        auto sign = [&] {
            now += base + 1;
            ack(1, mark ? base : base + target, mark);
            now -= base + 2;
        };
        EXPECT_LT(window_after(10, sign), pkt);
        now += 2;
        u32 before = cc->cwnd_bytes;
        ack(1, base);
        EXPECT_GE(cc->cwnd_bytes - before, 9 * pkt) << mark;
    }
}

TEST_F(burst, the_last_hop_and_the_responder_and_deep_delay_forbid_it)
{
    EXPECT_LT(window_after(10, [&] { nack(pkt); }), pkt);
    EXPECT_LT(window_after(10, [&] { ack(pkt, base, false, 20); }), pkt);
    EXPECT_LT(window_after(10, [&] {
        for (int i = 0; i < 400; i++)
            ack(pkt, base + 3 * target, true);          // the average is above the target: a decrease
    }), pkt);
}

TEST_F(burst, not_again_for_sixteen_round_trips)
{
    ASSERT_GE(window_after(10), 10 * pkt);
    for (u64 later : {14, 2}) {
        now += later * base;
        trim(12);
        now += base + 1;
        u32 before = cc->cwnd_bytes;
        ack(1, base);
        EXPECT_EQ(cc->cwnd_bytes - before >= 5 * pkt, later == 2);
    }
}

TEST_F(nscc, nack_for_want_of_resources_changes_nothing)
{
    warm();
    u32 before = cc->cwnd_bytes;
    nack(pkt, false);
    EXPECT_EQ(cc->cwnd_bytes, before);
}

TEST_F(nscc, with_trimming_a_loss_without_a_trim_is_no_congestion)
{
    warm();
    ack(pkt, base);
    u32 before = cc->cwnd_bytes;
    for (int i = 0; i < 100; i++)
        loss(3 * pkt);
    EXPECT_EQ(cc->cwnd_bytes, before);
    EXPECT_LE(cc->hold_until_ns, now);
}

TEST_F(nscc, inferred_loss_takes_its_bytes_off)
{
    cfg.trimming = false;
    init();
    warm();
    ack(pkt, base);
    u32 before = cc->cwnd_bytes;
    loss(3 * pkt);
    EXPECT_EQ(cc->cwnd_bytes, before - 3 * pkt);
    for (int i = 0; i < 100; i++)
        loss(3 * pkt);
    EXPECT_EQ(cc->cwnd_bytes, pkt);
}

TEST_F(nscc, timeout_halves_once_per_round_trip)
{
    warm();
    set_wnd(200000);
    timeout(pkt);
    EXPECT_EQ(cc->cwnd_bytes, 100000u);
    timeout(pkt); // another connection's
    EXPECT_EQ(cc->cwnd_bytes, 100000u);
    now += base;
    timeout(pkt);
    EXPECT_EQ(cc->cwnd_bytes, 50000u);
}

TEST_F(nscc, quick_adapt_sets_the_window_to_what_got_through)
{
    warm();
    ack(pkt, base); // the period begins
    now += 1000;
    nack(pkt);
    ack(3 * pkt, base + target);
    now += base + target;
    ack(pkt, base + target);
    EXPECT_EQ(cc->cwnd_bytes, 4 * pkt);
}

TEST_F(nscc, quick_adapt_not_when_much_got_through)
{
    warm();
    ack(pkt, base);
    now += 1000;
    nack(pkt);
    ack(10 * pkt, base + target); // more than max_wnd / 8
    now += base + target;
    ack(pkt, base + target);
    EXPECT_GT(cc->cwnd_bytes, 20 * pkt);
}

TEST_F(nscc, quick_adapt_by_delay_alone_only_if_the_window_was_used)
{
    warm();
    ack(pkt, base);
    now += base + target;
    mrc_cc_sample s = sample();
    s.acked_bytes = pkt;
    s.rtt_ns = base + 5 * target;
    s.inflight_bytes = pkt; // little was asked for: a slow host
    mrc_nscc.on_ack(cc, &s);
    EXPECT_GT(cc->cwnd_bytes, 20 * pkt);
    now += base + target;
    s.now_ns = now;
    s.inflight_bytes = cc->cwnd_bytes;
    mrc_nscc.on_ack(cc, &s);
    EXPECT_LE(cc->cwnd_bytes, 2 * pkt);
}

TEST_F(nscc, quick_adapt_by_trim_only_if_the_window_was_used)
{
    warm();
    ack(pkt, base);
    mrc_cc_sample s = sample();
    s.inflight_bytes = 3 * pkt; // one of many that share the host's link
    s.lost_bytes = pkt;
    s.trimmed = true;
    mrc_nscc.on_nack(cc, &s);
    now += base + target;
    s = sample();
    s.inflight_bytes = 3 * pkt;
    s.acked_bytes = pkt;
    s.rtt_ns = base;
    mrc_nscc.on_ack(cc, &s);
    EXPECT_GT(cc->cwnd_bytes, 20 * pkt);
}

TEST_F(nscc, quick_adapt_can_be_turned_off)
{
    cfg.nscc.disable_qa = true;
    init();
    warm();
    ack(pkt, base);
    nack(pkt);
    now += base + target;
    ack(pkt, base + target);
    EXPECT_GT(cc->cwnd_bytes, 20 * pkt);
}

// A trim is the peer's word: what it took stays taken, whatever else turns out to have arrived.
TEST_F(nscc, quick_adapt_by_trims_is_never_undone)
{
    warm();
    nack(2 * pkt);
    ASSERT_EQ(cc->cwnd_bytes, pkt);
    loss(2 * pkt);
    spurious(2 * pkt);
    EXPECT_EQ(cc->cwnd_bytes, pkt);
}

TEST_F(nscc, quick_adapt_by_losses_and_a_trim_neither)
{
    cfg.trimming = false;
    init();
    warm();
    ack(pkt, base);
    loss(2 * pkt);
    nack(pkt);
    now += 3 * base;
    ack(pkt, base);
    ASSERT_EQ(cc->cwnd_bytes, pkt);
    spurious(2 * pkt);
    EXPECT_EQ(cc->cwnd_bytes, pkt);
}

// What had arrived is no answer to a trim: it counts in its period all the same.
TEST_F(nscc, a_false_alarm_takes_no_trim_back)
{
    warm();
    ack(pkt, base); // the period begins
    now += 1000;
    nack(pkt);
    loss(pkt);
    spurious(pkt);
    now += base + target;
    ack(4 * pkt, base + target);
    EXPECT_EQ(cc->cwnd_bytes, 4 * pkt);
}

TEST_F(nscc, a_timeout_that_was_none_is_undone_where_the_fabric_trims)
{
    warm();
    set_wnd(200000);
    timeout(pkt);
    ASSERT_EQ(cc->cwnd_bytes, 100000u);
    spurious(pkt);
    EXPECT_EQ(cc->cwnd_bytes, 200000u);
}

TEST_F(nscc, but_not_what_trims_took_after_it)
{
    for (bool last_hop : {false, true}) {
        init();
        warm();
        ack(pkt, base); // the period begins
        set_wnd(200000);
        timeout(pkt);
        nack(2 * pkt, true, 0, last_hop);
        ASSERT_EQ(cc->cwnd_bytes, 100000 - 2 * pkt);
        spurious(pkt);
        EXPECT_EQ(cc->cwnd_bytes, 200000 - 2 * pkt);
    }
}

TEST_F(nscc, marks_of_the_old_flight_do_not_shrink_again)
{
    warm();
    for (int i = 0; i < 400; i++)
        ack(1, base + 30 * target, true);
    nack(pkt);
    now += base + 31 * target;
    ack(8 * pkt, base + target, true); // quick adapt: 8 packets, some 50 in flight
    now += base;
    u32 wnd = cc->cwnd_bytes;
    ASSERT_LE(wnd, 9 * pkt);
    ack(pkt, base + 3 * target, true);
    EXPECT_EQ(cc->cwnd_bytes, wnd);
}

// A whole window is in flight, of which few packets get through. They become the window. The rest is trimmed, too.
TEST_F(nscc, trims_of_the_old_flight_do_not_shrink_again)
{
    warm();
    ack(pkt, base); // the period begins
    ack(4 * pkt, base + target);
    now += base + target;
    u32 flight = cc->cwnd_bytes;
    nack(pkt);
    ASSERT_EQ(cc->cwnd_bytes, 4 * pkt) << "what got through";
    for (; flight > pkt; flight -= pkt, now += 1000)
        nack(pkt);
    EXPECT_EQ(cc->cwnd_bytes, 4 * pkt) << "and no second quick adapt to what got through since: nothing";
    EXPECT_EQ(cc->hold_until_ns, 0u);
    nack(pkt); // not of that flight
    EXPECT_LT(cc->cwnd_bytes, 4 * pkt);
}

// Nothing got through. One packet of each of many senders may be too much, so the rest of the flight is a reason to pace.
TEST_F(nscc, trims_of_the_old_flight_pace_at_the_floor)
{
    warm();
    nack(pkt);
    ASSERT_EQ(cc->cwnd_bytes, pkt);
    ASSERT_EQ(cc->hold_until_ns, 0u);
    nack(pkt);
    EXPECT_EQ(cc->hold_until_ns - now, 2 * base);
}

// What was acknowledged, lost or timed out since is not in flight any more.
TEST_F(nscc, all_reports_end_the_old_flight)
{
    for (int how = 0; how < 3; how++) {
        init();
        warm();
        ack(pkt, base);
        ack(4 * pkt, base + target);
        now += base + target;
        u32 flight = cc->cwnd_bytes;
        nack(pkt);
        ASSERT_EQ(cc->cwnd_bytes, 4 * pkt);
        if (how == 0)
            ack(flight, 0);
        else if (how == 1)
            loss(flight);
        else
            timeout(flight);
        set_wnd(20 * pkt);
        nack(pkt);
        EXPECT_EQ(cc->cwnd_bytes, 19 * pkt) << how;
    }
}

// ---- pacing below one packet per round trip ----

TEST_F(nscc, trims_at_the_floor_hold_the_next_packet)
{
    warm();
    set_wnd(2 * pkt);
    nack(pkt);
    EXPECT_LE(cc->hold_until_ns, now) << "above the floor";
    now += base;
    nack(pkt);
    ASSERT_EQ(cc->cwnd_bytes, pkt);
    u64 first = cc->hold_until_ns - now;
    EXPECT_EQ(first, 2 * base);
    nack(pkt); // another connection's, of the same round trip
    EXPECT_EQ(cc->hold_until_ns - now, first);
    for (int i = 0; i < 10; i++) {
        now += base;
        nack(pkt);
    }
    EXPECT_EQ(cc->hold_until_ns - now, 16 * base) << "bounded";
}

TEST_F(nscc, trims_on_the_way_do_not_pace)
{
    warm();
    set_wnd(pkt);
    for (int i = 0; i < 5; i++) {
        nack(pkt, true, 0, false);
        loss(pkt); // with trimming: a path's, not for want of room
        now += base;
    }
    EXPECT_EQ(cc->hold_until_ns, 0u);
}

TEST_F(nscc, losses_without_trimming_pace)
{
    cfg.trimming = false;
    init();
    warm();
    set_wnd(pkt);
    loss(pkt);
    EXPECT_EQ(cc->hold_until_ns - now, 2 * base);
}

TEST_F(nscc, pacing_fades_with_answers_and_ends)
{
    warm();
    set_wnd(pkt);
    nack(pkt);
    now += base;
    nack(pkt);
    u64 hold = cc->hold_until_ns - now;
    EXPECT_EQ(hold, 4 * base);
    int n = 0;
    while (cc->hold_until_ns && n++ < 100) {
        now += 5 * base;
        ack(pkt, base + 2 * target);
        EXPECT_LT(cc->hold_until_ns, now + hold);
    }
    EXPECT_GT(n, 5);
    EXPECT_LT(n, 20);
    for (int i = 0; i < 5; i++)
        round(base);
    EXPECT_GT(cc->cwnd_bytes, 2 * pkt) << "then the window grows";
}

TEST_F(nscc, pacing_fades_more_slowly_while_held_and_not_while_shrunk)
{
    u64 held = 0, shrunk = 0, off = 0;

    for (u8 pen : {0, 1, 64}) {
        init();
        warm();
        set_wnd(pkt);
        nack(pkt);
        now += base;
        nack(pkt);
        now += 10 * base;
        ack(pkt, base + 2 * target, false, pen);
        (pen == 0 ? off : pen == 1 ? held : shrunk) = cc->hold_until_ns - now;
    }
    EXPECT_LT(off, held);
    EXPECT_LT(held, shrunk);
    EXPECT_EQ(shrunk + base + 2 * target, 4 * base);
}

TEST_F(nscc, pacing_ends_soon_without_a_queue)
{
    warm();
    set_wnd(pkt);
    for (int i = 0; i < 5; i++) {
        nack(pkt);
        now += base;
    }
    for (int i = 0; i < 4; i++) {
        now += 20 * base;
        ack(pkt, base + 100);
    }
    EXPECT_EQ(cc->hold_until_ns, 0u);
}

TEST_F(nscc, pacing_is_not_renewed_by_answers_to_probes)
{
    warm();
    set_wnd(pkt);
    nack(pkt);
    u64 until = cc->hold_until_ns;
    ASSERT_EQ(until - now, 2 * base);
    for (int i = 0; i < 10; i++) {
        now += base / 2;
        ack(0, base / 2);
    }
    EXPECT_EQ(cc->hold_until_ns, until);
}

// Where nothing trims: a round trip in which the fastest packet waited, too, and then losses.
struct give_way : nscc {
    void SetUp() override
    {
        nscc::SetUp();
        cfg.trimming = false;
        cfg.nscc.disable_qa = true;
        init();
        warm();
        set_wnd(40 * pkt);
    }
    void rounds(u32 n, u64 delay)
    {
        for (u32 i = 0; i < 40 * n; i++) {
            now += base / 39 + 1;
            ack(0, base + delay);
        }
    }
};

TEST_F(give_way, a_loss_in_a_queue_halves)
{
    rounds(2, 4000);
    u32 was = cc->cwnd_bytes;
    loss(pkt);
    EXPECT_EQ(cc->cwnd_bytes, was - was / 2);
}

TEST_F(give_way, without_a_queue_it_takes_its_bytes)
{
    rounds(2, 4000);
    rounds(2, 1400); // less than an eighth of the base
    u32 was = cc->cwnd_bytes;
    loss(pkt);
    EXPECT_EQ(cc->cwnd_bytes, was - pkt);
}

TEST_F(give_way, nor_where_some_packets_met_none)
{
    for (u32 i = 0; i < 200; i++) {
        now += base / 39 + 1;
        ack(0, base + (i % 8 ? 8000 : 0));
    }
    u32 was = cc->cwnd_bytes;
    loss(pkt);
    EXPECT_EQ(cc->cwnd_bytes, was - pkt);
}

TEST_F(give_way, once_for_a_flight_unless_more_than_half_of_it_is_lost)
{
    rounds(2, 4000);
    u32 was = cc->cwnd_bytes;
    for (u32 i = 0; i < 20; i++)
        loss(pkt);
    EXPECT_EQ(cc->cwnd_bytes, was - was / 2);
    loss(pkt);
    loss(pkt);
    EXPECT_NEAR(cc->cwnd_bytes, was - 22 * pkt, 50);
}

TEST_F(give_way, again_in_the_next_flight)
{
    rounds(2, 4000);
    loss(pkt);
    u32 was;
    rounds(1, 4000);
    was = cc->cwnd_bytes;
    loss(pkt);
    EXPECT_EQ(cc->cwnd_bytes, was) << "base and target are not over";
    rounds(1, 4000);
    was = cc->cwnd_bytes;
    loss(pkt);
    EXPECT_EQ(cc->cwnd_bytes, was - was / 2);
}

TEST_F(give_way, spares_nothing_later)
{
    rounds(2, 4000);
    loss(pkt);
    rounds(3, 0);
    u32 was = cc->cwnd_bytes;
    loss(pkt);
    EXPECT_EQ(cc->cwnd_bytes, was - pkt);
}

TEST_F(give_way, and_is_undone_when_all_of_it_was_none)
{
    rounds(2, 4000);
    u32 was = cc->cwnd_bytes;
    loss(pkt);
    loss(2 * pkt);
    spurious(pkt);
    EXPECT_LT(cc->cwnd_bytes, was - pkt);
    spurious(2 * pkt);
    EXPECT_EQ(cc->cwnd_bytes, was);
    spurious(pkt);
    EXPECT_EQ(cc->cwnd_bytes, was) << "no more than that";
}

TEST_F(give_way, a_small_window_goes_packet_by_packet)
{
    rounds(2, 4000);
    set_wnd(8 * pkt - 1);
    loss(pkt);
    EXPECT_EQ(cc->cwnd_bytes, 7 * pkt - 1);
    set_wnd(8 * pkt);
    loss(pkt);
    EXPECT_EQ(cc->cwnd_bytes, 4 * pkt);
}

TEST_F(give_way, by_a_base_that_is_given_likewise)
{
    cfg.nscc.base_rtt_ns = base;
    init();
    set_wnd(40 * pkt);
    rounds(2, 4000);
    u32 was = cc->cwnd_bytes;
    loss(pkt);
    EXPECT_EQ(cc->cwnd_bytes, was - was / 2);
}

} // namespace
