// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * wr.c - posting through ibv_wr_*.
 *
 * The first error is kept and reported by wr_complete, which then discards all work requests of the
 * batch. The lock is held from start to complete or abort.
 */
#include <errno.h>
#include <string.h>
#include "ring.h"

static inline struct mrc_qp *ex_qp(struct ibv_qp_ex *qp)
{
	return (struct mrc_qp *)qp;
}

static void wrx_start(struct ibv_qp_ex *ibqp)
{
	struct mrc_qp *qp = ex_qp(ibqp);

	pthread_spin_lock(&qp->sq_lock);
	qp->wr_first = qp->sq.idx;
	qp->wr_cur = NULL;
	qp->wr_err = qp->v.qp.state < IBV_QPS_RTS ? EINVAL : mrc_sq_unstick(qp);
}

static struct mrc_send_wqe *wrx_new(struct ibv_qp_ex *ibqp, enum ibv_wr_opcode opcode)
{
	struct mrc_qp *qp = ex_qp(ibqp);
	struct mrc_send_wqe *wqe;

	if (qp->wr_err)
		return NULL;
	if (ring_full(&qp->sq)) {
		qp->wr_err = ENOMEM;
		return NULL;
	}
	wqe = mrc_slot(&qp->sq, qp->sq.idx++);
	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = ibqp->wr_id;
	wqe->opcode = opcode;
	wqe->send_flags = ibqp->wr_flags & (IBV_SEND_FENCE | IBV_SEND_SIGNALED |
					    IBV_SEND_SOLICITED);
	qp->wr_cur = wqe;
	return wqe;
}

static struct mrc_send_wqe *wrx_rdma(struct ibv_qp_ex *ibqp, enum ibv_wr_opcode opcode,
				     uint32_t rkey, uint64_t remote_addr)
{
	struct mrc_send_wqe *wqe = wrx_new(ibqp, opcode);

	if (wqe) {
		wqe->rkey = rkey;
		wqe->remote_addr = remote_addr;
	}
	return wqe;
}

static void wrx_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
	wrx_rdma(qp, IBV_WR_RDMA_WRITE, rkey, remote_addr);
}

static void wrx_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
			  __be32 imm_data)
{
	struct mrc_send_wqe *wqe = wrx_rdma(qp, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, remote_addr);

	if (wqe)
		wqe->imm_data = imm_data;
}

static void wrx_read(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
	wrx_rdma(qp, IBV_WR_RDMA_READ, rkey, remote_addr);
}

static void wrx_atomic(struct ibv_qp_ex *ibqp, enum ibv_wr_opcode opcode, uint32_t rkey,
		       uint64_t remote_addr, uint64_t compare_add, uint64_t swap)
{
	struct mrc_send_wqe *wqe;

	if (remote_addr % 8 && !ex_qp(ibqp)->wr_err)
		ex_qp(ibqp)->wr_err = EINVAL;
	wqe = wrx_rdma(ibqp, opcode, rkey, remote_addr);
	if (wqe) {
		wqe->compare_add = compare_add;
		wqe->swap = swap;
	}
}

static void wrx_cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
			uint64_t compare, uint64_t swap)
{
	wrx_atomic(qp, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, remote_addr, compare, swap);
}

static void wrx_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
			  uint64_t add)
{
	wrx_atomic(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, remote_addr, add, 0);
}

static void wrx_send(struct ibv_qp_ex *qp)
{
	wrx_new(qp, IBV_WR_SEND);
}

static void wrx_send_imm(struct ibv_qp_ex *qp, __be32 imm_data)
{
	struct mrc_send_wqe *wqe = wrx_new(qp, IBV_WR_SEND_WITH_IMM);

	if (wqe)
		wqe->imm_data = imm_data;
}

static void wrx_send_inv(struct ibv_qp_ex *qp, uint32_t rkey)
{
	struct mrc_send_wqe *wqe = wrx_new(qp, IBV_WR_SEND_WITH_INV);

	if (wqe)
		wqe->imm_data = rkey;
}

static void wrx_local_inv(struct ibv_qp_ex *qp, uint32_t rkey)
{
	struct mrc_send_wqe *wqe = wrx_new(qp, IBV_WR_LOCAL_INV);

	if (wqe)
		wqe->imm_data = rkey;
}

static void wrx_bind_mw(struct ibv_qp_ex *ibqp, struct ibv_mw *mw, uint32_t rkey,
			const struct ibv_mw_bind_info *info)
{
	struct mrc_qp *qp = ex_qp(ibqp);
	struct mrc_send_wqe *wqe;

	if (!qp->wr_err && (mw->type != IBV_MW_TYPE_2 || (info->length && !info->mr)))
		qp->wr_err = EINVAL;
	wqe = wrx_new(ibqp, IBV_WR_BIND_MW);
	if (!wqe)
		return;
	wqe->rkey = rkey;
	wqe->imm_data = info->mr ? info->mr->lkey : 0;
	wqe->remote_addr = info->addr;
	wqe->compare_add = info->length;
	wqe->swap = info->mw_access_flags;
}

