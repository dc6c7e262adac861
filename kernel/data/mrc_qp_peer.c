// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_qp_peer.c - see mrc_qp_peer.h.
 */
#include <linux/ktime.h>
#include "path/mrc_peer_paths.h"
#include "path/mrc_peer_port.h"
#include "data/mrc_bh.h"
#include "data/mrc_qp_peer.h"

static struct mrc_qp *qp_of(struct mrc_peer_user *u)
{
	return container_of(u, struct mrc_qp, user);
}

static bool qp_peer_get(struct mrc_peer_user *u)
{
	return kref_get_unless_zero(&qp_of(u)->ref);
}

static void qp_peer_put(struct mrc_peer_user *u)
{
	mrc_qp_put(qp_of(u));
}

/* Packets in flight on planes that went down must be retransmitted. */
static void qp_peer_planes(struct mrc_qp *qp)
{
	spin_lock_bh(&qp->lock);
	if (qp->peer) {
		spin_lock(&qp->peer->path_lock);
		mrc_conn_plane_event(&qp->conn, ktime_get_ns());
		spin_unlock(&qp->peer->path_lock);
	}
	spin_unlock_bh(&qp->lock);
}

static void qp_peer_changed(struct mrc_peer_user *u, bool planes)
{
	if (planes)
		qp_peer_planes(qp_of(u));
	mrc_bh_kick(qp_of(u));
}

static const struct mrc_peer_user_ops qp_peer_ops = {
	.get = qp_peer_get,
	.put = qp_peer_put,
	.changed = qp_peer_changed,
};

void mrc_qp_peer_init(struct mrc_qp *qp)
{
	INIT_LIST_HEAD(&qp->user.link);
	qp->user.ops = &qp_peer_ops;
}

void mrc_qp_peer_link(struct mrc_qp *qp, struct mrc_peer *peer)
{
	bool first;

	qp->user.local = qp->sgid;
	first = mrc_peer_user_add(peer, &qp->user);
	mrc_peer_port_meet(peer, first);
}

void mrc_qp_peer_unlink(struct mrc_qp *qp, struct mrc_peer_paths *paths)
{
	struct mrc_pathset *ps = mrc_peer_paths_set(paths);
	struct mrc_peer *peer = paths->peer;

	mrc_peer_user_del(peer, &qp->user);
	if (unlikely(mrc_evset_probes_pending(&ps->evs)))	/* if this QP sent the probes, another one must do so */
		mrc_peer_users_notify(peer, false);
	mrc_pathset_put(ps);
}
