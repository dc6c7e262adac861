// SPDX-License-Identifier: GPL-2.0
// workload.h - the flows: source, destination, size, start, and dependencies.
//
// A flow is one message, or (in a trace) computation time at a host. Flows between two hosts, in
// both directions, alternate between host.qps connections, usually one. The ends of connection i
// are numbered 2 * i and 2 * i + 1, the lower host's first.
#pragma once

#include "topology.h"
#include "trace.h"

#include <algorithm>
#include <utility>

namespace sim {

struct flow {
    u32 src, dst;
    u32 bytes;
    u32 conn = none32;       // end at src
    u64 start = 0;           // ps; never: when another was received
    u32 then = none32;       // flow of dst that starts when this one is received
    u32 next_start = none32; // next of the same src, in order of start
    u32 next_post = none32;  // waits behind this one to be posted
    u64 placed = 0;          // bytes at the receiver
    u64 rx_done = never, tx_done = never;
    bool hit = false; // a packet of it was sent into a dead path
    u32 waits = 0;    // kind "trace": so many others, and then
    u64 compute = 0;  // this time, ps, before it starts

    bool local() const { return src == dst; } // no message: time that passes at its host
};

// Of a message whose sender or receiver somebody waits for (../lib).
struct completion {
    u64 t;
    u32 flow;
    moment when;
};

// Processors and NICs that the operations of a GOAL trace occupy, one after the other. Calls come in the
// order in which operations become ready, for each host.
class turns {
public:
    turns() = default;
    turns(const trace &t, const scenario &s);

    // When flow f begins, which is ready at t. A NIC is waited for behind the processor, without it.
    u64 take(u32 f, u64 t)
    {
        if (of_.empty())
            return t;
        const turn &x = of_[f];
        for (auto [place, ps] : {std::pair(x.cpu, x.cpu_ps), std::pair(x.nic, x.nic_ps)}) {
            if (place == none32)
                continue;
            t = std::max(t, free_[place]);
            free_[place] = std::min(t + ps, never >> 2);
        }
        return t;
    }

private:
    struct turn {
        u32 cpu, nic;
        u64 cpu_ps, nic_ps;
    };

    std::vector<turn> of_;
    std::vector<u64> free_;
};

class workload {
public:
    workload(const scenario &s, const topology &t);

    std::vector<flow> flows;
    std::vector<u32> end_host;     // by connection end
    std::vector<u32> first_start;  // by host: its first flow to start
    std::vector<u32> end_flows;    // by connection end: flows it sends
    std::vector<u64> end_bytes;    // by connection end: longest message it sends
    u32 sources = 0, sinks = 0;    // hosts that send, that receive
    u32 victim = none32;
    u32 first_tcp = 0; // ends from here on are [[tcp]]'s, two each
    followers after;          // kind "trace": what waits for a flow
    turns queue;                // likewise
    std::vector<u32> step_of;   // likewise, of each flow
    u64 compute_ps = 0;       // likewise: when all would end if messages took no time
    u64 ideal_ps = 0; // when the last flow would be received in an ideal fabric

    // Another implementation sends it.
    bool foreign(const flow &f) const { return f.src == s_.foreign.host; }

    // When the last bit of so many messages over the same link can have arrived.
    u64 alone_ps(u64 messages, u64 bytes, bool same_rack) const;
    u64 lone_ps(const flow &f) const;
    u64 packets(u64 bytes) const { return (bytes + s_.fabric.mtu - 1) / s_.fabric.mtu; }

    u32 add(u32 src, u32 dst, u64 bytes, u64 start);
    // Kind "calls": flows come while the simulation runs.
    bool calls() const { return s_.workload.kind == "calls"; }

private:
    void permutation();
    void incast();
    void ring();
    void alltoall();
    void list();
    void outside();
    std::vector<u32> shuffled_hosts() const;
    void connect();
    void add_tcp();
    void order_starts();

    const scenario &s_;
    const topology &topo_;
};

} // namespace sim
