// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_qp_modify.c - the states of a queue pair: modify and query.
 *
 *   RESET -> INIT -> RTR -> RTS <-> SQD, any -> ERR, any -> RESET
 *
 * ib_core's table defines which attributes a transition requires and allows. This file checks their
 * values; then one function per target state does the work. INIT and RTS may be requested again
 * with new attributes, as far as the table allows. In SQD no request is taken from the ring, and
 * changes of an established connection are refused.
 *
 * uverbs lets two threads modify one QP at once: qp->mutex orders them. The softirq side may move
 * the QP to ERR at any time. So each step checks the state again under qp->lock before it commits.
 * A step that fails changes nothing.
 */
#include <linux/ktime.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>
#include "core/mrc_dev_plane.h"
#include "path/mrc_peer_hint.h"
#include "path/mrc_peer_paths.h"
#include "path/mrc_peers.h"
#include "path/mrc_plain_roce.h"
#include "mem/mrc_ucontext.h"
#include "data/mrc_bh.h"
#include "data/mrc_qp_peer.h"
#include "verbs/mrc_ah.h"
#include "verbs/mrc_qp_modify.h"
#include "verbs/mrc_qp_reset.h"
#include "verbs/mrc_qp_spec.h"

#define MRC_QP_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC | \
			 IB_ACCESS_MW_BIND | IB_ACCESS_OPTIONAL)
#define MRC_ACK_TIMEOUT_UNIT_NS	4096ull		/* IBTA: 4.096 us * 2^timeout */

/* ---- values ---- */

static int check_mtu(struct mrc_dev *dev, enum ib_mtu mtu)
{
	enum ib_mtu limit = mrc_dev_plane_ib_mtu(dev);

	if (mtu >= IB_MTU_256 && mtu <= limit)
		return 0;
	ibdev_dbg(&dev->ibdev, "path MTU %d is not in 256 to %d, the largest that fits the planes\n",
		  ib_mtu_enum_to_int(mtu), ib_mtu_enum_to_int(limit));
	return -EINVAL;
}

/* Numbers with a plain upper bound. */
static bool attr_in_range(const struct ib_qp_attr *a, int mask)
{
	const struct {
		int bit;
		u32 value, max;
	} bounds[] = {
		{ IB_QP_PORT, a->port_num - 1u, 0 },
		{ IB_QP_PKEY_INDEX, a->pkey_index, 0 },
		{ IB_QP_ACCESS_FLAGS, a->qp_access_flags & ~MRC_QP_ACCESS, 0 },
		{ IB_QP_DEST_QPN, a->dest_qp_num, MRC_PSN_MASK },
		{ IB_QP_RQ_PSN, a->rq_psn, MRC_PSN_MASK },
		{ IB_QP_SQ_PSN, a->sq_psn, MRC_PSN_MASK },
		{ IB_QP_MAX_QP_RD_ATOMIC, a->max_rd_atomic, MRC_QP_RD },
		{ IB_QP_MAX_DEST_RD_ATOMIC, a->max_dest_rd_atomic, MRC_QP_RD },
		{ IB_QP_MIN_RNR_TIMER, a->min_rnr_timer, 31 },
		{ IB_QP_TIMEOUT, a->timeout, 31 },
		{ IB_QP_RETRY_CNT, a->retry_cnt, 7 },
		{ IB_QP_RNR_RETRY, a->rnr_retry, MRC_RNR_FOREVER },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bounds); i++)
		if (mask & bounds[i].bit && bounds[i].value > bounds[i].max)
			return false;
	return true;
}

static int check_attr(struct mrc_qp *qp, const struct ib_qp_attr *a, int mask)
{
	int err = 0;

	if (mask & IB_QP_ALT_PATH)
		return -EOPNOTSUPP;
	if (mask & IB_QP_PATH_MIG_STATE && a->path_mig_state != IB_MIG_MIGRATED)
		return -EOPNOTSUPP;
	if (!attr_in_range(a, mask))
		return -EINVAL;
	if (mask & IB_QP_PATH_MTU)
		err = check_mtu(qp->dev, a->path_mtu);
	if (!err && mask & IB_QP_AV)
		err = mrc_ah_check(&qp->dev->ibdev, &a->ah_attr, false);
	return err;
}

