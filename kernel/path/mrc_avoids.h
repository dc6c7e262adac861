/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_avoids.h - the links that a device avoids, and which EVs cross them.
 *
 * There are two lists: of the daemon, which expires unless it is renewed, and of a person. Neither
 * changes the other. A link is two uSIDs next to each other in the path of an EV. A switch is one.
 * The engine decides whether an EV is avoided (engine/paths/mrc_avoid.c).
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
	u64 until_ns;		/* ktime_get_ns(); 0: for ever */
	u32 expiry_s;		/* as it was set; 0: none */
	u32 n;
	struct mrc_avoid_link link[MRC_AVOIDS_MAX];
};

/* Under rtnl. 0 or -ENOMEM. */
int mrc_avoids_set(struct mrc_dev *dev, enum mrc_avoid_by by, const struct mrc_avoid_link *links, u32 n, u32 expiry_s);
/* Under rtnl. Empties lists whose time is over. 0 or -ENOMEM. */
int mrc_avoids_expire(struct mrc_dev *dev);
/* Under rtnl. Time until the next list expires; false: none will. */
bool mrc_avoids_left(struct mrc_dev *dev, u64 *left_ns);
/* Under RCU. The list of @by; NULL: there was never any. */
const struct mrc_avoid_list *mrc_avoids_get(struct mrc_dev *dev, enum mrc_avoid_by by);
/* Nobody has the device any more. */
void mrc_avoids_exit(struct mrc_dev *dev);

/*
 * Any context, no lock. Which EVs of @ps cross links that are avoided, into @hits (MRC_EVS_MAX bits), and the generation of
 * the lists. False: @ps follows them already.
 */
bool mrc_avoids_look(const struct mrc_pathset *ps, unsigned long *hits, u32 *gen);
/* Under path_lock: so it is from now on. True unless @ps follows newer lists. */
bool mrc_avoids_take(struct mrc_pathset *ps, const unsigned long *hits, u32 gen);

#endif
