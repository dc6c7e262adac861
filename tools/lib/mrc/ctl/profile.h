// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// profile.h - functions that the kinds of profiles share, and conversion from and to kernel
// messages.
#pragma once

#include "controller.h"

// Ports of the device, bit 0: port 1, as on the wire and in the kernel.
uint32_t ports_of(mrc_ctl &c);

// The mask in the form of mrc_ctl.h: bit N is port N. It has no bit for port 32.
inline constexpr uint32_t port_without_bit = 1u << 31;
inline uint32_t ports_shown(uint32_t ports)
{
    return ports << 1;
}
inline uint32_t ports_meant(uint32_t shown)
{
    return shown >> 1;
}

// Reads the profile from the kernel, in state ONLINE. False: the kernel has no profile of that id
// for any destination.
bool ev_load(mrc_ctl &c, uint64_t id, ev_profile &p);
// Creates or replaces the profile in the kernel; removes it there.
void ev_store(mrc_ctl &c, uint64_t id, const ev_profile &p);
void ev_remove(mrc_ctl &c, uint64_t id);
// Does a QP use it?
bool ev_in_use(mrc_ctl &c, uint64_t id);

// Reads the states of the EVs from path sets: an EV is GOOD if it is GOOD for some peer, and DENIED
// if it is for all. An EV in no path set has the state of the profile.
void ev_states(mrc_ctl &c, uint64_t id, ev_profile &p);

struct ev_order {
    mrc_ctl_ev ev; // as on the wire
    bool denied;   // else GOOD
};
// Changes states at every peer that has a path set of the profile, in the order of the list.
void ev_set_states(mrc_ctl &c, uint64_t id, const std::vector<ev_order> &orders);
