// SPDX-License-Identifier: GPL-2.0
//
// measure.h - reads the state of this host for monitoring, from the kernel, at one moment.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "snapshot.h"

namespace health {

struct measurement {
    std::chrono::system_clock::time_point at;
    std::string module_version;                             // "": it has none, or is not loaded
    mrcnl::error trouble;                                   // querying failed: nothing below is valid
    snapshot now;
    std::map<std::string, uint64_t, std::less<>> counters; // the sum over all devices
};

// Queries the kernel over @nl. @opened: the result of opening it. A failure is part of the measurement.
measurement measure(mrcnl::genl_socket &nl, const mrcnl::error &opened);

} // namespace health
