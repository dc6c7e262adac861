// SPDX-License-Identifier: GPL-2.0
// options.cc - draws the options of one seed (options.h).
#include "options.h"

#include "economy.h"
#include "prng.h"

#include <algorithm>

namespace sim {

namespace {

constexpr u64 us = 1000, ms = 1000 * us;
constexpr u64 tick_wrap_ns = 64ull << 32; // of the engine's 32-bit ticks

void draw_fabric(options &o, prng &r)
{
    static const u64 planes[] = {1, 2, 2, 3, 4, 4, 8};
    static const u64 mtus[] = {256, 512, 1024, 1024, 2048, 4096, 4096};
    static const u64 rates[] = {1000, 10000, 25000, 100000, 100000};

    o.hosts = r.chance(500000) ? 2 : r.range(3, 6);
    o.per_t0 = r.range(1, o.hosts);
    o.t1s = r.range(1, 4);
    o.planes = r.pick(planes);
    o.evs = r.chance(950000) ? r.log_range(1, 16) : r.range(17, 512 / o.planes);
    o.ev_active = r.chance(600000) ? 0 : r.range(o.planes, o.planes * o.evs);
    o.qps = o.hosts > 2 ? r.range(2, o.hosts + 1) : r.chance(400000) ? r.range(2, 3) : 1;
    o.mtu = r.pick(mtus);
    o.rate_mbps = r.pick(rates);
    o.down_pct = r.chance(400000) ? 100 : r.range(30, 99);
    o.delay_ns = r.log_range(500, 20 * us);
    o.skew_ns = r.chance(500000) ? r.log_range(100, 20 * us) : 0;
    o.jitter_ns = r.chance(500000) ? r.log_range(100, 20 * us) : 0;
    o.queue_bytes = r.chance(500000) ? r.log_range(16384, 1 << 19) : 0;
    o.ecn_bytes = r.chance(400000) ? r.log_range(8192, 1 << 18) : 0;
    o.ecn_last = r.chance(300000);
    o.trim = r.chance(600000);
    o.rx_delay_ns = r.chance(600000) ? r.log_range(100, 10 * us) : 0;
    o.epoch_ns = r.chance(250000) ? tick_wrap_ns - r.log_range(1 * us, 10 * ms)
                                  : r.range(1, 1ull << 45);
}

void draw_conn(options &o, prng &r)
{
    static const u64 mprs[] = {1, 1, 2, 4, 8, 8, 16, 32};
    static const u64 sack_pkts[] = {0, 0, 1, 2, 4, 16, 64};

    o.mpr = r.pick(mprs);
    o.mpr_b = r.chance(700000) ? o.mpr : r.pick(mprs);
    o.sq_max = 1ull << r.range(1, 7);
    o.rd_max = 1ull << r.range(0, 5);
    o.rq_max = 1ull << r.range(2, 8);
    o.wimm = r.chance(500000) ? 0 : r.range(1, o.rq_max);
    o.tails = r.chance(500000) ? 32 : r.range(1, 8);
    o.sack_pkts = r.pick(sack_pkts);
    o.cwnd_bytes = r.chance(500000) ? 0 : r.log_range(2 * o.mtu + 8192, 1 << 20);
    o.nscc = r.chance(500000);
    o.incast = r.chance(400000);
    o.sleek = r.chance(200000);
    o.timestamps = r.chance(700000);
    o.svc_time = r.chance(500000);
    o.trim_nack = r.chance(800000);
    o.dyn_mpr = r.chance(300000);
    o.strict = r.chance(150000);
    o.damp_ns = r.chance(400000) ? r.log_range(100 * us, 2 * ms) : 0;
    o.timeout_ns = r.chance(950000) ? r.log_range(200 * us, 4 * ms) : 0;
    o.linear_cnt = 7;
    o.exp_cnt = MRC_EXP_FOREVER;
    if (r.chance(100000)) {
        o.linear_cnt = r.range(0, 3);
        o.exp_cnt = r.range(0, 3);
    }
    o.rnr_retry = r.chance(900000) ? MRC_RNR_FOREVER : r.range(0, 6);
    o.min_rnr_timer = r.range(1, 12);
    o.min_active = r.chance(700000) ? 0 : r.range(1, o.planes * o.evs);
    o.readmit = r.range(0, 3);
    o.probe_ns = r.chance(500000) ? 0 : r.log_range(10 * us, 1 * ms);
    o.probe_max_ns = r.chance(500000) ? 0 : r.log_range(1 * ms, 20 * ms);
    o.oor_nack = r.chance(300000);
    o.mrc_only = r.chance(150000);
    // Near the wrap of 24 bits in half of the seeds.
    o.psn_a = r.chance(500000) ? MRC_PSN_MASK - r.below(3000) : r.below(1 << 24);
    o.psn_b = r.chance(500000) ? MRC_PSN_MASK - r.below(3000) : r.below(1 << 24);
}

void draw_work(options &o, prng &r)
{
    constexpr u64 writes = 1 << MRC_OP_WRITE | 1 << MRC_OP_WRITE_IMM;
    constexpr u64 all = (1 << (MRC_OP_FETCH_ADD + 1)) - 1;

    o.msgs = r.log_range(1, 400);
    o.bytes = r.log_range(1 << 13, std::min<u64>(o.mtu << 12, 4 << 20));
    o.one_way = r.chance(250000);
    o.fan_in = r.chance(250000);
    o.len_max = r.log_range(64, 300000);
    o.ops = o.mrc_only ? writes : r.chance(600000) ? all : 0;
    // Otherwise some of the eight.
    while (!o.ops)
        o.ops = r.next() & r.next() & all;
    o.fence_ppm = r.chance(400000) ? r.log_range(1000, 300000) : 0;
    o.post_burst = r.log_range(1, 64);
    o.post_gap_ns = r.log_range(100, 200 * us);
    o.recv_ahead = r.chance(600000) ? 1000000 : r.range(1, 32);
    o.recv_delay_ns = r.log_range(100, 100 * us);
    if (o.mrc_only)
        o.recv_ahead = 1000000;
}

void draw_faults(options &o, prng &r)
{
    // Which faults this seed has: each with the same chance, drawn per seed.
    u64 density = r.below(4) * 200000;
    bool on[18];

    for (bool &b : on)
        b = r.chance(density);
    o.fault_ns = r.log_range(500 * us, 10 * ms);
    o.loss_ppm = on[0] ? r.log_range(100, 150000) : 0;
    o.loss_dir = r.chance(600000) ? 0 : r.range(1, 2);
    o.loss_ctrl = r.chance(600000) ? 0 : r.range(1, 2);
    o.burst_ppm = on[1] ? r.log_range(100, 10000) : 0;
    o.burst_len = r.log_range(2, 200);
    o.dup_ppm = on[2] ? r.log_range(100, 200000) : 0;
    o.corrupt_ppm = on[3] ? r.log_range(100, 20000) : 0;
    o.trim_ppm = on[4] ? r.log_range(100, 200000) : 0;
    o.ecn_ppm = on[5] ? r.log_range(100, 500000) : 0;
    o.reorder_ppm = on[6] ? r.log_range(100, 200000) : 0;
    o.reorder_ns = r.log_range(1 * us, 2 * ms);
    o.dead_links = on[7] ? r.log_range(1, 12) : 0;
    o.dead_cables = on[13] ? r.log_range(1, 12) : 0;
    o.reboots = on[14] ? r.range(1, 4) : 0;
    o.flaps = on[15] ? r.log_range(2, 20) : 0;
    o.dead_ns = r.log_range(10 * us, 5 * ms);
    o.dead_notify = r.below(3);
    o.dead_all = r.chance(200000);
    o.notify_ns = r.log_range(1, 500 * us);
    o.slow_ports = on[16] ? r.range(1, 4) : 0;
    o.holes = on[8] ? r.range(1, o.planes * o.evs) : 0;
    o.stalls = on[9] ? r.range(1, 4) : 0;
    o.clogs = on[17] ? r.range(1, 4) : 0;
    o.stall_ns = r.log_range(10 * us, 3 * ms);
    o.undo_ppm = on[10] ? r.log_range(100, 200000) : 0;
    o.rx_drop_ppm = on[11] ? r.log_range(100, 50000) : 0;
    o.late_ppm = on[12] ? r.log_range(10000, 1000000) : 0;
    o.late_ns = r.log_range(1 * us, 5 * ms);
    o.fatal = r.chance(120000) ? r.range(1, 6) : 0;
    if (o.mrc_only && (o.fatal == 2 || o.fatal == 3 || o.fatal == 5))
        o.fatal = 1;
    if (o.mrc_only)
        o.stalls = 0;
}

// Memory of connections, and whether the peer may send more messages than have a receive.
void draw_room(options &o, u64 seed)
{
    prng r(seed, "options/room");

    o.small = r.chance(500000);
    o.grow_ns = r.chance(500000) ? r.log_range(1, 100 * us) : r.log_range(100 * us, 100 * ms);
    o.burst = r.chance(250000) ? r.range(2, MRC_BURST_MAX) : 1;
    if (!o.mrc_only && o.rnr_retry == MRC_RNR_FOREVER && r.chance(200000))
        o.wimm = r.range(o.rq_max, 4 * o.rq_max);
}

} // namespace

options options::draw(u64 seed)
{
    options o = {};
    prng fabric(seed, "options/fabric"), conn(seed, "options/conn");
    prng work(seed, "options/work"), faults(seed, "options/faults");

    draw_fabric(o, fabric);
    draw_conn(o, conn);
    draw_work(o, work);
    draw_faults(o, faults);
    draw_hosts(o, seed);
    draw_room(o, seed);
    o.grace_ns = 3000 * ms;
    o.economy = ECONOMY_DEFAULT;
    // Who does not answer probes gets no EV back; who lies is no measure of what is promised.
    if (o.strangers && !o.peer_answers)
        o.economy &= ~static_cast<u64>(ECONOMY_HEAL | ECONOMY_TAILS);
    if (o.strangers && o.peer_lies)
        o.economy = 0;
    o.probe_burst = default_probe_burst;
    o.heal_ns = default_heal_ns;
    o.resend_burst = default_resend_burst;
    return o;
}

void options::print() const
{
#define X(name, help) std::printf("%-14s %12llu  %s\n", #name, (unsigned long long)name, help);
    SIM_OPTIONS(X)
#undef X
}

void options::list()
{
#define X(name, help) std::printf("%-14s %s\n", #name, help);
    SIM_OPTIONS(X)
#undef X
}

} // namespace sim
