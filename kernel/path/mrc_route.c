// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_route.c - the route of an EV: from the EV's plane to the outermost destination, cached with
 * the EV, and the addresses of the SRv6 header.
 *
 * Routes are looked up and cached under peer->path_lock and dropped when planes change
 * (mrc_pathset_drop_routes()). A route whose netdev is about to leave is not cached, because that
 * drop follows the withdrawal of the plane.
 *
 * A cached route is read under RCU alone: dst_release() frees a route after a grace period, and the
 * route itself tells when it is stale. So packets of many QPs to one peer share neither a lock nor
 * a reference count.
 */
#include <linux/ktime.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <net/ip6_route.h>
#include <net/ip_fib.h>
#include <net/ipv6.h>
#include <net/route.h>
#include "linux/mrc.h"
#include "core/mrc_dev_plane.h"
#include "path/mrc_peer.h"
#include "path/mrc_template.h"
#include "path/mrc_route.h"

#define MRC_ROUTE_TRIES	128	/* EVs examined, at even distances in the profile */
#define MRC_ROUTE_LOOK	HZ	/* delay of the check whether a peer is still this host */

static struct dst_entry *route6(struct mrc_dev *dev, int oif, const struct in6_addr *saddr,
				const struct in6_addr *daddr)
{
	struct flowi6 fl6 = {
		.flowi6_oif = oif,
		.flowi6_proto = IPPROTO_UDP,
		.daddr = *daddr,
	};
	struct dst_entry *dst;

	if (saddr)
		fl6.saddr = *saddr;
	/* Only routes that leave by the plane. */
	dst = ip6_route_output_flags(dev->net, NULL, &fl6, oif ? RT6_LOOKUP_F_IFACE : 0);
	if (dst->error) {
		dst_release(dst);
		return NULL;
	}
	return dst;
}

/* Has IPv4 a route to @daddr out of netdev @oif? */
static bool leads4(struct mrc_dev *dev, int oif, __be32 daddr)
{
	struct flowi4 fl4 = {
		.flowi4_oif = oif,
		.flowi4_iif = LOOPBACK_IFINDEX,
		.flowi4_proto = IPPROTO_UDP,
		.daddr = daddr,
	};
	struct fib_result res = {};

	return !fib_lookup(dev->net, &fl4, &res, 0);
}

static struct dst_entry *route4(struct mrc_dev *dev, int oif, __be32 daddr)
{
	struct flowi4 fl4 = {
		.flowi4_oif = oif,
		.flowi4_proto = IPPROTO_UDP,
		.daddr = daddr,
	};
	/* Without IPsec policies, as for IPv6: data/mrc_policy.c handles them. */
	struct rtable *rt = __ip_route_output_key(dev->net, &fl4);

	if (IS_ERR(rt))
		return NULL;
	/*
	 * Only routes that leave by the plane. Without such a route, IPv4 assumes that the address is a
	 * neighbour. Multicast groups need no route. Checked after the lookup: a route that is deleted
	 * before this check is missed here, and one that is deleted later makes @rt stale.
	 */
	if (oif && !ipv4_is_multicast(daddr) && !leads4(dev, oif, daddr)) {
		ip_rt_put(rt);
		return NULL;
	}
	return &rt->dst;
}

/* Under path_lock. The outer source address: the own locator on the plane, else an address of the port. */
static const struct in6_addr *path_source(struct mrc_dev *dev, struct mrc_pathset *ps,
					  const struct mrc_dev_plane *plane,
					  const struct in6_addr *daddr)
{
	struct in6_addr *saddr = &ps->saddr[plane->num];

	if (smp_load_acquire(&plane->has_sid))
		return &plane->sid;
	if (ipv6_addr_any(saddr) &&
	    ipv6_dev_get_saddr(dev->net, plane->ndev, daddr, 0, saddr))
		return NULL;
	return saddr;
}

