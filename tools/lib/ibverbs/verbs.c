// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * verbs.c - control verbs: every function here is a call of uverbs and a little
 * bookkeeping; mapping the rings is all that is special.
 *
 * What the kernel answers is checked before it is used as
 * a size: a plug-in and a module of different builds must fail, not crash.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "ring.h"

static int ring_map(struct mrc_uring *r, int fd, uint64_t key, uint64_t len, uint32_t entries,
		    uint32_t stride)
{
	void *p;

	if (!entries || (entries & (entries - 1)) || !stride || stride % 8 ||
	    len < MRC_RING_HDR_SIZE + (uint64_t)entries * stride)
		return EPROTO;

	p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)key);
	if (p == MAP_FAILED)
		return errno;

	r->hdr = p;
	r->slots = (uint8_t *)p + MRC_RING_HDR_SIZE;
	r->entries = entries;
	r->stride = stride;
	r->bytes = len;
	return 0;
}

static void ring_unmap(struct mrc_uring *r)
{
	if (r->hdr)
		munmap(r->hdr, r->bytes);
	r->hdr = NULL;
}

int mrc_query_device_ex(struct ibv_context *context,
			const struct ibv_query_device_ex_input *input,
			struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct ib_uverbs_ex_query_device_resp resp = {};
	size_t resp_size = sizeof(resp);
	uint64_t fw;
	int ret;

	ret = ibv_cmd_query_device_any(context, input, attr, attr_size, &resp, &resp_size);
	if (ret)
		return ret;

	fw = resp.base.fw_ver;
	snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver), "%u.%u.%u",
		 (unsigned int)(fw >> 32) & 0xffff, (unsigned int)(fw >> 16) & 0xffff,
		 (unsigned int)fw & 0xffff);
	return 0;
}

int mrc_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr)
{
	struct ibv_query_port cmd = {};

	return ibv_cmd_query_port(context, port, attr, &cmd, sizeof(cmd));
}

struct ibv_pd *mrc_alloc_pd(struct ibv_context *context)
{
	struct ib_uverbs_alloc_pd_resp resp = {};
	struct ibv_alloc_pd cmd = {};
	struct mrc_pd *pd;
	int ret;

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	ret = ibv_cmd_alloc_pd(context, &pd->pd, &cmd, sizeof(cmd), &resp, sizeof(resp));
	if (ret) {
		free(pd);
		errno = ret;
		return NULL;
	}
	return &pd->pd;
}

int mrc_dealloc_pd(struct ibv_pd *pd)
{
	int ret = ibv_cmd_dealloc_pd(pd);

	if (!ret)
		free(pd);
	return ret;
}

/*
 * Optional access flags (relaxed ordering) are a hint that MRC's own relaxed
 * placement satisfies: taken and not passed on.
 */
struct ibv_mr *mrc_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t hca_va,
			  int access)
{
	struct ib_uverbs_reg_mr_resp resp = {};
	struct ibv_reg_mr cmd = {};
	struct mrc_mr *mr;
	int ret;

	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return NULL;
	access &= ~IBV_ACCESS_OPTIONAL_RANGE;
	ret = ibv_cmd_reg_mr(pd, addr, length, hca_va, access, &mr->vmr, &cmd, sizeof(cmd),
			     &resp, sizeof(resp));
	if (ret) {
		free(mr);
		errno = ret;
		return NULL;
	}
	return &mr->vmr.ibv_mr;
}

int mrc_dereg_mr(struct verbs_mr *vmr)
{
	int ret = ibv_cmd_dereg_mr(vmr);

	if (!ret)
		free(vmr);
	return ret;
}

static struct mrc_cq *cq_create(struct ibv_context *context, int cqe,
				struct ibv_comp_channel *channel, int comp_vector)
{
	struct {
		struct ib_uverbs_create_cq_resp core;
		struct mrc_ucreate_cq_resp drv;
	} resp = {};
	struct ibv_create_cq cmd = {};
	struct mrc_cq *cq;
	int ret;

	if (cqe <= 0) {
		errno = EINVAL;
		return NULL;
	}
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return NULL;

	ret = ibv_cmd_create_cq(context, cqe, channel, comp_vector, &cq->v.cq, &cmd, sizeof(cmd),
				&resp.core, sizeof(resp));
	if (ret)
		goto err_free;
	ret = ring_map(&cq->ring, context->cmd_fd, resp.drv.mmap_key, resp.drv.mmap_len,
		       resp.drv.entries, sizeof(struct mrc_cqe));
	if (ret)
		goto err_destroy;
	pthread_spin_init(&cq->lock, PTHREAD_PROCESS_PRIVATE);
	return cq;

err_destroy:
	/* Its wait for unacknowledged events needs these; there are none yet. */
	pthread_mutex_init(&cq->v.cq.mutex, NULL);
	pthread_cond_init(&cq->v.cq.cond, NULL);
	ibv_cmd_destroy_cq(&cq->v.cq);
err_free:
	free(cq);
	errno = ret;
	return NULL;
}

