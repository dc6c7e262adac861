// SPDX-License-Identifier: GPL-2.0
// fault.cc - applying failures and repairs. See fault.h.
#include "fault.h"

#include <algorithm>

namespace sim {

fault_plan::fault_plan(world &w) : w_(w)
{
    for (const fault_spec &f : w.s.fault) {
        changes_.push_back({f.at_us * ps_per_us, &f, false});
        if (f.until_us)
            changes_.push_back({f.until_us * ps_per_us, &f, true});
    }
    std::stable_sort(changes_.begin(), changes_.end(),
                     [](const change &a, const change &b) { return a.at < b.at; });
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

void fault_plan::host_port(u32 plane, u32 host, bool up, bool notify)
{
    sim::host &h = w_.hosts[host];

    link(w_.topo.nic_port(plane, host), up);
    link(w_.topo.last_port(plane, host), up);
    if (!notify)
        return;
    h.up = up ? h.up | 1u << plane : h.up & ~(1u << plane);
    h.notice = true;
    w_.rack_wake[w_.topo.rack_node(host)] = 0;
}

void fault_plan::apply(const change &c)
{
    const fault_spec &f = *c.fault;
    u32 plane = static_cast<u32>(f.plane);

    if (f.kind == "cable")
        cable(plane, static_cast<u32>(f.t0), static_cast<u32>(f.t1), c.up);
    else if (f.kind == "spine")
        for (u64 t1 = f.t1; t1 < f.t1 + f.count; t1++)
            for (u32 t0 = 0; t0 < w_.topo.t0s; t0++)
                cable(plane, t0, static_cast<u32>(t1), c.up);
    else if (f.kind == "port")
        host_port(plane, static_cast<u32>(f.host), c.up, f.notify);
    else
        for (u32 h = 0; h < w_.topo.hosts; h++)
            host_port(plane, h, c.up, f.notify);
}

void fault_plan::apply_due()
{
    for (; next_ < changes_.size() && changes_[next_].at <= w_.window_start(); next_++)
        apply(changes_[next_]);
}

u64 fault_plan::residual_q16() const
{
    u64 links = static_cast<u64>(w_.topo.planes) * w_.topo.t0s * w_.topo.t1s, lost = 0;
    u64 ports = static_cast<u64>(w_.topo.planes) * w_.topo.hosts, down = 0;

    for (const fault_spec &f : w_.s.fault) {
        lost += f.kind == "cable" ? 1 : f.kind == "spine" ? f.count * w_.topo.t0s : 0;
        down += f.kind == "port" ? 1 : f.kind == "plane" ? w_.topo.hosts : 0;
    }
    u64 fabric = 65536 - 65536 * lost / links, edge = 65536 - 65536 * down / ports;
    return std::min(fabric, edge);
}

} // namespace sim
