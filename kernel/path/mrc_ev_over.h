/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_ev_over.h - the EV of a peer that crosses a given switch: the way back of an EV probe.
 */
#ifndef MRC_EV_OVER_H
#define MRC_EV_OVER_H

#include "path/mrc_pathset.h"

/*
 * Any context, with a reference to @ps. Finds an EV of @ps's profile on @plane (0-based) whose uSIDs include @usid, whatever
 * its state, also if a partial set leaves it out. False: there is none, or the EVs are not of format SRv6.
 */
bool mrc_ev_over(const struct mrc_pathset *ps, u8 plane, u16 usid, struct mrc_profile_ev *ev);

#endif
