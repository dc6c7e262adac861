// SPDX-License-Identifier: GPL-2.0
// options_host.cc - draws options for hosts and paths that differ.
//
// They use random streams of their own, so the other draws of a seed do not change.
#include "options.h"

#include "foreign/habits.h"
#include "prng.h"

#include <algorithm>

namespace sim {

namespace {

constexpr u64 us = 1000, ms = 1000 * us;

// In a quarter of the seeds each of these cannot be, in the others it may.
u64 density(prng &r)
{
    return r.below(4) * 200000;
}

void draw_odd_planes(options &o, prng &r, u64 chance)
{
    u64 all = (1ull << o.planes) - 1;
    u64 one = 1ull << r.below(o.planes), some = r.next() & all;
    bool odd = r.chance(chance);

    o.odd_planes = !odd ? 0 : r.chance(500000) ? one : some;
    o.odd_vary = r.chance(500000);
    o.odd_delay_ns = r.chance(600000) ? r.log_range(1 * us, 2 * ms) : 0;
    o.odd_rate_pct = r.chance(400000) ? r.range(10, 99) : 100;
    o.odd_queue_pct = r.chance(300000) ? r.range(5, 99) : 100;
    o.odd_loss_ppm = r.chance(300000) ? r.log_range(100, 300000) : 0;
    o.odd_loss_dir = r.chance(500000) ? 0 : r.range(1, 2);
    o.odd_trim = r.chance(300000);
}

void draw_links(options &o, prng &r, u64 chance)
{
    o.link_delay_ns = r.chance(chance) ? r.log_range(100, 100 * us) : 0;
    o.link_rate_pct = r.chance(chance) ? r.range(20, 99) : 100;
    o.link_queue_pct = r.chance(chance) ? r.range(5, 99) : 100;
    o.link_loss_ppm = r.chance(chance) ? r.log_range(10, 20000) : 0;
    o.link_notrim_ppm = r.chance(chance) ? r.range(50000, 1000000) : 0;
    o.switch_bytes = r.chance(chance / 2) ? r.log_range(1 << 14, 1 << 19) : 0;
    o.fifo = r.chance(chance / 2);
    if (r.chance(chance / 2))
        o.jitter_ns = r.log_range(20 * us, 300 * us);
    // Far away, or emulated by a machine that is busy.
    if (r.chance(chance / 6))
        o.delay_ns = r.log_range(20 * us, 3 * ms);
}

void draw_cpu(options &o, prng &r, u64 chance)
{
    o.clock_off_ns = r.chance(500000) ? r.log_range(1 * us, 1ull << 42) : 0;
    o.drift_ppm = r.chance(500000) ? r.log_range(1, 200) : 0;
    o.slack_ns = r.chance(chance) ? r.log_range(1 * us, 1 * ms) : 0;
    o.rx_cost_ns = r.chance(chance) ? r.log_range(50, 3 * us) : 0;
    o.tx_cost_ns = r.chance(chance) ? r.log_range(50, 3 * us) : 0;
    o.batch = !r.chance(chance) ? 0 : r.chance(700000) ? 64 : r.range(1, 63);
    o.ring_pkts = o.batch && r.chance(400000) ? r.log_range(16, 1024) : 0;
}

// Pauses strike who still has something to do then: work comes more slowly in some.
void draw_pauses(options &o, prng &r, u64 chance)
{
    bool pauses = r.chance(chance), slowly = r.chance(300000), longer = r.chance(300000);
    u64 gap = r.log_range(200 * us, 4 * ms), faults = r.log_range(10 * ms, 100 * ms);

    o.pauses = pauses ? r.range(1, 6) : 0;
    o.pause_ns = r.log_range(1 * ms, 200 * ms);
    if (pauses && slowly)
        o.post_gap_ns = gap;
    // Most hosts have rings, which then fill.
    if (pauses && !o.batch && r.chance(700000)) {
        o.batch = 64;
        o.ring_pkts = r.chance(700000) ? r.log_range(32, 1024) : 0;
    }
    if (pauses && longer)
        o.fault_ns = faults;
    if (r.chance(chance / 2))
        o.notify_ns = r.log_range(1 * ms, 50 * ms);
    // With all planes down, an answer to a probe that comes after that and a NACK owed,
    // the engine asks for its timer in the past, again and again (seed 5489).
    o.flap_notify = !o.dead_all && r.chance(700000);
}

// Some go on for longer, and some end with one message now and then.
void draw_length(options &o, prng &r)
{
    u64 bytes = std::min<u64>(o.mtu << 12, 16 << 20), len = r.log_range(16384, 300000);

    if (r.chance(50000)) {
        o.bytes = bytes;
        o.msgs = r.range(400, 1000);
        o.len_max = std::max(o.len_max, len);
    }
    o.lone_msgs = r.chance(80000) ? r.log_range(1, 64) : 0;
    o.lone_gap_ns = r.log_range(100 * us, 20 * ms);
}

// What is not MRC, on the same ports; and interrupts that are held back.
void draw_rivals(options &o, prng &r)
{
    o.tcp_flows = r.chance(100000) ? r.range(1, 3) : 0;
    o.coalesce_ns = r.chance(100000) ? r.log_range(5 * us, 200 * us) : 0;
    o.coalesce_host = r.below(3);
}

// In a fifth of the seeds one end of each pair is another implementation's, which speaks MRC 1.0
// and nothing else; a fifth of those lie.
void draw_strangers(options &o, prng &r)
{
    static const u64 sacks[] = {0, 0, 1, 2, 4, 4, 4, 8, 16};
    bool meets = r.chance(200000), lies = r.chance(200000);

    o.strangers = r.range(1, 2);
    o.peer_sack_pkts = r.pick(sacks);
    o.peer_bitmap = r.below(BITMAP_KINDS);
    o.peer_echo = r.chance(700000);
    o.peer_counts = r.chance(700000);
    o.peer_answers = r.chance(850000);
    o.peer_ack_every = r.chance(600000) ? 1 : r.range(2, 16);
    o.peer_refuse_ppm = r.chance(150000) ? r.log_range(100, 100000) : 0;
    o.peer_window = r.log_range(2, 1024);
    o.peer_messages = r.log_range(1, 512);
    o.peer_ask_every = r.chance(500000) ? 0 : r.log_range(1, 64);
    o.peer_stamps = r.chance(700000);
    o.peer_probes = r.chance(500000);
    o.peer_halves = r.chance(700000);
    o.peer_late_pkts = r.log_range(3, 200);
    o.peer_timeout_ns = r.log_range(200 * us, 4 * ms);
    o.peer_lies = r.range(1, LIE_ALL) & r.range(1, LIE_ALL);
    if (!lies)
        o.peer_lies = 0;
    if (!meets) {
        o.strangers = 0;
        return;
    }
    o.mrc_only = 1;
    o.ops = 1 << MRC_OP_WRITE | 1 << MRC_OP_WRITE_IMM;
    o.recv_ahead = 1000000;
    o.stalls = 0;
    o.fatal = 0;
}

} // namespace

void draw_hosts(options &o, u64 seed)
{
    prng planes(seed, "options/planes"), links(seed, "options/links");
    prng cpu(seed, "options/cpu"), pauses(seed, "options/pauses");
    prng length(seed, "options/length"), rivals(seed, "options/rivals");
    prng strangers(seed, "options/strangers");
    u64 dense;

    dense = density(planes);
    draw_odd_planes(o, planes, dense);
    dense = density(links);
    draw_links(o, links, dense);
    dense = density(cpu);
    draw_cpu(o, cpu, dense);
    dense = density(pauses) / 2;
    draw_pauses(o, pauses, dense);
    draw_length(o, length);
    draw_rivals(o, rivals);
    draw_strangers(o, strangers);
}

} // namespace sim
