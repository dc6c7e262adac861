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
#include "path/mrc_peer_paths.h"
#include "path/mrc_peer_port.h"
#include "path/mrc_peer_users.h"
#include "path/mrc_peers.h"
#include "path/mrc_profile_check.h"
#include "path/mrc_qpcc.h"
#include "path/mrc_reach.h"

/* Pairs with mrc_pathset_build(). */
static void change_gen(struct mrc_dev *dev)
{
	spin_lock_bh(&dev->peer_lock);
	smp_store_release(&dev->path_gen, dev->path_gen + 1);
	spin_unlock_bh(&dev->peer_lock);
}

static void change_planes(struct mrc_peer *peer)
{
	struct mrc_dev *dev = peer->dev;
	u32 up = READ_ONCE(dev->planes_up);
	struct mrc_pathset *ps = mrc_peer_paths_get(peer);

	spin_lock_bh(&peer->path_lock);
	mrc_pathset_drop_routes(ps);	/* a locator or the port behind a number may be new */
	if (!peer->local)
		mrc_evset_local_planes(&ps->evs, up, ktime_get_ns());
	spin_unlock_bh(&peer->path_lock);
	if (!peer->local && !dev->dead) {
		if (ps->is_auto && ps->planes != mrc_dev_plane_mask(dev))
			mrc_peer_paths_rebuild(peer, GFP_KERNEL);
		mrc_peer_port_planes(peer, up);
	}
	mrc_pathset_put(ps);
	mrc_qpcc_refresh(peer);
	mrc_peer_users_tell(peer, true);
	mrc_peer_port_run(peer);
}

void mrc_path_change_planes(struct mrc_dev *dev)
{
	change_gen(dev);
	mrc_peers_for_each(dev, change_planes);
}

/* ---- EV profiles ---- */

/* States of EVs are learnt at a price: peers whose profile stayed keep their set. */
static bool change_not_of(struct mrc_peer *peer)
{
	struct mrc_profile *prof = mrc_profile_lookup(peer->dev, &peer->gid);
	struct mrc_pathset *ps = mrc_peer_paths_get(peer);
	bool stays = ps->prof == prof;

	mrc_pathset_put(ps);
	mrc_profile_put(prof);
	return stays;
}

static void change_profile(struct mrc_peer *peer)
{
	if (peer->local || change_not_of(peer))
		return;
	mrc_peer_paths_rebuild(peer, GFP_KERNEL);
	mrc_peer_users_tell(peer, false);
}

void mrc_path_change_profiles(struct mrc_dev *dev)
{
	change_gen(dev);
	mrc_peers_for_each(dev, change_profile);
}

/*
 * Profile @id for @dst (NULL: for any destination) was set or removed. A host has one for
 * each of its peers: only the peer that it is for is looked at. One that is made meanwhile
 * is found here, or finds path_gen bumped.
 */
static void change_profile_of(struct mrc_dev *dev, u64 id, const union ib_gid *dst)
{
	struct mrc_peer *peer;

	if (id != dev->attr.profile_id)
		return;
	if (!dst) {
		mrc_path_change_profiles(dev);
		return;
	}
	change_gen(dev);
	peer = mrc_peer_find(dev, dst);
	if (!peer)
		return;
	change_profile(peer);
	mrc_peer_put(peer);
}

int mrc_path_change_set_profile(struct mrc_dev *dev, struct mrc_profile *p,
				struct netlink_ext_ack *extack)
{
	bool changed = false;
	int err;

	ASSERT_RTNL();
	err = mrc_profile_check(dev, p, extack) ?: mrc_reach_set(dev, p, extack);
	if (err) {
		mrc_profile_put(p);
		return err;
	}
	err = mrc_profile_set(dev, p, &changed, extack);
	if (changed) {
		change_profile_of(dev, p->id, p->any_dst ? NULL : &p->dst);
		mrc_event_dev(dev, MRC_EVENT_DEV_SET);
	}
	return err;
}

int mrc_path_change_del_profile(struct mrc_dev *dev, u64 id, const union ib_gid *dst,
				struct netlink_ext_ack *extack)
{
	int err = mrc_reach_del(dev, id, dst, extack) ?: mrc_profile_del(dev, id, dst, extack);

	if (err)
		return err;
	change_profile_of(dev, id, dst);
	mrc_event_dev(dev, MRC_EVENT_DEV_SET);
	return 0;
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
