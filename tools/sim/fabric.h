// SPDX-License-Identifier: GPL-2.0
// fabric.h - the planes between the hosts.
//
// Per plane and direction: the sender's port, which serialises and queues
// without limit (the host's own queue), then the switch's port to the receiver,
// which may be slower, and marks, trims or drops. Control packets and trimmed
// ones go before data at both. Each EV adds a fixed delay, each packet a random one.
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
        u64 up_ps = 0;       // when the last byte queued so far leaves the host,
        u64 up_ctrl_ps = 0;  // and the last of a control packet
        u64 down_ps = 0;     // likewise the switch
        u64 down_ctrl_ps = 0;
        u64 burst = 0;       // packets still to be lost
    };

    bool lost_at_random(link &l, const packet &p);
    u64 ser_ps(u32 bytes, u64 pct) const;
    u64 leave_host(link &l, const packet &p);
    bool queue_full(const link &l, packet &p, u64 t_ps);
    u64 leave_switch(link &l, const packet &p, u64 t_ps);
    void deliver(link &l, u32 pkt, u64 at_switch_ps, u64 extra_ns);
    void trim(packet &p, u8 how);

    world &w_;
    const options &o_;
    std::vector<link> link_[2];
    std::vector<u64> skew_ps_[2];
    fabric_stats stats_ = {};
};

} // namespace sim
