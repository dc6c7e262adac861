// SPDX-License-Identifier: GPL-2.0
// switch.cc - a T0 or T1 switch processes a packet: output port, ECN, trimming, loss.
//
// See topology.h for the paths and port.h for the queues.
#include "worker.h"

namespace sim {

void worker::run_switch(u32 node)
{
    topology &topo = w_.topo;
    u32 plane = topo.plane_of(node), index = topo.index_of(node);
    bool is_t0 = topo.kind(node) == node_kind::t0;
    u64 hash = w_.node_hash[node];

    for (const due &d : due_) {
        const packet &p = *d.p;
        u32 host = w_.work.end_host[p.conn], rack = topo.rack_node(host);

        fold_packet(hash, p);
        if (w_.probing.is(p.conn))
            forward_probe(node, p, plane, index, is_t0);
        else if (!is_t0)
            output(node, topo.down_port(plane, index, rack), p, false, topo.t0_node(plane, rack));
        else if (rack == index)
            output(node, topo.last_port(plane, host), p, true, rack);
        else
            output(node, topo.up_port(plane, index, topology::ev_t1(p.ev)), p, false,
                   topo.t1_node(plane, topology::ev_t1(p.ev)));
    }
    w_.node_hash[node] = hash;
}

// A data packet that nobody will hear of: counted with its sender.
void worker::lose(const packet &p, loss why)
{
    u32 sender = p.conn ^ 1;

    (why == loss::dead     ? count.black_holed
     : why == loss::random ? count.random_lost
     : why == loss::ring   ? count.ring_lost
                           : count.dropped)++;
    if (w_.probing.is(p.conn))
        return lose_probe(p);
    if (!p.is_data())
        return;
    std::atomic_ref<u32>(w_.lost[sender]).fetch_add(1, std::memory_order_relaxed);
    if (why != loss::dead)
        return;
    std::atomic_ref<u64> first(w_.first_loss[sender]);
    u64 seen = first.load(std::memory_order_relaxed);
    while (p.t < seen && !first.compare_exchange_weak(seen, p.t, std::memory_order_relaxed))
        ;
}

// Drawn from the packet and the queue: no state, the same in every run.
bool worker::marks(const link_class &k, const packet &p, u64 backlog)
{
    u64 draw = mix64(p.t ^ static_cast<u64>(p.conn) << 32 ^ p.psn_op) >> 32;

    if (draw % 100 < w_.s.fabric.ecn_random + k.marks)
        return true;
    if (backlog < k.ecn_lo)
        return false;
    return backlog >= k.ecn_hi || draw * (k.ecn_hi - k.ecn_lo) >> 32 < backlog - k.ecn_lo;
}

// Does a link that loses some packets lose this one?
bool worker::drawn(const packet &p, const port &o) const
{
    u64 draw = mix64(p.t ^ static_cast<u64>(p.conn) << 32 ^ p.psn_op ^ 0x6a09e667) >> 32;

    return draw * 1'000'000 >> 32 < w_.s.fault[o.gray - 1u].loss_ppm;
}

// Room for a data packet? A shared buffer gives a port a share of what is free.
bool worker::fits(u32 node, const port &o, const link_class &k, u64 t, u32 bytes) const
{
    const fabric_cfg &f = w_.s.fabric;

    if (!f.shared_kib)
        return o.backlog(t) + k.ser(bytes) <= k.limit;
    u64 used = w_.topo.queued_bytes(node, t), all = f.shared_kib << 10;
    u64 left = all > used ? all - used : 0;
    return bytes <= left && o.bytes(k, t) + bytes <= left * f.shared_alpha / 1000;
}

void worker::output(u32 node, port &o, packet p, bool last_hop, u32 next_node)
{
    const link_class &k = w_.topo.classes[o.cls];
    u32 bytes = static_cast<u32>(w_.s.fabric.control);
    bool data = p.is_data();

    if (o.dead)
        return lose(p, loss::dead);
    if (o.gray && drawn(p, o))
        return lose(p, loss::random);
    count.odd_hops += k.odd;
    if (!(p.flags & PKT_CONTROL)) {
        if (data)
            bytes = static_cast<u32>(p.len + w_.s.fabric.header);
        if (fits(node, o, k, p.t, bytes)) {
            if (data && !(p.flags & PKT_ECN) && marks(k, p, o.backlog(p.t))) {
                p.flags |= PKT_ECN;
                count.marked++;
            }
            p.t = o.send_data(k, p.t, bytes) + k.delay_ps;
            count.hops++;
            return post(next_node, p);
        }
        count.shared_full += w_.s.fabric.shared_kib != 0;
        if (!data || p.flags & PKT_NO_TRIM || !k.trim)
            return lose(p, loss::queue);
        // Only headers go on, in the class of control; they tell of no mark.
        p.flags = static_cast<u8>((p.flags & ~PKT_ECN) | PKT_CONTROL | PKT_TRIMMED |
                                  (last_hop ? PKT_LASTHOP : 0));
        bytes = static_cast<u32>(w_.s.fabric.control);
        (last_hop ? count.trimmed_lasthop : count.trimmed)++;
    }
    if (o.ctl_backlog(p.t) > k.ctl_limit)
        return lose(p, loss::queue);
    p.t = o.send_ctl(k, p.t, bytes) + k.delay_ps;
    count.hops++;
    post(next_node, p);
}

} // namespace sim
