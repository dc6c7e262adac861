// SPDX-License-Identifier: GPL-2.0
// measure.cc - the disturbances and their effects; failover (measure.h).
#include "measure.h"

namespace sim {

namespace {

// That a disturbance took place at all: for lower bounds.
void add_causes(report &r, const world &w, u64 end_ps)
{
    u64 paused = 0, begun = 0, first = never, last = 0;

    for (const host &h : w.hosts) {
        paused += h.rx ? h.rx->pause.total_ps(end_ps) : 0;
        begun += h.rx ? h.rx->pause.started(end_ps) : 0;
        first = std::min(first, h.clock.ns(end_ps));
        last = std::max(last, h.clock.ns(end_ps));
    }
    r.add("pauses", real(begun));
    r.add("paused_ns", real(paused / ps_per_ns));
    r.add("clock_spread_ns", real(last - first));
}

void add_evs(report &r, const world &w, u64 end_ps)
{
    if (!w.watch.any())
        return;
    ev_watch::result x = w.watch.sum(end_ps);

    r.add("evs_bad_max", x.most);
    r.add("evs_bad_end", x.end);
    r.add("ev_bad_longest_us", us(x.longest_ps));
    r.add("ev_bad_longest_rtt", us(x.longest_ps) / us(w.s.base_rtt_ps()));
}

// Of SACKs, by the plane of the packet that each answers: the poorest plane's part of its share.
void add_sack_planes(report &r, const world &w, const counters &c)
{
    u64 least = never, sum = 0;

    for (u32 p = 0; p < w.topo.planes; p++) {
        least = std::min(least, c.sack_plane[p]);
        sum += c.sack_plane[p];
    }
    if (w.topo.planes > 1)
        r.add("sack_plane_least", ratio(real(least) * w.topo.planes, real(sum)));
}

// The longest time between two completions of one sender, and messages hit by a fault.
void add_messages(report &r, const world &w)
{
    u64 gap = 0, hit = 0;

    for (const end *e : w.ends)
        gap = std::max(gap, e ? e->gap_ps : 0);
    for (const flow &f : w.work.flows)
        hit += f.hit;
    r.add("gap_rtt_max", us(gap) / us(w.s.base_rtt_ps()));
    if (w.any_fault)
        r.add("messages_hit", real(hit));
}

} // namespace

void add_disturbed(report &r, const world &w, const counters &c, u64 end_ps)
{
    double rtx = *r.find("rtx");
    u32 sets = 0;

    for (const end *e : w.ends)
        sets += e != nullptr;
    add_causes(r, w, end_ps);
    add_evs(r, w, end_ps);
    add_sack_planes(r, w, c);
    r.add("marks_told_percent", 100 * ratio(real(c.marks_told), real(c.marks_seen)));
    add_messages(r, w);
    r.add("end_us", us(end_ps));
    r.add("needless_percent", 100 * ratio(real(c.needless), real(c.data_sent)));
    r.add("needless_rtx_percent", 100 * ratio(real(c.needless), rtx));
    r.add("probes_percent", 100 * ratio(real(c.probes_sent), real(c.data_sent)));
    r.add("probes_per_set_s", ratio(real(c.probes_sent), us(end_ps) * 1e-6 * sets));
}

// t1: from the first data packet that was sent into an outage to the last; a second outage
// counts by itself.
void add_failover(report &r, const world &w, const counters &c)
{
    std::vector<double> lost, t1, into;
    double rtt = us(w.s.base_rtt_ps()), acks = 0, reuse = 0, least = 1e18, sum = 0;

    r.add("rtt_us", rtt);
    for (size_t i = 0; i < w.lost.size(); i++) {
        const end *e = w.ends[i];

        if (w.work.end_flows[i])
            lost.push_back(w.lost[i]);
        if (!w.any_fault || !e)
            continue;
        acks = std::max(acks, us(e->dead_acks.longest) / rtt);
        if (w.work.end_flows[i] && w.repaired.number)
            reuse = std::max(reuse, e->repair_seen == w.repaired.number ? us(e->reuse_ps)
                                                                        : not_at_all);
        if (w.first_loss[i] == never && !e->dead_sent)
            continue;
        t1.push_back(us(e->dead_data.longest) / rtt);
        into.push_back(e->dead_sent);
    }
    r.add("lost_per_flow_max", quantile(lost, 100));
    r.add("lost_per_flow_mean", mean(lost));
    if (!w.any_fault)
        return;
    r.add("flows_hit", real(t1.size()));
    r.add("t1_rtt_median", quantile(t1, 50));
    r.add("t1_rtt_p99", quantile(t1, 99));
    r.add("t1_rtt_max", quantile(t1, 100));
    r.add("dead_sent_per_flow_max", quantile(into, 100));
    r.add("dead_acks_rtt_max", acks);
    if (w.repaired.number)
        r.add("reuse_us_max", reuse);
    r.add("late_dead_percent", 100 * ratio(real(c.late_dead), real(c.late_sent)));
    for (u32 p = 0; p < w.topo.planes; p++) {
        least = std::min(least, real(c.late_plane_pkts[p]));
        sum += real(c.late_plane_pkts[p]);
    }
    if (w.topo.planes > 1)
        r.add("late_plane_least", ratio(least * w.topo.planes, sum));
}

} // namespace sim
