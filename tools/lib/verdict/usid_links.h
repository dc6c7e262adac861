// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// usid_links.h - a part of the fabric as the uSIDs of the links that it consists of.
#pragma once

#include <compare>
#include <vector>

#include "parts.h"

namespace mrcver {

// From the switch @from to the switch @to, in this direction. to 0: all links of the switch @from.
struct UsidLink {
    unsigned plane = 0, from = 0, to = 0;

    auto operator<=>(const UsidLink &) const = default;
};

// Of a switch, or of a cable between two switches. Empty: other parts have no uSIDs of their own.
std::vector<UsidLink> usid_links(const Layout &layout, const Part &part);

}   // namespace mrcver