/* The route to @peer out of @plane (NULL: of any netdev); @ev: by SRv6, else plain. */
static struct dst_entry *peer_route(const struct mrc_peer *peer, const struct mrc_profile_ev *ev,
				    const struct mrc_dev_plane *plane)
{
	const struct in6_addr *daddr = (const struct in6_addr *)&peer->gid;
	int oif = plane ? plane->ndev->ifindex : 0;
	struct in6_addr outer;

	if (ev) {
		memcpy(&outer, ev->value, sizeof(outer));
		daddr = &outer;
	} else if (peer->v4) {
		return route4(peer->dev, oif, daddr->s6_addr32[3]);
	}
	return route6(peer->dev, oif, NULL, daddr);
}

/* Under path_lock. Look up @path's route. */
static struct dst_entry *path_lookup(struct mrc_pathset *ps, const struct mrc_ev_path *path,
				     const struct mrc_dev_plane *plane)
{
	return peer_route(ps->peer, ps->srv6 ? mrc_pathset_ev(ps, path) : NULL, plane);
}

/*
 * Under RCU. The cached route if it is valid. A reader may see a route with the cookie of another one. That does no harm:
 * a route that was removed from its table never passes dst_check().
 */
static struct dst_entry *route_kept(const struct mrc_ev_path *path)
{
	struct dst_entry *dst = rcu_dereference(path->dst);

	return likely(dst && dst_check(dst, READ_ONCE(path->dst_cookie))) ? dst : NULL;
}

static void route_keep(struct mrc_ev_path *path, struct dst_entry *dst)
{
	WRITE_ONCE(path->dst_cookie, dst->ops->family == AF_INET6 ?
				     rt6_get_cookie((struct rt6_info *)dst) : 0);
	rcu_assign_pointer(path->dst, dst);
}

/* Under path_lock. Does the route leave by @plane, or (NULL: the peer is this host) by lo? */
static bool route_fits(const struct dst_entry *dst, const struct mrc_dev_plane *plane)
{
	return plane ? dst->dev == plane->ndev : dst->dev->flags & IFF_LOOPBACK;
}

/*
 * The peer was this host but no longer is. With its present route, packets would return to their netdev or leave by any
 * port. device/mrc_addr.c is notified of most such moves, but not when duplicate address detection fails. So a work
 * checks soon, at most once per MRC_ROUTE_LOOK.
 */
static void route_no_more(struct mrc_dev *dev)
{
	queue_delayed_work(mrc_wq, &dev->addr_work, MRC_ROUTE_LOOK);
}

/* Under path_lock and RCU. The path's route, from the cache or looked up. The path holds the reference. */
static struct dst_entry *path_route(struct mrc_pathset *ps, struct mrc_ev_path *path,
				    const struct mrc_dev_plane *plane)
{
	struct dst_entry *dst = route_kept(path);

	if (likely(dst))
		return dst;
	mrc_pathset_drop_route(path);
	if (ps->srv6 && plane)	/* a change of addresses may have made the route stale */
		memset(&ps->saddr[plane->num], 0, sizeof(*ps->saddr));
	dst = path_lookup(ps, path, plane);
	/* Before the netdev is freed, mrc_path_change_planes() takes this lock and drops the routes. */
	if (dst && route_fits(dst, plane)) {
		route_keep(path, dst);
		return dst;
	}
	dst_release(dst);
	if (!plane)
		route_no_more(ps->peer->dev);
	return NULL;
}

/* The SRv6 header of the path, from @src. */
static void path_outer(const struct mrc_pathset *ps, const struct mrc_ev_path *path,
		       const struct in6_addr *src, struct mrc_route *w)
{
	const struct mrc_profile_ev *ev = mrc_pathset_ev(ps, path);

	memcpy(&w->outer_dst, ev->value, sizeof(w->outer_dst));
	memcpy(&w->segment, ev->value + 16, sizeof(w->segment));
	w->outer_src = *src;
	w->srv6 = true;
	w->srh = ev->srh;
	w->outer_len = sizeof(struct ipv6hdr) + (ev->srh ? MRC_SRH_LEN : 0);
}

