// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * qp.c - creates, queries and destroys queue pairs. Their states are in qp_modify.c.
 */
#include <stdlib.h>
#include <string.h>
#include "qp.h"

#define SEND_OPS	(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)

/* ---- made ---- */

static int init_check(const struct mrc_context *ctx, const struct mrc_qp_init_attr *a)
{
	if (!MRC_IS_WCQ(a->send_cq) || !MRC_IS_WCQ(a->recv_cq) || !a->pd)
		return mrc_debug(EINVAL, "mrc_create_qp: send_cq, recv_cq and pd are needed");
	if (a->send_cq->ctx != ctx || a->recv_cq->ctx != ctx || a->pd->context != ctx->v)
		return mrc_debug(EINVAL, "mrc_create_qp: CQs and PD must be of the QP's own context");
	if (a->send_ops_flags & ~(uint64_t)SEND_OPS)
		return mrc_debug(EOPNOTSUPP, "mrc_create_qp: send_ops_flags 0x%llx: MRC has RDMA_WRITE "
				 "and RDMA_WRITE_WITH_IMM alone",
				 (unsigned long long)a->send_ops_flags);
	/* 0: the program does not request a version. */
	if (a->protocol_version != MRC_PROTOCOL_VERSION_0 &&
	    a->protocol_version != MRC_PROTOCOL_VERSION_1)
		return mrc_debug(EOPNOTSUPP, "mrc_create_qp: protocol version 0x%x: there is "
				 "MRC_PROTOCOL_VERSION_1 alone", a->protocol_version);
	return 0;
}

static int qp_open(struct mrc_context *ctx, struct mrc_qp *qp, struct mrc_qp_init_attr *a)
{
	struct ibv_qp_init_attr init = {
		.qp_context = a->qp_context,
		.send_cq = a->send_cq->v,
		.recv_cq = a->recv_cq->v,
		.cap = a->cap,
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = a->sq_sig_all,
	};

	qp->v = ctx->verbs.create_qp(a->pd, &init);
	if (!qp->v)
		return errno;
	a->cap = init.cap;
	qp->init = *a;
	return 0;
}

struct mrc_qp *mrc_create_qp(struct mrc_context *ctx, struct mrc_qp_init_attr *attr)
{
	struct mrc_uquery_device_resp limits;
	struct mrc_qp *qp;
	int err;

	if (!MRC_IS(ctx, CONTEXT) || !attr)
		return mrc_null(EINVAL);
	err = init_check(ctx, attr);
	if (err)
		return mrc_null(err);
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return NULL;
	err = mrc_uverbs_limits(ctx->v, &limits);
	if (!err)
		err = qp_open(ctx, qp, attr);
	if (err) {
		free(qp);
		return mrc_null(err);
	}
	qp->kind = MRC_KIND_QP;
	qp->ctx = ctx;
	mrc_qp_attr_start(qp, &limits);
	pthread_mutex_init(&qp->lock, NULL);
	pthread_mutex_lock(&ctx->lock);
	qp->next = ctx->qps;
	ctx->qps = qp;
	pthread_mutex_unlock(&ctx->lock);
	return qp;
}

struct mrc_qp *mrc_qp_of(struct mrc_context *ctx, const struct ibv_qp *v)
{
	struct mrc_qp *qp;

	for (qp = ctx->qps; qp && qp->v != v; qp = qp->next)
		;
	return qp;
}

int mrc_destroy_qp(struct mrc_qp *qp)
{
	struct mrc_context *ctx;
	struct mrc_qp **at;
	int err;

	if (!MRC_IS(qp, QP))
		return EINVAL;
	ctx = qp->ctx;
	err = ctx->verbs.destroy_qp(qp->v);
	if (err)
		return err;
	pthread_mutex_lock(&ctx->lock);
	for (at = &ctx->qps; *at != qp; at = &(*at)->next)
		;
	*at = qp->next;
	pthread_mutex_unlock(&ctx->lock);
	mrc_hint_use(qp->attr.qp_hint, -1);
	pthread_mutex_destroy(&qp->lock);
	qp->kind = 0;
	free(qp);
	return 0;
}

int mrc_get_qpn(struct mrc_qp *qp, uint32_t *qpn)
{
	if (!MRC_IS(qp, QP) || !qpn)
		return mrc_minus(EINVAL);
	*qpn = qp->v->qp_num;
	return 0;
}

/* ---- queried ---- */

/* Attributes without a meaning for MRC read as zero. */
static void query_blank(struct ibv_qp_attr *a)
{
	a->timeout = 0;
	a->retry_cnt = 0;
	a->rnr_retry = 0;
	a->min_rnr_timer = 0;
	a->max_rd_atomic = 0;
	a->max_dest_rd_atomic = 0;
	a->alt_port_num = 0;
	a->alt_timeout = 0;
	memset(&a->alt_ah_attr, 0, sizeof(a->alt_ah_attr));
}

int mrc_query_qp(struct mrc_qp *qp, struct ibv_qp_attr *vattr, int vattr_mask,
		 struct mrc_qp_attr *mrc_attr, int mrc_attr_mask,
		 struct mrc_qp_init_attr *init_attr)
{
	struct ibv_qp_init_attr ignored;
	struct ibv_qp_attr now = {};
	int err;

	if (!MRC_IS(qp, QP) || (vattr_mask && !vattr) || (mrc_attr_mask && !mrc_attr))
		return EINVAL;
	if (mrc_attr_mask & ~MRC_QP_ATTRS)
		return mrc_debug(EINVAL, "mrc_query_qp: mask 0x%x has bits that no attribute has",
				 mrc_attr_mask);
	pthread_mutex_lock(&qp->lock);
	err = vattr_mask ? qp->ctx->verbs.query_qp(qp->v, &now, vattr_mask, &ignored) : 0;
	if (!err && vattr_mask) {
		query_blank(&now);
		*vattr = now;
	}
	if (!err && mrc_attr_mask)
		*mrc_attr = qp->attr;
	if (!err && init_attr)
		*init_attr = qp->init;
	pthread_mutex_unlock(&qp->lock);
	return err;
}
