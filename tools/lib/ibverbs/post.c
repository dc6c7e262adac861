// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * post.c - ibv_post_send() and ibv_post_recv(), and the doorbell (doorbell.c) when the kernel has
 * put a send queue to sleep.
 *
 * Receives of an SRQ are in srq.c. The kernel checks keys.
 */
#include <errno.h>
#include <string.h>
#include "ring.h"

/*
 * A failed doorbell is no error of the requests: they are in the ring, and a program that got an
 * error would post them twice. The next post rings first. If that fails again, because the device
 * is gone, it posts nothing.
 */
void mrc_sq_kick(struct mrc_qp *qp)
{
	if (mrc_doorbell(&qp->v.qp))
		__atomic_store_n(&qp->sq_stuck, true, __ATOMIC_RELAXED);
}

int mrc_sq_unstick(struct mrc_qp *qp)
{
	int ret;

	if (!__atomic_load_n(&qp->sq_stuck, __ATOMIC_RELAXED))
		return 0;
	ret = mrc_doorbell(&qp->v.qp);
	if (!ret)
		__atomic_store_n(&qp->sq_stuck, false, __ATOMIC_RELAXED);
	return ret;
}

static int put_inline(struct mrc_send_wqe *wqe, uint32_t max, const struct ibv_sge *sge,
		      uint32_t n)
{
	uint8_t *dst = (uint8_t *)(wqe + 1);
	uint32_t i, len = 0;

	for (i = 0; i < n; i++) {
		if (sge[i].length > max - len)
			return EINVAL;
		if (sge[i].length)
			memcpy(dst + len, (const void *)(uintptr_t)sge[i].addr, sge[i].length);
		len += sge[i].length;
	}
	wqe->inline_len = len;
	return 0;
}

/* The fields of a datagram besides its SGEs. Other opcodes belong to connections. */
static int put_datagram(struct mrc_send_wqe *wqe, const struct ibv_send_wr *wr)
{
	if ((wr->opcode != IBV_WR_SEND && wr->opcode != IBV_WR_SEND_WITH_IMM) || !wr->wr.ud.ah)
		return EINVAL;
	wqe->ah = to_mah(wr->wr.ud.ah)->number;
	wqe->remote_qpn = wr->wr.ud.remote_qpn;
	wqe->remote_qkey = wr->wr.ud.remote_qkey;
	return 0;
}

/* Type 2 only; ibv_bind_mw() binds type 1 windows. */
static int put_bind(struct mrc_send_wqe *wqe, const struct ibv_mw_bind_info *info, uint32_t rkey)
{
	if (info->length && !info->mr)
		return EINVAL;
	wqe->rkey = rkey;
	wqe->imm_data = info->mr ? info->mr->lkey : 0;
	wqe->remote_addr = info->addr;
	wqe->compare_add = info->length;
	wqe->swap = info->mw_access_flags;
	return 0;
}

/* Handles the opcodes of memory windows. True: it is one, and *ret has the result. */
static bool send_window(struct mrc_send_wqe *wqe, const struct ibv_send_wr *wr, int *ret)
{
	*ret = 0;
	switch (wr->opcode) {
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_LOCAL_INV:
		wqe->imm_data = wr->invalidate_rkey;
		break;
	case IBV_WR_BIND_MW:
		*ret = put_bind(wqe, &wr->bind_mw.bind_info, wr->bind_mw.rkey);
		break;
	default:
		return false;
	}
	return true;
}

