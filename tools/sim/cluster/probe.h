// SPDX-License-Identifier: GPL-2.0
// probe.h - run.probes: packets that hosts send to themselves over named switches, as mrcd's prober does.
//
// A file lists them, a line each; numbers begin with 0:
//
//	HOST PLANE PER_SECOND T0 [T1 T0]...
//
// A packet goes from the host to that T0, to that T1 and so on, and from the last T0 back to the host. Every second one is of
// control's class, and one in a hundred, of data's class, is as long as the MTU. It waits in the same queues as MRC's packets, and may be trimmed or
// marked. One that is not back after 10 ms is lost. A host that pauses leaves out what waited for it.
//
// There is one thread then, because switches count what they lose.
#pragma once

#include "workload.h"

#include <string>
#include <vector>

namespace sim {

struct probe_count {
    u32 sent = 0, full_sent = 0, control_sent = 0;
    u32 lost = 0, full_lost = 0, control_lost = 0, late = 0, queued = 0;
    u64 rtt_sum = 0, rtt_low = 0;           // ns
    u64 first_lost = 0, last_lost = 0;      // when they left, ps
};

struct probe {
    static constexpr size_t longest = 5;

    u32 host = 0;
    u8 plane = 0, hops = 0;
    u16 way[longest] = {};
    u64 every = 0, next = 0;                // ps
    u32 number = 0;                         // of the next one
    std::vector<probe_count> counts;        // by bucket of run.bucket_us in which it left
};

class probes {
public:
    // Adds their ends to @work.
    probes(const scenario &s, const topology &topo, workload &work);

    u32 first = none32;                     // ends from here on are theirs, two each
    std::vector<probe> all;
    std::vector<std::vector<u32>> of_host;

    bool is(u32 conn) const { return conn >= first; }
    probe &of(u32 conn) { return all[(conn - first) / 2]; }
    probe_count &count_of(probe &x, u64 sent_ps);

    // A line of numbers for each probe and bucket: "BUCKET PROBE" and struct probe_count in its order.
    void write(const std::string &path) const;

private:
    u64 bucket_ps_;
};

} // namespace sim
