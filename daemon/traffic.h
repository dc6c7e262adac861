// SPDX-License-Identifier: GPL-2.0
// traffic.h - reads what the connections of this host lost by which link, while probes are lost.
//
// While all is well it reads nothing: each reading goes through the EVs of all peers.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "../tools/lib/verdict/evidence.h"
#include "../tools/lib/verdict/layout.h"
#include "probe_kernel.h"

namespace mrcd {

class TrafficReader {
public:
    TrafficReader(const mrcver::Layout &layout, ProbeKernel &kernel) : layout_(layout), kernel_(kernel) {}

    // After each slice. Adds to it what was lost since the reading before, if it is time to read. @now: seconds.
    void add(const std::string &dev, double now, mrcver::Evidence &slice);

    static constexpr double kEach = 2, kAfter = 30;   // seconds: between readings; after the latest lost probe
    static constexpr double kShare = 0.01;            // of a processor that readings may take

private:
    std::optional<mrcver::Part> part(const mrcver::UsidLink &link);
    mrcver::TrafficSeen difference(const LinkTraffic &now);

    const mrcver::Layout &layout_;
    ProbeKernel &kernel_;
    LinkTraffic seen_;
    bool known_ = false;              // seen_ is of a reading
    double until_ = 0, next_ = 0, last_ = 0;
    // By plane and uSID: the T0 or T1 that has it. Worked out at the first reading.
    struct Numbers {
        std::map<unsigned, unsigned> t0, t1;
    };
    std::map<unsigned, Numbers> numbers_;
};

}   // namespace mrcd
