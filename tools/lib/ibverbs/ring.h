/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * ring.h - user space's side of the rings that a QP or CQ shares with the kernel.
 *
 * Send and receive: slots are filled under the lock of the queue; `prod` is published once per call
 * with a store-release. A slot is free when the completion of its request, or of a later one, was
 * polled (`done`), which is after the kernel's last access. Completion: the kernel's `prod` is
 * loaded with acquire and bounded by `entries`.
 *
 * Two store-then-load races, each closed by a full barrier on both sides:
 *   post: publish prod, barrier, read need_kick;  kernel: set need_kick, barrier,
 *         look at prod once more.
 *   arm:  store arm, barrier, (application) poll; kernel: publish prod, barrier,
 *         take arm.
 */
#ifndef MRC_RING_H
#define MRC_RING_H

#include <errno.h>
#include "mrc_prov.h"

static inline void full_barrier(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Producer: the number of slots that are not free. */
static inline uint32_t ring_used(const struct mrc_uring *r)
{
	return r->idx - __atomic_load_n(&r->done, __ATOMIC_ACQUIRE);
}

/* Producer: may another slot be filled? */
static inline bool ring_full(const struct mrc_uring *r)
{
	return ring_used(r) >= r->entries;
}

/* Slots below @next are free; under the lock of the queue where its completions are. */
static inline void ring_free_slots(struct mrc_uring *r, uint32_t next)
{
	if (next - r->done <= r->entries)
		__atomic_store_n(&r->done, next, __ATOMIC_RELEASE);
}

/* @n more receives of an SRQ have completed; any thread. */
static inline void ring_free_some(struct mrc_uring *r, uint32_t n)
{
	__atomic_fetch_add(&r->done, n, __ATOMIC_RELEASE);
}

/* After a reset: all of them. */
static inline void ring_free_all(struct mrc_uring *r)
{
	__atomic_store_n(&r->done, r->idx, __ATOMIC_RELEASE);
}

/* Publishes the requests built since the last call. True: ring the doorbell. */
static inline bool sq_publish(struct mrc_uring *sq)
{
	__atomic_store_n(&sq->hdr->prod, sq->idx, __ATOMIC_RELEASE);
	full_barrier();
	return __atomic_load_n(&sq->hdr->need_kick, __ATOMIC_RELAXED) &&
	       __atomic_exchange_n(&sq->hdr->need_kick, 0, __ATOMIC_RELAXED);
}

static inline bool is_atomic(unsigned int opcode)
{
	return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/* Copies @n SGEs; *len: the sum of their lengths. */
static inline int put_sges(struct mrc_sge *dst, const struct ibv_sge *src, uint32_t n,
			   uint64_t *len)
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

/* One receive into the slot at r->idx; the index moves only on success. */
static inline int put_recv(struct mrc_uring *r, uint32_t max_sge, const struct ibv_recv_wr *wr)
{
	struct mrc_recv_wqe *wqe;
	uint64_t len;
	int ret;

	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > max_sge)
		return EINVAL;
	if (ring_full(r))
		return ENOMEM;
	wqe = mrc_slot(r, r->idx);
	wqe->wr_id = wr->wr_id;
	wqe->num_sge = wr->num_sge;
	wqe->reserved0 = 0;
	ret = put_sges((struct mrc_sge *)(wqe + 1), wr->sg_list, wr->num_sge, &len);
	if (ret)
		return ret;
	r->idx++;
	return 0;
}

#endif
