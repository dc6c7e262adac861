// SPDX-License-Identifier: GPL-2.0
// topology.cc - building the fabric's arrays. See topology.h.
#include "topology.h"

#include <algorithm>

namespace sim {

u16 topology::add_class(const scenario &s, u64 percent, u64 queue, bool ecn)
{
    const fabric_cfg &f = s.fabric;
    link_class k;

    k.ps_per_kib = 8192000 * 100 / (f.rate_gbps * percent);
    k.mtu_ps = k.ser(static_cast<u32>(f.mtu + f.header));
    k.limit = k.ser(static_cast<u32>(s.bdp_bytes() * queue / 1000));
    k.ctl_limit = 2 * k.limit;
    k.ecn_lo = never;
    k.ecn_hi = never;
    if (ecn && f.ecn != "off") {
        k.ecn_lo = k.ser(static_cast<u32>(s.bdp_bytes() * f.ecn_lo / 1000));
        k.ecn_hi = f.ecn == "threshold"
                       ? k.ecn_lo
                       : k.ser(static_cast<u32>(s.bdp_bytes() * f.ecn_hi / 1000));
    }
    classes.push_back(k);
    longest_hop_ = std::max(longest_hop_, k.limit + k.ctl_limit + 4 * k.mtu_ps +
                                              f.delay_ns * ps_per_ns);
    return static_cast<u16>(classes.size() - 1);
}

void topology::slow_spine(const scenario &s, const slow_spec &x)
{
    u16 cls = add_class(s, x.percent, s.fabric.queue, true);

    for (u32 p = 0; p < planes; p++) {
        if (x.plane != none32 && x.plane != p)
            continue;
        for (u32 j = static_cast<u32>(x.t1); j < x.t1 + x.count; j++)
            for (u32 i = 0; i < t0s; i++) {
                up_port(p, i, j).cls = cls;
                down_port(p, j, i).cls = cls;
            }
    }
}

topology::topology(const scenario &s)
    : hosts(static_cast<u32>(s.fabric.hosts)), per_t0(static_cast<u32>(s.fabric.hosts_per_t0)),
      t0s(static_cast<u32>(s.t0s())), t1s(static_cast<u32>(s.fabric.t1s)),
      planes(static_cast<u32>(s.fabric.planes)), nodes(t0s + planes * (t0s + t1s)),
      nic(static_cast<size_t>(hosts) * planes), up(static_cast<size_t>(planes) * t0s * t1s),
      down(static_cast<size_t>(planes) * t0s * t1s),
      last(static_cast<size_t>(planes) * t0s * per_t0), t1_base_(t0s + planes * t0s)
{
    u16 inner = add_class(s, 100, s.fabric.queue, true);
    u16 edge = add_class(s, 100, s.fabric.last_queue, s.fabric.ecn_last_hop);

    for (port &p : up)
        p.cls = inner;
    for (port &p : down)
        p.cls = inner;
    for (port &p : last)
        p.cls = edge;
    for (port &p : nic)
        p.cls = edge;
    for (const slow_spec &x : s.slow)
        slow_spine(s, x);
}

} // namespace sim
