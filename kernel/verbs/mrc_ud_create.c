// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_ud_create.c - see mrc_ud_create.h.
 */
#include <linux/slab.h>
#include "engine/wire/mrc_deth.h"
#include "mem/mrc_pd.h"
#include "mem/mrc_ucontext.h"
#include "data/mrc_qp.h"
#include "data/mrc_ud.h"
#include "data/mrc_ud_tx.h"
#include "verbs/mrc_qp_create.h"
#include "verbs/mrc_ud_create.h"

#define MRC_UD_SQ_SLOTS_MIN 8	/* as MRC_SQ_SLOTS_MIN: mrc_qp_create.c */

static int ud_check_init(const struct ib_qp_init_attr *init, bool kernel)
{
	const struct ib_qp_cap *cap = &init->cap;

	if ((init->srq && kernel) || init->rwq_ind_tbl || init->xrcd ||
	    init->create_flags & ~IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK ||
	    (init->qp_type == IB_QPT_GSI && !kernel))
		return -EOPNOTSUPP;
	if (!init->send_cq || !init->recv_cq)
		return -EINVAL;
	if (cap->max_send_wr > MRC_MAX_QP_WR || cap->max_recv_wr > MRC_MAX_QP_WR ||
	    cap->max_send_sge > MRC_MAX_SGE || cap->max_recv_sge > MRC_MAX_SGE ||
	    cap->max_inline_data > MRC_MAX_INLINE)
		return -EINVAL;
	return 0;
}

/* Sets *@no_echo if the program requests it. The flags of RC QPs are refused. */
static int ud_check_udata(struct ib_udata *udata, bool *no_echo)
{
	struct mrc_ucreate_qp req;
	int err = mrc_ucontext_check(udata, sizeof(req), sizeof(struct mrc_ucreate_qp_resp));

	if (err)
		return err;
	if (ib_copy_from_udata(&req, udata, sizeof(req)))
		return -EFAULT;
	if (req.comp_mask || req.flags & ~MRC_UQP_NO_ECHO)
		return -EOPNOTSUPP;
	*no_echo |= req.flags & MRC_UQP_NO_ECHO;
	return 0;
}

static struct mrc_ud *ud_new(struct ib_qp *ibqp, const struct ib_qp_init_attr *init)
{
	struct mrc_ud *ud;

	if (!ib_device_try_get(ibqp->device))
		return NULL;
	ud = kzalloc(sizeof(*ud), GFP_KERNEL_ACCOUNT);
	if (!ud) {
		ib_device_put(ibqp->device);
		return NULL;
	}
	kref_init(&ud->ref);
	INIT_RCU_WORK(&ud->free_work, mrc_ud_free_work);
	spin_lock_init(&ud->lock);
	mutex_init(&ud->mutex);
	mrc_bhwork_init(&ud->turn, mrc_ud_tx_turn);
	ud->dev = to_mrc_dev(ibqp->device);
	ud->ibqp = ibqp;
	ud->pdn = to_mrc_pd(ibqp->pd)->pdn;
	ud->state = IB_QPS_RESET;
	ud->sq_sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	ud->init = *init;
	ud->scq = container_of(init->send_cq, struct mrc_ibcq, ibcq)->cq;
	kref_get(&ud->scq->ref);
	ud->rcq = container_of(init->recv_cq, struct mrc_ibcq, ibcq)->cq;
	kref_get(&ud->rcq->ref);
	if (init->srq) {
		ud->srq = mrc_srq_of(init->srq);
		mrc_srq_get(ud->srq);
	}
	return ud;
}

