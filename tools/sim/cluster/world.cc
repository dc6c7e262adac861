// SPDX-License-Identifier: GPL-2.0
// world.cc - setting up. See world.h.
#include "world.h"

#include <stdexcept>

namespace sim {

world::world(const scenario &sc, u32 n_threads)
    : s(sc), topo(sc), work(sc, topo), maker{sc, topo, work}, threads(n_threads),
      window_ps(sc.fabric.delay_ns * ps_per_ns), hosts(topo.hosts), ends(work.end_host.size()),
      rack_wake(topo.t0s, 0), node_hash(topo.nodes, fold_start), any_fault(!sc.fault.empty())
{
    u64 ahead = topo.longest_hop_ps() / window_ps + 3;

    for (slots = 4; slots < ahead; slots <<= 1)
        if (slots > 1u << 16)
            throw std::runtime_error("fabric: queues are too long for the link delay");
    lanes.resize(static_cast<size_t>(threads) * topo.nodes * slots);
    lost.assign(ends.size(), 0);
    first_loss.assign(any_fault ? ends.size() : 0, never);
    for (u32 i = 0; i < topo.hosts; i++) {
        host &h = hosts[i];
        mrc_incast_cfg in = {};

        h.next_flow = work.first_start[i];
        h.next_start = h.next_flow == none32 ? never : work.flows[h.next_flow].start;
        in.rate_mbps = static_cast<u32>(s.fabric.rate_gbps * s.fabric.planes) * 1000;
        in.off = !s.host.incast;
        mrc_incast_init(&h.incast, &in);
    }
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
