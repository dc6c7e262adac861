// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// ev_name.h - converts between the two forms of an EV.
//
// Programs name it by its variable bits: one per bit of the masks of the profile's fields, most
// significant first. The kernel uses the value on the wire: these bits at their positions among
// those that all EVs share. Without fields both forms are equal.
#pragma once

#include "controller.h"

// Throws EINVAL: fields that the format does not take. ONLINE, or on the way there: the format is known.
void ev_check_fields(const ev_profile &p);

// Of a profile whose fields are sound; ports stay.
mrc_ctl_ev ev_wire(const ev_profile &p, const mrc_ctl_ev &name);
mrc_ctl_ev ev_name(const ev_profile &p, const mrc_ctl_ev &wire);

// Has the name no bits but those that the fields have?
bool ev_name_fits(const ev_profile &p, const mrc_ctl_ev &name);

// GEN: the EVs that the device makes on these ports, all GOOD. None: of fields that are not sound.
std::vector<ev_slot> ev_made(const ev_profile &p, uint32_t ports);
