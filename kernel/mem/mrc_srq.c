// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_srq.c - shared receive queues: the user posts, QPs consume.
 *
 * The consumer index is private and only published. The producer index comes from user space and is
 * bounded at each read (mrc_ring_avail()). Posting needs no system call, so the kernel learns the
 * number of receives when it takes one, and then checks the limit.
 *
 * A receive that a QP took and did not use is written back to the slot before cons. A program that
 * counts as mrc-abi.h says does not touch that slot. Other programs lose receives of their own.
 */
#include <linux/slab.h>
#include "core/mrc_dev.h"
#include "mem/mrc_pd.h"
#include "mem/mrc_srq.h"
#include "mem/mrc_ucontext.h"

#define MRC_SRQ_SLOTS_MIN 8

static void srq_free_work(struct work_struct *work)
{
	struct mrc_srq *srq = container_of(to_rcu_work(work), struct mrc_srq, free_work);

	mrc_ring_free(&srq->ring);
	kfree(srq);
}

static void srq_release(struct kref *ref)
{
	struct mrc_srq *srq = container_of(ref, struct mrc_srq, ref);

	queue_rcu_work(mrc_wq, &srq->free_work);
}

void mrc_srq_get(struct mrc_srq *srq)
{
	kref_get(&srq->ref);
}

void mrc_srq_put(struct mrc_srq *srq)
{
	kref_put(&srq->ref, srq_release);
}

/* ---- taking ---- */

void mrc_srq_check_limit(struct mrc_srq *srq)
{
	struct ib_event ev = { .event = IB_EVENT_SRQ_LIMIT_REACHED };

	lockdep_assert_held(&srq->lock);
	if (likely(!srq->limit) || mrc_ring_avail(&srq->ring, srq->cons) >= srq->limit)
		return;
	srq->limit = 0;		/* one event, until the limit is set again */
	if (!srq->ibsrq || !srq->ibsrq->event_handler)
		return;
	ev.device = srq->ibsrq->device;
	ev.element.srq = srq->ibsrq;
	srq->ibsrq->event_handler(&ev, srq->ibsrq->srq_context);
}

bool mrc_srq_take(struct mrc_srq *srq, struct mrc_srq_recv *r)
{
	struct mrc_recv_wqe k;
	const u8 *slot;

	spin_lock_bh(&srq->lock);
	if (!mrc_ring_avail(&srq->ring, srq->cons)) {
		spin_unlock_bh(&srq->lock);
		return false;
	}
	slot = mrc_ring_slot(&srq->ring, srq->cons);
	memcpy(&k, slot, sizeof(k));
	r->wr_id = k.wr_id;
	r->num_sge = min(k.num_sge, srq->max_sge);
	memcpy(r->sge, slot + sizeof(k), r->num_sge * sizeof(*r->sge));
	srq->cons++;
	smp_store_release(&srq->ring.hdr->cons, srq->cons);
	mrc_srq_check_limit(srq);
	spin_unlock_bh(&srq->lock);
	return true;
}

void mrc_srq_give_back(struct mrc_srq *srq, const struct mrc_srq_recv *r)
{
	struct mrc_recv_wqe k = { .wr_id = r->wr_id, .num_sge = r->num_sge };
	u8 *slot;

	spin_lock_bh(&srq->lock);
	/* Full: the program posted more receives than it had completions for. */
	if (mrc_ring_avail(&srq->ring, srq->cons) < srq->ring.entries) {
		srq->cons--;
		slot = mrc_ring_slot(&srq->ring, srq->cons);
		memcpy(slot, &k, sizeof(k));
		memcpy(slot + sizeof(k), r->sge, r->num_sge * sizeof(*r->sge));
		smp_store_release(&srq->ring.hdr->cons, srq->cons);
	}
	spin_unlock_bh(&srq->lock);
}

/* ---- verbs ---- */

struct mrc_ucreate_srq_resp mrc_srq_answer(const struct mrc_ring *ring, u64 key)
{
	return (struct mrc_ucreate_srq_resp) {
		.entries = ring->entries,
		.stride = ring->stride,
		.mmap_key = key,
		.mmap_len = ring->bytes,
	};
}

