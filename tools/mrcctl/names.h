// SPDX-License-Identifier: GPL-2.0
//
// names.h - names of switches for the uSIDs of EVs and links, from the fabric file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../lib/fabric/fabric.h"
#include "../lib/nl/error.h"

namespace mrcctl {

inline constexpr const char *default_fabric = "/etc/mrc/fabric.toml";

class switch_names {
  public:
    switch_names() = default;
    explicit switch_names(const mrcfab::Fabric &fabric);
    // Reads @file, or the default file. If the latter is missing, bad or large, there are no names.
    mrcnl::error load(const std::optional<std::string> &file);

    std::string of(unsigned plane, unsigned usid) const; // "": no switch
    // The switches that an EV of format SRv6 crosses, in this order. Empty: none is known.
    std::vector<std::string> path(unsigned plane, std::span<const uint8_t> value) const;

  private:
    std::map<std::pair<unsigned, unsigned>, std::string> names_; // by plane and uSID
};

} // namespace mrcctl
