/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_profile_check.h - is an EV profile sound; and the EVs of mode GEN. Under rtnl.
 */
#ifndef MRC_PROFILE_CHECK_H
#define MRC_PROFILE_CHECK_H

#include "path/mrc_profile.h"

/* 0 or -errno with extack. */
int mrc_profile_check(struct mrc_dev *dev, const struct mrc_profile *p,
		      struct netlink_ext_ack *extack);
/* How many EVs @p's generators make; 0 with extack: not valid. */
u32 mrc_profile_check_gen_count(const struct mrc_profile *p, struct netlink_ext_ack *extack);
/* Fill @p->ev, whose room is mrc_profile_check_gen_count(). */
int mrc_profile_check_gen_fill(struct mrc_dev *dev, struct mrc_profile *p,
			       struct netlink_ext_ack *extack);

#endif
