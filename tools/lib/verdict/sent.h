// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// sent.h - how many probes each host sent, over time.
//
// Hosts send evenly. What a host sent in spans that follow each other, at one rate, is one run: 21 minutes of 131,072
// hosts are as many runs, instead of 16 million spans.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "probes.h"

namespace mrcver {

struct HostSent {
    std::vector<std::array<std::uint64_t, kProbeKinds>> planes;   // the first one is plane 1
    std::uint64_t stalls = 0, void_ = 0;   // how often it was starved, and probes under way then
    std::uint64_t strays = 0;              // probes that came and were not its own

    HostSent &operator+=(const HostSent &more);
};

// How long a span may be that ended so many seconds ago.
double grain(double age);

class SentLog {
public:
    // False: the host has told of some of this span before. A span of no length counts to the one before.
    bool add(unsigned host, double from, double to, const HostSent &sent);
    // What hosts sent in that time. Of a run that reaches beyond it the share, but its stalls and strays count when it ends.
    std::map<unsigned, HostSent> between(double from, double to) const;
    // When the first run begins; 0 if there is none.
    double begin() const;
    void forget(double before);
    // Joins old runs.
    void compact(double now);

private:
    struct Run {
        double from, to;
        HostSent sent;

        bool same_rate(const Run &next) const;
        void join(const Run &next);
        HostSent share(double begin, double end) const;
    };

    std::map<unsigned, std::vector<Run>> hosts_;   // in order of time
};

}   // namespace mrcver