/* One work request into the slot at sq.idx; the index moves only on success. */
static int send_one(struct mrc_qp *qp, const struct ibv_send_wr *wr)
{
	struct mrc_send_wqe *wqe;
	uint64_t len = 0;
	int ret;

	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->max_send_sge)
		return EINVAL;
	if (ring_full(&qp->sq))
		return ENOMEM;

	wqe = mrc_slot(&qp->sq, qp->sq.idx);
	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = wr->wr_id;
	wqe->opcode = wr->opcode;
	wqe->send_flags = wr->send_flags & (IBV_SEND_FENCE | IBV_SEND_SIGNALED |
					    IBV_SEND_SOLICITED | IBV_SEND_INLINE);

	switch (wr->opcode) {
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		wqe->imm_data = wr->imm_data;
		wqe->remote_addr = wr->wr.rdma.remote_addr;
		wqe->rkey = wr->wr.rdma.rkey;
		break;
	case IBV_WR_RDMA_WRITE:
		wqe->remote_addr = wr->wr.rdma.remote_addr;
		wqe->rkey = wr->wr.rdma.rkey;
		break;
	case IBV_WR_RDMA_READ:
		if (wr->send_flags & IBV_SEND_INLINE)
			return EINVAL;
		wqe->remote_addr = wr->wr.rdma.remote_addr;
		wqe->rkey = wr->wr.rdma.rkey;
		break;
	case IBV_WR_SEND:
		break;
	case IBV_WR_SEND_WITH_IMM:
		wqe->imm_data = wr->imm_data;
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		if ((wr->send_flags & IBV_SEND_INLINE) || wr->wr.atomic.remote_addr % 8)
			return EINVAL;
		wqe->remote_addr = wr->wr.atomic.remote_addr;
		wqe->rkey = wr->wr.atomic.rkey;
		wqe->compare_add = wr->wr.atomic.compare_add;
		wqe->swap = wr->wr.atomic.swap;
		break;
	default:
		if (!send_window(wqe, wr, &ret) || ret)
			return ret ?: EINVAL;
	}

	ret = qp->v.qp.qp_type == IBV_QPT_UD ? put_datagram(wqe, wr) : 0;
	if (ret)
		return ret;
	if (wr->send_flags & IBV_SEND_INLINE)
		ret = put_inline(wqe, qp->max_inline, wr->sg_list, wr->num_sge);
	else
		ret = put_sges((struct mrc_sge *)(wqe + 1), wr->sg_list, wr->num_sge, &len);
	if (ret)
		return ret;
	wqe->num_sge = wr->send_flags & IBV_SEND_INLINE ? 0 : wr->num_sge;
	if (is_atomic(wr->opcode) && len < 8)
		return EINVAL;

	qp->sq.idx++;
	return 0;
}

int mrc_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct mrc_qp *qp = to_mqp(ibqp);
	bool kick = false;
	uint32_t start;
	int ret;

	ret = ibqp->state < IBV_QPS_RTS ? EINVAL : mrc_sq_unstick(qp);
	if (ret) {
		*bad_wr = wr;
		return ret;
	}

	pthread_spin_lock(&qp->sq_lock);
	start = qp->sq.idx;
	for (; wr; wr = wr->next) {
		ret = send_one(qp, wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
	}
	if (qp->sq.idx != start)
		kick = sq_publish(&qp->sq);
	pthread_spin_unlock(&qp->sq_lock);

	if (kick)
		mrc_sq_kick(qp);
	return ret;
}

int mrc_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct mrc_qp *qp = to_mqp(ibqp);
	bool kick;
	int ret = 0;

	if (!qp->rq.hdr || ibqp->state == IBV_QPS_RESET) {
		*bad_wr = wr;
		return EINVAL;
	}

	pthread_spin_lock(&qp->rq_lock);
	for (; wr; wr = wr->next) {
		ret = put_recv(&qp->rq, qp->max_recv_sge, wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
	}
	__atomic_store_n(&qp->rq.hdr->prod, qp->rq.idx, __ATOMIC_RELEASE);
	/*
	 * A QP in error flushes receives when it next runs, and an idle one runs only after a
	 * doorbell. We know of the error if the program caused it; if the kernel did, it may have
	 * left need_kick set in this ring.
	 */
	full_barrier();
	kick = ibqp->state == IBV_QPS_ERR ||
	       __atomic_load_n(&qp->rq.hdr->need_kick, __ATOMIC_RELAXED);
	pthread_spin_unlock(&qp->rq_lock);
	if (kick)
		mrc_doorbell(ibqp);
	return ret;
}

/* A type 1 window gets a new key with each bind; we choose it. */
int mrc_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	struct ibv_send_wr *bad, wr = {
		.wr_id = bind->wr_id,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = bind->send_flags & ~(unsigned int)IBV_SEND_INLINE,
		.bind_mw = {
			.mw = mw,
			.rkey = ibv_inc_rkey(mw->rkey),
			.bind_info = bind->bind_info,
		},
	};
	int ret;

	if (bind->bind_info.mw_access_flags & IBV_ACCESS_ZERO_BASED)
		return EINVAL;
	ret = mrc_post_send(qp, &wr, &bad);
	if (!ret)
		mw->rkey = wr.bind_mw.rkey;
	return ret;
}
