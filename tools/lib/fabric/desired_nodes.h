// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// desired_nodes.h - the three sources of a node's desired state: lists, a rule, [flat].
#pragma once

#include "desired.h"

namespace mrcfab {

Desired desired_switch(const Fabric &f, const Switch &sw);
Desired desired_host(const Fabric &f, const Host &host);
// None of that name: nothing.
std::optional<Desired> desired_flat(const Flat &flat, std::string_view name);
Desired desired_node(const Fabric &f, const Topology &t, const NodeId &node);

// The profiles of a host of a fabric by rule (templates.cc).
std::vector<Profile> templates(const Fabric &f, const Topology &t, HostId from);

}   // namespace mrcfab
