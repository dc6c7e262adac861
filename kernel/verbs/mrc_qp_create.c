// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_qp_create.c - creates and destroys queue pairs of connections.
 *
 * Memory is allocated at creation, according to the requested capabilities: the struct, the
 * engine's memory, the copies of work requests, the two rings. Only memory that a busy QP needs is
 * allocated later (data/mrc_qp_grow.c).
 *
 * destroy_qp removes the QP from the table and from the peer's list, resets the engine and cuts the
 * link to ib_core's object, all under the required locks. From then on nothing is sent, completed
 * or armed. data/mrc_qp.c frees the rest.
 */
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "compat/mrc_compat.h"
#include "core/mrc_random.h"
#include "mem/mrc_pages.h"
#include "mem/mrc_pd.h"
#include "mem/mrc_ucontext.h"
#include "data/mrc_bh.h"
#include "data/mrc_qp_grow.h"
#include "data/mrc_qp_peer.h"
#include "data/mrc_qp_timer.h"
#include "verbs/mrc_counters_qp.h"
#include "verbs/mrc_qp_create.h"
#include "verbs/mrc_qp_reset.h"

/*
 * Adapters round up, and programs that request one slot rely on it: they post the next send before
 * they have polled the last. Completion queues are rounded for the same reason (mrc_cq.c).
 */
#define MRC_SQ_SLOTS_MIN 8
#define MRC_MPR_DEFAULT	8	/* for a setting of 0 */

/* ---- memory ---- */

struct mrc_qp_sizes {
	struct mrc_conn_cfg cfg;
	size_t conn;		/* bytes of the engine's memory */
	size_t inl;		/* inline bytes of one send request */
	size_t wqe;		/* bytes of all arrays of qp_carve() but hold */
	size_t hold;		/* bytes of mrc_qp.hold; 0: not strict */
	u32 rq_slots;		/* copies of receive requests */
	u32 sq_entries, sq_stride;
	u32 rq_entries, rq_stride;	/* 0 with an SRQ */
	u32 recv_sge;		/* of one receive */
};

/* Receive window of new QPs in units of 128 PSNs. */
static u8 dev_mpr(const struct mrc_dev *dev)
{
	u8 mpr = READ_ONCE(dev->attr.mpr);

	return clamp_t(u8, mpr ?: MRC_MPR_DEFAULT, 1, MRC_MPR_MAX);
}

u8 mrc_qp_create_mpr(const struct mrc_dev *dev)
{
	return roundup_pow_of_two(dev_mpr(dev));
}

/* Settings of a new QP: those of the device, and those of the create call. */
struct mrc_qp_kind {
	u8 mpr;
	u16 active_evs;
	bool strict;
	const struct mrc_srq *srq;
};

static void qp_size(const struct ib_qp_cap *cap, const struct mrc_qp_kind *kind,
		    struct mrc_qp_sizes *z)
{
	u32 slots;

	z->sq_entries = roundup_pow_of_two(max_t(u32, cap->max_send_wr, MRC_SQ_SLOTS_MIN));
	z->recv_sge = kind->srq ? kind->srq->max_sge : cap->max_recv_sge;
	z->rq_entries = kind->srq ? 0 : roundup_pow_of_two(max(cap->max_recv_wr, 1u));
	z->sq_stride = sizeof(struct mrc_send_wqe) +
		       ALIGN(max_t(u32, cap->max_send_sge * sizeof(struct mrc_sge),
				   cap->max_inline_data), sizeof(struct mrc_sge));
	z->rq_stride = kind->srq ? 0 : sizeof(struct mrc_recv_wqe) +
				       cap->max_recv_sge * sizeof(struct mrc_sge);

