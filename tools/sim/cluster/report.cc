// SPDX-License-Identifier: GPL-2.0
// report.cc - computes the metrics of a finished run (report.h).
#include "measure.h"

#include <sys/resource.h>

#include <algorithm>

namespace sim {

namespace {

void add_flows(report &r, const world &w)
{
    std::vector<double> rx, tx, slow;
    u64 last = 0, unfinished = 0;

    for (const flow &f : w.work.flows) {
        bool done = f.rx_done != never && f.tx_done != never;

        if (f.local()) {
            unfinished += !done;
            last = done ? std::max(last, f.rx_done) : last;
            continue;
        }
        double ideal = us(w.work.lone_ps(f)), start = us(f.start);

        r.flows.push_back({f.src, f.dst, f.bytes, f.start == never ? -1 : start,
                           f.rx_done == never ? -1 : us(f.rx_done - f.start),
                           f.tx_done == never ? -1 : us(f.tx_done - f.start), ideal,
                           w.lost[f.conn]});
        if (!done) {
            unfinished++;
            continue;
        }
        last = std::max(last, f.rx_done);
        rx.push_back(us(f.rx_done - f.start));
        tx.push_back(us(f.tx_done - f.start));
        slow.push_back(ratio(rx.back(), ideal));
    }
    r.add("flows", real(w.work.flows.size()));
    r.add("unfinished", real(unfinished));
    r.add("ideal_us", us(w.work.ideal_ps));
    // And the last acknowledgement back over four empty links.
    r.add("ideal_sender_us", us(w.work.ideal_ps + 4 * (w.s.fabric.delay_ns * ps_per_ns +
                                                       w.s.ser_ps(w.s.fabric.control))));
    r.add("makespan_us", us(last));
    r.add("max_over_ideal", unfinished ? 1e9 : ratio(us(last), us(w.work.ideal_ps)));
    r.add("fct_mean_us", mean(rx));
    r.add("fct_p99_us", quantile(rx, 99));
    r.add("fct_max_us", quantile(rx, 100));
    r.add("fct_sender_mean_us", mean(tx));
    r.add("fct_sender_max_us", quantile(tx, 100));
    r.add("slowdown_mean", mean(slow));
    r.add("slowdown_p99", quantile(slow, 99));
    r.add("slowdown_max", unfinished ? 1e9 : quantile(slow, 100));
    if (w.work.victim != none32) {
        const flow_result &v = r.flows[w.work.victim];

        r.add("victim_slowdown", v.rx_us < 0 ? 1e9 : ratio(v.rx_us, v.ideal_us));
    }
}

// Of each of the first [[flow]] tables: from its first message's start to its last one's end.
void add_listed(report &r, const world &w)
{
    const flow *f = w.work.flows.data();
    constexpr size_t most = 16;

    for (size_t i = 0; i < std::min(w.s.flow.size(), most); i++) {
        u64 first = f->start, last = 0, bytes = 0;

        for (u64 n = 0; n < w.s.flow[i].count; n++, f++) {
            last = std::max(last, f->rx_done);
            bytes += f->bytes;
        }
        double took = last == never ? not_at_all : us(last - first);
        r.add("flow" + std::to_string(i) + "_us", took);
        r.add("flow" + std::to_string(i) + "_gbps", ratio(real(bytes) * 8e-3, took));
    }
}

// What the engines counted.
void add_engines(report &r, const world &w, u64 needed)
{
    mrc_stats sum = {};
    mrc_ev_stats ev = {};
    u64 denied = 0;

    for (const end *e : w.ends) {
        if (!e)
            continue;
#define X(name, help) sum.name += e->conn.stats.name;
        MRC_STATS(X)
#undef X
        denied += e->port ? mrc_port_denied(e->port) : 0;
        if (e->owner != e)
            continue;
        ev.skips += e->evs->stats.skips;
        ev.demotions += e->evs->stats.demotions;
        ev.readmissions += e->evs->stats.readmissions;
        ev.floor_hits += e->evs->stats.floor_hits;
        ev.spurious += e->evs->stats.spurious;
    }
    u64 rtx = sum.rtx_rack + sum.rtx_nack + sum.rtx_trim + sum.rtx_rto + sum.rtx_plane +
              sum.rtx_rnr + sum.rtx_sleek;

    r.add("packets_needed", real(needed));
    r.add("rtx", real(rtx));
    r.add("rtx_percent", 100 * ratio(real(rtx), real(needed)));
    r.add("rtx_rack", real(sum.rtx_rack));
    r.add("rtx_trim", real(sum.rtx_trim));
    r.add("rtx_nack", real(sum.rtx_nack));
    r.add("rtx_rto", real(sum.rtx_rto));
    r.add("rtx_plane", real(sum.rtx_plane));
    r.add("rtx_sleek", real(sum.rtx_sleek));
    r.add("rtx_spurious", real(sum.rtx_spurious));
    r.add("rx_dup", real(sum.rx_dup));
    r.add("timeouts", real(sum.timeouts));
    r.add("owed_full", real(sum.owed_full));
    r.add("sacks", real(sum.sacks_sent));
    r.add("ev_skips", real(ev.skips));
    r.add("ev_demotions", real(ev.demotions));
    r.add("ev_readmissions", real(ev.readmissions));
    r.add("ev_spurious", real(ev.spurious));
    r.add("ev_floor_hits", real(ev.floor_hits));
    r.add("ports_denied", real(denied));
}

void add_counters(report &r, const world &w, const counters &c)
{
    double most = 0, least = 1e18, sum = 0;

#define X(name, help) r.add(#name, real(c.name));
    SIM_COUNTERS(X)
#undef X
    for (u32 p = 0; p < w.topo.planes; p++) {
        double n = real(c.plane_pkts[p]);

        most = std::max(most, n);
        least = std::min(least, n);
        sum += n;
        if (w.topo.planes > 1)
            r.add("plane" + std::to_string(p) + "_pkts", n);
    }
    r.add("plane_share_max", ratio(most * w.topo.planes, sum));
    r.add("plane_share_min", ratio(least * w.topo.planes, sum));
}

} // namespace

const double *report::find(const std::string &name) const
{
    for (const auto &[key, value] : metrics)
        if (key == name)
            return &value;
    return nullptr;
}

void report::add_up(const report &other)
{
    for (auto &[key, value] : metrics)
        if (const double *more = other.find(key))
            value += *more;
}

void report::divide(double runs)
{
    for (auto &[key, value] : metrics)
        value /= runs;
}

report make_report(const world &w, const scheduler &sch, const run_times &t)
{
    counters c = sch.total();
    rusage ru = {};
    u64 needed = 0;
    report r;

    for (const flow &f : w.work.flows)
        needed += w.work.packets(f.bytes);
    r.bucket_us = real(w.s.run.bucket_us);
    for (const sample &x : sch.series())
        r.goodput_gbps.push_back(real(x.delivered) * 8e-3 / r.bucket_us);
    r.hash = sch.hash();
    add_flows(r, w);
    add_listed(r, w);
    add_steps(r, w);
    add_engines(r, w, needed);
    add_counters(r, w, c);
    add_disturbed(r, w, c, sch.end_ps());
    add_failover(r, w, c);
    add_windows(r, w, sch.faults(), sch.series(), sch.end_ps());
    getrusage(RUSAGE_SELF, &ru);
    r.add("wall_s", t.wall_s);
    r.add("setup_cpu_s", t.setup_cpu_s);
    r.add("run_cpu_s", t.run_cpu_s);
    // Per second of one CPU, which does not depend on what else the machine does.
    r.add("hops_per_s", ratio(real(c.hops), t.run_cpu_s));
    r.add("data_pkts_per_s", ratio(real(c.data_sent), t.run_cpu_s));
    r.add("rss_mib", real(ru.ru_maxrss) / 1024);
    r.add("end_bytes", ratio(real(sch.end_memory()),
                             real(w.ends.size())));
    return r;
}

} // namespace sim
