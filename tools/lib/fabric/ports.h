// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// ports.h - a node's end of each cable, for fabrics by rule and by lists.
//
// Every cable has the same two link-local addresses, fe80::1 at the end nearer to the hosts and
// fe80::2 at the upper end. So next hops need no table.
#pragma once

#include "desired.h"

namespace mrcfab {

enum class End { kLower, kUpper };

// This end of a cable: the interface @link.
void add_port(Desired &d, unsigned mtu, const std::string &link, End own);
// At the other end of the cable on @link is the node of this uSID.
void add_next_hop(Desired &d, const Prefix6 &block, unsigned usid, const std::string &link, End own);
// What a switch has besides its cables, which are there: its own SID, and forwarding.
void finish_switch(Desired &d, const Prefix6 &block, unsigned usid);

// From a quarter of the EVs on a profile has enough, unless the file says so.
unsigned min_active_of(const Fabric &f, std::size_t evs);

}   // namespace mrcfab