/* Creates the rings, and describes them for the plug-in in @resp. */
static int ud_rings(struct mrc_ud *ud, struct ib_ucontext *ctx, struct mrc_ucreate_qp_resp *resp)
{
	const struct ib_qp_cap *cap = &ud->init.cap;
	u64 key = 0;
	int err;

	resp->sq_entries = cap->max_send_wr;
	resp->sq_stride = sizeof(struct mrc_send_wqe) +
			  ALIGN(max_t(u32, cap->max_send_sge * sizeof(struct mrc_sge),
				      cap->max_inline_data), sizeof(struct mrc_sge));
	err = mrc_ring_create(&ud->sq, ctx, resp->sq_entries, resp->sq_stride, &key);
	if (err)
		return err;
	resp->sq_mmap_key = key;
	resp->sq_mmap_len = ud->sq.bytes;
	ud->sq.hdr->need_kick = 1;	/* idle: the first doorbell must ring */
	if (ud->srq)
		return 0;
	resp->rq_entries = cap->max_recv_wr;
	resp->rq_stride = sizeof(struct mrc_recv_wqe) + cap->max_recv_sge * sizeof(struct mrc_sge);
	err = mrc_ring_create(&ud->rq, ctx, resp->rq_entries, resp->rq_stride, &key);
	resp->rq_mmap_key = key;
	resp->rq_mmap_len = ud->rq.bytes;
	return err;
}

/* QP 1 belongs to the device and counts against no limit. */
static int ud_count(const struct ib_qp *ibqp, enum ib_qp_type type, int by)
{
	return type == IB_QPT_GSI ? 0 : mrc_qp_limit(ibqp, by);
}

/*
 * From here on packets find the QP, and completion queues of kernel users deliver its completions.
 */
static int ud_publish(struct mrc_ud *ud)
{
	int err = mrc_ud_publish(ud);

	err = err ?: mrc_cq_add_qp(ud->scq, ud->qpn, ud->ibqp);
	return err ?: mrc_cq_add_qp(ud->rcq, ud->qpn, ud->ibqp);
}

/*
 * From here on packets do not find the QP, and it has no more turns. Code that still runs holds a
 * reference, and sees that ibqp is NULL.
 */
static void ud_end(struct mrc_ud *ud)
{
	spin_lock_bh(&ud->lock);
	ud->ibqp = NULL;
	spin_unlock_bh(&ud->lock);
	mrc_ud_withdraw(ud);
	mrc_bhwork_end(&ud->turn);
	mrc_cq_del_qp(ud->scq, ud->qpn);
	mrc_cq_del_qp(ud->rcq, ud->qpn);
	mrc_ring_unmap(&ud->sq);
	mrc_ring_unmap(&ud->rq);
	mrc_ud_put(ud);
}

static void ud_round_caps(struct ib_qp_cap *cap, bool srq)
{
	cap->max_send_sge = max(cap->max_send_sge, 1u);
	cap->max_recv_sge = max(cap->max_recv_sge, 1u);
	cap->max_send_wr = roundup_pow_of_two(max_t(u32, cap->max_send_wr, MRC_UD_SQ_SLOTS_MIN));
	cap->max_recv_wr = srq ? 0 : roundup_pow_of_two(max(cap->max_recv_wr, 1u));
}

int mrc_ud_create(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	struct ib_ucontext *ctx = mrc_ucontext_of(udata);
	bool no_echo = init->create_flags & IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK;
	struct mrc_ucreate_qp_resp resp = { };
	struct mrc_ud *ud;
	int err;

	err = ud_check_init(init, !ctx);
	if (!err && ctx)
		err = ud_check_udata(udata, &no_echo);
	if (err)
		return err;
	ud_round_caps(&init->cap, init->srq);
	err = ud_count(ibqp, init->qp_type, 1);
	if (err)
		return err;
	err = -ENOMEM;
	ud = ud_new(ibqp, init);
	if (!ud)
		goto err_count;
	ud->no_echo = no_echo;
	err = ud_rings(ud, ctx, &resp) ?: ud_publish(ud);
	if (err)
		goto err_end;
	resp.qpn = ud->qpn;
	if (ctx)
		err = ib_copy_to_udata(udata, &resp, sizeof(resp));
	if (err)
		goto err_end;
	ibqp->qp_num = ud->qpn;
	container_of(ibqp, struct mrc_ibqp, ibqp)->ud = ud;
	return 0;

err_end:
	ud_end(ud);
err_count:
	ud_count(ibqp, init->qp_type, -1);
	return err;
}

int mrc_ud_destroy(struct ib_qp *ibqp)
{
	struct mrc_ibqp *shell = container_of(ibqp, struct mrc_ibqp, ibqp);
	struct mrc_ud *ud = shell->ud;

	WRITE_ONCE(shell->ud, NULL);
	ud_end(ud);
	ud_count(ibqp, ibqp->qp_type, -1);
	return 0;
}
