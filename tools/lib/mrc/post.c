// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * post.c - work requests. The requests of MRC 1.0 go directly to the plug-in, so posting costs the
 * same as through libibverbs.
 */
#include "object.h"

static int post_check(const struct ibv_send_wr *wr)
{
	if (wr->opcode == IBV_WR_RDMA_WRITE || wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		return 0;
	return mrc_debug(EOPNOTSUPP, "mrc_post_send: opcode %d: MRC has RDMA_WRITE and "
			 "RDMA_WRITE_WITH_IMM alone", wr->opcode);
}

/* Posts the requests before @bad, one by one as copies, because the list belongs to the program. */
static int post_until(struct mrc_qp *qp, struct ibv_send_wr *wr, const struct ibv_send_wr *bad,
		      struct ibv_send_wr **bad_wr)
{
	struct ibv_send_wr one, *failed;
	int err;

	for (; wr != bad; wr = wr->next) {
		one = *wr;
		one.next = NULL;
		err = qp->ctx->verbs.post_send(qp->v, &one, &failed);
		if (err) {
			*bad_wr = wr;
			return err;
		}
	}
	*bad_wr = wr;
	return 0;
}

int mrc_post_send(struct mrc_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct ibv_send_wr *w;
	int err, bad;

	if (!MRC_IS(qp, QP) || !wr || !bad_wr) {
		if (bad_wr)
			*bad_wr = wr;
		return EINVAL;
	}
	for (w = wr; w; w = w->next) {
		bad = post_check(w);
		if (!bad)
			continue;
		err = post_until(qp, wr, w, bad_wr);
		return err ? err : bad;
	}
	return qp->ctx->verbs.post_send(qp->v, wr, bad_wr);
}

/* Existing programs expect -1 here, and an error number from mrc_post_send(). */
int mrc_post_recv(struct mrc_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	if (!MRC_IS(qp, QP) || !wr || !bad_wr) {
		if (bad_wr)
			*bad_wr = wr;
		return mrc_minus(EINVAL);
	}
	return mrc_minus(qp->ctx->verbs.post_recv(qp->v, wr, bad_wr));
}
