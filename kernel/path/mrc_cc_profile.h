/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_cc_profile.h - congestion control profiles of a device: an algorithm of the engine and its
 * parameters, by id.
 *
 * Protected by dev->peer_lock. Callers get copies.
 */
#ifndef MRC_CC_PROFILE_H
#define MRC_CC_PROFILE_H

#include "engine/cc/mrc_cc.h"
#include "core/mrc_dev.h"

#define MRC_CC_PROFILES_MAX	256	/* per device */

struct mrc_cc_profile {
	struct list_head link;		/* dev->cc_profiles, under peer_lock */
	u64 id;
	const struct mrc_cc_ops *ops;
	u32 window_bytes;		/* 0: the device's cwnd (fixed), the algorithm's own */
	bool trimming;			/* the fabric trims */
	struct mrc_nscc_cfg nscc;
};

/* Under rtnl. Copies @p; extack names what is wrong. */
int mrc_cc_profile_set(struct mrc_dev *dev, const struct mrc_cc_profile *p,
		       struct netlink_ext_ack *extack);
int mrc_cc_profile_del(struct mrc_dev *dev, u64 id, struct netlink_ext_ack *extack);
/* Any context. A copy of profile @id; false: there is none. */
bool mrc_cc_profile_get(struct mrc_dev *dev, u64 id, struct mrc_cc_profile *out);
/* Any context. A copy of the profile with the smallest id >= @id; false: there is none. */
bool mrc_cc_profile_next(struct mrc_dev *dev, u64 id, struct mrc_cc_profile *out);
void mrc_cc_profiles_destroy(struct mrc_dev *dev);

#endif
