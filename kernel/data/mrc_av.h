/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_av.h - address vectors: the contents of an address handle, found by number.
 *
 * Programs write send requests into shared memory, so a request names its handle by number. The
 * number is looked up for each datagram and must belong to the protection domain of the QP. A
 * request that is still in the ring when its handle is destroyed fails. The vector holds no
 * reference to a peer: a thousand handles are only a thousand addresses.
 *
 * The verbs object (struct mrc_ah) owns the vector. Readers find it under RCU.
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
	u8 hops;			/* groups only: TTL or hop limit, the scope of its datagrams; 0: default */
	struct mrc_flowlet flowlet;	/* under the peer's path_lock */
};

/* Under RCU; valid until the end of the RCU section. Vector @num of @dev and @pdn, or NULL. */
struct mrc_av *mrc_av_find(const struct mrc_dev *dev, u32 pdn, u32 num);
/*
 * Any context that @gfp allows, also with interrupts off. Copies dev, pdn, sgid, dgid and hops of @like; allocates num.
 * ERR_PTR on failure.
 */
struct mrc_av *mrc_av_create(const struct mrc_av *like, gfp_t gfp);
void mrc_av_destroy(struct mrc_av *av);		/* any context; freed after RCU */
void mrc_av_exit(void);				/* module end; all vectors are destroyed */

#endif
