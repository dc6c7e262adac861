// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * qp.c - creates, modifies and destroys queue pairs.
 */
#include <errno.h>
#include <stdlib.h>
#include "ring.h"

/*
 * libibverbs looks for VERBS_QP_EX directly behind ibv_qp_ex, whose size is that of the running
 * library, not of the headers we were compiled with: 352 bytes in rdma-core 44, 360 in 56. Setting
 * both words is harmless. In the one library the second word is an XRC domain that is only used
 * under another flag. In the other the first word is the entry of an operation that we do not
 * offer.
 */
static void qp_mark_extended(struct mrc_qp *qp)
{
	qp->v.raw[352 / 4] = VERBS_QP_EX;
	qp->v.raw[360 / 4] = VERBS_QP_EX;
}

#define MRC_SEND_OPS	(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | \
			 IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |		  \
			 IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |	  \
			 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |				  \
			 IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_LOCAL_INV |	  \
			 IBV_QP_EX_WITH_BIND_MW)
#define MRC_UD_SEND_OPS	(IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM)

static uint32_t qp_flags(const struct ibv_qp_init_attr_ex *attr)
{
	return attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS ? attr->create_flags : 0;
}

static int qp_check_attr(const struct ibv_qp_init_attr_ex *attr)
{
	const uint32_t known = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS |
			       IBV_QP_INIT_ATTR_CREATE_FLAGS;

	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD))
		return EINVAL;
	if (attr->comp_mask & ~known ||
	    (attr->qp_type != IBV_QPT_RC && attr->qp_type != IBV_QPT_UD))
		return EOPNOTSUPP;
	if (qp_flags(attr) & ~(attr->qp_type == IBV_QPT_UD ? IBV_QP_CREATE_BLOCK_SELF_MCAST_LB : 0u))
		return EOPNOTSUPP;
	if ((attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) &&
	    (attr->send_ops_flags & ~(uint64_t)(attr->qp_type == IBV_QPT_UD ? MRC_UD_SEND_OPS :
									       MRC_SEND_OPS)))
		return EOPNOTSUPP;
	if (attr->cap.max_send_sge > MRC_MAX_SGE || attr->cap.max_recv_sge > MRC_MAX_SGE ||
	    attr->cap.max_inline_data > MRC_MAX_INLINE)
		return EINVAL;
	return 0;
}

/* Maps both rings, and checks their sizes against the capabilities. */
static int qp_map(struct mrc_qp *qp, int fd, const struct ibv_qp_cap *cap,
		  const struct mrc_ucreate_qp_resp *resp)
{
	int ret;

	ret = mrc_ring_map(&qp->sq, fd, resp->sq_mmap_key, resp->sq_mmap_len, resp->sq_entries,
		       resp->sq_stride);
	if (ret)
		return ret;
	if (resp->sq_stride < sizeof(struct mrc_send_wqe) + cap->max_inline_data ||
	    resp->sq_stride < sizeof(struct mrc_send_wqe) +
			      cap->max_send_sge * sizeof(struct mrc_sge))
		return EPROTO;

	if (qp->srq)
		return resp->rq_mmap_len ? EPROTO : 0;
	ret = mrc_ring_map(&qp->rq, fd, resp->rq_mmap_key, resp->rq_mmap_len, resp->rq_entries,
		       resp->rq_stride);
	if (ret)
		return ret;
	if (resp->rq_stride < sizeof(struct mrc_recv_wqe) +
			      cap->max_recv_sge * sizeof(struct mrc_sge))
		return EPROTO;
	return 0;
}

