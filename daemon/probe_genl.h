// SPDX-License-Identifier: GPL-2.0
// probe_genl.h - self-probes of the running module, over generic netlink (probe_kernel.h).
#pragma once

#include "../tools/lib/nl/attr.h"
#include "../tools/lib/nl/genl.h"
#include "../tools/lib/nl/request.h"
#include "probe_kernel.h"

namespace mrcd {

class NetlinkProbes : public ProbeKernel {
public:
    mrcnl::error set(const std::string &dev, const std::vector<ProbeTest> &tests, const ProbeTimes &times) override;
    mrcnl::error get(const std::string &dev, ProbeState &state) override;
    std::optional<std::uint8_t> data_dscp(const std::string &dev) override;
    mrcnl::error traffic(const std::string &dev, LinkTraffic &counts) override;

private:
    mrcnl::error open();
    mrcnl::error dump(mrcnl::request &rq, const mrcnl::handler &on_reply);
    mrcnl::error count_bad_sid(const std::string &dev, double now);

    mrcnl::genl_socket nl_;        // kept: to open it is half of the work of get()
    bool open_ = false;
    double looked_ = 0;            // at bad_sid_: all counters cost as much as all tests
    std::uint64_t bad_sid_ = 0;
};

// Messages. Pure functions.
mrcnl::request probe_set(const std::string &dev, const std::vector<ProbeTest> &tests, const ProbeTimes &times);
void parse_evs(const mrcnl::attr_range &attrs, LinkTraffic &counts);
// @ahead: seconds of the Epoch at CLOCK_BOOTTIME 0.
void parse_probe(const mrcnl::table &t, double ahead, ProbeState &state);

}   // namespace mrcd
