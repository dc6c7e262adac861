/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_route.h - the route and the outer header of an EV's packets.
 */
#ifndef MRC_ROUTE_H
#define MRC_ROUTE_H

#include "core/mrc_dev.h"
#include "path/mrc_pathset.h"

struct mrc_route {
	struct dst_entry *dst;	/* until the end of the RCU section that found it */
	bool srv6, srh;
	u8 outer_len;		/* bytes in front of the inner IP header */
	struct in6_addr outer_src, outer_dst, segment;
};

/*
 * BH off, under RCU, without path_lock. 0, or -errno when EV @idx has no route now: the EV is demoted, and it is counted.
 */
int mrc_route_find(struct mrc_dev *dev, struct mrc_pathset *ps, u16 idx, struct mrc_route *w);

/*
 * Likewise, for an explicit EV, which need not be in a path set. -EINVAL: no such plane; -ENETDOWN; -EHOSTUNREACH: no
 * route, or no address for the outer header.
 */
int mrc_route_named(const struct mrc_peer *peer, const struct mrc_profile_ev *ev, bool srv6,
		    struct mrc_route *w);

/* Likewise, to SRv6 destination @outer by @plane, up or not. -EHOSTUNREACH. */
int mrc_route_to(struct mrc_dev *dev, const struct mrc_dev_plane *plane, const struct in6_addr *outer,
		 struct mrc_route *w);
/* Likewise, to our own address @own through this host's stack alone. */
int mrc_route_loopback(struct mrc_dev *dev, const struct in6_addr *own, struct mrc_route *w);

/*
 * Under rtnl; may sleep. Has an EV of @prof (NULL: made up) on one of @planes a route to the peer
 * out of its plane, be the plane up or not.
 */
bool mrc_route_exists(const struct mrc_peer *peer, const struct mrc_profile *prof, u32 planes);
/* Likewise of EV @idx of a set. */
bool mrc_route_exists_ev(const struct mrc_pathset *ps, u16 idx);

#endif
