/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_qpcc.h - the congestion controllers of a peer.
 *
 * A controller (QPCC) is one engine object per (peer, profile). The QPs that were connected under
 * the profile share it: the first creates it and the last frees it, so it outlives any path set.
 * Profile 0 means none: each QP has a fixed window of its own.
 *
 * All engine calls on a controller, and on connections that use it, run under peer->path_lock. New
 * parameters of a profile apply to controllers in use; a new algorithm applies to QPs that connect
 * later.
 */
#ifndef MRC_QPCC_H
#define MRC_QPCC_H

#include "engine/cc/mrc_cc.h"
#include "path/mrc_peer.h"

struct mrc_qpcc {
	struct list_head link;		/* peer->ccs, under path_lock */
	struct mrc_peer *peer;		/* outlives it: its QPs hold references */
	u64 profile_id;
	const struct mrc_cc_ops *ops;
	u32 n_qps;			/* under path_lock */
	struct mrc_cc *cc;		/* ops->size bytes */
};

/*
 * Process context. The controller for a new QP of the peer by profile @id, or (0) by the device's default; NULL: none is
 * configured. ERR_PTR: -ENOMEM; -EINVAL: no profile @id. Holds a reference until mrc_qpcc_put().
 */
struct mrc_qpcc *mrc_qpcc_get(struct mrc_peer *peer, u64 id);
/* Any context. The QP's connection no longer uses the controller. */
void mrc_qpcc_put(struct mrc_qpcc *qpcc);
/* Any context. Planes or profiles changed: update rate and parameters of the peer's controllers. */
void mrc_qpcc_refresh(struct mrc_peer *peer);

#endif
