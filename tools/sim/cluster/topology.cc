// SPDX-License-Identifier: GPL-2.0
// topology.cc - building the fabric's arrays. See topology.h.
#include "topology.h"

#include <algorithm>

namespace sim {

u16 topology::add_class(const scenario &s, const link_kind &of)
{
    const fabric_cfg &f = s.fabric;
    link_class k;

    k.ps_per_kib = 8192000000 / of.mbps;
    k.mtu_ps = k.ser(static_cast<u32>(f.mtu + f.header));
    k.limit = k.ser(static_cast<u32>(s.bdp_bytes() * of.queue / 1000));
    k.ctl_limit = 2 * k.limit;
    k.delay_ps = (f.delay_ns + of.delay_ns) * ps_per_ns;
    k.trim = of.trim;
    k.odd = of.odd;
    k.ecn_lo = never;
    k.ecn_hi = never;
    if (of.ecn && f.ecn != "off") {
        k.ecn_lo = k.ser(static_cast<u32>(s.bdp_bytes() * f.ecn_lo / 1000));
        k.ecn_hi = f.ecn == "threshold"
                       ? k.ecn_lo
                       : k.ser(static_cast<u32>(s.bdp_bytes() * f.ecn_hi / 1000));
    }
    classes.push_back(k);
    longest_hop_ = std::max(longest_hop_, k.limit + k.ctl_limit + 4 * k.mtu_ps + k.delay_ps);
    return static_cast<u16>(classes.size() - 1);
}

void topology::plain(const scenario &s)
{
    const fabric_cfg &f = s.fabric;
    u16 inner = add_class(s, {s.mbps(), f.queue, 0, true, f.trim, false});
    u16 edge = add_class(s, {s.mbps(), f.last_queue, 0, f.ecn_last_hop, f.trim, false});

    for (port &p : up)
        p.cls = inner;
    for (port &p : down)
        p.cls = inner;
    for (port &p : last)
        p.cls = edge;
    for (port &p : nic)
        p.cls = edge;
}

// Its delay is that of the way, and so is in the hosts' cables to it: see path_rules.
void topology::odd_plane(const scenario &s, const plane_spec &x)
{
    const fabric_cfg &f = s.fabric;
    u64 mbps = s.plane_mbps(x.plane);
    bool trim = f.trim && x.trim;
    u16 inner = add_class(s, {mbps, x.queue ? x.queue : f.queue, 0, true, trim, true});
    u16 edge = add_class(s, {mbps, x.last_queue ? x.last_queue : f.last_queue, 0, f.ecn_last_hop,
                             trim, true});
    u16 last_hop = edge;
    u32 p = static_cast<u32>(x.plane);

    if (x.last_marks) {
        classes.push_back(classes[edge]);
        last_hop = static_cast<u16>(classes.size() - 1);
        classes[last_hop].marks = static_cast<u32>(x.last_marks);
    }
    for (u32 i = 0; i < t0s; i++)
        for (u32 j = 0; j < t1s; j++) {
            up_port(p, i, j).cls = inner;
            down_port(p, j, i).cls = inner;
        }
    for (u32 h = 0; h < hosts; h++) {
        if (x.nic)
            nic_port(p, h).cls = edge;
        last_port(p, h).cls = last_hop;
    }
    odd_nics |= x.nic && mbps != s.mbps();
}

void topology::slow_spine(const scenario &s, const slow_spec &x)
{
    for (u32 p = 0; p < planes; p++) {
        if (x.plane != none32 && x.plane != p)
            continue;
        u64 mbps = std::max<u64>(s.plane_mbps(p) * x.percent / 100, 1);
        bool trim = classes[up_port(p, 0, 0).cls].trim;
        u16 cls = add_class(s, {mbps, s.fabric.queue, x.delay_ns, true, trim, true});

        for (u32 j = static_cast<u32>(x.t1); j < x.t1 + x.count; j++)
            for (u32 i = 0; i < t0s; i++) {
                if (x.t0 != none32 && x.t0 != i)
                    continue;
                up_port(p, i, j).cls = cls;
                down_port(p, j, i).cls = cls;
            }
    }
}

u64 topology::queued_bytes(u32 node, u64 t) const
{
    u32 plane = plane_of(node), index = index_of(node);
    u64 sum = 0;
    auto add = [&](const port *p, u32 n) {
        for (u32 i = 0; i < n; i++)
            sum += p[i].bytes(classes[p[i].cls], t);
    };

    if (kind(node) == node_kind::t1) {
        add(&down[(plane * t1s + index) * t0s], t0s);
        return sum;
    }
    add(&up[(plane * t0s + index) * t1s], t1s);
    add(&last[(plane * t0s + index) * per_t0], per_t0);
    return sum;
}

topology::topology(const scenario &s)
    : hosts(static_cast<u32>(s.fabric.hosts)), per_t0(static_cast<u32>(s.fabric.hosts_per_t0)),
      t0s(static_cast<u32>(s.t0s())), t1s(static_cast<u32>(s.fabric.t1s)),
      planes(static_cast<u32>(s.fabric.planes)), nodes(t0s + planes * (t0s + t1s)),
      nic(static_cast<size_t>(hosts) * planes), up(static_cast<size_t>(planes) * t0s * t1s),
      down(static_cast<size_t>(planes) * t0s * t1s),
      last(static_cast<size_t>(planes) * t0s * per_t0), t1_base_(t0s + planes * t0s)
{
    plain(s);
    for (const plane_spec &x : s.plane)
        odd_plane(s, x);
    for (const slow_spec &x : s.slow)
        slow_spine(s, x);
}

} // namespace sim
