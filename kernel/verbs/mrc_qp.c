// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_qp.c - queue pairs: making, finding and ending them.
 *
 * All memory is taken at creation, by the capabilities asked for: the struct,
 * the engine's memory, the copies of work requests, the two rings. Nothing is
 * allocated later.
 *
 * An end in three steps. destroy_qp takes the QP out of the table, the peer's
 * and the device's list, resets the engine and cuts the tie to ib_core's object,
 * all under the locks those need; from then on nothing is sent, completed or
 * armed. Whoever still holds a reference (a packet, the softirq scheduler)
 * finds it so and lets go. The last reference queues a work item, which frees
 * what may sleep; the struct itself waits for RCU, for mrc_qp_find() may be
 * looking at its count. Until then the QP keeps the device registered.
 */
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include "mrc_hold.h"
#include "mrc_pd.h"
#include "mrc_qp.h"
#include "mrc_seed.h"
#include "mrc_ucontext.h"

#define MRC_QPN_FIRST	0x11	/* below: reserved, and QP 2 is the endpoint */
#define MRC_QPN_LAST	0xffffff
#define MRC_SQ_SLOTS_MIN 8
#define MRC_MPR_DEFAULT	8	/* when the device says 0 */

static DEFINE_XARRAY_FLAGS(mrc_qps, XA_FLAGS_ALLOC);
static u32 mrc_qpn_next;	/* cyclic: a number rests before it is reused */

/* ---- references ---- */

struct mrc_qp *mrc_qp_find(u32 qpn)
{
	struct mrc_qp *qp;

	rcu_read_lock();
	qp = xa_load(&mrc_qps, qpn);
	if (qp && !kref_get_unless_zero(&qp->ref))
		qp = NULL;
	rcu_read_unlock();
	return qp;
}

/* Memory regions of requests that will never finish. Nobody else may use @qp, or lock held. */
static void mrc_qp_put_mrs(struct mrc_qp *qp)
{
	u32 i, k;

	for (i = 0; i < qp->sq_slots; i++) {
		for (k = 0; k < qp->init.cap.max_send_sge; k++) {
			if (qp->swqe[i].mr[k])
				mrc_mr_put(qp->swqe[i].mr[k]);
			qp->swqe[i].mr[k] = NULL;
		}
	}
	for (i = 0; i < MRC_QP_RD; i++) {
		if (qp->resp[i].mr)
			mrc_mr_put(qp->resp[i].mr);
		qp->resp[i].mr = NULL;
	}
}

static void mrc_qp_free(struct mrc_qp *qp)
{
	struct ib_device *ibdev = &qp->dev->ibdev;

	hrtimer_cancel(&qp->timer);
	mrc_qp_put_mrs(qp);
	if (qp->scq)
		mrc_cq_put(qp->scq);
	if (qp->rcq)
		mrc_cq_put(qp->rcq);
	mrc_ring_free(&qp->sq);
	mrc_ring_free(&qp->rq);
	kvfree(qp->conn_mem);		/* and wqe_mem */
	mutex_destroy(&qp->mutex);
	kvfree_rcu(qp, rcu);
	ib_device_put(ibdev);
}

static void mrc_qp_free_work(struct work_struct *work)
{
	mrc_qp_free(container_of(work, struct mrc_qp, free_work));
}

static void mrc_qp_release(struct kref *ref)
{
	struct mrc_qp *qp = container_of(ref, struct mrc_qp, ref);

	queue_work(mrc_wq, &qp->free_work);
}

void mrc_qp_put(struct mrc_qp *qp)
{
	kref_put(&qp->ref, mrc_qp_release);
}

/* ---- memory ---- */

struct mrc_qp_sizes {
	struct mrc_conn_cfg cfg;
	size_t conn;
	size_t inl;		/* of one send request */
	size_t wqe;
	size_t hold;
	u32 sq_entries, sq_stride;
	u32 rq_entries, rq_stride;
};

/* Receive window of new QPs in units of 128 PSNs. */
static u8 mrc_dev_mpr(const struct mrc_dev *dev)
{
	u8 mpr = READ_ONCE(dev->attr.mpr);

	return clamp_t(u8, mpr ?: MRC_MPR_DEFAULT, 1, MRC_MPR_MAX);
}

/* How new QPs of a device are. */
struct mrc_qp_kind {
	u8 mpr;
	u16 active_evs;
	bool strict;
};

static void mrc_qp_size(const struct ib_qp_cap *cap, const struct mrc_qp_kind *kind,
			struct mrc_qp_sizes *z)
{
	u32 slots;

