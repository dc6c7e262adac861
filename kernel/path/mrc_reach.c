// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_reach.c - see mrc_reach.h.
 *
 * A path is an EV with a route (path/mrc_way.h). Whether planes and switches on it are up is not
 * asked: they come back by themselves, a profile does not.
 */
#include <linux/rtnetlink.h>
#include "compat/mrc_compat_net.h"
#include "path/mrc_peers.h"
#include "path/mrc_reach.h"
#include "path/mrc_way.h"

struct reach_change {
	struct mrc_dev *dev;
	u64 id;				/* the default profile from then on */
	bool one;			/* one profile of that number comes or goes, */
	const union ib_gid *dst;	/* for this destination; NULL: for any */
	const struct mrc_profile *p;	/* what comes; NULL: it goes */
	union ib_gid lost;		/* the peer that would have no path left */
};

static bool same_dst(const union ib_gid *a, const union ib_gid *b)
{
	return a && b ? !memcmp(a, b, sizeof(*a)) : a == b;
}

/* What there will be for exactly @dst. */
static const struct mrc_profile *reach_then(const struct reach_change *c,
					    const union ib_gid *dst)
{
	if (c->one && same_dst(dst, c->dst))
		return c->p;
	return mrc_profile_find(c->dev, c->id, dst);
}

static bool reach_loses(struct mrc_peer *peer, void *arg)
{
	struct reach_change *c = arg;
	u64 id = c->dev->attr.profile_id;
	const struct mrc_profile *now, *then;

	if (peer->local || !READ_ONCE(peer->n_users))
		return false;
	now = mrc_profile_find(c->dev, id, &peer->gid) ?: mrc_profile_find(c->dev, id, NULL);
	then = reach_then(c, &peer->gid) ?: reach_then(c, NULL);
	if (then == now || mrc_way_leads(peer, then) || !mrc_way_leads(peer, now))
		return false;
	c->lost = peer->gid;
	return true;
}

/* A change for one destination concerns that peer alone. */
static int reach_check(struct reach_change *c, struct netlink_ext_ack *extack)
{
	struct mrc_peer *peer;
	bool loses;

	if (c->one && c->dst) {
		peer = mrc_peer_find(c->dev, c->dst);
		loses = peer && reach_loses(peer, c);
		mrc_peer_put(peer);
	} else {
		loses = mrc_peers_any(c->dev, reach_loses, c);
	}
	if (!loses)
		return 0;
	MRC_ERR_MSG(extack, "QPs to %pI6c would have no path left", c->lost.raw);
	return -EBUSY;
}

int mrc_reach_default(struct mrc_dev *dev, u64 id, struct netlink_ext_ack *extack)
{
	struct reach_change c = { .dev = dev, .id = id };

	ASSERT_RTNL();
	if (id == dev->attr.profile_id)
		return 0;
	if (id && !mrc_profile_exists(dev, id)) {
		MRC_ERR_MSG(extack, "%s has no EV profile %llu: mrcctl profile set makes one",
			    dev->ndev->name, id);
		return -ENOENT;
	}
	return reach_check(&c, extack);
}

int mrc_reach_set(struct mrc_dev *dev, const struct mrc_profile *p,
		  struct netlink_ext_ack *extack)
{
	struct reach_change c = {
		.dev = dev, .id = p->id, .one = true,
		.dst = p->any_dst ? NULL : &p->dst, .p = p,
	};

	return p->id == dev->attr.profile_id ? reach_check(&c, extack) : 0;
}

int mrc_reach_del(struct mrc_dev *dev, u64 id, const union ib_gid *dst,
		  struct netlink_ext_ack *extack)
{
	struct reach_change c = { .dev = dev, .id = id, .one = true, .dst = dst };

	if (id != dev->attr.profile_id || !mrc_profile_find(dev, id, dst))
		return 0;
	return reach_check(&c, extack);
}