struct ibv_qp *mrc_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	struct {
		struct ib_uverbs_create_qp_resp core;
		struct mrc_ucreate_qp_resp drv;
	} resp = {};
	struct {
		struct ibv_create_qp core;
		struct mrc_ucreate_qp drv;
	} cmd = {};
	struct ibv_qp_init_attr_ex ask;
	struct mrc_qp *qp;
	int ret;

	ret = qp_check_attr(attr);
	if (ret)
		goto err;
	ret = ENOMEM;
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		goto err;

	/*
	 * Extended posting exists only here; the kernel gets a plain QP. The flag is not the
	 * kernel's, either.
	 */
	if (qp_flags(attr) & IBV_QP_CREATE_BLOCK_SELF_MCAST_LB)
		cmd.drv.flags = MRC_UQP_NO_ECHO;
	ask = *attr;
	ask.comp_mask = IBV_QP_INIT_ATTR_PD;
	ret = ibv_cmd_create_qp_ex(context, &qp->v.vqp, &ask, &cmd.core, sizeof(cmd),
				   &resp.core, sizeof(resp));
	if (ret)
		goto err_free;
	attr->cap = ask.cap;

	qp->srq = attr->srq ? to_msrq(attr->srq) : NULL;
	ret = qp_map(qp, context->cmd_fd, &ask.cap, &resp.drv);
	if (!ret)
		ret = mrc_qp_add(to_mctx(context), qp);
	if (ret)
		goto err_unmap;

	pthread_spin_init(&qp->sq_lock, PTHREAD_PROCESS_PRIVATE);
	pthread_spin_init(&qp->rq_lock, PTHREAD_PROCESS_PRIVATE);
	qp->max_send_sge = ask.cap.max_send_sge;
	qp->max_recv_sge = ask.cap.max_recv_sge;
	qp->max_inline = ask.cap.max_inline_data;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) {
		mrc_qp_set_wr_ops(qp);
		qp_mark_extended(qp);
	}
	return &qp->v.qp;

err_unmap:
	ibv_cmd_destroy_qp(&qp->v.qp);
	mrc_ring_unmap(&qp->sq);
	mrc_ring_unmap(&qp->rq);
err_free:
	free(qp);
err:
	errno = ret;
	return NULL;
}

struct ibv_qp *mrc_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex ex = {
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
	struct ibv_qp *qp;

	qp = mrc_create_qp_ex(pd->context, &ex);
	if (qp)
		attr->cap = ex.cap;
	return qp;
}

int mrc_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init_attr)
{
	struct ibv_query_qp cmd = {};

	return ibv_cmd_query_qp(qp, attr, mask, init_attr, &cmd, sizeof(cmd));
}

static void qp_purge(struct mrc_qp *qp)
{
	struct ibv_cq *scq = qp->v.qp.send_cq, *rcq = qp->v.qp.recv_cq;

	if (scq)
		mrc_cq_purge(to_mcq(scq), qp);
	if (rcq && rcq != scq)
		mrc_cq_purge(to_mcq(rcq), qp);
}

int mrc_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	struct mrc_qp *qp = to_mqp(ibqp);
	struct ibv_modify_qp cmd = {};
	struct ibv_qp_attr to = *attr;
	int ret;

	if (mask & IBV_QP_AV)
		mrc_lid_resolve(ibqp->context, &to.ah_attr);
	to.rq_psn &= 0xffffff;	/* ib_core logs each longer value */
	to.sq_psn &= 0xffffff;
	ret = ibv_cmd_modify_qp(ibqp, &to, mask, &cmd, sizeof(cmd));
	/*
	 * A reset discards queued requests. The kernel moves its consumer index up to our producer
	 * index; indices continue, and stale completions are purged.
	 */
	if (!ret && (mask & IBV_QP_STATE) && attr->qp_state == IBV_QPS_RESET) {
		qp_purge(qp);
		ring_free_all(&qp->sq);
		ring_free_all(&qp->rq);
	}
	return ret;
}

int mrc_destroy_qp(struct ibv_qp *ibqp)
{
	struct mrc_qp *qp = to_mqp(ibqp);
	int ret;

	ret = ibv_cmd_destroy_qp(ibqp);
	if (ret)
		return ret;
	qp_purge(qp);
	mrc_qp_del(to_mctx(ibqp->context), qp);
	mrc_ring_unmap(&qp->sq);
	mrc_ring_unmap(&qp->rq);
	pthread_spin_destroy(&qp->sq_lock);
	pthread_spin_destroy(&qp->rq_lock);
	free(qp);
	return 0;
}
