// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_mcast.c - see mrc_mcast.h.
 */
#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/jhash.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include "path/mrc_peer_paths.h"
#include "path/mrc_peers.h"
#include "data/mrc_mcast.h"

static u32 mcast_hash(const struct mrc_dev *dev, const union ib_gid *gid)
{
	return jhash(gid, sizeof(*gid), dev->hash_seed) % MRC_MCAST_BUCKETS;
}

struct mrc_mcast *mrc_mcast_find(const struct mrc_dev *dev, const union ib_gid *gid)
{
	struct mrc_mcast *g;

	hlist_for_each_entry_rcu(g, &dev->mcast[mcast_hash(dev, gid)], node, lockdep_rtnl_is_held())
		if (!memcmp(&g->gid, gid, sizeof(*gid)))
			return g;
	return NULL;
}

/* ---- netdevs ---- */

/* A netdev without IP of that family cannot join. Its NIC may then filter out the group's packets. */
static bool mcast_join(const struct mrc_dev_plane *plane, const union ib_gid *gid)
{
	const struct in6_addr *a = (const struct in6_addr *)gid;
	struct in_device *in_dev;
	int err;

	if (ipv6_addr_v4mapped(a)) {
		in_dev = __in_dev_get_rtnl(plane->ndev);
		err = in_dev ? 0 : -ENODEV;
		if (in_dev)
			ip_mc_inc_group(in_dev, a->s6_addr32[3]);
	} else {
		err = ipv6_dev_mc_inc(plane->ndev, a);
	}
	if (err)
		ibdev_dbg(&plane->dev->ibdev, "%s cannot join multicast group %pI6c: %pe\n",
			  netdev_name(plane->ndev), a, ERR_PTR(err));
	return !err;
}

/* Does nothing if the netdev is being removed and has lost its groups already. */
static void mcast_leave(const struct mrc_dev_plane *plane, const union ib_gid *gid)
{
	const struct in6_addr *a = (const struct in6_addr *)gid;
	struct in_device *in_dev;

	if (!ipv6_addr_v4mapped(a)) {
		ipv6_dev_mc_dec(plane->ndev, a);
		return;
	}
	in_dev = __in_dev_get_rtnl(plane->ndev);
	if (in_dev)
		ip_mc_dec_group(in_dev, a->s6_addr32[3]);
}

static bool mcast_has_ip(const struct mrc_dev_plane *plane, const union ib_gid *gid)
{
	return ipv6_addr_v4mapped((const struct in6_addr *)gid) ?
	       !!__in_dev_get_rtnl(plane->ndev) : !!__in6_dev_get(plane->ndev);
}

/* IPv4's route to a group depends on whether the host is a member, so cached routes may be wrong now. */
static void mcast_forget_routes(struct mrc_dev *dev, const union ib_gid *gid)
{
	struct mrc_peer *peer = mrc_peer_find(dev, gid);

	if (peer)
		mrc_peer_paths_forget_routes(peer);
	mrc_peer_put(peer);
}

static void mcast_plane_on(struct mrc_mcast *g, const struct mrc_dev_plane *plane)
{
	if (mcast_join(plane, &g->gid))
		g->joined |= 1u << plane->num;
}

static void mcast_plane_off(struct mrc_mcast *g, const struct mrc_dev_plane *plane)
{
	if (g->joined & 1u << plane->num)
		mcast_leave(plane, &g->gid);
	g->joined &= ~(1u << plane->num);
}

/* If IP was turned off, the membership has ended. It must not be left later, when it may be another user's. */
static void mcast_plane_again(struct mrc_mcast *g, const struct mrc_dev_plane *plane)
{
	if (!mcast_has_ip(plane, &g->gid))
		g->joined &= ~(1u << plane->num);
	else if (!(g->joined & 1u << plane->num))
		mcast_plane_on(g, plane);
}

/* Calls @fn (join or leave) for all planes of @dev. */
static void mcast_planes(struct mrc_dev *dev, struct mrc_mcast *g,
			 void (*fn)(struct mrc_mcast *g, const struct mrc_dev_plane *plane))
{
	const struct mrc_dev_plane *plane;
	int i;

	for (i = 0; i < MRC_PLANES_MAX; i++) {
		plane = rtnl_dereference(dev->plane[i]);
		if (plane)
			fn(g, plane);
	}
	mcast_forget_routes(dev, &g->gid);
}

/*
 * Calls @fn for all groups of the plane's device. Cached routes are dropped when the caller reports the plane's
 * change.
 */
