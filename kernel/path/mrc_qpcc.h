/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_qpcc.h - congestion control: profiles of a device, controllers of a peer.
 *
 * A CC profile names an algorithm of the engine and its parameters under an id.
 * A controller (QPCC) is one engine object per (peer, profile), shared by the QPs
 * to that peer that were connected under the profile; it is made by the first and
 * freed by the last of them, so it outlives any path set. Profile 0 means none: each QP
 * has a fixed window of its own.
 *
 * All engine calls on a controller, and on connections that use it, are under
 * peer->path_lock. A profile that changes its parameters changes them for
 * controllers in use; another algorithm is for QPs connected from then on.
 */
#ifndef MRC_QPCC_H
#define MRC_QPCC_H

#include "engine/mrc_cc.h"
#include "mrc_path.h"

#define MRC_CC_PROFILES_MAX	256	/* per device */

struct mrc_cc_profile {
	struct list_head link;		/* dev->cc_profiles, under peer_lock */
	u64 id;
	const struct mrc_cc_ops *ops;
	u32 window_bytes;		/* 0: the device's cwnd (fixed), the algorithm's own */
	bool trimming;			/* the fabric trims */
	struct mrc_nscc_cfg nscc;
};

struct mrc_qpcc {
	struct list_head link;		/* peer->ccs, under path_lock */
	struct mrc_peer *peer;		/* outlives it: its QPs hold references */
	u64 profile_id;
	const struct mrc_cc_ops *ops;
	u32 n_qps;			/* under path_lock */
	struct mrc_cc *cc;		/* ops->size bytes */
};

/*
 * Process context. The controller for a new QP of the peer by the device's default
 * profile; NULL: none wanted. ERR_PTR(-ENOMEM). Counted until mrc_qpcc_put().
 */
struct mrc_qpcc *mrc_qpcc_get(struct mrc_peer *peer);
/* The QP's connection has let go of it. */
void mrc_qpcc_put(struct mrc_qpcc *qpcc);
/* Planes or profiles changed: rate and parameters of the controllers of the peer. */
void mrc_qpcc_refresh(struct mrc_peer *peer);

/* Under rtnl. Copies @p; extack names what is wrong. */
int mrc_cc_profile_set(struct mrc_dev *dev, const struct mrc_cc_profile *p,
		       struct netlink_ext_ack *extack);
int mrc_cc_profile_del(struct mrc_dev *dev, u64 id, struct netlink_ext_ack *extack);
/* A copy of profile @id; false: there is none. */
bool mrc_cc_profile_get(struct mrc_dev *dev, u64 id, struct mrc_cc_profile *out);
/* Likewise, of the one with the smallest id that is at least @id. */
bool mrc_cc_profile_next(struct mrc_dev *dev, u64 id, struct mrc_cc_profile *out);
void mrc_cc_profiles_destroy(struct mrc_dev *dev);

#endif
