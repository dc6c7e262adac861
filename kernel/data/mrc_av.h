/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_av.h - address vectors: the contents of an address handle, found by number.
 *
 * Programs write send requests into shared memory, so a request names its handle by number. The
 * number is looked up for each datagram and must belong to the protection domain of the QP.
 * Requests that are posted when the handle is destroyed fail. The vector holds no reference to a
 * peer: a thousand handles are only a thousand addresses.
 */
#ifndef MRC_AV_H
#define MRC_AV_H

#include <rdma/ib_verbs.h>
#include "engine/paths/mrc_flowlet.h"
#include "core/mrc_dev.h"

struct mrc_av {
	struct rcu_head rcu;
	struct mrc_dev *dev;
	u32 num;
	u32 pdn;
	union ib_gid sgid, dgid;
	u8 hops;			/* to a group, which is its scope; 0: as usual */
	struct mrc_flowlet flowlet;	/* under the peer's path_lock */
};

/* Softirq, under RCU: good until the end of that section. NULL: there is none for @dev and @pdn. */
struct mrc_av *mrc_av_find(const struct mrc_dev *dev, u32 pdn, u32 num);
/* Any context that @gfp allows, also with interrupts off. Copies dev, pdn, sgid, dgid and hops. ERR_PTR. */
struct mrc_av *mrc_av_create(const struct mrc_av *like, gfp_t gfp);
void mrc_av_destroy(struct mrc_av *av);		/* any context */
void mrc_av_exit(void);

#endif
