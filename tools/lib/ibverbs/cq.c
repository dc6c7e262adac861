// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * cq.c - polls and arms a completion queue, by ibv_poll_cq() and by ibv_start_poll() and friends.
 */
#include <errno.h>
#include <time.h>
#include "ring.h"

enum {
	CQE_PURGED = 1,		/* a bit of mrc_cqe.mark, besides the module's */
};

/*
 * A service level has no meaning in RoCEv2. mlx5 reports the version of the IP header in its place,
 * and UCX finds the address in front of a datagram by it. So we do the same.
 */
enum {
	SL_IPV6 = 0x9,
	SL_IPV4 = 0xa,
};

static inline uint8_t cqe_sl(const struct mrc_cqe *cqe)
{
	if (!(cqe->wc_flags & IBV_WC_GRH))
		return 0;
	return cqe->mark & MRC_CQE_IPV4 ? SL_IPV4 : SL_IPV6;
}

static inline uint32_t cq_avail(const struct mrc_cq *cq)
{
	uint32_t n = __atomic_load_n(&cq->ring.hdr->prod, __ATOMIC_ACQUIRE) - cq->ring.idx;

	return n <= cq->ring.entries ? n : 0;
}

/* A completion frees the slots of its request and of the requests before it. */
static void cq_free_slots(struct mrc_cq *cq, const struct mrc_cqe *cqe)
{
	struct mrc_qp *qp = mrc_qp_find(to_mctx(cq->v.cq.context), cqe->qpn);

	if (!qp)
		return;
	if (!(cqe->opcode & IBV_WC_RECV))
		ring_free_slots(&qp->sq, cqe->slot + 1);
	else if (qp->srq)
		ring_free_some(&qp->srq->ring, 1);
	else
		ring_free_slots(&qp->rq, cqe->slot + 1);
}

/*
 * Copies the next completion. Its slot is given back before the slots of requests: a request that
 * another thread posts into these then finds room in this queue for its completion.
 */
static bool cq_take(struct mrc_cq *cq, struct mrc_cqe *cqe)
{
	uint32_t n;

	for (n = cq_avail(cq); n; n--) {
		*cqe = *(const struct mrc_cqe *)mrc_slot(&cq->ring, cq->ring.idx);
		__atomic_store_n(&cq->ring.hdr->cons, ++cq->ring.idx, __ATOMIC_RELEASE);
		if (cqe->mark & CQE_PURGED)
			continue;
		cq_free_slots(cq, cqe);
		return true;
	}
	return false;
}

/*
 * Has the queue ended: it has overrun, or its device is gone, and all earlier completions are
 * polled?
 */
static inline bool cq_ended(const struct mrc_cq *cq)
{
	return __atomic_load_n(&cq->ring.hdr->error, __ATOMIC_ACQUIRE) && !cq_avail(cq);
}

/* The number of completions; negative: the queue has overrun, or its device is gone. */
int mrc_poll_cq(struct ibv_cq *ibcq, int n, struct ibv_wc *wc)
{
	struct mrc_cq *cq = to_mcq(ibcq);
	struct mrc_cqe cqe;
	int i;

	mrc_cq_lock(cq);
	for (i = 0; i < n && cq_take(cq, &cqe); i++) {
		wc[i] = (struct ibv_wc) {
			.wr_id = cqe.wr_id,
			.status = cqe.status,
			.opcode = cqe.opcode,
			.byte_len = cqe.byte_len,
			.imm_data = cqe.imm_data,
			.qp_num = cqe.qpn,
			.src_qp = cqe.src_qp,
			.wc_flags = cqe.wc_flags,
			.sl = cqe_sl(&cqe),
		};
	}
	if (!i && n > 0 && cq_ended(cq))
		i = -1;
	mrc_cq_unlock(cq);
	return i;
}

/*
 * Called after arming. Is there an unpolled completion that no event reported? A program that polls
 * and then arms would miss it, so the kernel is requested to raise an event. Not if the kernel has
 * taken the arm already.
 */
static bool cq_missed(const struct mrc_cq *cq)
{
	const struct mrc_ring_hdr *hdr = cq->ring.hdr;

	return cq_avail(cq) &&
	       __atomic_load_n(&hdr->told, __ATOMIC_RELAXED) != __atomic_load_n(&hdr->prod, __ATOMIC_RELAXED) &&
	       __atomic_load_n(&hdr->arm, __ATOMIC_RELAXED) != MRC_ARM_NONE;
}

/* Arming for all events is never weakened to solicited events. */
int mrc_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	struct mrc_cq *cq = to_mcq(ibcq);
	struct mrc_ring_hdr *hdr;
	__u32 none = MRC_ARM_NONE;
	bool missed;

	mrc_cq_lock(cq);		/* a resize replaces the ring */
	hdr = cq->ring.hdr;
	if (solicited_only)
		__atomic_compare_exchange_n(&hdr->arm, &none, MRC_ARM_SOLICITED, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	else
		__atomic_store_n(&hdr->arm, MRC_ARM_ANY, __ATOMIC_SEQ_CST);
	full_barrier();
	missed = cq_missed(cq);
	mrc_cq_unlock(cq);
	if (missed && ibcq->channel)
		mrc_notify(ibcq, solicited_only);
	return 0;
}

