// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// ev_op.h - operations on single EVs of a profile.
//
// The first error ends the call; earlier operations remain in effect. EVs are in the form that
// programs use (ev_name.h).
#pragma once

#include "controller.h"

// GEN, not ONLINE: generates the EVs as the device would now. Denied ones stay denied.
void ev_op_make(mrc_ctl &c, ev_profile &p);
void ev_op_modify(mrc_ctl &c, uint64_t id, ev_profile &p, const mrc_ctl_ev_profile_attr &a);
void ev_op_query(mrc_ctl &c, uint64_t id, ev_profile &p, mrc_ctl_ev_profile_attr &a);
