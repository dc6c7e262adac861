// SPDX-License-Identifier: GPL-2.0
// tcp.h - competing traffic of the swarm: TCP-like flows between two hosts, each by one EV.
//
// They send until faults end. Their packets wait in the fabric's queues like data, are never
// trimmed, and take no CPU time of the hosts.
#pragma once

#include "packet.h"
#include "tcp_like.h"

#include <vector>

namespace sim {

class world;

class tcp_flows {
public:
    tcp_flows(world &w, u64 seed);

    void start();
    void run(u32 flow, u64 generation);
    void arrive(u32 pkt);

private:
    struct one {
        u32 src, dst, ev;
        u16 ev_idx;
        u8 plane;
        u64 start_ns, generation = 0;
        tcp_like tx;
        tcp_sink rx;
    };

    void send(u32 flow, bool ack, tcp_segment s);
    void pull(u32 flow);

    world &w_;
    std::vector<one> flow_;
};

} // namespace sim
