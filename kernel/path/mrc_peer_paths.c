// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_peer_paths.c - see mrc_peer_paths.h.
 *
 * A set with a gen other than dev->path_gen must be examined again. That includes sets that were
 * being built while the change happened.
 */
#include <linux/ktime.h>
#include <linux/slab.h>
#include "core/mrc_dev_stats.h"
#include "core/mrc_log.h"
#include "path/mrc_avoids.h"
#include "path/mrc_peer_paths.h"

#define MRC_PATHS_AGAIN	HZ

/* ---- the paths of a peer ---- */

static void paths_release(struct kref *ref)
{
	struct mrc_peer_paths *paths = container_of(ref, struct mrc_peer_paths, ref);
	struct mrc_peer *peer = paths->peer;

	lockdep_assert_held(&peer->lock);
	list_del(&paths->link);
	WRITE_ONCE(peer->n_named, peer->n_named - 1);
}

void mrc_peer_paths_put(struct mrc_peer_paths *paths)
{
	struct mrc_peer *peer;
	bool last;

	if (!paths || !paths->named)
		return;
	peer = paths->peer;
	spin_lock_bh(&peer->lock);
	last = kref_put(&paths->ref, paths_release);
	spin_unlock_bh(&peer->lock);
	if (!last)
		return;
	atomic_dec(&peer->dev->n_named);
	mrc_pathset_put(rcu_dereference_protected(paths->ps, true));
	kfree(paths);
}

/* Under peer->lock. The first paths with a profile number >= @named, + ref; or NULL. */
static struct mrc_peer_paths *paths_from(struct mrc_peer *peer, u64 named)
{
	struct mrc_peer_paths *paths;

	list_for_each_entry(paths, &peer->named, link)
		if (paths->named >= named) {
			kref_get(&paths->ref);
			return paths;
		}
	return NULL;
}

struct mrc_peer_paths *mrc_peer_paths_next(struct mrc_peer *peer, u64 named, bool same)
{
	struct mrc_peer_paths *paths;

	if (!named && same)
		return &peer->paths;
	if (!same && !++named)
		return NULL;
	spin_lock_bh(&peer->lock);
	paths = paths_from(peer, named);
	spin_unlock_bh(&peer->lock);
	return paths;
}

bool mrc_peer_paths_any(struct mrc_peer *peer, bool (*fn)(struct mrc_peer_paths *paths, void *arg),
			void *arg)
{
	struct mrc_peer_paths *paths = &peer->paths;
	bool any = false;
	u64 named;

	while (paths) {
		any |= fn(paths, arg);
		named = paths->named;
		mrc_peer_paths_put(paths);
		paths = READ_ONCE(peer->n_named) ? mrc_peer_paths_next(peer, named, false) : NULL;
	}
	return any;
}

/* ---- their path sets ---- */

struct mrc_pathset *mrc_peer_paths_set(struct mrc_peer_paths *paths)
{
	struct mrc_pathset *ps;

	rcu_read_lock();
	do {
		ps = rcu_dereference(paths->ps);
	} while (!kref_get_unless_zero(&ps->ref));
	rcu_read_unlock();
	return ps;
}

bool mrc_peer_paths_is(const struct mrc_pathset *ps)
{
	lockdep_assert_held(&ps->peer->path_lock);
	return rcu_access_pointer(ps->paths->ps) == ps;
}

/* Mask of the peer's ports that are up. Over lo, ports do not matter. */
static u32 paths_remote_up(const struct mrc_pathset *ps)
{
	return ps->local ? ~0u : READ_ONCE(ps->peer->ports_up);
}

void mrc_peer_paths_log(struct mrc_peer_paths *paths)
{
	struct mrc_ev_change news;

	lockdep_assert_held(&paths->peer->path_lock);
	while (mrc_evchanges_take(&paths->turns, &news))
		mrc_log_ev(paths->peer->dev, &paths->peer->gid, &news);
}

