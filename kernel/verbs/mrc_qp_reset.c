// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_qp_reset.c - see mrc_qp_reset.h.
 */
#include "core/mrc_dev_plane.h"
#include "path/mrc_pathset.h"
#include "path/mrc_peer_paths.h"
#include "path/mrc_peers.h"
#include "data/mrc_hold.h"
#include "data/mrc_qp_peer.h"
#include "data/mrc_qp_timer.h"
#include "data/mrc_wqe_recv.h"
#include "verbs/mrc_counters.h"
#include "verbs/mrc_counters_qp.h"
#include "verbs/mrc_qp_reset.h"

/*
 * Under qp->lock. If the QP has a peer, takes the path lock: the QP's packets in flight
 * no longer count for the other QPs to that peer.
 */
static void qp_reset_conn(struct mrc_qp *qp)
{
	if (qp->peer)
		spin_lock(&qp->peer->path_lock);
	mrc_conn_reset(&qp->conn);
	mrc_conn_set_path(&qp->conn, NULL);	/* its address may be reused for another set */
	if (qp->peer)
		spin_unlock(&qp->peer->path_lock);
}

/* Discards requests that are posted and not taken yet; indices continue. */
static void qp_skip_ring(struct mrc_ring *r, u32 *cons)
{
	*cons = READ_ONCE(r->hdr->prod);
	smp_store_release(&r->hdr->cons, *cons);
}

/* Under qp->lock. Discards all requests: the QP's queues are as those of a new one. */
static void qp_forget_work(struct mrc_qp *qp)
{
	mrc_qp_put_mrs(qp);
	mrc_wqe_recv_drop_all(qp);
	qp->last_wqe_raised = false;
	qp->sq_posted = 0;
	qp->sq_done = 0;
	qp_skip_ring(&qp->sq, &qp->sq_cons);
	WRITE_ONCE(qp->sq.hdr->need_kick, 1);
	if (!qp->srq) {
		qp_skip_ring(&qp->rq, &qp->rq_cons);
		WRITE_ONCE(qp->rq.hdr->need_kick, 0);	/* only state ERR sets it */
	}
	qp->rq_base = qp->rq_cons;
}

void mrc_qp_reset(struct mrc_qp *qp)
{
	struct sk_buff_head held;
	struct mrc_peer_paths *paths;
	struct mrc_pathset *ps;
	struct mrc_qpcc *qpcc;
	struct mrc_peer *peer;

	lockdep_assert_held(&qp->mutex);
	__skb_queue_head_init(&held);
	mrc_counters_qp_hold(qp);
	spin_lock_bh(&qp->dev->qp_lock);	/* a sum sees the counters once: in the QP or in `gone` */
	spin_lock(&qp->lock);
	qp_reset_conn(qp);
	mrc_counters_retire(qp);
	mrc_qp_unclaim(qp);
	qp->state = IB_QPS_RESET;
	peer = qp->peer;
	paths = qp->paths;
	ps = qp->ps;
	qpcc = qp->qpcc;
	qp->peer = NULL;
	qp->paths = NULL;
	qp->ps = NULL;
	qp->qpcc = NULL;
	memset(&qp->incast, 0, sizeof(qp->incast));
	mrc_hold_take_all(qp, &held);
	qp_forget_work(qp);
	mrc_qp_timer_clear(qp);
	spin_unlock(&qp->lock);
	spin_unlock_bh(&qp->dev->qp_lock);
	mrc_counters_qp_let(qp);

	if (qp->mtu)
		mrc_dev_plane_mtu_put(qp->dev, qp->mtu);
	qp->mtu = 0;
	hrtimer_cancel(&qp->timer);
	__skb_queue_purge(&held);
	mrc_qpcc_put(qpcc);
	if (!peer)
		return;
	mrc_qp_peer_unlink(qp, paths);
	mrc_pathset_put(ps);
	mrc_peer_paths_put(paths);
	mrc_peer_used(peer);
	mrc_peer_put(peer);
}
