/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_profile_gen.h - expands the EVs of a profile that is made from fields (mode GEN). Under rtnl.
 */
#ifndef MRC_PROFILE_GEN_H
#define MRC_PROFILE_GEN_H

#include "path/mrc_profile.h"

/* Number of EVs that @p's generators make (mrc_evgen_deal()); 0 with extack: not valid. */
u32 mrc_profile_gen_count(struct mrc_dev *dev, const struct mrc_profile *p,
			  struct netlink_ext_ack *extack);
/* Fill @p->ev, which has room for mrc_profile_gen_count() EVs. 0 or -errno with extack. */
int mrc_profile_gen_fill(struct mrc_dev *dev, struct mrc_profile *p,
			 struct netlink_ext_ack *extack);
/* 0 or -errno with extack: "@what @idx" is on a port that the device does not have. */
int mrc_profile_port_check(struct mrc_dev *dev, const char *what, u32 idx, u8 port,
			   struct netlink_ext_ack *extack);

/* Can the fields of an explicit profile produce each of its EVs? 0, or -EINVAL with extack. */
int mrc_profile_gen_names(const struct mrc_profile *p, struct netlink_ext_ack *extack);
/*
 * Denies or allows the @n EVs in @denied, which are in the order of @p's EVs. 0, or -EINVAL with extack: @p has no such EV.
 */
int mrc_profile_gen_deny(struct mrc_profile *p, const struct mrc_profile_ev *denied, u32 n,
			 struct netlink_ext_ack *extack);

#endif
