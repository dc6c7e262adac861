// SPDX-License-Identifier: GPL-2.0
// counts.h - counts of what hosts and links did to packets, in the manner of the engine's counters.
//
// Printed at the end of a run, so that the swarm shows which cases it covered.
#pragma once

#include "engine.h"

namespace sim {

// X(name, help)
#define SIM_COUNTS(X)                                                                   \
    X(link_lost, "packets lost by a link of its own loss")                              \
    X(plane_lost, "packets lost by a plane that differs")                               \
    X(not_trimmed, "packets dropped by a port that does not trim, others do")           \
    X(shared_full, "packets that found a switch's shared buffer full")                  \
    X(ctrl_dropped, "control packets dropped by a full queue")                          \
    X(ring_full, "packets that found a host's ring full")                               \
    X(batches_left, "softirq runs that left packets in a ring")                         \
    X(turns_left, "turns of a queue pair that ended with more to send")                 \
    X(paused, "pauses of hosts")                                                        \
    X(put_off, "timers and softirqs that waited for a busy host")                       \
    X(slept, "timers and softirqs that waited for a pausing host")                      \
    X(probe_pkts, "probes of EVs and tails sent")                                       \
    X(tail_pkts, "probes of tails among them")                                          \
    X(coalesced, "interrupts that came late, packets waiting")                          \
    X(tcp_sent, "packets of rivals sent, repeated ones included")                       \
    X(tcp_delivered, "packets of rivals that came for the first time")                  \
    X(foreign_pkts, "packets that another implementation took")                         \
    X(undone, "packets that could not leave")                                           \
    X(probe_excess, "probes beyond what economy allows a path set")                     \
    X(lossless, "runs in which no packet had to be resent")

struct counts {
#define X(name, help) u64 name = 0;
    SIM_COUNTS(X)
#undef X
};

} // namespace sim