	z->sq_entries = roundup_pow_of_two(max(cap->max_send_wr, 1u));
	z->rq_entries = roundup_pow_of_two(max(cap->max_recv_wr, 1u));
	z->sq_stride = sizeof(struct mrc_send_wqe) +
		       ALIGN(max_t(u32, cap->max_send_sge * sizeof(struct mrc_sge),
				   cap->max_inline_data), sizeof(struct mrc_sge));
	z->rq_stride = sizeof(struct mrc_recv_wqe) +
		       cap->max_recv_sge * sizeof(struct mrc_sge);

	slots = clamp_t(u32, z->sq_entries, MRC_SQ_SLOTS_MIN, MRC_SQ_INFLIGHT);
	z->cfg = (struct mrc_conn_cfg) {
		.mpr_max = roundup_pow_of_two(kind->mpr),
		.sq_max = slots,
		.rd_max = MRC_QP_RD,
		.rq_max = MRC_QP_RQM,
		.tails = MRC_QP_TAILS,
		.ev_active = kind->active_evs,
		.strict = kind->strict,
		.seed = mrc_seed_u64(),
	};
	z->conn = mrc_conn_mem_size(&z->cfg);
	z->inl = ALIGN(cap->max_inline_data, 8);
	z->wqe = slots * (sizeof(struct mrc_swqe) + z->inl + cap->max_send_sge *
			  (sizeof(struct mrc_sge) + sizeof(struct mrc_mr *))) +
		 MRC_QP_RQM * (sizeof(struct mrc_rwqe) +
			       cap->max_recv_sge * sizeof(struct mrc_sge)) +
		 MRC_QP_TAILS * MRC_TAIL_LEN;
	z->hold = kind->strict ? z->cfg.mpr_max * MRC_MPR_UNIT * sizeof(struct sk_buff *) : 0;
}

u32 mrc_qp_idle_bytes(void)
{
	const struct ib_qp_cap cap = {
		.max_send_wr = 128, .max_recv_wr = 128,
		.max_send_sge = 1, .max_recv_sge = 1,
	};
	const struct mrc_qp_kind kind = {
		.mpr = MRC_MPR_DEFAULT,
		.active_evs = mrc_attr_default.active_evs,
	};
	struct mrc_qp_sizes z;

	mrc_qp_size(&cap, &kind, &z);
	return sizeof(struct mrc_qp) + z.conn + z.wqe +
	       PAGE_ALIGN(MRC_RING_HDR_SIZE + z.sq_entries * z.sq_stride) +
	       PAGE_ALIGN(MRC_RING_HDR_SIZE + z.rq_entries * z.rq_stride);
}

/* Cut wqe_mem into its arrays; all sizes are multiples of 8. */
static void mrc_qp_carve(struct mrc_qp *qp, const struct mrc_qp_sizes *z)
{
	const struct ib_qp_cap *cap = &qp->init.cap;
	u8 *p = qp->wqe_mem;
	u32 i;

	qp->swqe = (struct mrc_swqe *)p;
	p += qp->sq_slots * sizeof(*qp->swqe);
	qp->rwqe = (struct mrc_rwqe *)p;
	p += MRC_QP_RQM * sizeof(*qp->rwqe);
	for (i = 0; i < qp->sq_slots; i++) {
		qp->swqe[i].sge = (struct mrc_sge *)p;
		p += cap->max_send_sge * sizeof(struct mrc_sge);
		qp->swqe[i].mr = (struct mrc_mr **)p;
		p += cap->max_send_sge * sizeof(struct mrc_mr *);
		qp->swqe[i].inl = p;
		p += z->inl;
	}
	for (i = 0; i < MRC_QP_RQM; i++) {
		qp->rwqe[i].sge = (struct mrc_sge *)p;
		p += cap->max_recv_sge * sizeof(struct mrc_sge);
	}
	qp->tail = (u8 (*)[MRC_TAIL_LEN])p;
	p += MRC_QP_TAILS * MRC_TAIL_LEN;
	WARN_ON(p != (u8 *)qp->wqe_mem + z->wqe);
	qp->hold = z->hold ? (struct sk_buff **)p : NULL;
}

static int mrc_qp_alloc_mem(struct mrc_qp *qp, const struct mrc_qp_sizes *z)
{
	BUILD_BUG_ON(sizeof(struct mrc_swqe) % 8 || sizeof(struct mrc_rwqe) % 8);
	if (!z->conn)
		return -EINVAL;
	BUILD_BUG_ON(MRC_TAIL_LEN % 8);
	qp->conn_mem = kvzalloc(z->conn + z->wqe + z->hold, GFP_KERNEL_ACCOUNT);
	if (!qp->conn_mem)
		return -ENOMEM;
	qp->wqe_mem = (u8 *)qp->conn_mem + z->conn;
	qp->sq_slots = z->cfg.sq_max;
	mrc_qp_carve(qp, z);
	return mrc_conn_init(&qp->conn, &z->cfg, qp->conn_mem);
}

