/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_pathset.h - a path set: the engine's evset for one (peer, profile), and a cached route per
 * EV.
 *
 * A set is replaced, never changed (path/mrc_peer_paths.h). Packets in flight and QPs keep the old
 * set alive. peer->path_lock protects the engine's part and changes of the routes. Routes are read
 * under RCU (path/mrc_route.c).
 */
#ifndef MRC_PATHSET_H
#define MRC_PATHSET_H

#include <linux/kref.h>
#include <net/dst.h>
#include "engine/paths/mrc_ev.h"
#include "path/mrc_profiles.h"

#define MRC_SPRAY_MAX	128	/* EVs that ordinary IP and endpoint packets rotate over */

struct mrc_peer;
struct mrc_peer_paths;

struct mrc_ev_path {		/* one EV's way out: 16 bytes, there may be 4,096 */
	struct dst_entry __rcu *dst;	/* kept route of the outermost destination; changes under path_lock */
	u32 dst_cookie;		/* likewise */
	u16 src;		/* place in the set's list of EVs */
	u8 port;		/* 1-based */
};

struct mrc_pathset {
	struct kref ref;
	struct rcu_head rcu;
	u64 id;				/* no other set has or had it */
	u64 first_id;			/* of the first set of these paths; kept when the set is replaced */
	struct mrc_peer *peer;		/* back pointer, referenced by the peer's users */
	struct mrc_peer_paths *paths;	/* likewise: who signs EVs has them */
	struct mrc_profile *prof;	/* referenced; NULL: AUTO by default */
	const struct mrc_profile_ev *ev; /* the profile's, or of_template; AUTO: NULL */
	struct mrc_profile_ev *of_template; /* made for this peer: those the set has, no others */
	u8 own[MRC_EV_ADDR_BYTES];	/* a template's: our address that they were made with */
	u64 profile_id;			/* 0: AUTO */
	u32 gen;			/* dev->path_gen when built */
	u32 planes;			/* mask of planes that existed when built */
	bool is_auto;			/* EVs made up here: rebuilt when planes come or go */
	bool local;			/* made when the peer was this host: over lo */
	bool srv6;			/* values are outer destinations */
	u32 avoid_gen;			/* of the lists of links that it follows: path/mrc_avoids.h; under path_lock */
	bool part;			/* for ordinary IP, a part of the EVs: not for QPs */
	struct mrc_evset evs;
	struct mrc_spray ip_rot;		/* rotation of ordinary IP packets and endpoint packets */
	struct mrc_ev_path *path;	/* evs.n, in the order of the evset */
	void *mem;			/* of all below, and the evset's */
	struct in6_addr *saddr;		/* by plane: outer source where there is no SID */
	u32 told[MRC_PLANES_MAX];	/* mrc_evset_proven_at() that the plane's neighbour was confirmed by */
	u16 *ip_order;
};

/*
 * Builds a set from the current profile and planes; returns it with a reference, unpublished. Any context. In softirq, and
 * for a peer without QPs, it takes a part of many EVs.
 */
struct mrc_pathset *mrc_pathset_build(struct mrc_peer_paths *paths, gfp_t gfp);
void mrc_pathset_put(struct mrc_pathset *ps);		/* any context */
/* Any context. Would one that is made of @prof (or NULL) now have the same EVs. */
bool mrc_pathset_is_of(const struct mrc_pathset *ps, const struct mrc_profile *prof);
/* Under path_lock, or nobody else may use @ps. */
void mrc_pathset_drop_route(struct mrc_ev_path *path);
void mrc_pathset_drop_routes(struct mrc_pathset *ps);
/* Any context. EV @idx as configured, MRC_EV_BYTES; made up ones as their entropy. */
void mrc_pathset_value(const struct mrc_pathset *ps, u16 idx, u8 value[MRC_EV_BYTES]);

/* Any context, no lock held. EV @idx is denied by the controller. */
bool mrc_pathset_denied(const struct mrc_pathset *ps, u16 idx);
/*
 * Under path_lock. EVs that a controller denied in @old are denied in @new, of the same peer and profile: a set of ordinary
 * IP becomes a complete one with the first QP.
 */
void mrc_pathset_keep_denied(struct mrc_pathset *new, const struct mrc_pathset *old);

/* The outer destination (16 bytes) and segment of an SRv6 EV. */
static inline const struct mrc_profile_ev *mrc_pathset_ev(const struct mrc_pathset *ps,
							  const struct mrc_ev_path *path)
{
	return &ps->ev[path->src];
}

#endif
