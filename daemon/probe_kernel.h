// SPDX-License-Identifier: GPL-2.0
// probe_kernel.h - the interface to the module's self-probes. Tests implement it as a struct.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "../tools/lib/fabric/ip.h"
#include "../tools/lib/nl/error.h"
#include "../tools/lib/verdict/traffic.h"
#include "../tools/lib/verdict/usid_links.h"

namespace mrcd {

struct ProbeTest {
    std::uint32_t id = 0, kind = 0;      // enum mrc_probe_kind
    std::uint8_t plane = 0;              // 0: only through the host's own stack
    mrcfab::Ip6 path;
    std::optional<std::uint8_t> dscp;    // nullopt: that of control packets
    std::uint32_t interval_us = 0;
};

struct ProbeTimes {
    std::uint32_t expiry_s = 60;        // the tests end unless they are set again
    std::uint32_t timeout_us = 10000;   // a probe that is not back by then is lost
    std::uint32_t stall_us = 5000;      // a host whose timer is this late is starved
};

// Counters since the test started.
struct ProbeCount {
    std::uint64_t received = 0, lost = 0, corrupt = 0, other_plane = 0, void_ = 0;
    std::uint64_t late = 0, trimmed = 0, marked = 0, full_sent = 0, full_lost = 0;
    std::uint64_t rtt_sum = 0, rtt_low = 0;   // ns
    double last_lost = 0;                     // seconds of the Epoch; 0: never
};

struct ProbeState {
    std::vector<std::pair<std::uint32_t, ProbeCount>> tests;   // by id
    std::uint64_t stalls = 0, forged = 0;
    std::uint64_t bad_sid = 0;   // packets that came and were for the locator of another host
};

// Of all connections, since their path sets exist: links between two uSIDs of an EV.
using LinkTraffic = std::map<mrcver::UsidLink, mrcver::Traffic>;

class ProbeKernel {
public:
    virtual ~ProbeKernel() = default;

    // Replaces all self-probes of the device.
    virtual mrcnl::error set(const std::string &dev, const std::vector<ProbeTest> &tests, const ProbeTimes &times) = 0;
    virtual mrcnl::error get(const std::string &dev, ProbeState &state) = 0;
    // The DSCP of data packets.
    virtual std::optional<std::uint8_t> data_dscp(const std::string &dev) = 0;
    virtual mrcnl::error traffic(const std::string &dev, LinkTraffic &counts) = 0;
};

}   // namespace mrcd