/* ---- create ---- */

static int mrc_qp_check_init(const struct ib_qp_init_attr *init)
{
	const struct ib_qp_cap *cap = &init->cap;

	if (init->qp_type != IB_QPT_RC || init->srq || init->create_flags ||
	    init->rwq_ind_tbl || init->xrcd)
		return -EOPNOTSUPP;
	if (!init->send_cq || !init->recv_cq)
		return -EINVAL;
	if (cap->max_send_wr > MRC_MAX_QP_WR || cap->max_recv_wr > MRC_MAX_QP_WR ||
	    cap->max_send_sge > MRC_MAX_SGE || cap->max_recv_sge > MRC_MAX_SGE ||
	    cap->max_inline_data > MRC_MAX_INLINE)
		return -EINVAL;
	return 0;
}

static int mrc_qp_read_udata(struct ib_udata *udata, struct mrc_ucreate_qp *req)
{
	int err = mrc_udata_check(udata, sizeof(*req), sizeof(struct mrc_ucreate_qp_resp));

	if (err)
		return err;
	if (ib_copy_from_udata(req, udata, sizeof(*req)))
		return -EFAULT;
	if (req->comp_mask || req->flags & ~(MRC_UQP_ONLY_SPEC | MRC_UQP_STRICT))
		return -EOPNOTSUPP;
	return 0;
}

static struct mrc_qp *mrc_qp_new(struct ib_qp *ibqp, const struct ib_qp_init_attr *init)
{
	struct mrc_qp *qp;

	if (!ib_device_try_get(ibqp->device))
		return NULL;
	qp = kvzalloc(sizeof(*qp), GFP_KERNEL_ACCOUNT);
	if (!qp) {
		ib_device_put(ibqp->device);
		return NULL;
	}
	kref_init(&qp->ref);
	INIT_WORK(&qp->free_work, mrc_qp_free_work);
	spin_lock_init(&qp->lock);
	mutex_init(&qp->mutex);
	INIT_LIST_HEAD(&qp->dev_link);
	INIT_LIST_HEAD(&qp->peer_link);
	INIT_LIST_HEAD(&qp->bh_link);
	mrc_hrtimer_setup(&qp->timer, mrc_qp_timer, CLOCK_MONOTONIC, MRC_QP_TIMER_MODE);
	qp->timer_ns = MRC_TIME_NEVER;
	qp->dev = to_mrc_dev(ibqp->device);
	qp->ibqp = ibqp;
	qp->pdn = to_mrc_pd(ibqp->pd)->pdn;
	qp->pid = task_pid_nr(current);
	qp->state = IB_QPS_RESET;
	qp->sq_sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->init = *init;
	qp->scq = container_of(init->send_cq, struct mrc_ibcq, ibcq)->cq;
	kref_get(&qp->scq->ref);
	qp->rcq = container_of(init->recv_cq, struct mrc_ibcq, ibcq)->cq;
	kref_get(&qp->rcq->ref);
	return qp;
}

/* Undo a creation that nobody has seen. */
static void mrc_qp_abort(struct mrc_qp *qp)
{
	if (qp->qpn)
		xa_erase(&mrc_qps, qp->qpn);
	mrc_ring_unmap(&qp->sq);
	mrc_ring_unmap(&qp->rq);
	if (!qp->swqe)
		qp->sq_slots = 0;
	mrc_qp_free(qp);
}

