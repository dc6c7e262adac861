/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_reach.h - refuses a change of settings if a peer with QPs would lose its last path. Under
 * rtnl; may sleep.
 *
 * Each function returns 0, or -errno with an extack message. A peer that has no path already loses
 * none. Events that are no settings (ports that leave, links that go down) are not checked, because
 * they recover.
 */
#ifndef MRC_REACH_H
#define MRC_REACH_H

#include "path/mrc_pathset.h"
#include "path/mrc_profiles.h"

/* Profile @id becomes the default; 0: generated EVs. -ENOENT, -EBUSY. */
int mrc_reach_default(struct mrc_dev *dev, u64 id, struct netlink_ext_ack *extack);
/* The valid profile @p is set, and may replace another. -EBUSY. */
int mrc_reach_set(struct mrc_dev *dev, const struct mrc_profile *p,
		  struct netlink_ext_ack *extack);
/* Profile @key is deleted. -EBUSY. */
int mrc_reach_del(struct mrc_dev *dev, const struct mrc_profile_key *key,
		  struct netlink_ext_ack *extack);
/*
 * Plane @num (0-based) loses its SID. Peers over SRv6 send to a SID, so their packets would not arrive without one. Assumes
 * that they use the same planes as this host. -EBUSY.
 */
int mrc_reach_no_sid(struct mrc_dev *dev, u8 num, struct netlink_ext_ack *extack);
/* In @ps, a set in use, exactly the EVs in @denied become denied. -EBUSY. */
int mrc_reach_deny(const struct mrc_pathset *ps, const unsigned long *denied,
		   struct netlink_ext_ack *extack);

#endif
