// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// check.h - checks that the EVs of selected pairs of hosts arrive, over the switches that they
// name.
//
// The exceptions of a rule are always among the pairs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fabric.h"

namespace mrcfab {

struct Checked {
    unsigned long pairs = 0, evs = 0, hops = 0;
    unsigned long astray = 0;            // EVs that do not arrive, or not over what they name
    unsigned long unreached = 0;         // pairs without a profile, or without a path on a plane
    std::vector<std::string> problems;   // the first of them

    bool good() const { return astray == 0 && unreached == 0; }
};

Checked check_fabric(const Fabric &fabric, unsigned pairs, std::uint32_t seed);

}   // namespace mrcfab