/* Rings, the number (reserved, not yet findable) and the answer to the plug-in. */
static int mrc_qp_answer(struct mrc_qp *qp, struct ib_udata *udata, const struct mrc_qp_sizes *z)
{
	struct mrc_ucreate_qp_resp resp = {
		.sq_entries = z->sq_entries, .sq_stride = z->sq_stride,
		.rq_entries = z->rq_entries, .rq_stride = z->rq_stride,
	};
	struct ib_ucontext *ctx = mrc_udata_ctx(udata);
	u64 key = 0;
	int err;

	err = mrc_ring_create(&qp->sq, ctx, z->sq_entries, z->sq_stride, &key);
	if (err)
		return err;
	resp.sq_mmap_key = key;
	resp.sq_mmap_len = qp->sq.bytes;
	qp->sq.hdr->need_kick = 1;	/* idle: the first doorbell must ring */
	err = mrc_ring_create(&qp->rq, ctx, z->rq_entries, z->rq_stride, &key);
	if (err)
		return err;
	resp.rq_mmap_key = key;
	resp.rq_mmap_len = qp->rq.bytes;
	err = xa_alloc_cyclic(&mrc_qps, &qp->qpn, NULL, XA_LIMIT(MRC_QPN_FIRST, MRC_QPN_LAST),
			      &mrc_qpn_next, GFP_KERNEL);
	if (err < 0)
		return err;
	resp.qpn = qp->qpn;
	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

static int mrc_qp_publish(struct mrc_qp *qp)
{
	struct mrc_dev *dev = qp->dev;
	int err = 0;

	spin_lock_bh(&dev->qp_lock);
	if (dev->n_qps < MRC_MAX_QP) {
		dev->n_qps++;
		list_add_tail(&qp->dev_link, &dev->qps);
	} else {
		err = -ENOMEM;
	}
	spin_unlock_bh(&dev->qp_lock);
	if (!err)	/* into the slot that is reserved: needs no memory */
		xa_store(&mrc_qps, qp->qpn, qp, GFP_KERNEL);
	return err;
}

int mrc_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	struct mrc_dev *dev = to_mrc_dev(ibqp->device);
	struct mrc_ucreate_qp req;
	struct mrc_qp_kind kind;
	struct mrc_qp_sizes z;
	struct mrc_qp *qp;
	int err;

	if (!mrc_udata_ctx(udata))
		return -EOPNOTSUPP;
	err = mrc_qp_check_init(init) ?: mrc_qp_read_udata(udata, &req);
	if (err)
		return err;
	init->cap.max_send_sge = max(init->cap.max_send_sge, 1u);
	init->cap.max_recv_sge = max(init->cap.max_recv_sge, 1u);
	kind = (struct mrc_qp_kind) {
		.mpr = mrc_dev_mpr(dev),
		.active_evs = READ_ONCE(dev->attr.active_evs),
		.strict = READ_ONCE(dev->attr.strict) || req.flags & MRC_UQP_STRICT,
	};
	mrc_qp_size(&init->cap, &kind, &z);
	init->cap.max_send_wr = z.sq_entries;
	init->cap.max_recv_wr = z.rq_entries;

	qp = mrc_qp_new(ibqp, init);
	if (!qp)
		return -ENOMEM;
	qp->spec_only = req.flags & MRC_UQP_ONLY_SPEC;
	qp->mpr = kind.mpr;
	qp->strict = kind.strict;
	err = mrc_qp_alloc_mem(qp, &z) ?: mrc_qp_answer(qp, udata, &z);
	if (err)
		goto err_abort;
	qp->mem_bytes = sizeof(*qp) + z.conn + z.wqe + z.hold + qp->sq.bytes + qp->rq.bytes;
	ibqp->qp_num = qp->qpn;
	container_of(ibqp, struct mrc_ibqp, ibqp)->qp = qp;
	err = mrc_qp_publish(qp);
	if (err)
		goto err_abort;
	return 0;

err_abort:
	mrc_qp_abort(qp);
	return err;
}

/* ---- destroy, and back to RESET ---- */

/* What is posted and not taken yet is forgotten; indices run on. */
static void mrc_qp_skip_ring(struct mrc_ring *r, u32 *cons)
{
	*cons = READ_ONCE(r->hdr->prod);
	smp_store_release(&r->hdr->cons, *cons);
}

static void mrc_qp_unlink_peer(struct mrc_qp *qp, struct mrc_peer *peer, struct mrc_pathset *ps)
{
	spin_lock_bh(&peer->lock);
	list_del_init(&qp->peer_link);
	peer->n_qps--;
	spin_unlock_bh(&peer->lock);
	mrc_peer_wake_qps(peer);	/* it may have been the one to ask about bad EVs */
	mrc_pathset_put(ps);
	mrc_peer_used(peer);
	mrc_peer_put(peer);
}

/*
 * Under qp->lock and with the path lock if the QP has a peer: what it had in flight
 * counts no more for the others.
 */
static void mrc_qp_reset_conn(struct mrc_qp *qp)
{
	if (qp->peer)
		spin_lock(&qp->peer->path_lock);
	mrc_conn_reset(&qp->conn);
	mrc_conn_set_path(&qp->conn, NULL);	/* another set may come to lie at its address */
	if (qp->peer)
		spin_unlock(&qp->peer->path_lock);
}

