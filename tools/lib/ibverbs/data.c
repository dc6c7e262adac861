// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * data.c - posting and polling: rings in shared memory, and one system call,
 * the doorbell, when the kernel has gone to sleep on a send queue.
 *
 * Send and receive: slots are filled under the queue's lock, then `prod` is
 * published once per call with a store-release. A slot is free when the kernel
 * has copied it out, so a full ring means `prod - cons == entries`.
 * Completion: the kernel's `prod` is loaded with acquire; what it says is only
 * believed up to `entries`.
 *
 * The two store-then-load races, each closed by a full barrier on both sides:
 *   post: publish prod, barrier, read need_kick;  kernel: set need_kick, barrier,
 *         look at prod once more.
 *   arm:  store arm, barrier, (application) poll; kernel: publish prod, barrier,
 *         take arm.
 *
 * Not here: SRQ, UD, memory windows. Keys are not checked here, the kernel does.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "mrc_prov.h"

static inline void full_barrier(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* The kernel answers a POST_SEND with no work request by waking the QP. */
__attribute__((weak)) int mrc_doorbell(struct ibv_qp *ibqp)
{
	struct ib_uverbs_post_send_resp resp;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_post_send core;
	} cmd = {
		.hdr.command = IB_USER_VERBS_CMD_POST_SEND,
		.hdr.in_words = sizeof(cmd) / 4,
		.hdr.out_words = sizeof(resp) / 4,
		.core.response = (uintptr_t)&resp,
		.core.qp_handle = ibqp->handle,
		.core.wqe_size = sizeof(struct ib_uverbs_send_wr),
	};
	ssize_t n;

	do {
		n = write(ibqp->context->cmd_fd, &cmd, sizeof(cmd));
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(cmd) ? 0 : n < 0 ? errno : EIO;
}

/* Producer: may another slot be filled? The consumer index is the kernel's. */
static inline bool ring_full(const struct mrc_uring *r)
{
	return r->idx - __atomic_load_n(&r->hdr->cons, __ATOMIC_ACQUIRE) >= r->entries;
}

/* Publish what was built since the last time; true: ring the doorbell. */
static bool sq_publish(struct mrc_uring *sq)
{
	__atomic_store_n(&sq->hdr->prod, sq->idx, __ATOMIC_RELEASE);
	full_barrier();
	return __atomic_load_n(&sq->hdr->need_kick, __ATOMIC_RELAXED) &&
	       __atomic_exchange_n(&sq->hdr->need_kick, 0, __ATOMIC_RELAXED);
}

/* After a doorbell that failed the next post tries again. */
static int sq_kick(struct mrc_qp *qp)
{
	int ret = mrc_doorbell(&qp->v.qp);

	if (ret)
		__atomic_store_n(&qp->sq.hdr->need_kick, 1, __ATOMIC_RELAXED);
	return ret;
}

static inline bool is_atomic(unsigned int opcode)
{
	return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static int put_sges(struct mrc_sge *dst, const struct ibv_sge *src, uint32_t n, uint64_t *len)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < n; i++) {
		dst[i].addr = src[i].addr;
		dst[i].length = src[i].length;
		dst[i].lkey = src[i].lkey;
		sum += src[i].length;
	}
	*len = sum;
	return sum > MRC_MAX_MSG ? EINVAL : 0;
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
	case IBV_WR_SEND_WITH_INV:
		wqe->imm_data = wr->invalidate_rkey;
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
		return EINVAL;
	}

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
	struct ibv_send_wr *first = wr;
	bool kick = false;
	uint32_t start;
	int ret = 0, err;

	if (ibqp->state < IBV_QPS_RTS) {
		*bad_wr = wr;
		return EINVAL;
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

	if (kick) {
		err = sq_kick(qp);
		if (err && !ret) {
			*bad_wr = first;
			ret = err;
		}
	}
	return ret;
}

static int recv_one(struct mrc_qp *qp, const struct ibv_recv_wr *wr)
{
	struct mrc_recv_wqe *wqe;
	uint64_t len;
	int ret;

	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->max_recv_sge)
		return EINVAL;
	if (ring_full(&qp->rq))
		return ENOMEM;

	wqe = mrc_slot(&qp->rq, qp->rq.idx);
	wqe->wr_id = wr->wr_id;
	wqe->num_sge = wr->num_sge;
	wqe->reserved0 = 0;
	ret = put_sges((struct mrc_sge *)(wqe + 1), wr->sg_list, wr->num_sge, &len);
	if (ret)
		return ret;
	qp->rq.idx++;
	return 0;
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
		ret = recv_one(qp, wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
	}
	__atomic_store_n(&qp->rq.hdr->prod, qp->rq.idx, __ATOMIC_RELEASE);
	/*
	 * A QP in error flushes receives when it next runs, and an idle one only
	 * runs when told to. We know of the error if the application made it; if
	 * the kernel did, it may leave need_kick set in this ring.
	 */
	full_barrier();
	kick = ibqp->state == IBV_QPS_ERR ||
	       __atomic_load_n(&qp->rq.hdr->need_kick, __ATOMIC_RELAXED);
	pthread_spin_unlock(&qp->rq_lock);
	if (kick)
		mrc_doorbell(ibqp);
	return ret;
}

