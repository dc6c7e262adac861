// SPDX-License-Identifier: GPL-2.0
// links.h - the properties of each port of the fabric: delay, rate, buffer, loss, trimming.
//
// A port is one direction of a cable, so both directions may differ. A plane may differ as a whole
// (options odd_*), and each link by itself (options link_*). All are drawn in advance and constant;
// only loss ends with the other faults.
#pragma once

#include "options.h"
#include "topology.h"

#include <vector>

namespace sim {

struct link {
    u64 delay_ps;
    u64 rate_kbps;
    u64 queue_bytes;         // 0: no limit
    u32 loss_ppm;
    u32 owner;               // switch that it belongs to; hosts' ports: none
    bool trims;
};

class links {
public:
    links(const options &o, const topology &t, u64 seed);

    const link &operator[](u16 port) const { return ports_[port]; }
    // Ports that share a buffer with those of the same owner.
    const std::vector<u16> &owned(u32 owner) const { return owned_[owner]; }
    u32 plane_loss_ppm(u8 p) const { return planes_[p].loss_ppm; }
    // One way to any other host, without queues.
    u64 longest_ns() const { return longest_ns_; }
    // No packet between hosts is faster.
    u64 shortest_ns() const;
    u64 slowest_kbps() const;

private:
    struct plane {
        u64 delay_ns = 0, rate_pct = 100, queue_pct = 100;
        u32 loss_ppm = 0;
        bool trims = true;
    };

    void draw_plane(u32 p, class prng &r);
    void draw_port(u16 port, u32 p, class prng &r);

    const options &o_;
    const topology &topo_;
    std::vector<plane> planes_;
    std::vector<link> ports_;
    std::vector<std::vector<u16>> owned_;
    u64 longest_ns_ = 0;
};

} // namespace sim
