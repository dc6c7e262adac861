/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_peer_paths.h - which path set a peer has. It is replaced, never changed, when the
 * profile changes or (AUTO) planes come and go.
 */
#ifndef MRC_PEER_PATHS_H
#define MRC_PEER_PATHS_H

#include "path/mrc_pathset.h"
#include "path/mrc_peer.h"

/* Any context. The set in use, + ref; never NULL. */
struct mrc_pathset *mrc_peer_paths_get(struct mrc_peer *peer);
/* Under path_lock, and true until it is released: @ps is the set in use. */
bool mrc_peer_paths_is(struct mrc_peer *peer, const struct mrc_pathset *ps);
/* Any context, no lock held. The set in use learns which ports are up at both ends. */
void mrc_peer_paths_ports(struct mrc_peer *peer);
/* Likewise. What is kept of routes may be old. */
void mrc_peer_paths_forget_routes(struct mrc_peer *peer);
/* Likewise; sleeps as @gfp allows. A new set from the current state. */
void mrc_peer_paths_rebuild(struct mrc_peer *peer, gfp_t gfp);
/* Likewise. A new set where the one in use is too old, or a part and a whole one may be made. */
void mrc_peer_paths_refresh(struct mrc_peer *peer, gfp_t gfp, bool is_new);

#endif
