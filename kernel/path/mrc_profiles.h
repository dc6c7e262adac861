/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_profiles.h - the EV profiles of a device, and the choice of the profile for a destination.
 *
 * Candidates have the device's default id and cover the destination. The longest prefix wins: a
 * single destination first, "any" last. Without a candidate, EVs are generated (AUTO). Setting a
 * profile again replaces the object; path/mrc_path_change.h makes path sets follow.
 */
#ifndef MRC_PROFILES_H
#define MRC_PROFILES_H

#include "path/mrc_profile.h"

#define MRC_PROFILES_MAX 16384		/* per device: one for each of so many destinations */

/*
 * Under rtnl. Takes over @p, which must be valid (path/mrc_profile_check.h), also on error. 0 or -errno with extack.
 * *@changed: lookups may find another profile now.
 */
int mrc_profiles_set(struct mrc_dev *dev, struct mrc_profile *p, bool *changed,
		     struct netlink_ext_ack *extack);
/* Under rtnl. */
int mrc_profiles_del(struct mrc_dev *dev, const struct mrc_profile_key *key,
		     struct netlink_ext_ack *extack);

/* Any context. The profile with number @id (0: the default number) for this destination, + ref; or NULL. */
struct mrc_profile *mrc_profiles_lookup(struct mrc_dev *dev, u64 id, const union ib_gid *dst);
/* Under rtnl, which keeps it valid. The profile with exactly this key, or NULL. */
const struct mrc_profile *mrc_profiles_find(struct mrc_dev *dev, const struct mrc_profile_key *key);
/* Under rtnl, which keeps it valid. The profile of id @id for @dst, without @without (or NULL). */
const struct mrc_profile *mrc_profiles_match(struct mrc_dev *dev, u64 id, const union ib_gid *dst,
					     const struct mrc_profile *without);
/* Any context. Is there a profile with this number, for any destination? */
bool mrc_profiles_exist(struct mrc_dev *dev, u64 id);
/*
 * Under dev->peer_lock. In the order of mrc_profile_cmp(): the first profile after @key, or (@same) @key itself if it exists.
 */
const struct mrc_profile *mrc_profiles_next(struct mrc_dev *dev, const struct mrc_profile_key *key,
					    bool same);
void mrc_profiles_destroy(struct mrc_dev *dev);

#endif