int mrc_srq_new_ring(const struct mrc_srq *srq, struct ib_ucontext *ctx, u32 max_wr,
		     struct mrc_ring *ring, u64 *key)
{
	u32 stride = sizeof(struct mrc_recv_wqe) + srq->max_sge * sizeof(struct mrc_sge);

	return mrc_ring_create(ring, ctx, roundup_pow_of_two(max_t(u32, max_wr, MRC_SRQ_SLOTS_MIN)),
			       stride, key);
}

/* XRC needs a table of SRQ numbers and QPs without a receive side: not offered. */
static int srq_check_init(const struct ib_srq_init_attr *init, struct ib_udata *udata,
			  const struct ib_ucontext *ctx)
{
	if (init->srq_type != IB_SRQT_BASIC)
		return -EOPNOTSUPP;
	if (!init->attr.max_wr || init->attr.max_wr > MRC_MAX_SRQ_WR ||
	    init->attr.max_sge > MRC_MAX_SGE)
		return -EINVAL;
	return ctx ? mrc_ucontext_check(udata, 0, sizeof(struct mrc_ucreate_srq_resp)) : 0;
}

static struct mrc_srq *srq_new(struct ib_srq *ibsrq, const struct ib_srq_init_attr *init)
{
	struct mrc_srq *srq = kzalloc(sizeof(*srq), GFP_KERNEL_ACCOUNT);

	if (!srq)
		return NULL;
	kref_init(&srq->ref);
	INIT_RCU_WORK(&srq->free_work, srq_free_work);
	spin_lock_init(&srq->lock);
	srq->ibsrq = ibsrq;
	srq->dev = to_mrc_dev(ibsrq->device);
	srq->pdn = to_mrc_pd(ibsrq->pd)->pdn;
	srq->max_sge = max(init->attr.max_sge, 1u);
	return srq;
}

int mrc_srq_create(struct ib_srq *ibsrq, struct ib_srq_init_attr *init, struct ib_udata *udata)
{
	struct mrc_dev *dev = to_mrc_dev(ibsrq->device);
	struct ib_ucontext *ctx = mrc_ucontext_of(udata);
	struct mrc_ucreate_srq_resp resp;
	struct mrc_srq *srq;
	u64 key = 0;
	int err;

	err = srq_check_init(init, udata, ctx);
	if (err)
		return err;
	if (ctx && !atomic_add_unless(&dev->n_srqs, 1, MRC_MAX_SRQ))
		return -ENOSPC;
	err = -ENOMEM;
	srq = srq_new(ibsrq, init);
	if (!srq)
		goto err_count;
	err = mrc_srq_new_ring(srq, ctx, init->attr.max_wr, &srq->ring, &key);
	if (err)
		goto err_free;
	srq->kernel = !ctx;
	resp = mrc_srq_answer(&srq->ring, key);
	err = ctx ? ib_copy_to_udata(udata, &resp, sizeof(resp)) : 0;
	if (err)
		goto err_ring;
	init->attr.max_wr = srq->ring.entries;
	init->attr.max_sge = srq->max_sge;
	container_of(ibsrq, struct mrc_ibsrq, ibsrq)->srq = srq;
	return 0;

err_ring:
	mrc_ring_unmap(&srq->ring);
	mrc_ring_free(&srq->ring);
err_free:
	kfree(srq);
err_count:
	if (ctx)
		atomic_dec(&dev->n_srqs);
	return err;
}

int mrc_srq_query(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct mrc_srq *srq = mrc_srq_of(ibsrq);

	spin_lock_bh(&srq->lock);
	attr->max_wr = srq->ring.entries;
	attr->max_sge = srq->max_sge;
	attr->srq_limit = srq->limit;
	spin_unlock_bh(&srq->lock);
	return 0;
}

int mrc_srq_destroy(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct mrc_ibsrq *shell = container_of(ibsrq, struct mrc_ibsrq, ibsrq);
	struct mrc_srq *srq = shell->srq;

	WRITE_ONCE(shell->srq, NULL);	/* rdma(8) may still query it: mrc_cq.c */
	spin_lock_bh(&srq->lock);
	srq->ibsrq = NULL;
	spin_unlock_bh(&srq->lock);
	mrc_ring_unmap(&srq->ring);
	if (!srq->kernel)
		atomic_dec(&srq->dev->n_srqs);
	mrc_srq_put(srq);
	return 0;
}
