// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// ev_name.h - converts between the two forms of an EV.
//
// Programs name it by its variable bits: one per bit of the masks of the profile's fields, most
// significant first. The kernel uses the value on the wire: these bits at their positions among
// those that all EVs share. Without fields both forms are equal.
#pragma once

#include "controller.h"

// Throws EINVAL if the format has no such fields. For a profile that is ONLINE, or about to be: its
// format is known.
void ev_check_fields(const ev_profile &p);

// Converts an EV of a profile whose fields are valid; the port stays.
mrc_ctl_ev ev_wire(const ev_profile &p, const mrc_ctl_ev &name);
mrc_ctl_ev ev_name(const ev_profile &p, const mrc_ctl_ev &wire);

// Does the name have only bits that the fields have?
bool ev_name_fits(const ev_profile &p, const mrc_ctl_ev &name);

// GEN: the EVs that the device generates on these ports, all GOOD. Empty if the fields are invalid.
std::vector<ev_slot> ev_made(const ev_profile &p, uint32_t ports);
