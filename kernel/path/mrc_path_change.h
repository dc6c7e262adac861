/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_path_change.h - changes that concern the paths to many peers: first the change, then all
 * peers follow it.
 *
 * Under rtnl; may sleep. A path set that could not be built for lack of memory is retried once per
 * second.
 */
#ifndef MRC_PATH_CHANGE_H
#define MRC_PATH_CHANGE_H

#include "path/mrc_avoids.h"
#include "path/mrc_cc_profile.h"
#include "path/mrc_profiles.h"

void mrc_path_change_init(struct mrc_dev *dev);
/* Process context, no rtnl; the device has no users any more. */
void mrc_path_change_stop(struct mrc_dev *dev);

/* Local planes changed: updates all path sets, announcements to peers, controllers, then QPs. */
void mrc_path_change_planes(struct mrc_dev *dev);
/* Profiles or the default profile changed: sets are rebuilt, QPs are notified. */
void mrc_path_change_profiles(struct mrc_dev *dev);
/*
 * The host's addresses changed: peers may have become this host, or ceased to be; templates may have copied from the
 * device's addresses. True: call again soon, because duplicate detection of an address runs and its end is not reported.
 */
bool mrc_path_change_addrs(struct mrc_dev *dev);
/*
 * Sets the list of links that @by wants the device to avoid: @n links, forgotten after @expiry_s seconds (0: never).
 * Setting the same list again restarts that time. 0 or -ENOMEM.
 */
int mrc_path_change_set_avoids(struct mrc_dev *dev, enum mrc_avoid_by by, const struct mrc_avoid_link *links, u32 n,
			       u32 expiry_s);
/* The damping of announced ports was reconfigured. */
void mrc_path_change_damp(struct mrc_dev *dev);
/* The parameters of controllers changed. */
void mrc_path_change_cc(struct mrc_dev *dev);

/*
 * Takes over @p, also on error. 0 or -errno with extack naming the value. Setting an equal profile
 * changes nothing.
 */
int mrc_path_change_set_profile(struct mrc_dev *dev, struct mrc_profile *p,
				struct netlink_ext_ack *extack);
int mrc_path_change_del_profile(struct mrc_dev *dev, const struct mrc_profile_key *key,
				struct netlink_ext_ack *extack);
/* Copies @p. */
int mrc_path_change_set_cc(struct mrc_dev *dev, const struct mrc_cc_profile *p,
			   struct netlink_ext_ack *extack);

#endif
