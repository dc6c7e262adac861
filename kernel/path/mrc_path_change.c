// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_path_change.c - see mrc_path_change.h.
 */
#include <linux/ktime.h>
#include <linux/rtnetlink.h>
#include "core/mrc_dev_plane.h"
#include "core/mrc_event.h"
#include "path/mrc_path_change.h"
#include "path/mrc_pathset.h"
#include "path/mrc_peer_hint.h"
#include "path/mrc_peer_paths.h"
#include "path/mrc_peer_port.h"
#include "path/mrc_peer_users.h"
#include "path/mrc_peers.h"
#include "path/mrc_profile_check.h"
#include "path/mrc_qpcc.h"
#include "path/mrc_reach.h"

/* Pairs with mrc_pathset_build(), and its lock with peer_joined(). */
static void change_gen(struct mrc_dev *dev)
{
	spin_lock_bh(&dev->peer_lock);
	smp_store_release(&dev->path_gen, dev->path_gen + 1);
	spin_unlock_bh(&dev->peer_lock);
}

static bool set_lacks_planes(const struct mrc_pathset *ps)
{
	return ps->is_auto && ps->planes != mrc_dev_plane_mask(ps->peer->dev);
}

static bool change_planes_of(struct mrc_peer_paths *paths, void *arg)
{
	struct mrc_pathset *ps = mrc_peer_paths_set(paths);
	struct mrc_peer *peer = paths->peer;
	const u32 *up = arg;

	spin_lock_bh(&peer->path_lock);
	mrc_pathset_drop_routes(ps);	/* a locator, or the port of a plane number, may be new */
	if (!ps->local)
		mrc_evset_local_planes(&ps->evs, *up, ktime_get_ns());
	mrc_peer_paths_log(paths);
	spin_unlock_bh(&peer->path_lock);
	if (!ps->local && !peer->dev->dead && set_lacks_planes(ps))
		mrc_peer_paths_rebuild(paths, GFP_KERNEL);
	mrc_pathset_put(ps);
	return false;
}

static void change_planes(struct mrc_peer *peer)
{
	u32 up = READ_ONCE(peer->dev->planes_up);

	mrc_peer_paths_any(peer, change_planes_of, &up);
	mrc_peer_port_planes(peer);
	mrc_qpcc_refresh(peer);
	mrc_peer_users_notify(peer, true);
	mrc_peer_port_run(peer);
}

void mrc_path_change_planes(struct mrc_dev *dev)
{
	change_gen(dev);
	mrc_peers_for_each(dev, change_planes);
}

/* ---- EV profiles ---- */

/*
 * May the set stay? A new set would lose the learnt EV states. So it stays if it is built from profile @prof and is neither
 * partial nor short of planes (after a lack of memory). For a peer that is this host, only peer->local matters.
 */
static bool set_stays(const struct mrc_pathset *ps, const struct mrc_profile *prof)
{
	const struct mrc_peer *peer = ps->peer;

	if (ps->local || peer->local)
		return ps->local == peer->local;
	return mrc_pathset_is_of(ps, prof) && !set_lacks_planes(ps) &&
	       !(ps->part && READ_ONCE(peer->for_qps));
}

static bool change_profile_in(struct mrc_peer_paths *paths, void *arg)
{
	struct mrc_peer *peer = paths->peer;
	struct mrc_profile *prof = peer->group ? NULL :
				   mrc_profiles_lookup(peer->dev, paths->named, &peer->gid);
	struct mrc_pathset *ps = mrc_peer_paths_set(paths);
	bool stays = set_stays(ps, prof);

	mrc_pathset_put(ps);
	mrc_profile_put(prof);
	if (!stays)
		mrc_peer_paths_rebuild(paths, GFP_KERNEL);
	return !stays;
}

static void change_profile(struct mrc_peer *peer)
{
	if (mrc_peer_paths_any(peer, change_profile_in, NULL))
		mrc_peer_users_notify(peer, false);
}

static bool change_profile_covered(struct mrc_peer *peer, void *key)
{
	if (mrc_profile_covers(key, &peer->gid))
		change_profile(peer);
	return false;
}

void mrc_path_change_profiles(struct mrc_dev *dev)
{
	change_gen(dev);
	mrc_peers_for_each(dev, change_profile);
}

/*
 * The peer's address moved to this host, or away from it: its owner is another host, without known state. All of its path
 * sets follow, also those of QPs. These QPs then fail for lack of answers, unless the address returns in time.
 */
struct local_change {
	bool moved;
	bool again;		/* duplicate detection of a peer's address runs on this host */
};

static bool change_local(struct mrc_peer *peer, void *arg)
{
	struct local_change *c = arg;
	const struct in6_addr *a = (const struct in6_addr *)&peer->gid;
	bool local = !peer->group && mrc_dev_addr_is_local(peer->dev, a);

	if (local != peer->local) {
		WRITE_ONCE(peer->local, local);
		mrc_peer_hint_forget(peer);
		mrc_peer_port_planes(peer);	/* it got no announcements while it was local */
		c->moved = true;
	}
	c->again |= !peer->group && mrc_dev_addr_may_be_local(peer->dev, a);
	return false;
}

