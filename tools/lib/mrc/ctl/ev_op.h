// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// ev_op.h - operations on EVs of a profile, one by one. The first that is refused ends the call; what
// was done before it stays.
#pragma once

#include "controller.h"

void ev_op_modify(mrc_ctl &c, uint64_t id, ev_profile &p, const mrc_ctl_ev_profile_attr &a);
void ev_op_query(mrc_ctl &c, uint64_t id, ev_profile &p, mrc_ctl_ev_profile_attr &a);