	slots = min_t(u32, z->sq_entries, MRC_SQ_INFLIGHT);
	z->rq_slots = kind->srq ? MRC_QP_RQM : min_t(u32, z->rq_entries, MRC_QP_RQM);
	z->cfg = (struct mrc_conn_cfg) {
		.mpr_max = roundup_pow_of_two(kind->mpr),
		.sq_max = slots,
		.rd_max = MRC_QP_RD,
		.rq_max = min_t(u32, 2 * z->rq_slots, MRC_QP_RQM),	/* all in use is no
									 * shortage: mrc_mpr.c */
		.tails = MRC_QP_TAILS,
		.ev_active = kind->active_evs,
		.strict = kind->strict,
		.small = true,
		.seed = mrc_random_u64(),
	};
	z->conn = mrc_conn_mem_size(&z->cfg);
	z->inl = ALIGN(cap->max_inline_data, 8);
	z->wqe = slots * (sizeof(struct mrc_swqe) + z->inl + cap->max_send_sge *
			  (sizeof(struct mrc_sge) + sizeof(struct mrc_mr *))) +
		 z->rq_slots * (sizeof(struct mrc_rwqe) + z->recv_sge * sizeof(struct mrc_sge)) +
		 MRC_QP_RD * sizeof(struct mrc_resp) + MRC_QP_TAILS * MRC_TAIL_LEN;
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
		.active_evs = mrc_dev_attr_default.active_evs,
	};
	struct mrc_qp_sizes z;

	qp_size(&cap, &kind, &z);
	return sizeof(struct mrc_qp) + PAGE_ALIGN(z.conn + z.wqe) +
	       PAGE_ALIGN(MRC_RING_HDR_SIZE + z.sq_entries * z.sq_stride) +
	       PAGE_ALIGN(MRC_RING_HDR_SIZE + z.rq_entries * z.rq_stride);
}

/* Divides wqe_mem into its arrays. All sizes are multiples of 8. */
static void qp_carve(struct mrc_qp *qp, const struct mrc_qp_sizes *z)
{
	const struct ib_qp_cap *cap = &qp->init.cap;
	u8 *p = qp->wqe_mem;
	u32 i;

	qp->swqe = (struct mrc_swqe *)p;
	p += qp->sq_slots * sizeof(*qp->swqe);
	qp->rwqe = (struct mrc_rwqe *)p;
	p += z->rq_slots * sizeof(*qp->rwqe);
	for (i = 0; i < qp->sq_slots; i++) {
		qp->swqe[i].sge = (struct mrc_sge *)p;
		p += cap->max_send_sge * sizeof(struct mrc_sge);
		qp->swqe[i].mr = (struct mrc_mr **)p;
		p += cap->max_send_sge * sizeof(struct mrc_mr *);
		qp->swqe[i].inl = p;
		p += z->inl;
	}
	for (i = 0; i < z->rq_slots; i++) {
		qp->rwqe[i].sge = (struct mrc_sge *)p;
		p += z->recv_sge * sizeof(struct mrc_sge);
	}
	qp->recv_sge = z->recv_sge;
	qp->resp = (struct mrc_resp *)p;
	p += MRC_QP_RD * sizeof(*qp->resp);
	qp->tail = (u8 (*)[MRC_TAIL_LEN])p;
	p += MRC_QP_TAILS * MRC_TAIL_LEN;
	WARN_ON(p != (u8 *)qp->wqe_mem + z->wqe);
	qp->hold = z->hold ? (struct sk_buff **)p : NULL;
}

static int qp_alloc_mem(struct mrc_qp *qp, const struct mrc_qp_sizes *z)
{
	BUILD_BUG_ON(sizeof(struct mrc_swqe) % 8 || sizeof(struct mrc_rwqe) % 8 ||
		     MRC_TAIL_LEN % 8);
	if (!z->conn)
		return -EINVAL;
	qp->conn_bytes = z->conn + z->wqe + z->hold;
	qp->conn_mem = mrc_pages_alloc(qp->conn_bytes);
	if (!qp->conn_mem)
		return -ENOMEM;
	qp->wqe_mem = (u8 *)qp->conn_mem + z->conn;
	qp->sq_slots = z->cfg.sq_max;
	qp->rq_slots = z->rq_slots;
	qp_carve(qp, z);
	return mrc_conn_init(&qp->conn, &z->cfg, qp->conn_mem);
}

/* ---- create ---- */

