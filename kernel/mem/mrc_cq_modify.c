// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_cq_modify.c - see mrc_cq_modify.h.
 *
 * A resize creates a second ring and swaps the two under cq->lock. Unconsumed completions are
 * copied at the same indices: none is lost or appears twice. A ring may hold millions, so most are
 * copied before the lock is taken. The plug-in keeps other threads from the queue until it has
 * mapped the new ring. The new size is exactly as requested, without the minimum of a new queue.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "core/mrc_dev.h"
#include "mem/mrc_cq.h"
#include "mem/mrc_cq_modify.h"
#include "mem/mrc_ucontext.h"

#define CQ_COPY_HELD	64	/* completions copied with cq->lock held, at most */
#define CQ_COPY_STEPS	1000	/* at most; a queue that fills faster is not resized */

/* Under cq->lock. Do the unconsumed completions fit into @new? False also for an impossible consumer index. */
static bool cq_fits(const struct mrc_cq *cq, const struct mrc_ring *new, u32 cons)
{
	return cq->prod - cons <= min(new->entries, cq->ring.entries);
}

/*
 * Copies completions from *@at up to @end. Needs no lock, because cq_fits() was true: the QPs do
 * not overwrite unconsumed completions.
 */
static void cq_copy(const struct mrc_cq *cq, const struct mrc_ring *new, u32 *at, u32 end)
{
	for (; *at != end; (*at)++)
		memcpy(mrc_ring_slot(new, *at), mrc_ring_slot(&cq->ring, *at), new->stride);
}

/* Under cq->lock: copies the remaining completions and swaps the queue's ring with *@new. */
static int cq_swap(struct mrc_cq *cq, struct mrc_ring *new, u32 *at)
{
	struct mrc_ring_hdr *hdr = cq->ring.hdr;
	u32 cons = smp_load_acquire(&hdr->cons);

	if (!cq_fits(cq, new, cons))
		return -EINVAL;
	cq_copy(cq, new, at, cq->prod);
	new->hdr->cons = cons;
	new->hdr->error = cq->overrun;
	new->hdr->told = cq->told;
	new->hdr->arm = xchg(&hdr->arm, MRC_ARM_NONE);
	smp_store_release(&new->hdr->prod, cq->prod);
	swap(cq->ring, *new);
	return 0;
}

/*
 * A step of a resize: copies old completions without the lock. Once few are left, copies these and swaps the rings
 * under the lock. -EAGAIN: too many completions arrived meanwhile.
 */
static int cq_step(struct mrc_cq *cq, struct mrc_ring *new, u32 *at)
{
	int err = -EAGAIN;
	u32 prod;

	spin_lock_bh(&cq->lock);
	prod = cq->prod;
	if (prod - *at <= CQ_COPY_HELD)
		err = cq_swap(cq, new, at);
	else if (!cq_fits(cq, new, *at))
		err = -EINVAL;
	spin_unlock_bh(&cq->lock);
	if (err != -EAGAIN)
		return err;
	cq_copy(cq, new, at, prod);
	cond_resched();
	return fatal_signal_pending(current) ? -EINTR : -EAGAIN;
}

/* Under cq->resize_mutex, which keeps the ring. Each step copies what arrived during the step before. */
static int cq_move(struct mrc_cq *cq, struct mrc_ring *new)
{
	u32 at = smp_load_acquire(&cq->ring.hdr->cons);
	int err, n;

	for (n = 0, err = -EAGAIN; n < CQ_COPY_STEPS && err == -EAGAIN; n++)
		err = cq_step(cq, new, &at);
	return err == -EAGAIN ? -EBUSY : err;
}

int mrc_cq_resize(struct ib_cq *ibcq, mrc_resize_cq_arg cqe, struct ib_udata *udata)
{
	struct ib_ucontext *ctx = mrc_ucontext_of(udata);
	struct mrc_cq *cq = mrc_cq_of(ibcq);
	struct mrc_ucreate_cq_resp resp;
	struct mrc_ring ring = {};
	u64 key = 0;
	int err;

	if (!ctx)
		return -EOPNOTSUPP;
	if (cqe <= 0 || cqe > MRC_MAX_CQE)
		return -EINVAL;
	err = mrc_ucontext_check(udata, 0, sizeof(resp)) ?:
	      mrc_ring_create(&ring, ctx, roundup_pow_of_two(cqe), sizeof(struct mrc_cqe), &key);
	if (err)
		return err;
	resp = mrc_cq_answer(&ring, key);
	err = ib_copy_to_udata(udata, &resp, sizeof(resp));
	if (!err) {
		mutex_lock(&cq->resize_mutex);
		err = cq_move(cq, &ring);
		ibcq->cqe = cq->ring.entries;
		mutex_unlock(&cq->resize_mutex);
	}
	mrc_ring_unmap(&ring);
	mrc_ring_free(&ring);
	return err;
}

/* One of the two alone means no moderation: that number of completions might never be reached. */
int mrc_cq_moderate(struct ib_cq *ibcq, u16 count, u16 period)
{
	struct mrc_cq *cq = mrc_cq_of(ibcq);

	spin_lock_bh(&cq->lock);
	cq->mod_count = count > 1 && period ? count : 0;
	cq->mod_period = period;
	cq->mod_n = 0;
	spin_unlock_bh(&cq->lock);
	return 0;
}
