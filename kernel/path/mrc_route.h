/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_route.h - the route and the outer header of an EV's packets.
 */
#ifndef MRC_ROUTE_H
#define MRC_ROUTE_H

#include "core/mrc_dev.h"
#include "path/mrc_pathset.h"

struct mrc_route {
	struct dst_entry *dst;	/* valid until the end of the RCU section that found it */
	bool srv6, srh;
	u8 outer_len;		/* bytes in front of the inner IP header */
	struct in6_addr outer_src, outer_dst, segment;
};

/*
 * BH off, under RCU, without path_lock. 0, or -errno if EV @idx has no route now; then the EV is demoted and counted.
 */
int mrc_route_find(struct mrc_dev *dev, struct mrc_pathset *ps, u16 idx, struct mrc_route *w);

/*
 * The same for an explicit EV, which need not be in a path set. 0, or -EINVAL: no such plane; -ENETDOWN; -EHOSTUNREACH: no
 * route, or no address for the outer header.
 */
int mrc_route_named(const struct mrc_peer *peer, const struct mrc_profile_ev *ev, bool srv6,
		    struct mrc_route *w);

/* The same for SRv6 destination @outer by @plane, up or not. 0 or -EHOSTUNREACH. */
int mrc_route_to(struct mrc_dev *dev, const struct mrc_dev_plane *plane, const struct in6_addr *outer,
		 struct mrc_route *w);
/* The same for the own address @own, through this host's stack only. 0 or -EHOSTUNREACH. */
int mrc_route_loopback(struct mrc_dev *dev, const struct in6_addr *own, struct mrc_route *w);

/*
 * Under rtnl; may sleep. Does any EV of @prof (NULL: generated EVs) on one of @planes have a route to the peer out of its
 * plane? The plane may be down.
 */
bool mrc_route_exists(const struct mrc_peer *peer, const struct mrc_profile *prof, u32 planes);
/* The same for EV @idx of a set. */
bool mrc_route_exists_ev(const struct mrc_pathset *ps, u16 idx);

#endif