/* Attributes that the transition allows, by ib_core's table and by this device. */
static int check_transition(enum ib_qp_state cur, enum ib_qp_state next,
			    const struct ib_qp_attr *a, int mask)
{
	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	if (next == IB_QPS_SQE)
		return -EOPNOTSUPP;
	if (mask & IB_QP_CUR_STATE && a->cur_qp_state != cur)
		return -EINVAL;
	return ib_modify_qp_is_ok(cur, next, IB_QPT_RC, mask) ? 0 : -EINVAL;
}

/* ---- attributes ---- */

/* Under qp->lock, in the same section as the step that applies them. */
static void qp_keep_attr(struct mrc_qp *qp, const struct ib_qp_attr *a, int mask)
{
	struct ib_qp_attr *to = &qp->attr;

#define KEEP(bit, field) do { if (mask & (bit)) to->field = a->field; } while (0)
	KEEP(IB_QP_PORT, port_num);
	KEEP(IB_QP_PKEY_INDEX, pkey_index);
	KEEP(IB_QP_PATH_MTU, path_mtu);
	KEEP(IB_QP_DEST_QPN, dest_qp_num);
	KEEP(IB_QP_RQ_PSN, rq_psn);
	KEEP(IB_QP_SQ_PSN, sq_psn);
	KEEP(IB_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
	KEEP(IB_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	KEEP(IB_QP_MIN_RNR_TIMER, min_rnr_timer);
	KEEP(IB_QP_TIMEOUT, timeout);
	KEEP(IB_QP_RETRY_CNT, retry_cnt);
	KEEP(IB_QP_RNR_RETRY, rnr_retry);
	KEEP(IB_QP_AV, ah_attr);
#undef KEEP
	to->ah_attr.grh.sgid_attr = NULL;	/* ib_core's reference, not ours */
	/* rdma_cm sets the longest time, 655 ms. libfabric shortens it when the QP is in RTS. */
	if (mask & IB_QP_MIN_RNR_TIMER)
		mrc_conn_set_rnr_timer(&qp->conn, a->min_rnr_timer);
	if (mask & IB_QP_ACCESS_FLAGS) {
		to->qp_access_flags = a->qp_access_flags;
		WRITE_ONCE(qp->access, (u32)a->qp_access_flags);
	}
}

/* ---- steps; under qp->mutex ---- */

typedef int (*mrc_qp_step)(struct mrc_qp *qp, const struct ib_qp_attr *a, int mask,
			   enum ib_qp_state cur);

/* To INIT, or without a change of state: stores the attributes. */
static int qp_stay(struct mrc_qp *qp, const struct ib_qp_attr *a, int mask,
		   enum ib_qp_state cur)
{
	enum ib_qp_state next = mask & IB_QP_STATE ? a->qp_state : cur;
	int err = 0;

	spin_lock_bh(&qp->lock);
	if (qp->state != cur)
		err = -EINVAL;
	if (!err) {
		qp_keep_attr(qp, a, mask);
		qp->state = next;
	}
	spin_unlock_bh(&qp->lock);
	return err;
}

/* Under qp->lock: from here on the connection can receive and acknowledge. */
static int qp_start_rx(struct mrc_qp *qp, const struct ib_qp_attr *a,
		       struct mrc_pathset *ps)
{
	const struct mrc_dev_attr *d = &qp->dev->attr;
	struct mrc_rx_cfg cfg = {
		.psn = a->rq_psn,
		.dqpn = a->dest_qp_num,
		.sqpn = qp->qpn,
		.mtu = ib_mtu_enum_to_int(a->path_mtu),
		.mpr = qp->mpr,
		.wimm = MRC_QP_RQM,
		.rd_atomic = a->max_dest_rd_atomic,
		.min_rnr_timer = a->min_rnr_timer,
		.mrc_only = mrc_qp_only_spec(qp),
		.oor_nack = READ_ONCE(d->oor_nack),
		.no_trim_nack = !READ_ONCE(d->trim_nack),
		.dyn_mpr = READ_ONCE(d->dyn_mpr),
		.svc_time = true,
		.strict = qp->strict,
		.mute = !qp->owner.trusted,
	};
	int err;

	mrc_qp_spec_rx(qp, &cfg);
	spin_lock(&ps->peer->path_lock);
	mrc_conn_set_path(&qp->conn, &ps->evs);
	err = mrc_conn_set_rx(&qp->conn, &cfg, ktime_get_ns());
	spin_unlock(&ps->peer->path_lock);
	return err;
}

/*
 * True: the peer's connection manager speaks plain RoCEv2, and no MRC packet ever arrived from the
 * peer. The QP would time out. A refusal now is reported to the peer by our connection manager. QPs
 * of mrc.h are exempt.
 */
static bool qp_peer_is_plain(const struct mrc_qp *qp, struct mrc_peer *peer)
{
	if (peer->local || mrc_qp_only_spec(qp) || READ_ONCE(peer->heard) ||
	    !mrc_plain_roce_is(qp->dev, &peer->gid))
		return false;
	mrc_peer_hint_plain(peer);
	return true;
}

/*
 * True: no plane leads to the peer. The link-local address of a device with ports is not on these
 * ports, so no neighbour answers for it. SRv6 EVs reach the peer by the addresses of its planes.
 */
static bool qp_no_neighbour(const struct mrc_qp *qp, struct mrc_peer *peer, const struct mrc_pathset *ps)
{
	if (!qp->dev->own_netdev || peer->local || ps->srv6 ||
	    !(ipv6_addr_type((const struct in6_addr *)&peer->gid) & IPV6_ADDR_LINKLOCAL))
		return false;
	mrc_peer_hint_link_local(peer);
	return true;
}

/* Claims the peer's QP that @a names. Refused while another user's QP is connected to it. */
static struct mrc_claim *qp_claim(struct mrc_qp *qp, const struct ib_qp_attr *a, struct mrc_peer *peer)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(&a->ah_attr);
	const struct mrc_claim_key key = {
		.sgid = grh->sgid_attr->gid,
		.dgid = grh->dgid,
		.dqpn = a->dest_qp_num,
	};
	struct mrc_claim *claim = mrc_claim_new(&key, &qp->owner);

	if (!claim)
		return ERR_PTR(-ENOMEM);
	if (qp->owner.trusted || !mrc_claim_foreign(qp->dev, claim))
		return claim;
	mrc_claim_put(qp->dev, claim);
	mrc_peer_hint_claimed(peer, a->dest_qp_num);
	return ERR_PTR(-EADDRINUSE);
}

static int qp_to_rtr(struct mrc_qp *qp, const struct ib_qp_attr *a, int mask,
		     enum ib_qp_state cur)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(&a->ah_attr);
	struct mrc_peer_paths *paths;
	struct mrc_claim *claim;
	struct mrc_pathset *ps;
	struct mrc_peer *peer;
	bool no_neighbour;
	int err = -EINVAL;

	peer = mrc_peer_get(qp->dev, &grh->dgid, GFP_KERNEL_ACCOUNT);
	if (IS_ERR_OR_NULL(peer))
		return peer ? PTR_ERR(peer) : -ENOMEM;
	if (qp_peer_is_plain(qp, peer)) {
		mrc_peer_put(peer);
		return -EPFNOSUPPORT;	/* uverbs itself returns EPROTONOSUPPORT */
	}
	claim = qp_claim(qp, a, peer);
	if (IS_ERR(claim)) {
		mrc_peer_put(peer);
		return PTR_ERR(claim);
	}
	paths = mrc_peer_paths_named(peer, qp->spec.ev_profile_id);
	if (IS_ERR(paths)) {
		mrc_claim_put(qp->dev, claim);
		mrc_peer_put(peer);
		return PTR_ERR(paths);
	}
	ps = mrc_peer_paths_set(paths);
	no_neighbour = qp_no_neighbour(qp, peer, ps);

	spin_lock_bh(&qp->lock);
	if (qp->state == cur)
		err = no_neighbour ? -EADDRNOTAVAIL : qp_start_rx(qp, a, ps);
	if (!err) {
		qp_keep_attr(qp, a, mask);
		qp->sgid = grh->sgid_attr->gid;
		qp->dgid = grh->dgid;
		qp->peer = peer;
		qp->paths = paths;
		qp->ps = ps;
		qp->claim = claim;
		qp->claims = true;
		qp->state = IB_QPS_RTR;
	}
	spin_unlock_bh(&qp->lock);
	if (err) {
		mrc_claim_put(qp->dev, claim);
		mrc_pathset_put(ps);
		mrc_peer_paths_put(paths);
		mrc_peer_put(peer);
		return err;
	}
	mrc_qp_peer_link(qp, peer);
	if (!peer->local) {	/* loopback: planes do not limit the MTU */
		qp->mtu = a->path_mtu;
		mrc_dev_plane_mtu_get(qp->dev, qp->mtu);
	}
	return 0;
}