static void wrx_sge_list(struct ibv_qp_ex *ibqp, size_t n, const struct ibv_sge *list)
{
	struct mrc_qp *qp = ex_qp(ibqp);
	uint64_t len;

	if (qp->wr_err || !qp->wr_cur)
		return;
	if (n > qp->max_send_sge) {
		qp->wr_err = EINVAL;
		return;
	}
	qp->wr_err = put_sges((struct mrc_sge *)(qp->wr_cur + 1), list, n, &len);
	qp->wr_cur->num_sge = n;
	if (is_atomic(qp->wr_cur->opcode) && len < 8)
		qp->wr_err = EINVAL;
}

static void wrx_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
	const struct ibv_sge sge = { .addr = addr, .length = length, .lkey = lkey };

	wrx_sge_list(qp, 1, &sge);
}

static void wrx_inline_list(struct ibv_qp_ex *ibqp, size_t n, const struct ibv_data_buf *list)
{
	struct mrc_qp *qp = ex_qp(ibqp);
	struct mrc_send_wqe *wqe = qp->wr_cur;
	uint32_t len = 0;
	size_t i;

	if (qp->wr_err || !wqe)
		return;
	if (wqe->opcode == IBV_WR_RDMA_READ || is_atomic(wqe->opcode)) {
		qp->wr_err = EINVAL;
		return;
	}
	for (i = 0; i < n; i++) {
		if (list[i].length > qp->max_inline - len) {
			qp->wr_err = EINVAL;
			return;
		}
		if (list[i].length)
			memcpy((uint8_t *)(wqe + 1) + len, list[i].addr, list[i].length);
		len += list[i].length;
	}
	wqe->inline_len = len;
	wqe->send_flags |= IBV_SEND_INLINE;
}

static void wrx_inline(struct ibv_qp_ex *qp, void *addr, size_t length)
{
	const struct ibv_data_buf buf = { .addr = addr, .length = length };

	wrx_inline_list(qp, 1, &buf);
}

static int wrx_complete(struct ibv_qp_ex *ibqp)
{
	struct mrc_qp *qp = ex_qp(ibqp);
	int ret = qp->wr_err;
	bool kick = false;

	if (ret)
		qp->sq.idx = qp->wr_first;
	else if (qp->sq.idx != qp->wr_first)
		kick = sq_publish(&qp->sq);
	pthread_spin_unlock(&qp->sq_lock);
	if (kick)
		mrc_sq_kick(qp);
	return ret;
}

static void wrx_abort(struct ibv_qp_ex *ibqp)
{
	struct mrc_qp *qp = ex_qp(ibqp);

	qp->sq.idx = qp->wr_first;
	pthread_spin_unlock(&qp->sq_lock);
}

static void wrx_ud_addr(struct ibv_qp_ex *ibqp, struct ibv_ah *ah, uint32_t remote_qpn,
			uint32_t remote_qkey)
{
	struct mrc_send_wqe *wqe = ex_qp(ibqp)->wr_cur;

	if (!wqe)
		return;
	wqe->ah = to_mah(ah)->number;
	wqe->remote_qpn = remote_qpn;
	wqe->remote_qkey = remote_qkey;
}

void mrc_qp_set_wr_ops(struct mrc_qp *qp)
{
	struct ibv_qp_ex *ex = &qp->v.qp_ex;

	ex->wr_start = wrx_start;
	ex->wr_complete = wrx_complete;
	ex->wr_abort = wrx_abort;
	ex->wr_rdma_write = wrx_write;
	ex->wr_rdma_write_imm = wrx_write_imm;
	ex->wr_rdma_read = wrx_read;
	ex->wr_atomic_cmp_swp = wrx_cmp_swp;
	ex->wr_atomic_fetch_add = wrx_fetch_add;
	ex->wr_send = wrx_send;
	ex->wr_send_imm = wrx_send_imm;
	ex->wr_set_ud_addr = wrx_ud_addr;
	ex->wr_send_inv = wrx_send_inv;
	ex->wr_local_inv = wrx_local_inv;
	ex->wr_bind_mw = wrx_bind_mw;
	ex->wr_set_sge = wrx_sge;
	ex->wr_set_sge_list = wrx_sge_list;
	ex->wr_set_inline_data = wrx_inline;
	ex->wr_set_inline_data_list = wrx_inline_list;
}
