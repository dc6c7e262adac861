// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// infer.h - infers the faulty parts from the results of probes: no clock, no state, no I/O.
//
// A hypothesis is a set of parts, each with a loss rate. Its likelihood follows from what each
// probe sent and lost. Each part has a cost, so the smallest set that explains the losses wins. The
// search is greedy; then parts are exchanged for others that explain more. Flock (arXiv 2305.03348)
// has such a model; NetBouncer (NSDI 2019) has the bounced probes. What traffic lost makes a part cheaper (traffic.h).
#pragma once

#include <set>
#include <vector>

#include "evidence.h"
#include "parts.h"

namespace mrcver {

enum class Symptom {
    kLoss,
    kFullSize,       // packets of the full MTU are lost, short ones not
    kCorruption,
    kMisCabled,      // answers come by another plane, or two hosts receive each other's packets
    kMisConfigured,  // another host gets what is for this one
    kDataClass,      // control packets pass
    kCongestion,     // likewise, and queues are long: no fault
    kStalled,        // the host was starved: no fault of the fabric
};

struct Finding {
    Part part;
    Symptom symptom = Symptom::kLoss;
    double loss = 0;                     // of packets that cross it
    double confidence = 0;               // that it is this part
    bool fits = false;                   // probes that cross it lost what this rate lets expect
    bool confirmed = false;              // it fits, enough losses, seen by enough hosts
    double losses = 0;                   // that it explains
    unsigned observers = 0, of = 0;      // hosts that lost packets by it, of those that probe it
    double since = 0, last = 0;
    std::vector<Part> instead;           // that would explain it as well
    unsigned gets_it = 0;                // kMisConfigured, kMisCabled: the other host
    std::uint64_t stalls = 0;            // kStalled
    Traffic traffic;                     // of the connections, by EVs over it

    bool fault() const { return symptom != Symptom::kCongestion && symptom != Symptom::kStalled; }
};

struct Inferred {
    std::vector<Finding> findings;       // the worst first
    std::uint64_t losses = 0;
    double unexplained = 0;
    unsigned reporting = 0;              // hosts

    bool explained() const { return unexplained <= 0.05 * static_cast<double>(losses); }
};

// A part is blamed for at least so many losses, by at least so many hosts if there are as many.
inline constexpr double kLossesWanted = 5;
inline constexpr unsigned kHostsWanted = 2;

// @known: parts that were at fault a while ago; of them it takes little to be believed again.
// @alone: of one host, which nobody can confirm; findings of parts that others see are not confirmed.
// @plans: of @layout, kept from one call to the next.
Inferred infer(const Layout &layout, const Evidence &evidence, Plans &plans,
               const std::set<Part> &known = {}, bool alone = false);

}   // namespace mrcver