static int qp_check_init(const struct ib_qp_init_attr *init)
{
	const struct ib_qp_cap *cap = &init->cap;

	if (init->qp_type != IB_QPT_RC || init->create_flags ||
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

static int qp_read_udata(struct ib_udata *udata, struct mrc_ucreate_qp *req)
{
	int err = mrc_ucontext_check(udata, sizeof(*req), sizeof(struct mrc_ucreate_qp_resp));

	if (err)
		return err;
	if (ib_copy_from_udata(req, udata, sizeof(*req)))
		return -EFAULT;
	if (req->comp_mask || req->flags & ~(MRC_UQP_ONLY_SPEC | MRC_UQP_STRICT))
		return -EOPNOTSUPP;
	return 0;
}

static struct mrc_qp *qp_new(struct ib_qp *ibqp, const struct ib_qp_init_attr *init)
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
	INIT_RCU_WORK(&qp->free_work, mrc_qp_free_work);
	spin_lock_init(&qp->lock);
	mutex_init(&qp->mutex);
	mrc_qp_peer_init(qp);
	INIT_LIST_HEAD(&qp->bh_link);
	mrc_hrtimer_setup(&qp->timer, mrc_bh_timer, CLOCK_MONOTONIC, MRC_QP_TIMER_MODE);
	mrc_qp_timer_clear(qp);
	qp->dev = to_mrc_dev(ibqp->device);
	qp->ibqp = ibqp;
	qp->pdn = to_mrc_pd(ibqp->pd)->pdn;
	if (ibqp->uobject)
		qp->pid = get_task_pid(current, PIDTYPE_TGID);
	mrc_claim_owner(qp->dev, !ibqp->uobject, &qp->owner);
	mrc_qp_grow_init(qp);
	qp->state = IB_QPS_RESET;
	qp->sq_sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->init = *init;
	qp->scq = container_of(init->send_cq, struct mrc_ibcq, ibcq)->cq;
	kref_get(&qp->scq->ref);
	qp->rcq = container_of(init->recv_cq, struct mrc_ibcq, ibcq)->cq;
	kref_get(&qp->rcq->ref);
	qp->recv_pdn = qp->pdn;
	if (init->srq) {
		qp->srq = mrc_srq_of(init->srq);
		mrc_srq_get(qp->srq);
		qp->recv_pdn = qp->srq->pdn;
	}
	return qp;
}

/* Undoes a creation, before lookups could find the QP. */
static void qp_abort(struct mrc_qp *qp)
{
	mrc_cq_del_qp(qp->scq, qp->qpn);
	mrc_cq_del_qp(qp->rcq, qp->qpn);
	if (qp->qpn)
		mrc_qp_withdraw(qp);
	mrc_ring_unmap(&qp->sq);
	mrc_ring_unmap(&qp->rq);
	if (!qp->swqe)
		qp->sq_slots = 0;
	mrc_qp_free(qp);
}

/*
 * Creates the rings, reserves a number (lookups do not find it yet) and answers the plug-in. For a
 * kernel user it adds the QP to its completion queues.
 */
static int qp_answer(struct mrc_qp *qp, struct ib_udata *udata, const struct mrc_qp_sizes *z)
{
	struct mrc_ucreate_qp_resp resp = {
		.sq_entries = z->sq_entries, .sq_stride = z->sq_stride,
		.rq_entries = z->rq_entries, .rq_stride = z->rq_stride,
	};
	struct ib_ucontext *ctx = mrc_ucontext_of(udata);
	u64 key = 0;
	int err;

	err = mrc_ring_create(&qp->sq, ctx, z->sq_entries, z->sq_stride, &key);
	if (err)
		return err;
	resp.sq_mmap_key = key;
	resp.sq_mmap_len = qp->sq.bytes;
	qp->sq.hdr->need_kick = 1;	/* idle: the first doorbell must ring */
	if (!qp->srq) {
		err = mrc_ring_create(&qp->rq, ctx, z->rq_entries, z->rq_stride, &key);
		if (err)
			return err;
		resp.rq_mmap_key = key;
		resp.rq_mmap_len = qp->rq.bytes;
	}
	err = mrc_qp_number(qp);
	if (err)
		return err;
	resp.qpn = qp->qpn;
	if (ctx)
		return ib_copy_to_udata(udata, &resp, sizeof(resp));
	err = mrc_cq_add_qp(qp->scq, qp->qpn, qp->ibqp);
	return err ?: mrc_cq_add_qp(qp->rcq, qp->qpn, qp->ibqp);
}

/*
 * Only QPs of programs count against the limit. They also hold a reference to the module, so that
 * rmmod does not end them by accident. Deleting a device ends its QPs.
 */
int mrc_qp_limit(const struct ib_qp *ibqp, int by)
{
	struct mrc_dev *dev = to_mrc_dev(ibqp->device);
	bool program = ibqp->uobject;
	int err = 0;

	if (program && by > 0 && !try_module_get(THIS_MODULE))
		return -ENODEV;
	spin_lock_bh(&dev->qp_lock);
	if (program && by > 0 && dev->n_program_qps >= MRC_MAX_QP) {
		err = -ENOSPC;
	} else {
		dev->n_qps += by;
		dev->n_program_qps += program ? by : 0;
	}
	spin_unlock_bh(&dev->qp_lock);
	if (program && (by < 0 || err))
		module_put(THIS_MODULE);
	return err;
}

int mrc_qp_create(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	struct mrc_dev *dev = to_mrc_dev(ibqp->device);
	struct mrc_ucreate_qp req = { };
	struct mrc_qp_kind kind;
	struct mrc_qp_sizes z;
	struct mrc_qp *qp;
	int err;

	err = qp_check_init(init);
	if (!err && mrc_ucontext_of(udata))
		err = qp_read_udata(udata, &req);
	if (err)
		return err;
	init->cap.max_send_sge = max(init->cap.max_send_sge, 1u);
	init->cap.max_recv_sge = max(init->cap.max_recv_sge, 1u);
	kind = (struct mrc_qp_kind) {
		.mpr = dev_mpr(dev),
		.active_evs = READ_ONCE(dev->attr.active_evs),
		.strict = READ_ONCE(dev->attr.strict) || req.flags & MRC_UQP_STRICT,
		.srq = init->srq ? mrc_srq_of(init->srq) : NULL,
	};
	qp_size(&init->cap, &kind, &z);
	init->cap.max_send_wr = z.sq_entries;
	init->cap.max_recv_wr = z.rq_entries;

	qp = qp_new(ibqp, init);
	if (!qp)
		return -ENOMEM;
	qp->made_spec = req.flags & MRC_UQP_ONLY_SPEC;
	qp->mpr = kind.mpr;
	qp->strict = kind.strict;
	err = qp_alloc_mem(qp, &z) ?: qp_answer(qp, udata, &z);
	if (err)
		goto err_abort;
	qp->mem_bytes = sizeof(*qp) + PAGE_ALIGN(qp->conn_bytes) + qp->sq.bytes + qp->rq.bytes;
	ibqp->qp_num = qp->qpn;
	container_of(ibqp, struct mrc_ibqp, ibqp)->qp = qp;
	err = mrc_qp_limit(ibqp, 1);
	if (err)
		goto err_abort;
	mrc_qp_publish(qp);
	return 0;

err_abort:
	qp_abort(qp);
	return err;
}

/* ---- destroy ---- */

int mrc_qp_destroy(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct mrc_ibqp *shell = container_of(ibqp, struct mrc_ibqp, ibqp);
	struct mrc_qp *qp = shell->qp;

	WRITE_ONCE(shell->qp, NULL);
	mutex_lock(&qp->mutex);
	spin_lock_bh(&qp->lock);
	qp->ibqp = NULL;
	spin_unlock_bh(&qp->lock);
	mrc_counters_qp_leave(qp);	/* ib_core did this, but a command may have bound the QP since */
	mrc_qp_reset(qp);
	mutex_unlock(&qp->mutex);
	mrc_qp_withdraw(qp);	/* not earlier: a sum finds its counters either here or in `gone` */
	mrc_cq_del_qp(qp->scq, qp->qpn);
	mrc_cq_del_qp(qp->rcq, qp->qpn);

	mrc_qp_limit(ibqp, -1);
	mrc_ring_unmap(&qp->sq);
	mrc_ring_unmap(&qp->rq);
	mrc_qp_put(qp);
	return 0;
}
