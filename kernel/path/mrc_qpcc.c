// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_qpcc.c - see mrc_qpcc.h.
 */
#include <linux/ktime.h>
#include <linux/slab.h>
#include "core/mrc_dev_plane.h"
#include "path/mrc_cc_profile.h"
#include "path/mrc_qpcc.h"

/* Configuration of a controller; the rate is that of the planes that are up at both ends. */
static void qpcc_cfg_of(struct mrc_peer *peer, const struct mrc_cc_profile *p,
			struct mrc_cc_cfg *cfg)
{
	struct mrc_dev *dev = peer->dev;

	*cfg = (struct mrc_cc_cfg) {
		.window_bytes = p->window_bytes,
		.rate_mbps = mrc_dev_plane_speed_mbps(dev, READ_ONCE(peer->ports_up)),
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
	q->cc = kzalloc(mrc_cc_mem_size(p->ops), GFP_KERNEL_ACCOUNT);
	if (!q->cc) {
		kfree(q);
		return NULL;
	}
	q->peer = peer;
	q->profile_id = p->id;
	q->ops = p->ops;
	qpcc_cfg_of(peer, p, &cfg);
	mrc_cc_init(q->cc, p->ops, &cfg, ktime_get_ns());
	return q;
}

/* Under path_lock. Applies the current parameters of its profile; without the profile nothing changes. */
static void qpcc_set_cfg(struct mrc_peer *peer, struct mrc_qpcc *q)
{
	struct mrc_cc_profile p;
	struct mrc_cc_cfg cfg;

	if (!mrc_cc_profile_get(peer->dev, q->profile_id, &p) || p.ops != q->ops)
		return;
	qpcc_cfg_of(peer, &p, &cfg);
	mrc_cc_set_cfg(q->cc, &cfg, ktime_get_ns());
}

struct mrc_qpcc *mrc_qpcc_get(struct mrc_peer *peer, u64 id)
{
	u64 want = id ?: READ_ONCE(peer->dev->attr.cc_profile_id);
	struct mrc_cc_profile p;
	struct mrc_qpcc *q, *new;

	if (!want || !mrc_cc_profile_get(peer->dev, want, &p))
		return id ? ERR_PTR(-EINVAL) : NULL;
	new = qpcc_new(peer, &p);
	if (!new)
		return ERR_PTR(-ENOMEM);
	spin_lock_bh(&peer->path_lock);
	q = qpcc_find(peer, &p);
	if (!q) {
		q = new;
		list_add_tail(&q->link, &peer->ccs);
		qpcc_set_cfg(peer, q);	/* planes or profile may have changed since qpcc_new() */
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

void mrc_qpcc_refresh(struct mrc_peer *peer)
{
	struct mrc_qpcc *q;

	spin_lock_bh(&peer->path_lock);
	list_for_each_entry(q, &peer->ccs, link)
		qpcc_set_cfg(peer, q);
	spin_unlock_bh(&peer->path_lock);
}
