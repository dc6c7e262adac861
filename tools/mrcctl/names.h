// SPDX-License-Identifier: GPL-2.0
//
// names.h - names from the fabric file: of switches for the uSIDs of EVs and links, of hosts for
// their addresses.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../lib/fabric/fabric.h"
#include "../lib/fabric/topology.h"
#include "../lib/nl/error.h"

namespace mrcctl {

inline constexpr const char *default_fabric = "/etc/mrc/fabric.toml";

class fabric_names {
  public:
    fabric_names() = default;
    explicit fabric_names(const mrcfab::Fabric &fabric);
    // Reads @file, or the default file. If the latter is missing, bad or large, there are no names.
    mrcnl::error load(const std::optional<std::string> &file);

    bool has_switches() const { return !names_.empty(); }
    std::string of(unsigned plane, unsigned usid) const; // "": no switch
    // The switches that an EV of format SRv6 crosses, in this order. Empty: none is known.
    std::vector<std::string> path(unsigned plane, std::span<const uint8_t> value) const;
    // The host with this GID. "": none.
    std::string host(std::span<const uint8_t> gid) const;

  private:
    std::map<std::pair<unsigned, unsigned>, std::string> names_; // by plane and uSID
    std::map<mrcfab::Ip6, std::string> hosts_;                   // by GID; of a rule only those that differ
    std::optional<mrcfab::Topology> topology_;
};

} // namespace mrcctl
