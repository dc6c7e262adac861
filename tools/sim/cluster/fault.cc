// SPDX-License-Identifier: GPL-2.0
// fault.cc - applies failures and repairs (fault.h).
#include "fault.h"

#include <algorithm>

namespace sim {

fault_plan::fault_plan(world &w) : w_(w)
{
    auto both = [this](u64 at, u64 until, const fault_spec *f, const path_spec *rule, bool note) {
        changes_.push_back({at, f, rule, false, note});
        if (until != never)
            changes_.push_back({until, f, rule, true, note});
    };

    for (const fault_spec &f : w.s.fault) {
        u64 at = f.at_us * ps_per_us, until = f.until_us ? f.until_us * ps_per_us : never;
        u64 late = f.notify_ns * ps_per_ns;

        if (f.kind == "forged") {
            for (u64 i = 0; i < f.count; i++)
                changes_.push_back({at + i * f.every_us * ps_per_us, &f, nullptr, false, true});
            continue;
        }
        if (f.kind != "drain")
            both(at, until, &f, nullptr, false);
        if (f.notify || f.kind == "drain")
            both(at + late, until == never ? never : until + late, &f, nullptr, true);
    }
    for (const path_spec &x : w.s.path_rule)
        if (x.kills())
            both(x.at_us * ps_per_us, x.until_us ? x.until_us * ps_per_us : never, nullptr, &x,
                 false);
    std::stable_sort(changes_.begin(), changes_.end(),
                     [](const change &a, const change &b) { return a.at < b.at; });
    if (!changes_.empty())
        w.late_ps = changes_.front().at + w.s.run.late_rtt * w.s.base_rtt_ps();
}

u64 fault_plan::repair_ps() const
{
    for (const change &c : changes_)
        if (c.up && !c.notice)
            return c.at;
    return never;
}

void fault_plan::link(port &p, bool up)
{
    p.dead = static_cast<u8>(p.dead + (up ? -1 : 1));
    w_.dead_links += up ? -1u : 1u;
}

void fault_plan::cable(u32 plane, u32 t0, u32 t1, bool up)
{
    link(w_.topo.up_port(plane, t0, t1), up);
    link(w_.topo.down_port(plane, t1, t0), up);
}

// Dead, or some of its packets are lost.
void fault_plan::one_way(const fault_spec &f, bool up)
{
    u32 plane = static_cast<u32>(f.plane), t0 = static_cast<u32>(f.t0), t1 = static_cast<u32>(f.t1);
    port &p = f.way == "up" ? w_.topo.up_port(plane, t0, t1) : w_.topo.down_port(plane, t1, t0);

    if (f.loss_ppm == 1'000'000)
        link(p, up);
    else
        p.gray = up ? 0 : static_cast<u8>(&f - w_.s.fault.data() + 1);
}

void fault_plan::host_port(u32 plane, u32 host, bool up)
{
    link(w_.topo.nic_port(plane, host), up);
    link(w_.topo.last_port(plane, host), up);
}

void fault_plan::notice(u32 plane, u32 host, bool up)
{
    sim::host &h = w_.hosts[host];

    h.up = up ? h.up | 1u << plane : h.up & ~(1u << plane);
    h.notice = true;
    w_.rack_wake[w_.topo.rack_node(host)] = 0;
}

// Its peers hear that its port is down, and it did not say so.
void fault_plan::forge(const fault_spec &f)
{
    for (u32 id = 0; id < w_.topo.hosts; id++) {
        w_.hosts[id].forged = {static_cast<u32>(f.host), static_cast<u32>(f.plane)};
        w_.hosts[id].notice = true;
        w_.rack_wake[w_.topo.rack_node(id)] = 0;
    }
}

// Outages and repairs are numbered, for the ends to know a new one.
void fault_plan::count(bool up, u64 plane)
{
    if (!up) {
        w_.outage++;
        return;
    }
    w_.repaired.number++;
    w_.repaired.plane = static_cast<u32>(plane);
    w_.repaired.at = w_.window_start();
}

void fault_plan::apply(const change &c)
{
    if (!c.notice)
        count(c.up, c.fault ? c.fault->plane : c.rule->plane);
    if (c.rule)
        return;
    const fault_spec &f = *c.fault;
    u32 plane = static_cast<u32>(f.plane), host = static_cast<u32>(f.host);
    bool port = f.of_host();

    if (f.kind == "forged") {
        forge(f);
    } else if (f.kind == "cable") {
        cable(plane, static_cast<u32>(f.t0), static_cast<u32>(f.t1), c.up);
    } else if (f.kind == "link") {
        one_way(f, c.up);
    } else if (f.kind == "leaf") {
        for (u32 t1 = 0; t1 < w_.topo.t1s; t1++)
            cable(plane, static_cast<u32>(f.t0), t1, c.up);
        for (u32 h = 0; h < w_.topo.hosts; h++)
            if (w_.topo.rack_node(h) == f.t0)
                host_port(plane, h, c.up);
    } else if (f.kind == "spine") {
        for (u64 t1 = f.t1; t1 < f.t1 + f.count; t1++)
            for (u32 t0 = 0; t0 < w_.topo.t0s; t0++)
                cable(plane, t0, static_cast<u32>(t1), c.up);
    } else {
        for (u32 h = port ? host : 0; h < (port ? host + 1 : w_.topo.hosts); h++)
            c.notice ? notice(plane, h, c.up) : host_port(plane, h, c.up);
    }
}

void fault_plan::apply_due()
{
    for (; next_ < changes_.size() && changes_[next_].at <= w_.window_start(); next_++)
        apply(changes_[next_]);
}

// What is lost of a plane's cables between T0s and T1s, and of its hosts' cables.
fault_plan::losses fault_plan::lost_on(u32 plane) const
{
    losses n;

    for (const fault_spec &f : w_.s.fault) {
        if (f.plane != plane)
            continue;
        n.inner += f.kind == "cable" || (f.kind == "link" && f.loss_ppm == 1'000'000) ? 1
                   : f.kind == "leaf"  ? w_.topo.t1s
                   : f.kind == "spine" ? f.count * w_.topo.t0s
                                       : 0;
        n.edge += f.of_host() ? f.kind != "forged" : f.kind == "plane" ? w_.topo.hosts : 0;
    }
    auto used = [this](const path_spec &x) { // does data go that way?
        return std::any_of(w_.work.flows.begin(), w_.work.flows.end(), [&](const flow &f) {
            return x.way == "both" || (f.src < f.dst) == (x.way == "up");
        });
    };
    for (const path_spec &x : w_.s.path_rule) {
        if (!x.kills() || (x.plane != none32 && x.plane != plane) || !used(x))
            continue;
        n.inner += x.t1 == none32 ? 0 : x.count * w_.topo.t0s;
        n.edge += x.t1 == none32 ? w_.topo.hosts : 0;
    }
    return n;
}

// A plane's T1s limit only what crosses them, and only when they have less than the hosts.
double fault_plan::residual() const
{
    const topology &t = w_.topo;
    double crossing = 0, all = 0, left = 0;

    for (const flow &f : w_.work.flows)
        crossing += t.rack_node(f.src) != t.rack_node(f.dst);
    crossing /= static_cast<double>(w_.work.flows.size());
    for (u32 p = 0; p < t.planes; p++) {
        double rate = static_cast<double>(w_.s.plane_mbps(p));
        losses n = lost_on(p);
        double cables = static_cast<double>(t.t0s) * t.t1s, hosts = t.hosts;
        double inner = (cables - std::min(cables, static_cast<double>(n.inner))) / hosts;
        double edge = 1 - std::min(1.0, static_cast<double>(n.edge) / hosts);

        all += rate;
        left += rate * std::min(edge, crossing > inner ? inner / crossing : 1.0);
    }
    return left / all;
}

} // namespace sim