static bool paths_avoid(struct mrc_peer_paths *paths, void *arg)
{
	struct mrc_pathset *ps = mrc_peer_paths_set(paths);
	DECLARE_BITMAP(hits, MRC_EVS_MAX);
	bool changed = false;
	u32 gen;

	if (mrc_avoids_look(ps, hits, &gen)) {
		spin_lock_bh(&paths->peer->path_lock);
		changed = mrc_avoids_take(ps, hits, gen);
		mrc_peer_paths_log(paths);
		spin_unlock_bh(&paths->peer->path_lock);
	}
	mrc_pathset_put(ps);
	return changed;
}

bool mrc_peer_paths_avoid(struct mrc_peer *peer)
{
	return mrc_peer_paths_any(peer, paths_avoid, NULL);
}

static bool paths_ports(struct mrc_peer_paths *paths, void *arg)
{
	struct mrc_pathset *ps = mrc_peer_paths_set(paths);
	struct mrc_peer *peer = paths->peer;

	spin_lock_bh(&peer->path_lock);
	mrc_evset_remote_planes(&ps->evs, paths_remote_up(ps), ktime_get_ns());
	if (!ps->local)
		mrc_evset_local_planes(&ps->evs, READ_ONCE(peer->dev->planes_up), ktime_get_ns());
	mrc_peer_paths_log(paths);
	spin_unlock_bh(&peer->path_lock);
	mrc_pathset_put(ps);
	paths_avoid(paths, NULL);
	return false;
}

void mrc_peer_paths_ports(struct mrc_peer *peer)
{
	mrc_peer_paths_any(peer, paths_ports, NULL);
}

static bool paths_forget_routes(struct mrc_peer_paths *paths, void *arg)
{
	struct mrc_pathset *ps = mrc_peer_paths_set(paths);

	spin_lock_bh(&paths->peer->path_lock);
	mrc_pathset_drop_routes(ps);
	spin_unlock_bh(&paths->peer->path_lock);
	mrc_pathset_put(ps);
	return false;
}

void mrc_peer_paths_forget_routes(struct mrc_peer *peer)
{
	mrc_peer_paths_any(peer, paths_forget_routes, NULL);
}

/* ---- building sets ---- */

/* No memory: the old set stays in use, without planes that are down, and the work tries again. */
static void paths_no_mem(struct mrc_dev *dev)
{
	mrc_dev_count(dev, paths_no_mem);
	if (!READ_ONCE(dev->dead))
		schedule_delayed_work(&dev->paths_again, MRC_PATHS_AGAIN);
}

/*
 * Give @paths a set built from the current state, unless a newer one is there.
 *
 * The two locks are nested, so that a change of states in the old set (under path_lock) either
 * happens before they are copied, or sees that the set is old.
 */
static void paths_rebuild_once(struct mrc_peer_paths *paths, gfp_t gfp)
{
	struct mrc_pathset *new = mrc_pathset_build(paths, gfp), *old;
	struct mrc_peer *peer = paths->peer;

	if (!new) {
		paths_no_mem(peer->dev);
		return;
	}
	mrc_evset_remote_planes(&new->evs, paths_remote_up(new), ktime_get_ns());
	spin_lock_bh(&peer->path_lock);
	spin_lock(&peer->lock);
	old = rcu_dereference_protected(paths->ps, lockdep_is_held(&peer->lock));
	/* A partial set, built in softirq or before QPs, never replaces a complete one of the same gen. */
	if ((s32)(new->gen - old->gen) > 0 || (new->gen == old->gen && (!new->part || old->part))) {
		new->first_id = old->first_id;
		mrc_pathset_keep_denied(new, old);
		rcu_assign_pointer(paths->ps, new);
	} else {
		old = new;
	}
	spin_unlock(&peer->lock);
	spin_unlock_bh(&peer->path_lock);
	mrc_pathset_put(old);
	paths_ports(paths, NULL);	/* ports may have changed before the set was published */
}

/* Twice if the first QP arrived meanwhile: it may have seen a complete old set, which a partial one replaced. */
void mrc_peer_paths_rebuild(struct mrc_peer_paths *paths, gfp_t gfp)
{
	struct mrc_peer *peer = paths->peer;
	bool for_qps = READ_ONCE(peer->for_qps);

	paths_rebuild_once(paths, gfp);
	smp_mb();	/* the set, then for_qps; mrc_peer_get() does it in reverse order */
	if (!for_qps && READ_ONCE(peer->for_qps) && gfpflags_allow_blocking(gfp))
		paths_rebuild_once(paths, gfp);
}

