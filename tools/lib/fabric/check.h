// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// check.h - does every EV of some pairs of hosts arrive, over the switches that it names? The
// exceptions of a rule are always among the pairs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fabric.h"

namespace mrcfab {

struct Checked {
    unsigned long pairs = 0, evs = 0, hops = 0;
    std::vector<std::string> problems;   // the first ones
    unsigned long bad = 0;               // all of them
};

Checked check_fabric(const Fabric &fabric, unsigned pairs, std::uint32_t seed);

}   // namespace mrcfab
