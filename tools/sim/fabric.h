// SPDX-License-Identifier: GPL-2.0
// fabric.h - the planes between the hosts: a queue at each port of the Clos.
//
// A packet takes one event per port. A host's own port queues without limit. Ports of switches may
// be slower, and mark, trim or drop; links.h has their properties. Control packets and trimmed ones
// precede data, unless all share one queue. Each EV adds a fixed delay, each packet a random one.
#pragma once

#include "links.h"
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
    // The packet has come to its next port, or (false) to its host.
    void hop(u32 pkt);
    const fabric_stats &stats() const { return stats_; }
    const links &ports() const { return links_; }

private:
    struct outlet {
        u64 data_ps = 0;     // when the last byte queued so far has left,
        u64 ctrl_ps = 0;     // and the last of a control packet
    };
    struct source {          // what strikes packets of one host on one plane
        prng rand;
        u64 burst = 0;       // packets still to be lost
    };

    void route(packet &p) const;
    bool lost_on_plane(source &s, const packet &p);
    bool lost_at_random(source &s, const packet &p);
    bool strike(u32 pkt);
    bool first(const packet &p) const;
    u64 rate_kbps(u16 port) const;
    u64 backlog(u16 port) const;
    u64 leave(u16 port, const packet &p);
    bool buffer_full(u16 port, const packet &p);
    bool queue_full(u16 port, packet &p);
    void trim(packet &p, u8 how);
    void drop(u32 pkt, u64 &count);

    world &w_;
    const options &o_;
    topology topo_;
    links links_;
    prng link_rand_;
    std::vector<outlet> ports_;
    std::vector<source> sources_;     // host * planes + plane
    std::vector<u64> skew_ps_;        // host * EVs + EV
    fabric_stats stats_ = {};
};

} // namespace sim
