/* SPDX-License-Identifier: GPL-2.0 */
/* mrc_way.h - how packets of one EV leave: route and outer header. */
#ifndef MRC_WAY_H
#define MRC_WAY_H

#include "core/mrc_dev.h"
#include "path/mrc_pathset.h"

struct mrc_way {
	struct dst_entry *dst;	/* until the end of the RCU section that found it */
	bool srv6, srh;
	u8 outer_len;		/* bytes in front of the inner IP header */
	struct in6_addr outer_src, outer_dst, segment;
};

/*
 * BH off, under RCU, without path_lock. 0, or -errno when EV @idx leads nowhere now: the EV is told, and it
 * is counted.
 */
int mrc_way_find(struct mrc_dev *dev, struct mrc_pathset *ps, u16 idx, struct mrc_way *w);

/*
 * Likewise, of an EV that is named: it need not be in a path set. -EINVAL: there is no such plane;
 * -ENETDOWN; -EHOSTUNREACH: no route, or no address for the outer header.
 */
int mrc_way_named(const struct mrc_peer *peer, const struct mrc_profile_ev *ev, bool srv6,
		  struct mrc_way *w);

/* Likewise, to SRv6 destination @outer by @plane, up or not. -EHOSTUNREACH. */
int mrc_way_to(struct mrc_dev *dev, const struct mrc_dev_plane *plane, const struct in6_addr *outer,
	       struct mrc_way *w);
/* Likewise, to our own address @own through this host's stack alone. */
int mrc_way_home(struct mrc_dev *dev, const struct in6_addr *own, struct mrc_way *w);

/*
 * Under rtnl; may sleep. Has an EV of @prof (NULL: made up) on one of @planes a route to the peer
 * out of its plane, be the plane up or not.
 */
bool mrc_way_leads(const struct mrc_peer *peer, const struct mrc_profile *prof, u32 planes);
/* Likewise of EV @idx of a set. */
bool mrc_way_leads_ev(const struct mrc_pathset *ps, u16 idx);

#endif