/* Under RCU. False: a lookup is needed. */
static bool way_kept(const struct mrc_pathset *ps, const struct mrc_ev_path *path,
		     const struct mrc_dev_plane *plane, struct mrc_route *w)
{
	/* Without a locator, the source address is cached under path_lock. */
	if (ps->srv6 && !smp_load_acquire(&plane->has_sid))
		return false;
	w->dst = route_kept(path);
	if (!w->dst)
		return false;
	if (ps->srv6)
		path_outer(ps, path, &plane->sid, w);
	return true;
}

/* Under path_lock and RCU. False: there is no route now. */
static bool way_look_up(struct mrc_dev *dev, struct mrc_pathset *ps, struct mrc_ev_path *path,
			const struct mrc_dev_plane *plane, struct mrc_route *w)
{
	const struct in6_addr *src, *to;

	/* dead is set before the last mrc_path_change_planes() drops all routes under this lock */
	w->dst = READ_ONCE(dev->dead) ? NULL : path_route(ps, path, plane);
	if (!w->dst || !ps->srv6)
		return w->dst;
	to = (const struct in6_addr *)mrc_pathset_ev(ps, path)->value;
	src = path_source(dev, ps, plane, to);
	if (src)
		path_outer(ps, path, src, w);
	return src;
}

static noinline bool way_new(struct mrc_dev *dev, struct mrc_pathset *ps, u16 idx,
			     const struct mrc_dev_plane *plane, struct mrc_route *w)
{
	bool leads;

	spin_lock_bh(&ps->peer->path_lock);
	leads = way_look_up(dev, ps, &ps->path[idx], plane, w);
	/*
	 * Demote the EV: other packets take other EVs, and probes find out when the route is back. EVs of a
	 * multicast group are not probed.
	 */
	if (unlikely(!leads && plane && !ps->peer->group))
		mrc_evset_sign(&ps->evs, idx, MRC_SIGN_BAD, ktime_get_ns());
	spin_unlock_bh(&ps->peer->path_lock);
	return leads;
}

int mrc_route_find(struct mrc_dev *dev, struct mrc_pathset *ps, u16 idx, struct mrc_route *w)
{
	const struct mrc_ev_path *path = &ps->path[idx];
	const struct mrc_dev_plane *plane = NULL;

	if (!ps->local) {
		plane = rcu_dereference(dev->plane[path->port - 1]);
		if (unlikely(!plane))
			return -ENODEV;
		if (unlikely(!netif_carrier_ok(plane->ndev)))
			mrc_dev_plane_no_carrier(plane);
	}
	w->srv6 = false;
	w->srh = false;
	w->outer_len = 0;
	if (likely(way_kept(ps, path, plane, w)) || way_new(dev, ps, idx, plane, w))
		return 0;
	mrc_dev_count(dev, tx_no_route);
	return -ENETUNREACH;
}

/* ---- an explicit EV, which need not be in a path set ---- */

static bool named_outer(struct mrc_dev *dev, const struct in6_addr *outer,
			const struct mrc_dev_plane *plane, struct mrc_route *w)
{
	w->outer_dst = *outer;
	w->srv6 = true;
	w->outer_len = sizeof(struct ipv6hdr);
	if (!smp_load_acquire(&plane->has_sid))
		return !ipv6_dev_get_saddr(dev->net, plane->ndev, &w->outer_dst, 0,
					   &w->outer_src);
	w->outer_src = plane->sid;
	return true;
}

/* Drops the reference to @dst, which stays valid until the RCU section ends. */
static bool named_route(struct mrc_route *w, struct dst_entry *dst, const struct mrc_dev_plane *plane)
{
	dst_release(dst);
	w->dst = dst;
	return dst && route_fits(dst, plane);
}

int mrc_route_named(const struct mrc_peer *peer, const struct mrc_profile_ev *ev, bool srv6,
		    struct mrc_route *w)
{
	const struct mrc_dev_plane *plane = rcu_dereference(peer->dev->plane[ev->port - 1]);
	struct mrc_dev *dev = peer->dev;
	struct in6_addr outer;

