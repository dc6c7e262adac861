// SPDX-License-Identifier: GPL-2.0
// report.cc - metrics of a finished run. See report.h.
#include "report.h"

#include <sys/resource.h>

#include <algorithm>

namespace sim {

namespace {

double us(u64 ps)
{
    return static_cast<double>(ps) / static_cast<double>(ps_per_us);
}

double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

// Sorts v; q in percent.
double quantile(std::vector<double> &v, u32 q)
{
    if (v.empty())
        return 0;
    std::sort(v.begin(), v.end());
    return v[std::min(v.size() - 1, v.size() * q / 100)];
}

double mean(const std::vector<double> &v)
{
    double sum = 0;

    for (double x : v)
        sum += x;
    return v.empty() ? 0 : sum / static_cast<double>(v.size());
}

void add_flows(report &r, const world &w)
{
    std::vector<double> rx, tx, slow;
    u64 last = 0, unfinished = 0;

    for (const flow &f : w.work.flows) {
        bool done = f.rx_done != never && f.tx_done != never;
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
    r.add("flows", static_cast<double>(w.work.flows.size()));
    r.add("unfinished", static_cast<double>(unfinished));
    r.add("ideal_us", us(w.work.ideal_ps));
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

// What the engines counted.
void add_engines(report &r, const world &w, u64 needed)
{
    mrc_stats sum = {};
    mrc_ev_stats ev = {};

    for (const end *e : w.ends) {
        if (!e)
            continue;
#define X(name, help) sum.name += e->conn.stats.name;
        MRC_STATS(X)
#undef X
        ev.skips += e->evs.stats.skips;
        ev.demotions += e->evs.stats.demotions;
        ev.readmissions += e->evs.stats.readmissions;
        ev.floor_hits += e->evs.stats.floor_hits;
        ev.spurious += e->evs.stats.spurious;
    }
    u64 rtx = sum.rtx_rack + sum.rtx_nack + sum.rtx_trim + sum.rtx_rto + sum.rtx_plane +
              sum.rtx_rnr;

    r.add("packets_needed", static_cast<double>(needed));
    r.add("rtx", static_cast<double>(rtx));
    r.add("rtx_percent", 100 * ratio(static_cast<double>(rtx), static_cast<double>(needed)));
    r.add("rtx_rack", static_cast<double>(sum.rtx_rack));
    r.add("rtx_trim", static_cast<double>(sum.rtx_trim));
    r.add("rtx_nack", static_cast<double>(sum.rtx_nack));
    r.add("rtx_rto", static_cast<double>(sum.rtx_rto));
    r.add("rtx_plane", static_cast<double>(sum.rtx_plane));
    r.add("rx_dup", static_cast<double>(sum.rx_dup));
    r.add("timeouts", static_cast<double>(sum.timeouts));
    r.add("sacks", static_cast<double>(sum.sacks_sent));
    r.add("ev_skips", static_cast<double>(ev.skips));
    r.add("ev_demotions", static_cast<double>(ev.demotions));
    r.add("ev_readmissions", static_cast<double>(ev.readmissions));
    r.add("ev_spurious", static_cast<double>(ev.spurious));
    r.add("ev_floor_hits", static_cast<double>(ev.floor_hits));
}

void add_counters(report &r, const world &w, const counters &c)
{
    double most = 0, least = 1e18, sum = 0;

#define X(name, help) r.add(#name, static_cast<double>(c.name));
    SIM_COUNTERS(X)
#undef X
    for (u32 p = 0; p < w.topo.planes; p++) {
        double n = static_cast<double>(c.plane_pkts[p]);

        most = std::max(most, n);
        least = std::min(least, n);
        sum += n;
        if (w.topo.planes > 1)
            r.add("plane" + std::to_string(p) + "_pkts", n);
    }
    r.add("plane_share_max", ratio(most * w.topo.planes, sum));
    r.add("plane_share_min", ratio(least * w.topo.planes, sum));
}

// Failover: packets lost, and how long senders went on using the dead path.
void add_failover(report &r, const world &w)
{
    std::vector<double> lost, t1, into;
    double rtt = us(w.s.base_rtt_ps());

    r.add("rtt_us", rtt);
    for (size_t i = 0; i < w.lost.size(); i++) {
        const end *e = w.ends[i];

        if (w.work.end_flows[i])
            lost.push_back(w.lost[i]);
        if (!w.any_fault || !e || w.first_loss[i] == never)
            continue;
        u64 last = std::max(e->dead_sent_last, w.first_loss[i]);
        t1.push_back(us(last - w.first_loss[i]) / rtt);
        into.push_back(e->dead_sent);
    }
    r.add("lost_per_flow_max", quantile(lost, 100));
    r.add("lost_per_flow_mean", mean(lost));
    if (!w.any_fault)
        return;
    r.add("flows_hit", static_cast<double>(t1.size()));
    r.add("t1_rtt_median", quantile(t1, 50));
    r.add("t1_rtt_p99", quantile(t1, 99));
    r.add("t1_rtt_max", quantile(t1, 100));
    r.add("dead_sent_per_flow_max", quantile(into, 100));
}

double average(const std::vector<double> &v, size_t from, size_t to)
{
    double sum = 0;

    for (size_t i = from; i < to; i++)
        sum += v[i];
    return to > from ? sum / static_cast<double>(to - from) : 0;
}

// Goodput between the fault and the first flow's end, against that before the fault.
void add_goodput(report &r, const world &w, const fault_plan &faults)
{
    double bucket = r.bucket_us, rtt = us(w.s.base_rtt_ps());
    double residual = static_cast<double>(faults.residual_q16()) / 65536;
    u64 first_end = never;

    for (const flow &f : w.work.flows)
        first_end = std::min(first_end, f.rx_done);
    if (!w.any_fault || first_end == never || faults.first_ps() >= first_end)
        return;
    auto at = [&](double t) {
        return std::min(static_cast<size_t>(t / bucket), r.goodput_gbps.size());
    };
    double fault = us(faults.first_ps());
    size_t warm = at(3 * rtt) + 1, hit = at(fault), settled = at(fault + 5 * rtt) + 1,
           stop = at(us(first_end));
    double before = average(r.goodput_gbps, warm, hit);
    double after = average(r.goodput_gbps, settled, stop);

    r.add("residual", residual);
    r.add("goodput_before_gbps", before);
    r.add("goodput_after_gbps", after);
    r.add("goodput_share", ratio(after, before * residual));
    // t2: until 95 % of what is left is reached, for two buckets.
    for (size_t i = hit + 1; i + 1 < stop; i++)
        if (std::min(r.goodput_gbps[i], r.goodput_gbps[i + 1]) >= 0.95 * before * residual) {
            r.add("t2_rtt", std::max(0.0, static_cast<double>(i) * bucket - fault) / rtt);
            return;
        }
    r.add("t2_rtt", 1e9);
}

} // namespace

const double *report::find(const std::string &name) const
{
    for (const auto &[key, value] : metrics)
        if (key == name)
            return &value;
    return nullptr;
}

report make_report(const world &w, const scheduler &sch, const run_times &t)
{
    counters c = sch.total();
    rusage ru = {};
    u64 needed = 0;
    report r;

    for (const flow &f : w.work.flows)
        needed += w.work.packets(f.bytes);
    r.bucket_us = static_cast<double>(w.s.run.bucket_us);
    for (u64 bytes : sch.series())
        r.goodput_gbps.push_back(static_cast<double>(bytes) * 8e-3 / r.bucket_us);
    r.hash = sch.hash();
    add_flows(r, w);
    add_engines(r, w, needed);
    add_counters(r, w, c);
    add_failover(r, w);
    add_goodput(r, w, sch.faults());
    getrusage(RUSAGE_SELF, &ru);
    r.add("wall_s", t.wall_s);
    r.add("setup_cpu_s", t.setup_cpu_s);
    r.add("run_cpu_s", t.run_cpu_s);
    // Per second of one CPU, which does not depend on what else the machine does.
    r.add("hops_per_s", ratio(static_cast<double>(c.hops), t.run_cpu_s));
    r.add("data_pkts_per_s", ratio(static_cast<double>(c.data_sent), t.run_cpu_s));
    r.add("rss_mib", static_cast<double>(ru.ru_maxrss) / 1024);
    r.add("end_bytes", ratio(static_cast<double>(sch.end_memory()),
                             static_cast<double>(w.ends.size())));
    return r;
}

} // namespace sim