bool mrc_path_change_addrs(struct mrc_dev *dev)
{
	struct local_change c = {};

	ASSERT_RTNL();
	if (dev->dead)
		return false;
	mrc_peers_any(dev, change_local, &c);
	if (c.moved || READ_ONCE(dev->n_profiles_own))
		mrc_path_change_profiles(dev);
	return c.again;
}

/*
 * Profile @key was set or removed. If it is for a single destination, only that peer is examined, because a host may have
 * a profile per peer. A peer that is created meanwhile is found here, or sees the new path_gen.
 */
static void change_profile_of(struct mrc_dev *dev, struct mrc_profile_key key)
{
	struct mrc_peer *peer;

	change_gen(dev);
	smp_mb();		/* mrc_peer_paths_named() does it in reverse order */
	if (key.id != dev->attr.profile_id && !atomic_read(&dev->n_named))
		return;
	if (key.len != MRC_PROFILE_ONE) {
		mrc_peers_any(dev, change_profile_covered, &key);
		return;
	}
	peer = mrc_peer_find(dev, &key.dst);
	if (!peer)
		return;
	change_profile(peer);
	mrc_peer_put(peer);
}

int mrc_path_change_set_profile(struct mrc_dev *dev, struct mrc_profile *p,
				struct netlink_ext_ack *extack)
{
	struct mrc_profile_key key;
	bool changed = false;
	int err;

	ASSERT_RTNL();
	err = mrc_profile_check(dev, p, extack) ?: mrc_reach_set(dev, p, extack);
	if (err) {
		mrc_profile_put(p);
		return err;
	}
	key = p->key;
	err = mrc_profiles_set(dev, p, &changed, extack);
	if (changed) {
		change_profile_of(dev, key);
		mrc_event_dev(dev, MRC_EVENT_DEV_SET);
	}
	return err;
}

int mrc_path_change_del_profile(struct mrc_dev *dev, const struct mrc_profile_key *key,
				struct netlink_ext_ack *extack)
{
	int err = mrc_reach_del(dev, key, extack) ?: mrc_profiles_del(dev, key, extack);

	if (err)
		return err;
	change_profile_of(dev, *key);
	mrc_event_dev(dev, MRC_EVENT_DEV_SET);
	return 0;
}

/* ---- links that are avoided ---- */

static void change_avoids_of(struct mrc_peer *peer)
{
	if (!mrc_peer_paths_avoid(peer))
		return;
	mrc_event_peer(peer, MRC_EVENT_EV);
	mrc_peer_users_notify(peer, false);	/* a QP without any usable EV waits for this */
}

/* Apply the lists to all peers, and schedule the work for the next expiry. */
static void change_avoids(struct mrc_dev *dev)
{
	u64 left_ns;

	mrc_peers_for_each(dev, change_avoids_of);
	if (mrc_avoids_left(dev, &left_ns))
		mod_delayed_work(mrc_wq, &dev->avoid_work, nsecs_to_jiffies(left_ns) + 1);
}

static void avoid_work(struct work_struct *work)
{
	struct mrc_dev *dev = container_of(to_delayed_work(work), struct mrc_dev, avoid_work);

	rtnl_lock();
	if (!dev->dead) {
		if (mrc_avoids_expire(dev))	/* no memory: later */
			mod_delayed_work(mrc_wq, &dev->avoid_work, HZ);
		else
			change_avoids(dev);
	}
	rtnl_unlock();
}

int mrc_path_change_set_avoids(struct mrc_dev *dev, enum mrc_avoid_by by, const struct mrc_avoid_link *links, u32 n,
			       u32 expiry_s)
{
	int err = mrc_avoids_set(dev, by, links, n, expiry_s);

	if (!err)
		change_avoids(dev);
	return err;
}

/* ---- without memory ---- */

static void paths_again_work(struct work_struct *work)
{
	struct mrc_dev *dev = container_of(to_delayed_work(work), struct mrc_dev, paths_again);

	rtnl_lock();
	if (!dev->dead)
		mrc_peers_for_each(dev, change_profile);
	rtnl_unlock();
}

void mrc_path_change_init(struct mrc_dev *dev)
{
	INIT_DELAYED_WORK(&dev->paths_again, paths_again_work);
	INIT_DELAYED_WORK(&dev->avoid_work, avoid_work);
}

void mrc_path_change_stop(struct mrc_dev *dev)
{
	cancel_delayed_work_sync(&dev->paths_again);
	cancel_delayed_work_sync(&dev->avoid_work);
}

/* ---- the rest ---- */

void mrc_path_change_damp(struct mrc_dev *dev)
{
	mrc_peers_for_each(dev, mrc_peer_port_damp);
}

void mrc_path_change_cc(struct mrc_dev *dev)
{
	mrc_peers_for_each(dev, mrc_qpcc_refresh);
}

int mrc_path_change_set_cc(struct mrc_dev *dev, const struct mrc_cc_profile *p,
			   struct netlink_ext_ack *extack)
{
	int err = mrc_cc_profile_set(dev, p, extack);

	if (!err)
		mrc_path_change_cc(dev);
	return err;
}
