// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_sge.c - see mrc_sge.h.
 */
#include <linux/skbuff.h>
#include <rdma/ib_verbs.h>
#include "mem/mrc_mr.h"
#include "mem/mrc_mr_copy.h"
#include "mem/mrc_sge.h"

u64 mrc_sge_load(struct mrc_sge_list *l, const void *from, u32 num, u32 max)
{
	l->num = min3(num, max, (u32)MRC_MAX_SGE);
	memcpy(l->sge, from, l->num * sizeof(*l->sge));
	return mrc_sge_sum(l);
}

u64 mrc_sge_sum(const struct mrc_sge_list *l)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < l->num; i++)
		sum += l->sge[i].length;
	return sum;
}

/*
 * The region of an SGE, with a reference. NULL: the region does not cover all of the SGE with
 * @access.
 */
static struct mrc_mr *sge_mr(const struct mrc_sge_list *l, const struct mrc_sge *sge, int access)
{
	struct mrc_mr *mr = mrc_mr_get(l->dev, l->pdn, sge->lkey);

	if (!mr || mrc_mr_covers(mr, sge->addr, sge->length, access))
		return mr;
	mrc_mr_put(mr);
	return NULL;
}

bool mrc_sge_read(const struct mrc_sge_list *l, void *to)
{
	struct mrc_mr *mr;
	u32 i;

	for (i = 0; i < l->num; i++) {
		const struct mrc_sge *sge = &l->sge[i];

		if (!sge->length)
			continue;
		mr = sge_mr(l, sge, 0);
		if (!mr)
			return false;
		mrc_mr_read(mr, sge->addr, to, sge->length);
		mrc_mr_put(mr);
		to += sge->length;
	}
	return true;
}

/* The source of the bytes: @skb at @pos, or @src. */
struct sge_from {
	const void *src;
	const struct sk_buff *skb;
	int pos;
};

static void sge_place(struct mrc_mr *mr, u64 va, struct sge_from *f, u32 n)
{
	if (f->skb) {
		mrc_mr_copy_from_skb(mr, va, f->skb, f->pos, n);
		f->pos += (int)n;
	} else {
		mrc_mr_write(mr, va, f->src, n);
		f->src += n;
	}
}

static bool sge_scatter(const struct mrc_sge_list *l, u32 off, struct sge_from *f, u32 len)
{
	struct mrc_mr *mr;
	u32 i, n;

	for (i = 0; len && i < l->num; i++) {
		const struct mrc_sge *sge = &l->sge[i];

		if (off >= sge->length) {
			off -= sge->length;
			continue;
		}
		mr = sge_mr(l, sge, IB_ACCESS_LOCAL_WRITE);
		if (!mr)
			return false;
		n = min(len, sge->length - off);
		sge_place(mr, sge->addr + off, f, n);
		mrc_mr_put(mr);
		len -= n;
		off = 0;
	}
	return !len;
}

bool mrc_sge_write(const struct mrc_sge_list *l, u32 off, const void *src, u32 len)
{
	struct sge_from f = { .src = src };

	return sge_scatter(l, off, &f, len);
}

bool mrc_sge_write_skb(const struct mrc_sge_list *l, u32 off, const struct sk_buff *skb,
		       int skb_off, u32 len)
{
	struct sge_from f = { .skb = skb, .pos = skb_off };

	return sge_scatter(l, off, &f, len);
}
