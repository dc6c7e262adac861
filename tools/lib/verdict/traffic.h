// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// traffic.h - what the transport knows of links: packets that connections lost by EVs over them, and EVs that it has
// withdrawn.
//
// Weak evidence: a full queue loses packets, too, and a loss may have happened on any link of the EV. It makes no verdict.
// Where two parts explain the probes alike, it decides, and the sentence tells it.
#pragma once

#include <cstdint>
#include <map>

#include "parts.h"

namespace mrcver {

struct Traffic {
    std::uint64_t sent = 0, lost = 0;   // packets of data
    std::uint64_t evs = 0, bad = 0;     // EVs, and those of them that are ASSUMED_BAD; added up over time they are a share

    Traffic &operator+=(const Traffic &more);
};

struct TrafficSeen {
    std::map<Part, Traffic> links;      // kUp and kDown, where something was lost or an EV is bad
    Traffic all;                        // of all EVs, each once

    bool empty() const { return all.evs == 0; }
    // Of the links that the part consists of. A host's cable and NIC have none of their own.
    Traffic over(const Part &part) const;
    // How much likelier it is that the part loses packets than that all links lose alike: a logarithm, from 0 to
    // kSupportMost.
    double support(const Part &part) const;
    TrafficSeen &operator+=(const TrafficSeen &more);
};

// A quarter of what it takes to blame a link: a host that lies about its traffic gains no more.
inline constexpr double kSupportMost = 4;

}   // namespace mrcver
