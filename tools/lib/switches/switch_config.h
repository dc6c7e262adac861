// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// switch_config.h - what a switch of a fabric needs, whoever made it: its uSID, its ports with
// their addresses, the routes, and [qos]. The same values that mrcd sets on a Linux switch.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../fabric/cabling.h"
#include "../fabric/fabric.h"

namespace mrcsw {

struct SwitchPort {
    std::string name;
    mrcfab::IfAddr addr;    // link-local
    std::string far_end;    // "h1-1 eth1"
    bool to_host = false;
};

struct SwitchRoute {
    mrcfab::Prefix6 dst;
    mrcfab::Ip6 via;
    std::string port;
};

struct SwitchConfig {
    std::string name;
    mrcfab::Prefix6 sid;
    unsigned mtu = 0;
    std::vector<SwitchPort> ports;
    std::vector<SwitchRoute> routes;
    mrcfab::Qos qos;
};

// Null: no switch of the fabric has that name. Throws FabricError for a port that is no plain word.
std::optional<SwitchConfig> switch_config(const mrcfab::Fabric &f, const mrcfab::Cabling &cabling,
                                          std::string_view name);
std::vector<std::string> switch_names(const mrcfab::Fabric &f);

}   // namespace mrcsw
