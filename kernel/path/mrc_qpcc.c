// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_qpcc.c - see mrc_qpcc.h.
 */
#include <linux/ktime.h>
#include <linux/slab.h>
#include "mrc_compat_net.h"
#include "mrc_qpcc.h"

/* ---- profiles ---- */

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
	mrc_peers_for_each(dev, mrc_qpcc_refresh);
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

/* ---- controllers ---- */

/* Of the planes that are up at both ends. */
static void cc_cfg_of(struct mrc_peer *peer, const struct mrc_cc_profile *p,
		      struct mrc_cc_cfg *cfg)
{
	struct mrc_dev *dev = peer->dev;

	*cfg = (struct mrc_cc_cfg) {
		.window_bytes = p->window_bytes,
		.rate_mbps = mrc_dev_speed_mbps(dev, READ_ONCE(peer->ports_up)),
		.trimming = p->trimming,
		.nscc = p->nscc,
	};
	if (!cfg->window_bytes && p->ops == &mrc_cc_fixed)
		cfg->window_bytes = READ_ONCE(dev->attr.cwnd_bytes);
}

/* Under path_lock. */
static struct mrc_qpcc *qpcc_find(struct mrc_peer *peer, const struct mrc_cc_profile *p)
{
	struct mrc_qpcc *q;

	list_for_each_entry(q, &peer->ccs, link)
		if (q->profile_id == p->id && q->ops == p->ops)
			return q;
	return NULL;
}

static void qpcc_free(struct mrc_qpcc *q)
{
	kfree(q->cc);
	kfree(q);
}

static struct mrc_qpcc *qpcc_new(struct mrc_peer *peer, const struct mrc_cc_profile *p)
{
	struct mrc_qpcc *q = kzalloc(sizeof(*q), GFP_KERNEL_ACCOUNT);
	struct mrc_cc_cfg cfg;

	if (!q)
		return NULL;
	q->cc = kzalloc(p->ops->size, GFP_KERNEL_ACCOUNT);
	if (!q->cc) {
		kfree(q);
		return NULL;
	}
	q->peer = peer;
	q->profile_id = p->id;
	q->ops = p->ops;
	cc_cfg_of(peer, p, &cfg);
	mrc_cc_init(q->cc, p->ops, &cfg, ktime_get_ns());
	return q;
}

struct mrc_qpcc *mrc_qpcc_get(struct mrc_peer *peer)
{
	u64 id = READ_ONCE(peer->dev->attr.cc_profile_id);
	struct mrc_cc_profile p;
	struct mrc_qpcc *q, *new;

	if (!id || !mrc_cc_profile_get(peer->dev, id, &p))
		return NULL;
	new = qpcc_new(peer, &p);
	if (!new)
		return ERR_PTR(-ENOMEM);
	spin_lock_bh(&peer->path_lock);
	q = qpcc_find(peer, &p);
	if (!q) {
		q = new;
		list_add_tail(&q->link, &peer->ccs);
	}
	q->n_qps++;
	spin_unlock_bh(&peer->path_lock);
	if (q != new)
		qpcc_free(new);
	return q;
}

void mrc_qpcc_put(struct mrc_qpcc *q)
{
	struct mrc_peer *peer;
	bool last;

	if (!q)
		return;
	peer = q->peer;
	spin_lock_bh(&peer->path_lock);
	last = !--q->n_qps;
	if (last)
		list_del(&q->link);
	spin_unlock_bh(&peer->path_lock);
	if (last)
		qpcc_free(q);
}

/* Under path_lock. What its profile says now; one that is gone leaves it as it is. */
static void qpcc_set_cfg(struct mrc_peer *peer, struct mrc_qpcc *q)
{
	struct mrc_cc_profile p;
	struct mrc_cc_cfg cfg;

	if (!mrc_cc_profile_get(peer->dev, q->profile_id, &p) || p.ops != q->ops)
		return;
	cc_cfg_of(peer, &p, &cfg);
	if (q->ops->set_cfg)
		q->ops->set_cfg(q->cc, &cfg, ktime_get_ns());
}

void mrc_qpcc_refresh(struct mrc_peer *peer)
{
	struct mrc_qpcc *q;

	spin_lock_bh(&peer->path_lock);
	list_for_each_entry(q, &peer->ccs, link)
		qpcc_set_cfg(peer, q);
	spin_unlock_bh(&peer->path_lock);
}
