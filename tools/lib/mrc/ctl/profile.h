// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// profile.h - functions that the kinds of profiles share, and conversion from and to kernel
// messages.
#pragma once

#include "controller.h"

// Ports of the device, bit 0: port 1, as on the wire and in the kernel.
uint32_t ports_of(mrc_ctl &c);

// The same as programs have it: bit N is port N, so there is no bit 0. Port 32 has no bit there.
inline constexpr uint32_t port_without_bit = 1u << 31;
inline uint32_t ports_shown(uint32_t ports)
{
    return ports << 1;
}
inline uint32_t ports_meant(uint32_t shown)
{
    return shown >> 1;
}

// The profile as the kernel has it, in state ONLINE; false: it has none of that number for any
// destination.
bool ev_load(mrc_ctl &c, uint64_t id, ev_profile &p);
// Makes it the kernel's, replaces it there, takes it away.
void ev_store(mrc_ctl &c, uint64_t id, const ev_profile &p);
void ev_remove(mrc_ctl &c, uint64_t id);
// Does a QP use it?
bool ev_in_use(mrc_ctl &c, uint64_t id);

// States as path sets have them: an EV is GOOD if it is for some peer, DENIED if for all. Of an EV that is in
// none it is what the profile says.
void ev_states(mrc_ctl &c, uint64_t id, ev_profile &p);

struct ev_order {
    mrc_ctl_ev ev; // as on the wire
    bool denied;   // else GOOD
};
// In turn, with every peer that has a path set of the profile.
void ev_set_states(mrc_ctl &c, uint64_t id, const std::vector<ev_order> &orders);
