// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_srq_modify.c - see mrc_srq_modify.h.
 *
 * A resize creates a second ring, copies the posted receives and swaps the rings under srq->lock:
 * QPs take from one or the other, and nothing is lost. The plug-in blocks posting until it has
 * mapped the new ring. A program that posts anyway writes to the old ring, which is no longer read.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "core/mrc_dev.h"
#include "mem/mrc_srq.h"
#include "mem/mrc_srq_modify.h"
#include "mem/mrc_ucontext.h"

/* Under srq->lock: copies the posted receives and swaps the queue's ring with *@new. */
static int srq_swap(struct mrc_srq *srq, struct mrc_ring *new)
{
	u32 n = mrc_ring_avail(&srq->ring, srq->cons), i;

	if (n > new->entries)
		return -EINVAL;
	for (i = srq->cons; i != srq->cons + n; i++)
		memcpy(mrc_ring_slot(new, i), mrc_ring_slot(&srq->ring, i), new->stride);
	new->hdr->cons = srq->cons;
	smp_store_release(&new->hdr->prod, srq->cons + n);
	swap(srq->ring, *new);
	return 0;
}

static int srq_resize(struct mrc_srq *srq, u32 max_wr, u64 resp_addr, struct ib_ucontext *ctx)
{
	struct mrc_ucreate_srq_resp resp;
	struct mrc_ring ring = {};
	u64 key = 0;
	int err;

	err = mrc_srq_new_ring(srq, ctx, max_wr, &ring, &key);
	if (err)
		return err;
	resp = mrc_srq_answer(&ring, key);
	err = copy_to_user(u64_to_user_ptr(resp_addr), &resp, sizeof(resp)) ? -EFAULT : 0;
	if (!err) {
		spin_lock_bh(&srq->lock);
		err = srq_swap(srq, &ring);
		spin_unlock_bh(&srq->lock);
	}
	mrc_ring_unmap(&ring);
	mrc_ring_free(&ring);
	return err;
}

/* Reads the plug-in's data of a resize. */
static int srq_read_udata(struct ib_udata *udata, struct mrc_umodify_srq *req)
{
	int err = mrc_ucontext_check(udata, sizeof(*req), 0);

	if (err)
		return err;
	return ib_copy_from_udata(req, udata, sizeof(*req)) ? -EFAULT : 0;
}

static int srq_set_limit(struct mrc_srq *srq, u32 limit)
{
	int err = 0;

	spin_lock_bh(&srq->lock);
	if (limit > srq->ring.entries) {
		err = -EINVAL;
	} else {
		srq->limit = limit;
		mrc_srq_check_limit(srq);
	}
	spin_unlock_bh(&srq->lock);
	return err;
}

int mrc_srq_modify(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		   struct ib_udata *udata)
{
	struct mrc_srq *srq = mrc_srq_of(ibsrq);
	struct ib_ucontext *ctx = mrc_ucontext_of(udata);
	struct mrc_umodify_srq req;
	int err = 0;

	/* SRQs of kernel users are not resized: no user needs it. */
	if (mask & ~(ctx ? IB_SRQ_MAX_WR | IB_SRQ_LIMIT : IB_SRQ_LIMIT))
		return -EOPNOTSUPP;
	if (mask & IB_SRQ_MAX_WR) {
		if (!attr->max_wr || attr->max_wr > MRC_MAX_SRQ_WR ||
		    (mask & IB_SRQ_LIMIT && attr->srq_limit > attr->max_wr))
			return -EINVAL;		/* both or nothing */
		err = srq_read_udata(udata, &req) ?:
		      srq_resize(srq, attr->max_wr, req.resp_addr, ctx);
	}
	if (!err && mask & IB_SRQ_LIMIT)
		err = srq_set_limit(srq, attr->srq_limit);
	return err;
}
