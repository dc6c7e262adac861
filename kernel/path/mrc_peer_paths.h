/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_peer_paths.h - the path sets of a peer: one for the device's default EV profile, and one for
 * each profile that QPs name.
 *
 * A set is replaced, never changed, when the profile changes or (AUTO) when planes come and go. The
 * QPs of a set teach it which EVs are bad; sets do not share that.
 */
#ifndef MRC_PEER_PATHS_H
#define MRC_PEER_PATHS_H

#include "path/mrc_pathset.h"
#include "path/mrc_peer.h"

/* For a new, unpublished peer. False: no memory. Sleeps as @gfp allows. */
bool mrc_peer_paths_init(struct mrc_peer *peer, gfp_t gfp);
/* For a peer without references. */
void mrc_peer_paths_end(struct mrc_peer *peer);

/*
 * Process context, no lock held. + ref: the paths by profile @named; 0: by the device's default.
 * -ENOSPC: QPs name MRC_PEER_NAMED_MAX others; -ENOMEM.
 */
struct mrc_peer_paths *mrc_peer_paths_named(struct mrc_peer *peer, u64 named);
/* Any context, no lock held; NULL is fine. */
void mrc_peer_paths_put(struct mrc_peer_paths *paths);
/*
 * Likewise. + ref: those whose profile's number is the smallest above @named, or (@same) that one itself.
 * NULL: none.
 */
struct mrc_peer_paths *mrc_peer_paths_next(struct mrc_peer *peer, u64 named, bool same);
/* Any context, no lock held. Calls @fn for all paths, with a reference. True: @fn returned true for one of them. */
bool mrc_peer_paths_any(struct mrc_peer *peer, bool (*fn)(struct mrc_peer_paths *paths, void *arg),
			void *arg);

/* Any context. The set in use, + ref; never NULL. */
struct mrc_pathset *mrc_peer_paths_set(struct mrc_peer_paths *paths);
static inline struct mrc_pathset *mrc_peer_paths_get(struct mrc_peer *peer)
{
	return mrc_peer_paths_set(&peer->paths);
}

/* Under path_lock, and true until it is released: @ps is a set in use. */
bool mrc_peer_paths_is(const struct mrc_pathset *ps);
/* Any context, no lock held. The sets in use learn which ports are up at both ends. */
void mrc_peer_paths_ports(struct mrc_peer *peer);
/* Any context. Links that the device avoids changed. True: so did states of EVs, perhaps. */
bool mrc_peer_paths_avoid(struct mrc_peer *peer);
/* Likewise. Cached routes may be stale. */
void mrc_peer_paths_forget_routes(struct mrc_peer *peer);
/*
 * Likewise; sleeps as @gfp allows. A new set from the current state; without memory the old one stays, and
 * mrc_path_change.h makes it later.
 */
void mrc_peer_paths_rebuild(struct mrc_peer_paths *paths, gfp_t gfp);
/*
 * Likewise, of the default's. A new set where the one in use is too old, or a part and a whole one
 * may be made.
 */
void mrc_peer_paths_refresh(struct mrc_peer *peer, gfp_t gfp, bool is_new);

/* Under path_lock. Moves the changes of EV states of @paths to the device's log. */
void mrc_peer_paths_log(struct mrc_peer_paths *paths);

#endif
