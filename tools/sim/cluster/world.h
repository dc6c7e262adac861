// SPDX-License-Identifier: GPL-2.0
// world.h - the whole simulation state, and the rules of access by threads.
//
// Time advances in windows of the shortest link delay. An event at one node in a window cannot
// affect another node before the next window. So threads work on disjoint sets of nodes and
// synchronise between windows. The packets of a node in a window are sorted by (time, connection,
// PSN, opcode, EV): the order does not depend on the order of sending, on threads, compilers or
// containers.
//
// A node, its ports, and the hosts and ends of a rack belong to one thread. Several threads write:
// lost and first_loss (atomic sums and minima). Faults are written between windows only.
#pragma once

#include "end.h"
#include "inbox.h"
#include "nic.h"
#include "path_rule.h"
#include "probe.h"
#include "tcp.h"
#include "watch.h"

#include <atomic>
#include <memory>

namespace sim {

// X-macro: counted by each thread, summed at the end.
#define SIM_COUNTERS(X)                                                                            \
    X(hops, "packets that crossed a link")                                                         \
    X(data_sent, "data packets sent by hosts, retransmissions included")                           \
    X(control_sent, "control packets sent by hosts")                                               \
    X(probes_sent, "probes sent by hosts")                                                         \
    X(marked, "data packets marked with ECN")                                                      \
    X(marks_seen, "marked data packets that hosts took")                                           \
    X(marks_told, "SACKs that tell of a mark")                                                     \
    X(trimmed, "data packets trimmed before the last hop")                                         \
    X(trimmed_lasthop, "data packets trimmed at the last hop")                                     \
    X(dropped, "packets dropped by full queues")                                                   \
    X(shared_full, "data packets that found their share of a switch's buffer full")                 \
    X(black_holed, "packets lost on dead links")                                                   \
    X(random_lost, "packets lost at random on paths that live")                                    \
    X(ring_lost, "packets that found a host's ring full")                                          \
    X(path_hits, "packets that lossy, longer or jittery paths did something to")                   \
    X(odd_hops, "packets that crossed a link unlike the fabric's others")                          \
    X(ringed, "packets that waited for a host")                                                    \
    X(needless, "data packets that arrived whole where they were already")                         \
    X(dead_sent, "data packets sent by hosts into dead paths")                                     \
    X(dead_acks, "acknowledgements sent by hosts into dead paths")                                 \
    X(late_sent, "data packets sent late_rtt round trips after the first fault")                   \
    X(late_dead, "those of them that were sent into dead paths")                                   \
    X(delivered, "payload bytes placed")                                                           \
    X(flows_received, "flows received whole")                                                      \
    X(flows_sent, "flows acknowledged whole")                                                      \
    X(timers, "timer calls")                                                                       \
    X(tcp_sent, "packets that [[tcp]] flows sent")                                                \
    X(tcp_delivered, "payload bytes of [[tcp]] flows that came for the first time")

struct counters {
#define X(name, help) u64 name = 0;
    SIM_COUNTERS(X)
#undef X
    u64 plane_pkts[MRC_PLANES_MAX] = {}; // data packets sent
    u64 late_plane_pkts[MRC_PLANES_MAX] = {}; // likewise, late
    u64 sack_plane[MRC_PLANES_MAX] = {};      // SACKs, by the plane of what they answer
};

// What happened in a bucket of time.
struct sample {
    u64 delivered = 0; // payload bytes placed
    u64 data = 0, probes = 0, needless = 0;
    u64 tcp = 0; // payload bytes of [[tcp]]
    u64 nscc = 0; // of those delivered: from host.nscc_host

    sample &operator+=(const sample &o)
    {
        delivered += o.delivered;
        data += o.data;
        probes += o.probes;
        needless += o.needless;
        tcp += o.tcp;
        nscc += o.nscc;
        return *this;
    }
};

struct host {
    u64 timer = never;   // no end has an earlier deadline
    u64 tx_free = 0;     // when one of its ports has sent all
    u64 next_start = 0;  // of its next flow
    u64 tcp_wake = never; // a [[tcp]] flow that it sends looks again
    u64 probe_wake = never; // its next probe leaves
    u32 next_flow = none32;
    host_clock clock;
    std::unique_ptr<nic> rx; // when packets wait
    u32 up = 0;          // local ports, as it knows
    bool notice = false; // up has changed, or
    struct {
        u32 host = none32, plane = 0;
    } forged;            // a packet in this host's name says that the plane's port of its is down
    end *ends = nullptr;
    end *first_head = nullptr, *first_tail = nullptr; // has just got something
    end *ready_head = nullptr, *ready_tail = nullptr; // round robin
    std::vector<end *> waiting; // for their packets to leave; a heap, the first to leave on top
    mrc_incast incast = {};
};

class capture;

struct world {
    // What arrives later waits with its sender, see worker::hold().
    static constexpr u32 slots_max = 1 << 12;
    // A worker's key has 32 bits for the time in a window. A link may be longer than a window, never shorter.
    static constexpr u64 window_max_ps = 1ull << 32;

    explicit world(const scenario &sc, u32 n_threads);

    const scenario &s;
    capture *cap = nullptr; // of what hosts send, where somebody wants it
    topology topo;
    workload work;
    probes probing;
    end_maker maker;
    u32 threads;
    u64 window_ps;
    u32 slots; // windows that lanes reach ahead; a power of two
    u64 window = 0;

    std::vector<host> hosts;
    std::vector<end *> ends;
    std::vector<lane> lanes;
    std::vector<u64> rack_wake; // earliest thing a rack's hosts do by themselves
    std::vector<u64> node_hash;
    std::vector<u32> lost;       // by sending end: data packets that vanished
    std::vector<u64> first_loss; // by sending end: when the first was black-holed
    path_rules rules;
    std::vector<tcp_flow> tcp;
    u32 dead_links = 0; // any now?
    u32 outage = 0;     // number of the present time of dead links, or the last
    bool any_fault;
    u64 late_ps = never; // late_rtt round trips after the first fault
    struct {
        u32 number = 0; // of repairs so far
        u32 plane = none32;
        u64 at = 0;
    } repaired;         // the plane that came back last
    // A packet that waits at a port holds back its end, but not where ports differ in rate: a slow
    // plane must not slow the others. Nor where a burst goes to one port.
    bool ends_wait;
    ev_watch watch;

    // Between windows, of workload "calls": numbers follow each other.
    void add_connection(u32 low, u32 high);
    void add_flow(u32 src, u32 dst, u32 bytes, u32 conn, u64 start);
    // A host's flow whose start is known now; by the host's thread.
    void start_later(u32 id, u32 f);

    lane &lane_of(u32 thread, u32 node, u64 window_no)
    {
        return lanes[(thread * slots + (window_no & (slots - 1))) * topo.nodes + node];
    }
    u32 thread_of(u32 node) const;
    host_clock clock_of(u32 host) const;
    u64 window_start() const { return window * window_ps; }
    u64 window_end() const { return (window + 1) * window_ps; }
};

} // namespace sim
