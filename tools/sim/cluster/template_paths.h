// SPDX-License-Identifier: GPL-2.0
// template_paths.h - paths as one template makes them for every peer (mrc_evgen.h), and as switches
// read them: mrcd's for a fabric by rule (Documentation/guide/fabric.md).
#pragma once

#include "topology.h"

extern "C" {
#include "wire/mrc_evgen.h"
}

namespace sim {

// Of one host. Numbers of T0s, T1s and hosts in uSIDs and addresses begin with 1.
class template_paths {
public:
    // @choices: T1s that each host uses; it begins where the host before it ended.
    template_paths(const topology &topo, u32 own, u32 choices);

    // The T1 that EV @i of @plane names, towards @peer at another T0. Throws if the EV would
    // not arrive there.
    u32 t1(u32 plane, u32 i, u32 peer) const;

private:
    mrc_ev_gen gen(u32 plane) const;

    const topology &topo_;
    u32 own_, first_;
};

} // namespace sim
