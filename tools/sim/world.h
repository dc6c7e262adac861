// SPDX-License-Identifier: GPL-2.0
// world.h - one simulation: hosts, fabric, faults, time.
#pragma once

#include "counts.h"
#include "event_queue.h"
#include "fabric.h"
#include "faults.h"
#include "host.h"
#include "tcp.h"
#include "trace.h"
#include "workload.h"

#include <memory>
#include <vector>

namespace sim {

struct result {
    u64 hash = 0;
    u64 events = 0, ties = 0;
    u64 end_ns = 0;          // when the last message completed
    u64 bytes = 0;           // payload asked for
    u32 failed_qps = 0;
    fabric_stats net = {};
    counts seen;
    mrc_stats stats = {};    // sum over all connections
};

class world {
public:
    world(const options &o, u64 seed, bool text);

    // Throws failure.
    result run();

    u64 now_ps() const { return now_ps_; }
    u64 now_ns() const { return now_ps_ / 1000; }
    // A packet is gone that should have arrived.
    void harm() { harm_ns_ = now_ns(); }
    bool faults_on() const { return now_ns() < opt.fault_ns; }
    void at_ns(u64 t_ns, event_kind k, u32 target, u64 arg = 0)
    {
        events.push(std::max(t_ns * 1000, now_ps_), k, target, arg);
    }
    qp &peer_of(const qp &q) { return *qps[q.id() ^ 1]; }
    qp &by_id(u32 id) { return *qps[id]; }
    // The latest time at which everything must have ended.
    u64 bound_ns() const;

    const options opt;
    const u64 seed;
    trace tr;
    event_queue events;
    packet_pool packets;
    counts seen;
    faults flt;
    fabric net;
    tcp_flows tcp;
    std::vector<std::unique_ptr<stream>> streams;
    std::vector<std::unique_ptr<host>> hosts;
    std::vector<std::unique_ptr<qp>> qps;

private:
    void make_pair(u32 index);
    void schedule_faults();
    void handle(const event &e);
    host *where(const event &e) const;
    bool put_off(const event &e);
    void verdict();
    void begin_or_end(const event &e);
    bool all_done() const;
    void finish(result &r);
    [[noreturn]] void stuck(const char *what) const;

    u64 now_ps_ = 0;
    u64 harm_ns_ = 0;        // when a packet was lost for the last time
    bool judged_;            // that all has healed
};

} // namespace sim
