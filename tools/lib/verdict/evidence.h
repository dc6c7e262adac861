// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// evidence.h - results of probes in a span of time.
//
// Probes without losses are not listed: the rule by which hosts probe gives them, and the sums
// contain their number.
#pragma once

#include <cstdint>
#include <map>

#include "probes.h"
#include "sent.h"
#include "traffic.h"

namespace mrcver {

struct Counts {
    std::uint64_t sent = 0;
    std::uint64_t lost = 0, corrupt = 0, other_plane = 0;   // of sent
    std::uint64_t full_sent = 0, full_lost = 0;             // of sent and lost: as long as the MTU
    std::uint64_t control_sent = 0, control_lost = 0;       // of sent and lost: of control's DSCP
    std::uint64_t late = 0, queued = 0;                     // queued: trimmed or marked
    std::uint64_t rtt_sum = 0, rtt_low = 0;                 // ns

    std::uint64_t failed() const { return lost + corrupt + other_plane; }
    std::uint64_t back() const { return sent - failed(); }
    Counts &operator+=(const Counts &more);
};

struct Result {
    Counts n;
    double first = 0, last = 0;   // of the failures, seconds of the Epoch

    Result &operator+=(const Result &more);
};

struct Evidence {
    double from = 0, to = 0;
    std::map<unsigned, HostSent> hosts;    // those that reported
    std::map<Probe, Result> failed;
    TrafficSeen traffic;

    void add(const Evidence &more);
};

}   // namespace mrcver