/*
 * Under qp->lock: from here on the connection can also send. @qpcc: its congestion controller, or
 * NULL.
 */
static int qp_start_tx(struct mrc_qp *qp, const struct ib_qp_attr *a, struct mrc_qpcc *qpcc)
{
	const struct mrc_dev_attr *d = &qp->dev->attr;
	struct mrc_tx_cfg cfg = {
		.psn = a->sq_psn,
		.mpr = qp->mpr,
		.wimm = MRC_QP_RQM,
		.rd_atomic = a->max_rd_atomic,
		.timeout_ns = a->timeout ? MRC_ACK_TIMEOUT_UNIT_NS << a->timeout : 0,
		.linear_cnt = a->retry_cnt,
		.exp_cnt = READ_ONCE(d->exp_cnt),
		.burst = mrc_burst_of(READ_ONCE(d->burst), ib_mtu_enum_to_int(qp->mtu)),
		.unpadded = !READ_ONCE(d->mrc_pad),
		.rnr_retry = a->rnr_retry,
		.timestamps = READ_ONCE(d->timestamps),
		.trim_nack = READ_ONCE(d->trim_nack),
		.dyn_mpr = READ_ONCE(d->dyn_mpr),
		.sleek = READ_ONCE(d->sleek),
		.cc = qpcc ? qpcc->cc : NULL,
		.cwnd_bytes = READ_ONCE(d->cwnd_bytes),
	};
	int err;

	mrc_qp_spec_tx(qp, &cfg);
	spin_lock(&qp->peer->path_lock);
	err = mrc_conn_set_tx(&qp->conn, &cfg, ktime_get_ns());
	spin_unlock(&qp->peer->path_lock);
	return err;
}