void mrc_cq_purge(struct mrc_cq *cq, struct mrc_qp *qp)
{
	uint32_t i, n;

	mrc_cq_lock(cq);
	n = cq_avail(cq);
	for (i = 0; i < n; i++) {
		struct mrc_cqe *cqe = mrc_slot(&cq->ring, cq->ring.idx + i);

		if (cqe->qpn != qp->v.qp.qp_num || cqe->mark & CQE_PURGED)
			continue;
		cqe->mark |= CQE_PURGED;
		if (qp->srq && cqe->opcode & IBV_WC_RECV)
			ring_free_some(&qp->srq->ring, 1);
	}
	mrc_cq_unlock(cq);
}

/* ---------------------------------------------------- extended CQ polling */

static inline struct mrc_cq *ex_cq(struct ibv_cq_ex *cq)
{
	return (struct mrc_cq *)cq;
}

static int cqx_next(struct ibv_cq_ex *ibcq)
{
	struct mrc_cq *cq = ex_cq(ibcq);

	if (!cq_take(cq, &cq->cur))
		return ENOENT;
	ibcq->wr_id = cq->cur.wr_id;
	ibcq->status = cq->cur.status;
	return 0;
}

/* On success the lock is held until end_poll. */
static int cqx_start(struct ibv_cq_ex *ibcq, struct ibv_poll_cq_attr *attr)
{
	struct mrc_cq *cq = ex_cq(ibcq);
	int ret;

	if (attr->comp_mask)
		return EINVAL;
	mrc_cq_lock(cq);
	ret = cqx_next(ibcq);
	if (ret) {
		if (cq_ended(cq))
			ret = EIO;
		mrc_cq_unlock(cq);
	}
	return ret;
}

static void cqx_end(struct ibv_cq_ex *ibcq)
{
	mrc_cq_unlock(ex_cq(ibcq));
}

static enum ibv_wc_opcode cqx_opcode(struct ibv_cq_ex *cq)
{
	return ex_cq(cq)->cur.opcode;
}

static uint32_t cqx_zero32(struct ibv_cq_ex *cq)
{
	(void)cq;
	return 0;
}

static uint8_t cqx_zero8(struct ibv_cq_ex *cq)
{
	(void)cq;
	return 0;
}

static uint32_t cqx_byte_len(struct ibv_cq_ex *cq)
{
	return ex_cq(cq)->cur.byte_len;
}

static __be32 cqx_imm(struct ibv_cq_ex *cq)
{
	return ex_cq(cq)->cur.imm_data;
}

static uint32_t cqx_qp_num(struct ibv_cq_ex *cq)
{
	return ex_cq(cq)->cur.qpn;
}

static uint32_t cqx_src_qp(struct ibv_cq_ex *cq)
{
	return ex_cq(cq)->cur.src_qp;
}

static uint8_t cqx_sl(struct ibv_cq_ex *cq)
{
	return cqe_sl(&ex_cq(cq)->cur);
}

static unsigned int cqx_wc_flags(struct ibv_cq_ex *cq)
{
	return ex_cq(cq)->cur.wc_flags;
}

static uint64_t cqx_stamp(struct ibv_cq_ex *cq)
{
	return ex_cq(cq)->cur.timestamp;
}

static int64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

/*
 * Converts by the present difference of the two clocks, so later steps of the wall clock are
 * included.
 */
static uint64_t cqx_wallclock(struct ibv_cq_ex *cq)
{
	return (uint64_t)((int64_t)cqx_stamp(cq) + clock_ns(CLOCK_REALTIME) -
			  clock_ns(CLOCK_MONOTONIC));
}

void mrc_cq_set_poll_ops(struct mrc_cq *cq, uint64_t wc_flags)
{
	struct ibv_cq_ex *ex = &cq->v.cq_ex;

	ex->start_poll = cqx_start;
	ex->next_poll = cqx_next;
	ex->end_poll = cqx_end;
	ex->read_opcode = cqx_opcode;
	ex->read_vendor_err = cqx_zero32;
	ex->read_wc_flags = cqx_wc_flags;
	if (wc_flags & IBV_WC_EX_WITH_BYTE_LEN)
		ex->read_byte_len = cqx_byte_len;
	if (wc_flags & IBV_WC_EX_WITH_IMM)
		ex->read_imm_data = cqx_imm;
	if (wc_flags & IBV_WC_EX_WITH_QP_NUM)
		ex->read_qp_num = cqx_qp_num;
	if (wc_flags & IBV_WC_EX_WITH_SRC_QP)
		ex->read_src_qp = cqx_src_qp;
	if (wc_flags & IBV_WC_EX_WITH_SLID)
		ex->read_slid = cqx_zero32;
	if (wc_flags & IBV_WC_EX_WITH_SL)
		ex->read_sl = cqx_sl;
	if (wc_flags & IBV_WC_EX_WITH_DLID_PATH_BITS)
		ex->read_dlid_path_bits = cqx_zero8;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		ex->read_completion_ts = cqx_stamp;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
		ex->read_completion_wallclock_ns = cqx_wallclock;
}