/* ------------------------------------------------------------ completions */

enum {
	CQE_PURGED = 1,		/* of mrc_cqe.reserved1: ours; the kernel writes 0 */
};

static inline void cq_lock(struct mrc_cq *cq)
{
	if (!cq->single_threaded)
		pthread_spin_lock(&cq->lock);
}

static inline void cq_unlock(struct mrc_cq *cq)
{
	if (!cq->single_threaded)
		pthread_spin_unlock(&cq->lock);
}

static inline uint32_t cq_avail(const struct mrc_cq *cq)
{
	uint32_t n = __atomic_load_n(&cq->ring.hdr->prod, __ATOMIC_ACQUIRE) - cq->ring.idx;

	return n <= cq->ring.entries ? n : 0;
}

/* The next completion, copied out; the shared index is published by the caller. */
static bool cq_take(struct mrc_cq *cq, struct mrc_cqe *cqe)
{
	uint32_t n;

	for (n = cq_avail(cq); n; n--) {
		*cqe = *(const struct mrc_cqe *)mrc_slot(&cq->ring, cq->ring.idx);
		cq->ring.idx++;
		if (cqe->reserved1 != CQE_PURGED)
			return true;
	}
	return false;
}

static inline void cq_publish(struct mrc_cq *cq)
{
	__atomic_store_n(&cq->ring.hdr->cons, cq->ring.idx, __ATOMIC_RELEASE);
}

/* Positive: so many; negative: the queue has overrun and is unusable. */
int mrc_poll_cq(struct ibv_cq *ibcq, int n, struct ibv_wc *wc)
{
	struct mrc_cq *cq = to_mcq(ibcq);
	struct mrc_cqe cqe;
	uint32_t before;
	int i;

	cq_lock(cq);
	before = cq->ring.idx;
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
		};
	}
	if (cq->ring.idx != before)
		cq_publish(cq);
	if (!i && n > 0 && __atomic_load_n(&cq->ring.hdr->error, __ATOMIC_RELAXED))
		i = -1;
	cq_unlock(cq);
	return i;
}

/* Armed for anything includes armed for solicited: never weaken it. */
int mrc_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	struct mrc_ring_hdr *hdr = to_mcq(ibcq)->ring.hdr;
	__u32 none = MRC_ARM_NONE;

	if (solicited_only)
		__atomic_compare_exchange_n(&hdr->arm, &none, MRC_ARM_SOLICITED, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	else
		__atomic_store_n(&hdr->arm, MRC_ARM_ANY, __ATOMIC_SEQ_CST);
	full_barrier();
	return 0;
}

void mrc_cq_purge(struct mrc_cq *cq, uint32_t qpn)
{
	uint32_t i, n;

	cq_lock(cq);
	n = cq_avail(cq);
	for (i = 0; i < n; i++) {
		struct mrc_cqe *cqe = mrc_slot(&cq->ring, cq->ring.idx + i);

		if (cqe->qpn == qpn)
			cqe->reserved1 = CQE_PURGED;
	}
	cq_unlock(cq);
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
	cq_lock(cq);
	ret = cqx_next(ibcq);
	if (ret) {
		if (__atomic_load_n(&cq->ring.hdr->error, __ATOMIC_RELAXED))
			ret = EIO;
		cq_publish(cq);
		cq_unlock(cq);
	}
	return ret;
}

static void cqx_end(struct ibv_cq_ex *ibcq)
{
	cq_publish(ex_cq(ibcq));
	cq_unlock(ex_cq(ibcq));
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

static unsigned int cqx_wc_flags(struct ibv_cq_ex *cq)
{
	return ex_cq(cq)->cur.wc_flags;
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
		ex->read_sl = cqx_zero8;
	if (wc_flags & IBV_WC_EX_WITH_DLID_PATH_BITS)
		ex->read_dlid_path_bits = cqx_zero8;
}

/* ------------------------------------------------------- ibv_wr_* posting */

/*
 * The first error is kept and reported by wr_complete, which then forgets all
 * work requests of the batch. The lock is held from start to complete or abort.
 */
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
	qp->wr_err = qp->v.qp.state < IBV_QPS_RTS ? EINVAL : 0;
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

static void wrx_send_inv(struct ibv_qp_ex *qp, uint32_t invalidate_rkey)
{
	struct mrc_send_wqe *wqe = wrx_new(qp, IBV_WR_SEND_WITH_INV);

	if (wqe)
		wqe->imm_data = invalidate_rkey;
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
	return kick ? sq_kick(qp) : ret;
}

static void wrx_abort(struct ibv_qp_ex *ibqp)
{
	struct mrc_qp *qp = ex_qp(ibqp);

	qp->sq.idx = qp->wr_first;
	pthread_spin_unlock(&qp->sq_lock);
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
	ex->wr_send_inv = wrx_send_inv;
	ex->wr_set_sge = wrx_sge;
	ex->wr_set_sge_list = wrx_sge_list;
	ex->wr_set_inline_data = wrx_inline;
	ex->wr_set_inline_data_list = wrx_inline_list;
}
