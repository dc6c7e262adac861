// SPDX-License-Identifier: GPL-2.0
// fabric.h - the planes between the hosts: one serialising link with a queue
// per plane and direction, a fixed additional delay per EV, and per-packet faults.
#pragma once

#include "options.h"
#include "packet.h"
#include "prng.h"

#include <vector>

namespace sim {

class world;

struct fabric_stats {
    u64 sent, delivered, lost, overflowed, trimmed, marked, duplicated, corrupted, unreachable;
};

class fabric {
public:
    fabric(world &w, const options &o, u64 seed);

    // Takes the packet over from its pool slot.
    void send(u32 pkt);
    const fabric_stats &stats() const { return stats_; }

private:
    struct link {
        prng rand;
        u64 busy_ps = 0;     // when the last byte queued so far has left
        u64 burst = 0;       // packets still to be lost
    };

    bool lost_at_random(link &l, const packet &p);
    bool queue_full(link &l, packet &p);
    void deliver(link &l, u32 pkt, u64 extra_ns);
    void trim(packet &p, u8 how);

    world &w_;
    const options &o_;
    std::vector<link> link_[2];
    std::vector<u64> skew_ps_[2];
    fabric_stats stats_ = {};
};

} // namespace sim
