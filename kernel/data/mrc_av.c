// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_av.c - see mrc_av.h.
 */
#include <linux/slab.h>
#include <linux/xarray.h>
#include "data/mrc_av.h"

/* Connection managers create and destroy handles with interrupts off. */
static DEFINE_XARRAY_FLAGS(avs, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ | XA_FLAGS_ACCOUNT);
static u32 av_next;	/* cyclic: a freed number is not reused soon */

struct mrc_av *mrc_av_find(const struct mrc_dev *dev, u32 pdn, u32 num)
{
	struct mrc_av *av = xa_load(&avs, num);

	return av && av->dev == dev && av->pdn == pdn ? av : NULL;
}

struct mrc_av *mrc_av_create(const struct mrc_av *like, gfp_t gfp)
{
	struct mrc_av *av = kzalloc(sizeof(*av), gfp);
	unsigned long flags;
	int err;

	if (!av)
		return ERR_PTR(-ENOMEM);
	av->dev = like->dev;
	av->pdn = like->pdn;
	av->sgid = like->sgid;
	av->dgid = like->dgid;
	av->hops = like->hops;
	xa_lock_irqsave(&avs, flags);
	err = __xa_alloc_cyclic(&avs, &av->num, av, xa_limit_31b, &av_next, GFP_ATOMIC);
	xa_unlock_irqrestore(&avs, flags);
	if (err >= 0)
		return av;
	kfree(av);
	return ERR_PTR(err);
}

void mrc_av_destroy(struct mrc_av *av)
{
	unsigned long flags;

	xa_lock_irqsave(&avs, flags);
	__xa_erase(&avs, av->num);
	xa_unlock_irqrestore(&avs, flags);
	kfree_rcu(av, rcu);
}

void mrc_av_exit(void)
{
	WARN_ON(!xa_empty(&avs));
	xa_destroy(&avs);
}