static void mcast_groups(const struct mrc_dev_plane *plane,
			 void (*fn)(struct mrc_mcast *g, const struct mrc_dev_plane *plane))
{
	struct mrc_mcast *g;
	int i;

	ASSERT_RTNL();
	if (!plane->dev->n_mcast)
		return;
	for (i = 0; i < MRC_MCAST_BUCKETS; i++)
		hlist_for_each_entry(g, &plane->dev->mcast[i], node)
			fn(g, plane);
}

void mrc_mcast_plane_on(const struct mrc_dev_plane *plane)
{
	mcast_groups(plane, mcast_plane_on);
}

void mrc_mcast_plane_off(const struct mrc_dev_plane *plane)
{
	mcast_groups(plane, mcast_plane_off);
}

void mrc_mcast_plane_rejoin(const struct mrc_dev_plane *plane)
{
	mcast_groups(plane, mcast_plane_again);
}

/* ---- groups ---- */

/* IPv6: scope 0 is reserved, and scope 1 is the interface itself. */
bool mrc_mcast_leaves_host(const struct in6_addr *a)
{
	return mrc_dev_addr_is_group(a) &&
	       (ipv6_addr_v4mapped(a) || IPV6_ADDR_MC_SCOPE(a) > IPV6_ADDR_SCOPE_NODELOCAL);
}

/* Finds or creates the group. ERR_PTR on failure. mcast_put() removes it again if it has no members. */
static struct mrc_mcast *mcast_get(struct mrc_dev *dev, const union ib_gid *gid)
{
	struct mrc_mcast *g = mrc_mcast_find(dev, gid);

	if (g)
		return g;
	if (dev->n_mcast >= MRC_MAX_MCAST_GRP)
		return ERR_PTR(-ENOSPC);
	g = kzalloc(sizeof(*g), GFP_KERNEL_ACCOUNT);
	if (!g)
		return ERR_PTR(-ENOMEM);
	g->gid = *gid;
	INIT_LIST_HEAD(&g->members);
	mcast_planes(dev, g, mcast_plane_on);
	hlist_add_head_rcu(&g->node, &dev->mcast[mcast_hash(dev, gid)]);
	dev->n_mcast++;
	return g;
}

static void mcast_put(struct mrc_dev *dev, struct mrc_mcast *g)
{
	if (g->n)
		return;
	hlist_del_rcu(&g->node);
	dev->n_mcast--;
	mcast_planes(dev, g, mcast_plane_off);
	kfree_rcu(g, rcu);
}

static struct mrc_mcast_member *mcast_member(const struct mrc_mcast *g, const struct mrc_ud *ud)
{
	struct mrc_mcast_member *m;

	list_for_each_entry(m, &g->members, link)
		if (m->ud == ud)
			return m;
	return NULL;
}

static int mcast_add(struct mrc_mcast *g, struct mrc_ud *ud)
{
	struct mrc_mcast_member *m;

	if (mcast_member(g, ud))
		return -EEXIST;
	if (g->n >= MRC_MAX_MCAST_QP)
		return -ENOSPC;
	m = kzalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);
	if (!m)
		return -ENOMEM;
	kref_get(&ud->ref);
	m->ud = ud;
	list_add_tail_rcu(&m->link, &g->members);
	g->n++;
	return 0;
}

static int mcast_attach(struct mrc_ud *ud, const union ib_gid *gid)
{
	struct mrc_mcast *g;
	int err;

	if (ud->dev->dead)
		return -ENODEV;
	g = mcast_get(ud->dev, gid);
	if (IS_ERR(g))
		return PTR_ERR(g);
	err = mcast_add(g, ud);
	mcast_put(ud->dev, g);
	return err;
}

int mrc_mcast_attach(struct mrc_ud *ud, const union ib_gid *gid)
{
	int err;

	if (!mrc_mcast_leaves_host((const struct in6_addr *)gid))
		return -EINVAL;
	rtnl_lock();
	err = mcast_attach(ud, gid);
	rtnl_unlock();
	return err;
}

int mrc_mcast_detach(struct mrc_ud *ud, const union ib_gid *gid)
{
	struct mrc_mcast_member *m = NULL;
	struct mrc_mcast *g;

	rtnl_lock();
	g = mrc_mcast_find(ud->dev, gid);
	if (g)
		m = mcast_member(g, ud);
	if (m) {
		list_del_rcu(&m->link);
		g->n--;
		mcast_put(ud->dev, g);
		mrc_ud_put(ud);
		kfree_rcu(m, rcu);
	}
	rtnl_unlock();
	return m ? 0 : -EINVAL;
}
