// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_peer_paths.c - see mrc_peer_paths.h.
 *
 * dev->path_gen says which sets must be looked at again: all that were built before it was
 * bumped, also those whose making raced with the change.
 */
#include <linux/ktime.h>
#include "path/mrc_peer_paths.h"

struct mrc_pathset *mrc_peer_paths_get(struct mrc_peer *peer)
{
	struct mrc_pathset *ps;

	rcu_read_lock();
	do {
		ps = rcu_dereference(peer->ps);
	} while (!kref_get_unless_zero(&ps->ref));
	rcu_read_unlock();
	return ps;
}

/* The set in use learns which of the peer's ports are up. */
void mrc_peer_paths_ports(struct mrc_peer *peer)
{
	struct mrc_pathset *ps = mrc_peer_paths_get(peer);

	spin_lock_bh(&peer->path_lock);
	mrc_evset_remote_planes(&ps->evs, READ_ONCE(peer->ports_up), ktime_get_ns());
	if (!peer->local)
		mrc_evset_local_planes(&ps->evs, READ_ONCE(peer->dev->planes_up), ktime_get_ns());
	spin_unlock_bh(&peer->path_lock);
	mrc_pathset_put(ps);
}

void mrc_peer_paths_forget_routes(struct mrc_peer *peer)
{
	struct mrc_pathset *ps = mrc_peer_paths_get(peer);

	spin_lock_bh(&peer->path_lock);
	mrc_pathset_drop_routes(ps);
	spin_unlock_bh(&peer->path_lock);
	mrc_pathset_put(ps);
}

bool mrc_peer_paths_is(struct mrc_peer *peer, const struct mrc_pathset *ps)
{
	lockdep_assert_held(&peer->path_lock);
	return rcu_access_pointer(peer->ps) == ps;
}

/*
 * Give the peer a set built from the current state, unless a newer one is there.
 * Without memory the old one stays: paths that went away are still masked by planes_up.
 *
 * The two locks are nested, so that who sets states in the old set (under path_lock) does it
 * before they are carried over, or sees that it is the old one.
 */
static void paths_rebuild_once(struct mrc_peer *peer, gfp_t gfp)
{
	struct mrc_pathset *new = mrc_pathset_build(peer, gfp), *old;

	if (!new)
		return;
	mrc_evset_remote_planes(&new->evs, READ_ONCE(peer->ports_up), ktime_get_ns());
	spin_lock_bh(&peer->path_lock);
	spin_lock(&peer->lock);
	old = rcu_dereference_protected(peer->ps, lockdep_is_held(&peer->lock));
	/* A part, made in softirq or too early, never takes the place of the whole. */
	if ((s32)(new->gen - old->gen) > 0 || (new->gen == old->gen && (!new->part || old->part))) {
		new->first_id = old->first_id;
		mrc_pathset_keep_denied(new, old);
		rcu_assign_pointer(peer->ps, new);
	} else {
		old = new;
	}
	spin_unlock(&peer->lock);
	spin_unlock_bh(&peer->path_lock);
	mrc_pathset_put(old);
	mrc_peer_paths_ports(peer);		/* they may have changed before it was seen */
}

/* Once more when a QP came just then, which may have seen that the old set was whole. */
void mrc_peer_paths_rebuild(struct mrc_peer *peer, gfp_t gfp)
{
	bool for_qps = READ_ONCE(peer->for_qps);

	paths_rebuild_once(peer, gfp);
	smp_mb();	/* the set, then for_qps; mrc_peer_get() the other way round */
	if (!for_qps && READ_ONCE(peer->for_qps) && gfpflags_allow_blocking(gfp))
		paths_rebuild_once(peer, gfp);
}

/*
 * Profiles or planes may have changed before it could be found; and what was made
 * in softirq may have a part of the EVs only.
 */
void mrc_peer_paths_refresh(struct mrc_peer *peer, gfp_t gfp, bool is_new)
{
	struct mrc_pathset *ps = mrc_peer_paths_get(peer);
	bool stale = is_new && ps->gen != READ_ONCE(peer->dev->path_gen);

	if (stale || (ps->part && gfpflags_allow_blocking(gfp)))
		mrc_peer_paths_rebuild(peer, gfp);
	mrc_pathset_put(ps);
}
