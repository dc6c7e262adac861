// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_reach.c - see mrc_reach.h.
 *
 * A path is an EV with a route (path/mrc_route.h). The state of planes and switches does not matter
 * here: they recover by themselves, a profile does not.
 */
#include <linux/rtnetlink.h>
#include "linux/mrc.h"
#include "compat/mrc_compat_net.h"
#include "core/mrc_dev_plane.h"
#include "path/mrc_peer_paths.h"
#include "path/mrc_peers.h"
#include "path/mrc_reach.h"
#include "path/mrc_route.h"

struct reach_change {
	struct mrc_dev *dev;
	u64 id;				/* the default profile from then on */
	const struct mrc_profile_key *key; /* of the profile that is set or removed; NULL: new default */
	const struct mrc_profile *gone;	/* the profile that is removed or replaced; NULL: none */
	const struct mrc_profile *p;	/* the new profile; NULL: none */
	union ib_gid lost;		/* result: a peer that would have no path left */
};

/* The profile for @dst after the change. */
static const struct mrc_profile *reach_then(const struct reach_change *c,
					    const union ib_gid *dst)
{
	const struct mrc_profile *then = mrc_profiles_match(c->dev, c->id, dst, c->gone);

	if (c->p && mrc_profile_covers(&c->p->key, dst) &&
	    (!then || then->key.len < c->p->key.len))
		return c->p;
	return then;
}

/* Do QPs to @peer use profile @id, as the default or by name? */
static bool reach_goes_by(struct mrc_peer *peer, u64 id)
{
	struct mrc_peer_paths *paths;
	bool does;

	if (peer->local || !READ_ONCE(peer->n_users))
		return false;
	if (id == peer->dev->attr.profile_id || !READ_ONCE(peer->n_named))
		return id == peer->dev->attr.profile_id;
	paths = mrc_peer_paths_next(peer, id, true);
	does = paths && paths->named == id;
	mrc_peer_paths_put(paths);
	return does;
}

/* Would QPs to @peer lose their last route by the change? */
static bool reach_loses(struct mrc_peer *peer, void *arg)
{
	struct reach_change *c = arg;
	u64 id = c->key ? c->id : c->dev->attr.profile_id;
	const struct mrc_profile *now, *then;

	if (!reach_goes_by(peer, id))
		return false;
	now = mrc_profiles_match(c->dev, id, &peer->gid, NULL);
	then = reach_then(c, &peer->gid);
	if (then == now || mrc_route_exists(peer, then, ~0u) || !mrc_route_exists(peer, now, ~0u))
		return false;
	c->lost = peer->gid;
	return true;
}

/* May QPs use profile @id? */
static bool reach_concerns(const struct mrc_dev *dev, u64 id)
{
	return id == dev->attr.profile_id || atomic_read(&dev->n_named);
}

static int reach_refuse(const union ib_gid *lost, struct netlink_ext_ack *extack)
{
	MRC_ERR_MSG(extack, "QPs to %pI6c would have no path left", lost->raw);
	return -EBUSY;
}

/* A change for one destination concerns that peer alone. */
static int reach_check(struct reach_change *c, struct netlink_ext_ack *extack)
{
	struct mrc_peer *peer;
	bool loses;

	if (c->key && c->key->len == MRC_PROFILE_ONE) {
		peer = mrc_peer_find(c->dev, &c->key->dst);
		loses = peer && reach_loses(peer, c);
		mrc_peer_put(peer);
	} else {
		loses = mrc_peers_any(c->dev, reach_loses, c);
	}
	return loses ? reach_refuse(&c->lost, extack) : 0;
}

int mrc_reach_default(struct mrc_dev *dev, u64 id, struct netlink_ext_ack *extack)
{
	struct reach_change c = { .dev = dev, .id = id };

	ASSERT_RTNL();
	if (id == dev->attr.profile_id)
		return 0;
	if (id && !mrc_profiles_exist(dev, id)) {
		MRC_ERR_MSG(extack, "%s has no EV profile %llu: mrcctl profile set makes one",
			    dev->ndev->name, id);
		return -ENOENT;
	}
	return reach_check(&c, extack);
}

int mrc_reach_set(struct mrc_dev *dev, const struct mrc_profile *p,
		  struct netlink_ext_ack *extack)
{
	struct reach_change c = { .dev = dev, .id = p->key.id, .key = &p->key, .p = p };

	if (!reach_concerns(dev, c.id))
		return 0;
	c.gone = mrc_profiles_find(dev, c.key);
	return reach_check(&c, extack);
}

int mrc_reach_del(struct mrc_dev *dev, const struct mrc_profile_key *key,
		  struct netlink_ext_ack *extack)
{
	struct reach_change c = { .dev = dev, .id = key->id, .key = key };

	c.gone = mrc_profiles_find(dev, key);
	if (!reach_concerns(dev, c.id) || !c.gone)
		return 0;
	return reach_check(&c, extack);
}

/* ---- SIDs ---- */

struct reach_sids {
	u32 now, then;			/* planes with a SID, before and after the change */
	union ib_gid lost;
};

static bool reach_paths_lose_sid(struct mrc_peer_paths *paths, void *arg)
{
	struct mrc_peer *peer = paths->peer;
	u64 id = paths->named ?: peer->dev->attr.profile_id;
	const struct mrc_profile *prof = mrc_profiles_match(peer->dev, id, &peer->gid, NULL);
	struct reach_sids *s = arg;

	if (!prof || prof->fmt != MRC_FMT_SRV6 || mrc_route_exists(peer, prof, s->then) ||
	    !mrc_route_exists(peer, prof, s->now))
		return false;
	s->lost = peer->gid;
	return true;
}

static bool reach_loses_sid(struct mrc_peer *peer, void *arg)
{
	if (peer->local || !READ_ONCE(peer->n_users))
		return false;
	return mrc_peer_paths_any(peer, reach_paths_lose_sid, arg);
}

static u32 reach_sid_planes(struct mrc_dev *dev)
{
	const struct mrc_dev_plane *plane;
	u32 mask = 0, i;

	for (i = 0; i < MRC_PLANES_MAX; i++) {
		plane = rtnl_dereference(dev->plane[i]);
		if (plane && plane->has_sid)
			mask |= 1u << i;
	}
	return mask;
}

int mrc_reach_no_sid(struct mrc_dev *dev, u8 num, struct netlink_ext_ack *extack)
{
	struct reach_sids s = { .now = reach_sid_planes(dev) };

	ASSERT_RTNL();
	s.then = s.now & ~(1u << num);
	if (s.then == s.now || !mrc_peers_any(dev, reach_loses_sid, &s))
		return 0;
	return reach_refuse(&s.lost, extack);
}

/* ---- EVs ---- */

int mrc_reach_deny(const struct mrc_pathset *ps, const unsigned long *denied,
		   struct netlink_ext_ack *extack)
{
	u16 i, n = mrc_evset_n(&ps->evs);
	bool loses = false;

	ASSERT_RTNL();
	if (!READ_ONCE(ps->peer->n_users))
		return 0;
	for (i = 0; i < n; i++)
		if (!test_bit(i, denied) && mrc_route_exists_ev(ps, i))
			return 0;
	/* Refuse only if the request takes a path, that is, an EV that is not denied already. */
	for (i = 0; !loses && i < n; i++)
		loses = test_bit(i, denied) && !mrc_pathset_denied(ps, i) && mrc_route_exists_ev(ps, i);
	return loses ? reach_refuse(&ps->peer->gid, extack) : 0;
}
