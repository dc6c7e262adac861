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
 * Process context, no lock held. Returns the paths of profile @named, or (0) of the device's default; + ref.
 * ERR_PTR: -ENOSPC: QPs to this peer name MRC_PEER_NAMED_MAX other profiles; -ENOMEM.
 */
struct mrc_peer_paths *mrc_peer_paths_named(struct mrc_peer *peer, u64 named);
/* Any context, no lock held; NULL is fine. */
void mrc_peer_paths_put(struct mrc_peer_paths *paths);
/*
 * Any context, no lock held. Iterator: the paths with the next higher profile number than @named, or (@same) of @named
 * itself if it exists; + ref. NULL: none.
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
/* Any context, no lock held. Applies the states of ports at both ends to the sets in use. */
void mrc_peer_paths_ports(struct mrc_peer *peer);
/* Any context, no lock held. The links that the device avoids changed. True: EV states may have changed. */
bool mrc_peer_paths_avoid(struct mrc_peer *peer);
/* Any context, no lock held. Cached routes may be stale: drop them. */
void mrc_peer_paths_forget_routes(struct mrc_peer *peer);
/*
 * No lock held; sleeps as @gfp allows. Builds a new set from the current state. Without memory the old one stays, and
 * mrc_path_change.c tries again later.
 */
void mrc_peer_paths_rebuild(struct mrc_peer_paths *paths, gfp_t gfp);
/*
 * The same for the default profile, if the set in use is outdated, or is partial and @gfp allows a complete one.
 */
void mrc_peer_paths_refresh(struct mrc_peer *peer, gfp_t gfp, bool is_new);

/* Under path_lock. Moves the changes of EV states of @paths to the device's log. */
void mrc_peer_paths_log(struct mrc_peer_paths *paths);

#endif