	memset(w, 0, sizeof(*w));
	if (!plane)
		return -EINVAL;
	if (READ_ONCE(dev->dead) || !(READ_ONCE(dev->planes_up) >> plane->num & 1))
		return -ENETDOWN;
	if (!named_route(w, peer_route(peer, srv6 ? ev : NULL, plane), plane))
		return -EHOSTUNREACH;
	if (!srv6)
		return 0;
	memcpy(&outer, ev->value, sizeof(outer));
	memcpy(&w->segment, ev->value + 16, sizeof(w->segment));
	if (!named_outer(dev, &outer, plane, w))
		return -EHOSTUNREACH;
	w->srh = ev->srh;
	w->outer_len += ev->srh ? MRC_SRH_LEN : 0;
	return 0;
}

int mrc_route_to(struct mrc_dev *dev, const struct mrc_dev_plane *plane, const struct in6_addr *outer,
		 struct mrc_route *w)
{
	memset(w, 0, sizeof(*w));
	return named_route(w, route6(dev, plane->ndev->ifindex, NULL, outer), plane) &&
	       named_outer(dev, outer, plane, w) ? 0 : -EHOSTUNREACH;
}

int mrc_route_loopback(struct mrc_dev *dev, const struct in6_addr *own, struct mrc_route *w)
{
	struct dst_entry *dst = ipv6_addr_v4mapped(own) ? route4(dev, 0, own->s6_addr32[3]) :
							  route6(dev, 0, NULL, own);

	memset(w, 0, sizeof(*w));
	return named_route(w, dst, NULL) ? 0 : -EHOSTUNREACH;
}

/* ---- does a route exist ---- */

static bool leads_by(const struct mrc_peer *peer, u32 num, const struct mrc_profile_ev *ev)
{
	const struct mrc_dev_plane *plane = rtnl_dereference(peer->dev->plane[num]);
	struct dst_entry *dst = plane ? peer_route(peer, ev, plane) : NULL;
	bool leads = dst && dst->dev == plane->ndev;

	dst_release(dst);
	return leads;
}

static bool leads_auto(const struct mrc_peer *peer, u32 planes)
{
	for (; planes; planes &= planes - 1)
		if (leads_by(peer, __ffs(planes), NULL))
			return true;
	return false;
}

/* Number of EVs of @prof on @planes. */
static u32 leads_count(const struct mrc_profile *prof, u32 planes)
{
	u32 i, n = 0;

	for (i = 0; i < prof->n; i++)
		n += planes >> (prof->ev[i].port - 1u) & 1;
	return n;
}

bool mrc_route_exists(const struct mrc_peer *peer, const struct mrc_profile *prof, u32 planes)
{
	struct mrc_ev_addrs addrs;
	struct mrc_profile_ev ev;
	u32 all, n, i, k = 0;

	ASSERT_RTNL();
	if (!prof || prof->mode == MRC_MODE_AUTO)
		return leads_auto(peer, planes);
	all = leads_count(prof, planes);
	n = min_t(u32, all, MRC_ROUTE_TRIES);
	mrc_template_addrs(peer->dev, prof, &peer->gid, &addrs);
	for (i = 0; i < prof->n; i++) {
		u8 port = prof->ev[i].port;

		if (!(planes >> (port - 1u) & 1))
			continue;
		k++;	/* n of all EVs are examined, at even distances */
		if (k * n / all == (k - 1) * n / all)
			continue;
		mrc_template_ev(prof, i, &addrs, &ev);
		if (leads_by(peer, port - 1u, prof->fmt == MRC_FMT_SRV6 ? &ev : NULL))
			return true;
	}
	return false;
}

bool mrc_route_exists_ev(const struct mrc_pathset *ps, u16 idx)
{
	const struct mrc_ev_path *path = &ps->path[idx];

	ASSERT_RTNL();
	return ps->local ||
	       leads_by(ps->peer, path->port - 1u, ps->srv6 ? mrc_pathset_ev(ps, path) : NULL);
}
