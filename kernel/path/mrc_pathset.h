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

struct mrc_ev_path {		/* per EV: 16 bytes, because there may be 4,096 */
	struct dst_entry __rcu *dst;	/* cached route to the outermost destination; changes under path_lock */
	u32 dst_cookie;		/* of dst */
	u16 src;		/* index in mrc_pathset.ev */
	u8 port;		/* 1-based */
};

struct mrc_pathset {
	struct kref ref;
	struct rcu_head rcu;
	u64 id;				/* unique among all sets */
	u64 first_id;			/* id of the first set of these paths; kept when the set is replaced */
	struct mrc_peer *peer;		/* back pointer, referenced by the peer's users */
	struct mrc_peer_paths *paths;	/* back pointer, referenced by whoever changes EV states */
	struct mrc_profile *prof;	/* referenced; NULL: AUTO by default */
	const struct mrc_profile_ev *ev; /* EVs of the profile, or of_template; AUTO: NULL */
	struct mrc_profile_ev *of_template; /* EVs of a template, computed for this peer */
	u8 own[MRC_EV_ADDR_BYTES];	/* own address from which a template copied */
	u64 profile_id;			/* 0: AUTO */
	u32 gen;			/* dev->path_gen when built */
	u32 planes;			/* mask of planes that existed when built */
	bool is_auto;			/* generated EVs: rebuilt when planes come or go */
	bool local;			/* the peer was this host when built: over lo */
	bool srv6;			/* values are outer destinations */
	u32 avoid_gen;			/* generation of the avoid lists applied: path/mrc_avoids.h; under path_lock */
	bool part;			/* partial, for ordinary IP: not for QPs */
	struct mrc_evset evs;
	struct mrc_spray ip_rot;		/* EV selection of ordinary IP and endpoint packets */
	struct mrc_ev_path *path;	/* evs.n entries, in the order of the evset */
	void *mem;			/* memory of the evset and of all arrays below except told */
	struct in6_addr *saddr;		/* per plane: outer source address, if it has no SID */
	u32 told[MRC_PLANES_MAX];	/* mrc_evset_proven_at() at the latest confirmation of the neighbour */
	u16 *ip_order;
};

/*
 * Builds a set from the current profile and planes; returns it with a reference, unpublished. Any context. In softirq, and
 * for a peer without QPs, it takes a part of many EVs.
 */
struct mrc_pathset *mrc_pathset_build(struct mrc_peer_paths *paths, gfp_t gfp);
void mrc_pathset_put(struct mrc_pathset *ps);		/* any context */
/* Any context. Would a set built from @prof (or NULL) now have the same EVs? */
bool mrc_pathset_is_of(const struct mrc_pathset *ps, const struct mrc_profile *prof);
/* Under path_lock, or with @ps not published. */
void mrc_pathset_drop_route(struct mrc_ev_path *path);
void mrc_pathset_drop_routes(struct mrc_pathset *ps);
/* Any context. EV @idx as configured, MRC_EV_BYTES; for a generated EV its entropy. */
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