struct ibv_cq *mrc_create_cq(struct ibv_context *context, int cqe,
			     struct ibv_comp_channel *channel, int comp_vector)
{
	struct mrc_cq *cq = cq_create(context, cqe, channel, comp_vector);

	return cq ? &cq->v.cq : NULL;
}

struct ibv_cq_ex *mrc_create_cq_ex(struct ibv_context *context,
				   struct ibv_cq_init_attr_ex *attr)
{
	const bool have_flags = attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS;
	struct mrc_cq *cq;

	if ((attr->comp_mask & ~IBV_CQ_INIT_ATTR_MASK_FLAGS) ||
	    (have_flags && (attr->flags & ~IBV_CREATE_CQ_ATTR_SINGLE_THREADED)) ||
	    (attr->wc_flags & ~(uint64_t)IBV_WC_STANDARD_FLAGS)) {
		errno = EOPNOTSUPP;
		return NULL;
	}

	cq = cq_create(context, (int)attr->cqe, attr->channel, (int)attr->comp_vector);
	if (!cq)
		return NULL;
	cq->single_threaded = have_flags && (attr->flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
	mrc_cq_set_poll_ops(cq, attr->wc_flags);
	return &cq->v.cq_ex;
}

int mrc_destroy_cq(struct ibv_cq *ibcq)
{
	struct mrc_cq *cq = to_mcq(ibcq);
	int ret;

	ret = ibv_cmd_destroy_cq(ibcq);
	if (ret)
		return ret;
	ring_unmap(&cq->ring);
	pthread_spin_destroy(&cq->lock);
	free(cq);
	return 0;
}

/*
 * The library looks for VERBS_QP_EX right behind ibv_qp_ex, whose size is the
 * running library's, not that of the headers we were built with: 352 bytes in
 * rdma-core 44, 360 in 56. Setting both is harmless: in the one the second word
 * is an XRC domain that is only looked at under another flag, in the other the
 * first is the entry of an operation that we refuse to offer.
 */
static void qp_mark_extended(struct mrc_qp *qp)
{
	qp->v.raw[352 / 4] = VERBS_QP_EX;
	qp->v.raw[360 / 4] = VERBS_QP_EX;
}

/* Not SEND_WITH_INV: there is nothing to invalidate without memory windows. */
#define MRC_SEND_OPS	(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | \
			 IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |		  \
			 IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |	  \
			 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)

#define MRC_UD_SEND_OPS	(IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM)

static int qp_check_attr(const struct ibv_qp_init_attr_ex *attr)
{
	const uint32_t known = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS |
			       IBV_QP_INIT_ATTR_CREATE_FLAGS;

	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD))
		return EINVAL;
	if (attr->comp_mask & ~known || attr->srq ||
	    (attr->qp_type != IBV_QPT_RC && attr->qp_type != IBV_QPT_UD))
		return EOPNOTSUPP;
	if ((attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) && attr->create_flags)
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

/* Both rings, checked against what the capabilities promise. */
static int qp_map(struct mrc_qp *qp, int fd, const struct ibv_qp_cap *cap,
		  const struct mrc_ucreate_qp_resp *resp)
{
	int ret;

	ret = ring_map(&qp->sq, fd, resp->sq_mmap_key, resp->sq_mmap_len, resp->sq_entries,
		       resp->sq_stride);
	if (ret)
		return ret;
	if (resp->sq_stride < sizeof(struct mrc_send_wqe) + cap->max_inline_data ||
	    resp->sq_stride < sizeof(struct mrc_send_wqe) +
			      cap->max_send_sge * sizeof(struct mrc_sge))
		return EPROTO;

	if (!resp->rq_mmap_len)
		return cap->max_recv_wr ? EPROTO : 0;
	ret = ring_map(&qp->rq, fd, resp->rq_mmap_key, resp->rq_mmap_len, resp->rq_entries,
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

	/* Extended posting is ours alone; the kernel is asked for a plain QP. */
	ask = *attr;
	ask.comp_mask = IBV_QP_INIT_ATTR_PD;
	ret = ibv_cmd_create_qp_ex(context, &qp->v.vqp, &ask, &cmd.core, sizeof(cmd),
				   &resp.core, sizeof(resp));
	if (ret)
		goto err_free;
	attr->cap = ask.cap;

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
	ring_unmap(&qp->sq);
	ring_unmap(&qp->rq);
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
		mrc_cq_purge(to_mcq(scq), qp->v.qp.qp_num);
	if (rcq && rcq != scq)
		mrc_cq_purge(to_mcq(rcq), qp->v.qp.qp_num);
}

int mrc_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	struct mrc_qp *qp = to_mqp(ibqp);
	struct ibv_modify_qp cmd = {};
	int ret;

	ret = ibv_cmd_modify_qp(ibqp, attr, mask, &cmd, sizeof(cmd));
	/*
	 * A reset drops what is queued: the kernel moves its consumer index up to
	 * what we published, indices run on, and stale completions vanish.
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
	ring_unmap(&qp->sq);
	ring_unmap(&qp->rq);
	pthread_spin_destroy(&qp->sq_lock);
	pthread_spin_destroy(&qp->rq_lock);
	free(qp);
	return 0;
}