/*
 * Profiles or planes may have changed before the set was published, and a set that was built in softirq may have only a
 * part of the EVs.
 */
static void paths_refresh(struct mrc_peer_paths *paths, gfp_t gfp, bool is_new)
{
	struct mrc_pathset *ps = mrc_peer_paths_set(paths);
	bool stale = is_new && ps->gen != READ_ONCE(paths->peer->dev->path_gen);

	if (stale || (ps->part && gfpflags_allow_blocking(gfp)))
		mrc_peer_paths_rebuild(paths, gfp);
	mrc_pathset_put(ps);
}

void mrc_peer_paths_refresh(struct mrc_peer *peer, gfp_t gfp, bool is_new)
{
	paths_refresh(&peer->paths, gfp, is_new);
}

/* NULL: no memory. */
static struct mrc_peer_paths *paths_make(struct mrc_peer *peer, u64 named)
{
	struct mrc_peer_paths *paths = kzalloc(sizeof(*paths), GFP_KERNEL_ACCOUNT);
	struct mrc_pathset *ps;

	if (!paths)
		return NULL;
	kref_init(&paths->ref);
	INIT_LIST_HEAD(&paths->link);
	paths->peer = peer;
	paths->named = named;
	ps = mrc_pathset_build(paths, GFP_KERNEL_ACCOUNT);
	if (!ps) {
		kfree(paths);
		return NULL;
	}
	RCU_INIT_POINTER(paths->ps, ps);
	return paths;
}

/* Under peer->lock. Adds @new, unless there are paths of its profile already. Returns these, + ref; or -ENOSPC. */
static struct mrc_peer_paths *paths_join(struct mrc_peer *peer, struct mrc_peer_paths *new)
{
	struct mrc_peer_paths *next = paths_from(peer, new->named);

	if (next && next->named == new->named)
		return next;
	if (next)
		kref_put(&next->ref, paths_release);
	if (peer->n_named == MRC_PEER_NAMED_MAX)
		return ERR_PTR(-ENOSPC);
	list_add_tail(&new->link, next ? &next->link : &peer->named);
	WRITE_ONCE(peer->n_named, peer->n_named + 1);
	return new;
}

/* First add to the list, then check for changes; mrc_path_change.c changes first, then walks the list. */
static struct mrc_peer_paths *paths_new(struct mrc_peer *peer, u64 named)
{
	struct mrc_peer_paths *new = paths_make(peer, named), *paths;

	if (!new)
		return ERR_PTR(-ENOMEM);
	atomic_inc(&peer->dev->n_named);
	spin_lock_bh(&peer->lock);
	paths = paths_join(peer, new);
	spin_unlock_bh(&peer->lock);
	if (paths == new) {
		smp_mb();
		paths_refresh(new, GFP_KERNEL_ACCOUNT, true);
		paths_ports(new, NULL);
		return new;
	}
	atomic_dec(&peer->dev->n_named);
	mrc_pathset_put(rcu_dereference_protected(new->ps, true));
	kfree(new);
	return paths;
}

struct mrc_peer_paths *mrc_peer_paths_named(struct mrc_peer *peer, u64 named)
{
	struct mrc_peer_paths *paths;

	if (!named || peer->local || peer->group)
		return &peer->paths;
	paths = mrc_peer_paths_next(peer, named, true);
	if (paths && paths->named == named)
		return paths;
	mrc_peer_paths_put(paths);
	return paths_new(peer, named);
}

bool mrc_peer_paths_init(struct mrc_peer *peer, gfp_t gfp)
{
	struct mrc_pathset *ps;

	INIT_LIST_HEAD(&peer->named);
	peer->paths.peer = peer;
	ps = mrc_pathset_build(&peer->paths, gfp);
	if (!ps)
		return false;
	RCU_INIT_POINTER(peer->paths.ps, ps);
	return true;
}

void mrc_peer_paths_end(struct mrc_peer *peer)
{
	mrc_pathset_put(rcu_dereference_protected(peer->paths.ps, true));
}
