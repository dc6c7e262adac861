/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_profile_check.h - validates an EV profile, or an EV. Under rtnl.
 */
#ifndef MRC_PROFILE_CHECK_H
#define MRC_PROFILE_CHECK_H

#include "path/mrc_profile.h"

/* 0 or -errno with extack. */
int mrc_profile_check(struct mrc_dev *dev, const struct mrc_profile *p,
		      struct netlink_ext_ack *extack);
/* The same for one EV, number @idx of a list in the known format @fmt. */
int mrc_profile_check_ev(struct mrc_dev *dev, u32 fmt, u32 idx, const struct mrc_profile_ev *ev,
			 struct netlink_ext_ack *extack);

#endif
