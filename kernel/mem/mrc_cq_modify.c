// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_cq_modify.c - see mrc_cq_modify.h.
 *
 * A resize makes a second ring and swaps the two under cq->lock, with what is not consumed copied
 * at the same indices: completions go to the one or the other, none is lost or comes twice. The
 * plug-in keeps other threads from the queue until it has mapped the new ring. Whoever resizes
 * counts on nothing more than was asked for: no minimum, as a new queue has.
 */
#include <linux/slab.h>
#include "core/mrc_dev.h"
#include "mem/mrc_cq.h"
#include "mem/mrc_cq_modify.h"
#include "mem/mrc_ucontext.h"

/* Under cq->lock: from here on *@new is the queue's ring, and what is left there the old one. */
static int cq_swap(struct mrc_cq *cq, struct mrc_ring *new)
{
	struct mrc_ring_hdr *hdr = cq->ring.hdr;
	u32 cons = smp_load_acquire(&hdr->cons), i;

	/* More than fit, or a consumer index that cannot be. */
	if (cq->prod - cons > min(new->entries, cq->ring.entries))
		return -EINVAL;
	for (i = cons; i != cq->prod; i++)
		memcpy(mrc_ring_slot(new, i), mrc_ring_slot(&cq->ring, i), new->stride);
	new->hdr->cons = cons;
	new->hdr->error = cq->overrun;
	new->hdr->told = cq->told;
	new->hdr->arm = xchg(&hdr->arm, MRC_ARM_NONE);
	smp_store_release(&new->hdr->prod, cq->prod);
	swap(cq->ring, *new);
	return 0;
}

int mrc_cq_resize(struct ib_cq *ibcq, int cqe, struct ib_udata *udata)
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
		spin_lock_bh(&cq->lock);
		err = cq_swap(cq, &ring);
		ibcq->cqe = cq->ring.entries;
		spin_unlock_bh(&cq->lock);
	}
	mrc_ring_unmap(&ring);
	mrc_ring_free(&ring);
	return err;
}

/* One of the two alone asks for nothing: an event after so many might never come. */
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
