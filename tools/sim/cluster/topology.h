// SPDX-License-Identifier: GPL-2.0
// topology.h - a multi-plane Clos of two tiers: nodes and ports in flat arrays.
//
// In each plane a T0 has a cable to each of its hosts and one to every T1. Where a
// packet goes is arithmetic: up to the T1 that its EV names, down to the host that
// its connection is at. Planes meet only in hosts.
//
//	host --nic--> T0 --up--> T1 --down--> T0 --last--> host
//
// Nodes of the scheduler are racks (all hosts of one T0 number), T0s and T1s.
#pragma once

#include "port.h"
#include "scenario.h"

namespace sim {

enum class node_kind { rack, t0, t1 };

class topology {
public:
    explicit topology(const scenario &s);

    u32 hosts, per_t0, t0s, t1s, planes;
    u32 nodes;
    bool odd_nics = false; // hosts' ports differ in rate

    std::vector<link_class> classes;
    std::vector<port> nic, up, down, last;

    node_kind kind(u32 node) const
    {
        return node < t0s ? node_kind::rack : node < t1_base_ ? node_kind::t0 : node_kind::t1;
    }
    u32 rack_node(u32 host) const { return host / per_t0; }
    u32 t0_node(u32 plane, u32 t0) const { return t0s + plane * t0s + t0; }
    u32 t1_node(u32 plane, u32 t1) const { return t1_base_ + plane * t1s + t1; }
    // Plane, and index in its tier, of a switch.
    u32 plane_of(u32 node) const
    {
        return node < t1_base_ ? (node - t0s) / t0s : (node - t1_base_) / t1s;
    }
    u32 index_of(u32 node) const
    {
        return node < t1_base_ ? (node - t0s) % t0s : (node - t1_base_) % t1s;
    }

    port &nic_port(u32 plane, u32 host) { return nic[host * planes + plane]; }
    port &up_port(u32 plane, u32 t0, u32 t1) { return up[(plane * t0s + t0) * t1s + t1]; }
    port &down_port(u32 plane, u32 t1, u32 t0) { return down[(plane * t1s + t1) * t0s + t0]; }
    port &last_port(u32 plane, u32 host)
    {
        return last[(plane * t0s + host / per_t0) * per_t0 + host % per_t0];
    }

    // The EV of a path: which T1, and which of the EVs that lead along it.
    static u32 ev_value(u32 t1, u32 copy) { return copy << 16 | t1; }
    static u32 ev_t1(u32 ev) { return ev & 0xffff; }

    // Longest time from a packet's arrival at a node to its arrival at the next.
    u64 longest_hop_ps() const { return longest_hop_; }
    // Data bytes that wait at all ports of a switch.
    u64 queued_bytes(u32 node, u64 t) const;

private:
    // What makes a class of links: the rest is the fabric's.
    struct link_kind {
        u64 mbps, queue, delay_ns;
        bool ecn, trim, odd;
    };

    u16 add_class(const scenario &s, const link_kind &of);
    void plain(const scenario &s);
    void odd_plane(const scenario &s, const plane_spec &x);
    void slow_spine(const scenario &s, const slow_spec &x);

    u32 t1_base_;
    u64 longest_hop_ = 0;
};

} // namespace sim
