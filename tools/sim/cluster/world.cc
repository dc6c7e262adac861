// SPDX-License-Identifier: GPL-2.0
// world.cc - builds the simulated world (world.h).
#include "world.h"

#include <algorithm>

namespace sim {

world::world(const scenario &sc, u32 n_threads)
    : s(sc), topo(sc), work(sc, topo), probing(sc, topo, work), maker{sc, topo, work}, threads(n_threads),
      window_ps(std::min(sc.fabric.delay_ns * ps_per_ns, window_max_ps)), hosts(topo.hosts), ends(work.end_host.size()),
      rack_wake(topo.t0s, 0), node_hash(topo.nodes, fold_start), rules(sc), tcp(make_tcp_flows(sc, work)),
      any_fault(!sc.fault.empty() || rules.kill()), ends_wait(!topo.odd_nics && sc.burst() == 1),
      watch(work.end_host.size())
{
    u64 ahead = topo.longest_hop_ps() / window_ps + 3;

    for (slots = 4; slots < std::min<u64>(ahead, slots_max);)
        slots <<= 1;
    lanes.resize(static_cast<size_t>(threads) * topo.nodes * slots);
    lost.assign(ends.size(), 0);
    first_loss.assign(any_fault ? ends.size() : 0, never);
    for (const tcp_flow &f : tcp)
        hosts[f.src].tcp_wake = std::min(hosts[f.src].tcp_wake, f.start);
    for (u32 i = 0; i < topo.hosts; i++) {
        host &h = hosts[i];
        mrc_incast_cfg in = {};
        u64 mbps = 0;

        h.next_flow = work.first_start[i];
        h.next_start = h.next_flow == none32 ? never : work.flows[h.next_flow].start;
        h.clock = clock_of(i);
        for (u32 n : probing.of_host[i])
            h.probe_wake = std::min(h.probe_wake, probing.all[n].next);
        h.up = static_cast<u32>((1ull << topo.planes) - 1);
        bool coalesces = s.host.coalesce_ns &&
                         (s.host.coalesce_host == none32 || s.host.coalesce_host == i);
        if (!s.pause.empty() || s.host.rx_ns || s.host.rx_ctl_ns || coalesces)
            h.rx = std::make_unique<nic>(s, i);
        for (u32 p = 0; p < topo.planes; p++)
            mbps += s.plane_mbps(p);
        in.rate_mbps = static_cast<u32>(mbps);
        in.off = !s.host.incast;
        mrc_incast_init(&h.incast, &in);
    }
}

// Of any number of messages, of any length.
void world::add_connection(u32 low, u32 high)
{
    for (u32 host : {low, high}) {
        work.end_host.push_back(host);
        work.end_flows.push_back(16);
        work.end_bytes.push_back(trace::bytes_max);
    }
    ends.resize(work.end_host.size());
    lost.resize(ends.size());
    if (any_fault)
        first_loss.resize(ends.size(), never);
}

void world::add_flow(u32 src, u32 dst, u32 bytes, u32 conn, u64 start)
{
    u32 f = work.add(src, dst, bytes, start);

    work.flows[f].conn = conn;
    start_later(src, f);
    u64 &wake = rack_wake[topo.rack_node(src)];
    wake = std::min(wake, start);
}

// Behind those that start as early.
void world::start_later(u32 id, u32 f)
{
    host &h = hosts[id];
    u32 *at = &h.next_flow;

    while (*at != none32 && work.flows[*at].start <= work.flows[f].start)
        at = &work.flows[*at].next_start;
    work.flows[f].next_start = *at;
    *at = f;
    h.next_start = work.flows[h.next_flow].start;
}

host_clock world::clock_of(u32 host) const
{
    u64 key = mix64(s.run.seed << 32 | host) ^ 0xc10c, d = s.host.drift_ppm;
    u64 offset = s.host.clock_ns ? mix64(key) % (s.host.clock_ns + 1) : 0;
    s64 drift = static_cast<s64>(d ? mix64(key + 1) % (2 * d + 1) : 0) - static_cast<s64>(d);

    for (const clock_spec &x : s.clock)
        if (x.host == host)
            return {x.offset_ns, x.drift_ppm};
    return {offset, drift};
}

// T0s go with their racks, so most of a thread's first and last hops stay its own.
u32 world::thread_of(u32 node) const
{
    u64 n;

    switch (topo.kind(node)) {
    case node_kind::rack:
        n = node;
        break;
    case node_kind::t0:
        n = topo.index_of(node);
        break;
    case node_kind::t1:
    default:
        return static_cast<u32>(static_cast<u64>(topo.index_of(node)) * threads / topo.t1s);
    }
    return static_cast<u32>(n * threads / topo.t0s);
}

} // namespace sim
