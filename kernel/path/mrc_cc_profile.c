// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_cc_profile.c - see mrc_cc_profile.h.
 */
#include <linux/slab.h>
#include "compat/mrc_compat_net.h"
#include "path/mrc_cc_profile.h"

/* Under dev->peer_lock. */
static struct mrc_cc_profile *cc_find(struct mrc_dev *dev, u64 id)
{
	struct mrc_cc_profile *p;

	list_for_each_entry(p, &dev->cc_profiles, link)
		if (p->id == id)
			return p;
	return NULL;
}

bool mrc_cc_profile_get(struct mrc_dev *dev, u64 id, struct mrc_cc_profile *out)
{
	struct mrc_cc_profile *p;

	spin_lock_bh(&dev->peer_lock);
	p = cc_find(dev, id);
	if (p)
		*out = *p;
	spin_unlock_bh(&dev->peer_lock);
	return p;
}

bool mrc_cc_profile_next(struct mrc_dev *dev, u64 id, struct mrc_cc_profile *out)
{
	struct mrc_cc_profile *p, *best = NULL;

	spin_lock_bh(&dev->peer_lock);
	list_for_each_entry(p, &dev->cc_profiles, link)
		if (p->id >= id && (!best || p->id < best->id))
			best = p;
	if (best)
		*out = *best;
	spin_unlock_bh(&dev->peer_lock);
	return best;
}

/* Under dev->peer_lock. The object for @p's id: the one there is, or @new in the list. */
static struct mrc_cc_profile *cc_place(struct mrc_dev *dev, u64 id, struct mrc_cc_profile *new)
{
	struct mrc_cc_profile *p = cc_find(dev, id);

	if (p)
		return p;
	if (dev->n_cc_profiles >= MRC_CC_PROFILES_MAX)
		return NULL;
	dev->n_cc_profiles++;
	list_add_tail(&new->link, &dev->cc_profiles);
	return new;
}

int mrc_cc_profile_set(struct mrc_dev *dev, const struct mrc_cc_profile *p,
		       struct netlink_ext_ack *extack)
{
	struct mrc_cc_profile *new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT), *at;
	struct list_head link;

	if (!new)
		return -ENOMEM;
	spin_lock_bh(&dev->peer_lock);
	at = cc_place(dev, p->id, new);
	if (at) {
		link = at->link;
		*at = *p;
		at->link = link;
	}
	spin_unlock_bh(&dev->peer_lock);
	if (at != new)
		kfree(new);
	if (!at) {
		MRC_ERR_MSG(extack, "CC profile %llu: there are %u already", p->id,
			    MRC_CC_PROFILES_MAX);
		return -ENOSPC;
	}
	return 0;
}

int mrc_cc_profile_del(struct mrc_dev *dev, u64 id, struct netlink_ext_ack *extack)
{
	struct mrc_cc_profile *p;

	if (READ_ONCE(dev->attr.cc_profile_id) == id) {
		MRC_ERR_MSG(extack, "CC profile %llu is the default of %s", id,
			    dev->ndev->name);
		return -EBUSY;
	}
	spin_lock_bh(&dev->peer_lock);
	p = cc_find(dev, id);
	if (p) {
		list_del(&p->link);
		dev->n_cc_profiles--;
	}
	spin_unlock_bh(&dev->peer_lock);
	if (!p) {
		MRC_ERR_MSG(extack, "no CC profile %llu", id);
		return -ENOENT;
	}
	kfree(p);
	return 0;
}

void mrc_cc_profiles_destroy(struct mrc_dev *dev)
{
	struct mrc_cc_profile *p, *next;

	list_for_each_entry_safe(p, next, &dev->cc_profiles, link)
		kfree(p);
	INIT_LIST_HEAD(&dev->cc_profiles);
}