void mrc_qp_fail_conn(struct mrc_qp *qp)
{
	lockdep_assert_held(&qp->lock);
	if (qp->peer)
		spin_lock(&qp->peer->path_lock);
	mrc_conn_fail(&qp->conn, MRC_ST_FLUSHED, ktime_get_ns());
	if (qp->peer)
		spin_unlock(&qp->peer->path_lock);
}

/* Under qp->lock: rings and requests as of a new QP. */
static void mrc_qp_forget_work(struct mrc_qp *qp)
{
	u32 i;

	mrc_qp_put_mrs(qp);
	for (i = 0; i < MRC_QP_RQM; i++)
		qp->rwqe[i].valid = false;
	qp->sq_posted = 0;
	mrc_qp_skip_ring(&qp->sq, &qp->sq_cons);
	mrc_qp_skip_ring(&qp->rq, &qp->rq_cons);
	qp->rq_base = qp->rq_cons;
	WRITE_ONCE(qp->sq.hdr->need_kick, 1);
}

/*
 * To RESET (with @state RESET) from anywhere: the engine forgets, references
 * to memory and paths go, what the connection counted stays with the device.
 */
void mrc_qp_quiesce(struct mrc_qp *qp, enum ib_qp_state state)
{
	struct mrc_conn_info info;
	struct sk_buff_head held;
	struct mrc_pathset *ps;
	struct mrc_qpcc *qpcc;
	struct mrc_peer *peer;

	lockdep_assert_held(&qp->mutex);
	__skb_queue_head_init(&held);
	spin_lock_bh(&qp->dev->qp_lock);	/* sums see the counts once, here or there */
	spin_lock(&qp->lock);
	mrc_conn_info(&qp->conn, &info);
	mrc_stats_add(&qp->dev->gone, &info.stats);
	mrc_qp_reset_conn(qp);
	memset(&qp->conn.stats, 0, sizeof(qp->conn.stats));
	qp->state = state;
	peer = qp->peer;
	ps = qp->ps;
	qpcc = qp->qpcc;
	qp->peer = NULL;
	qp->ps = NULL;
	qp->qpcc = NULL;
	memset(&qp->incast, 0, sizeof(qp->incast));
	mrc_hold_take_all(qp, &held);
	mrc_qp_forget_work(qp);
	qp->timer_ns = MRC_TIME_NEVER;
	spin_unlock(&qp->lock);
	spin_unlock_bh(&qp->dev->qp_lock);

	hrtimer_cancel(&qp->timer);
	__skb_queue_purge(&held);
	mrc_qpcc_put(qpcc);
	if (peer)
		mrc_qp_unlink_peer(qp, peer, ps);
}

int mrc_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct mrc_qp *qp = container_of(ibqp, struct mrc_ibqp, ibqp)->qp;
	struct mrc_dev *dev = qp->dev;

	xa_erase(&mrc_qps, qp->qpn);
	mutex_lock(&qp->mutex);
	spin_lock_bh(&qp->lock);
	qp->ibqp = NULL;
	spin_unlock_bh(&qp->lock);
	mrc_qp_quiesce(qp, IB_QPS_RESET);
	mutex_unlock(&qp->mutex);

	spin_lock_bh(&dev->qp_lock);
	list_del(&qp->dev_link);
	dev->n_qps--;
	spin_unlock_bh(&dev->qp_lock);

	mrc_ring_unmap(&qp->sq);
	mrc_ring_unmap(&qp->rq);
	mrc_qp_put(qp);
	return 0;
}

/* ---- doorbells ---- */

/* User space posts to the ring and rings here with no request. */
int mrc_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr, const struct ib_send_wr **bad)
{
	if (wr) {
		*bad = wr;
		return -EOPNOTSUPP;
	}
	mrc_bh_kick(container_of(ibqp, struct mrc_ibqp, ibqp)->qp);
	return 0;
}

/* Receives are read from the ring when a message wants one, except that an
 * error state flushes them: then the scheduler must look. */
int mrc_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad)
{
	struct mrc_qp *qp = container_of(ibqp, struct mrc_ibqp, ibqp)->qp;

	if (wr) {
		*bad = wr;
		return -EOPNOTSUPP;
	}
	if (READ_ONCE(qp->state) == IB_QPS_ERR)
		mrc_bh_kick(qp);
	return 0;
}

int mrc_qp_table_init(void)
{
	mrc_qpn_next = MRC_QPN_FIRST + mrc_seed_u32() % 0xffff;
	return 0;
}

void mrc_qp_table_exit(void)
{
	WARN_ON(!xa_empty(&mrc_qps));
	xa_destroy(&mrc_qps);
}