/* From RTS or SQD. On leaving SQD, requests that were posted meanwhile may be sent. */
static int qp_go_on(struct mrc_qp *qp, const struct ib_qp_attr *a, int mask,
		    enum ib_qp_state cur)
{
	int err = qp_stay(qp, a, mask, cur);

	if (!err)
		mrc_bh_kick(qp);
	return err;
}

/* Reads qp->peer without qp->lock: it changes only under qp->mutex. */
static int qp_to_rts(struct mrc_qp *qp, const struct ib_qp_attr *a, int mask,
		     enum ib_qp_state cur)
{
	struct mrc_qpcc *qpcc = NULL;
	int err = -EINVAL;

	if (cur == IB_QPS_RTS || cur == IB_QPS_SQD)
		return qp_go_on(qp, a, mask, cur);
	if (qp->peer)
		qpcc = mrc_qpcc_get(qp->peer, qp->spec.cc_profile_id);
	if (IS_ERR(qpcc))
		return PTR_ERR(qpcc);
	spin_lock_bh(&qp->lock);
	if (qp->state == cur && qp->ps)
		err = qp_start_tx(qp, a, qpcc);
	if (!err) {
		qp_keep_attr(qp, a, mask);
		qp->qpcc = qpcc;
		qp->state = IB_QPS_RTS;
	}
	spin_unlock_bh(&qp->lock);
	if (err)
		mrc_qpcc_put(qpcc);
	else
		mrc_bh_kick(qp);	/* requests may have been posted already */
	return err;
}

/* The engine takes these at RTR and RTS; SQD cannot change them. */
#define MRC_SQD_FIXED	(IB_QP_AV | IB_QP_PATH_MTU | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |	\
			 IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC | IB_QP_MAX_DEST_RD_ATOMIC)

static int qp_to_sqd(struct mrc_qp *qp, const struct ib_qp_attr *a, int mask,
		     enum ib_qp_state cur)
{
	int err = 0;

