/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_avoids.h - the links that a device avoids, and which EVs cross them.
 *
 * There are two independent lists: one of the daemon, which expires unless it is renewed, and one of
 * the administrator. A link is a pair of adjacent uSIDs in the path of an EV; a switch is a single
 * uSID. The engine decides whether an EV is avoided (engine/paths/mrc_avoid.c).
 */
#ifndef MRC_AVOIDS_H
#define MRC_AVOIDS_H

#include "linux/mrc.h"
#include "path/mrc_pathset.h"

#define MRC_AVOID_LISTS	(MRC_AVOID_PERSON + 1)

struct mrc_avoid_link {
	u16 from, to;		/* uSIDs; to 0: any */
	u8 plane;		/* 0-based */
};

struct mrc_avoid_list {
	u64 until_ns;		/* ktime_get_ns(); 0: no expiry */
	u32 expiry_s;		/* configured time; 0: no expiry */
	u32 n;
	struct mrc_avoid_link link[MRC_AVOIDS_MAX];
};

/* Under rtnl. 0 or -ENOMEM. */
int mrc_avoids_set(struct mrc_dev *dev, enum mrc_avoid_by by, const struct mrc_avoid_link *links, u32 n, u32 expiry_s);
/* Under rtnl. Empties expired lists. 0 or -ENOMEM. */
int mrc_avoids_expire(struct mrc_dev *dev);
/* Under rtnl. Time until the next list expires; false: none will. */
bool mrc_avoids_left(struct mrc_dev *dev, u64 *left_ns);
/* Under RCU. The list of @by; NULL: no list was ever set. */
const struct mrc_avoid_list *mrc_avoids_get(struct mrc_dev *dev, enum mrc_avoid_by by);
/* Frees the lists. The device has no users any more. */
void mrc_avoids_exit(struct mrc_dev *dev);

/*
 * Any context, no lock. Computes the EVs of @ps that cross avoided links (@hits, MRC_EVS_MAX bits) and the generation of the
 * lists (@gen). False: @ps is up to date.
 */
bool mrc_avoids_look(const struct mrc_pathset *ps, unsigned long *hits, u32 *gen);
/* Under path_lock. Applies @hits to @ps. False: @ps already follows newer lists. */
bool mrc_avoids_take(struct mrc_pathset *ps, const unsigned long *hits, u32 gen);

#endif