	if (mask & MRC_SQD_FIXED)
		return -EOPNOTSUPP;
	if (cur == IB_QPS_SQD)
		return qp_stay(qp, a, mask, cur);
	spin_lock_bh(&qp->lock);
	if (qp->state == cur) {
		qp->sqd_notify = mask & IB_QP_EN_SQD_ASYNC_NOTIFY && a->en_sqd_async_notify;
		qp->sqd_raised = false;
		qp->state = IB_QPS_SQD;
	} else {
		err = -EINVAL;
	}
	spin_unlock_bh(&qp->lock);
	mrc_bh_kick(qp);
	return err;
}

/* The softirq side completes the posted requests as flushed. */
static int qp_to_err(struct mrc_qp *qp, const struct ib_qp_attr *a, int mask,
		     enum ib_qp_state cur)
{
	spin_lock_bh(&qp->lock);
	mrc_qp_fail_conn(qp);
	qp->state = IB_QPS_ERR;
	spin_unlock_bh(&qp->lock);
	mrc_bh_kick(qp);
	return 0;
}

static int qp_to_reset(struct mrc_qp *qp, const struct ib_qp_attr *a, int mask,
		       enum ib_qp_state cur)
{
	mrc_qp_reset(qp);
	spin_lock_bh(&qp->lock);
	memset(&qp->attr, 0, sizeof(qp->attr));
	qp->access = 0;
	spin_unlock_bh(&qp->lock);
	mrc_qp_spec_end(qp);
	return 0;
}

/* By target state. ib_core's table defines which transitions exist. */
static const mrc_qp_step mrc_qp_steps[] = {
	[IB_QPS_RESET] = qp_to_reset,
	[IB_QPS_INIT] = qp_stay,
	[IB_QPS_RTR] = qp_to_rtr,
	[IB_QPS_RTS] = qp_to_rts,
	[IB_QPS_SQD] = qp_to_sqd,
	[IB_QPS_ERR] = qp_to_err,
};

/* ---- verbs ---- */

int mrc_qp_modify(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	struct mrc_qp *qp = container_of(ibqp, struct mrc_ibqp, ibqp)->qp;
	enum ib_qp_state cur, next;
	struct mrc_umodify_qp ask;
	struct mrc_qp_spec old;
	bool given;
	int err;

	err = mrc_qp_spec_read(udata, &ask, &given);
	if (err)
		return err;
	mutex_lock(&qp->mutex);
	old = qp->spec;
	cur = READ_ONCE(qp->state);
	next = mask & IB_QP_STATE ? attr->qp_state : cur;
	err = check_transition(cur, next, attr, mask);
	if (!err)
		err = check_attr(qp, attr, mask);
	if (!err)
		err = mrc_qp_spec_take(qp, &ask, given, cur, next);
	if (!err && WARN_ON_ONCE(next >= ARRAY_SIZE(mrc_qp_steps) || !mrc_qp_steps[next]))
		err = -EINVAL;
	if (!err)
		err = mrc_qp_steps[next](qp, attr, mask, cur);
	if (err)
		mrc_qp_spec_restore(qp, &old);
	mutex_unlock(&qp->mutex);
	return err;
}

int mrc_qp_query(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init)
{
	struct mrc_qp *qp = READ_ONCE(container_of(ibqp, struct mrc_ibqp, ibqp)->qp);
	struct mrc_conn_info info;

	if (!qp)
		return -EAGAIN;
	spin_lock_bh(&qp->lock);
	*attr = qp->attr;
	attr->qp_state = qp->state;
	attr->sq_draining = qp->state == IB_QPS_SQD && !mrc_qp_drained(qp);
	if (qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD) {
		mrc_conn_info(&qp->conn, &info);
		attr->sq_psn = info.psn_next;
		attr->rq_psn = mrc_psn_add(info.rx_cack, 1);
	}
	spin_unlock_bh(&qp->lock);
	/*
	 * An empty mask is a query of rdma(8), by any user. With these numbers a user could forge
	 * packets.
	 */
	if (!mask && !mrc_claim_owner_sees(&qp->owner)) {
		attr->dest_qp_num = 0;
		attr->sq_psn = 0;
		attr->rq_psn = 0;
	}
	attr->cur_qp_state = attr->qp_state;
	attr->path_mig_state = IB_MIG_MIGRATED;
	attr->cap = qp->init.cap;
	*init = qp->init;
	return 0;
}
