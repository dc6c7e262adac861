/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_peers.h - the peers of a device: lookup, creation on demand, aging.
 *
 * The table holds one reference of each peer. A peer without other references is dropped when
 * neither a QP nor ordinary traffic has used it for a minute, or earlier when there are too many
 * (mrc_peer_idle.h).
 */
#ifndef MRC_PEERS_H
#define MRC_PEERS_H

#include "path/mrc_peer_idle.h"

#define MRC_PEERS_MAX	(65536 + MRC_PEERS_IDLE_MAX)	/* per device */

/* Any context that @gfp allows, no lock held. Returns a reference, or NULL. If @gfp may block, a QP will use it. */
struct mrc_peer *mrc_peer_get(struct mrc_dev *dev, const union ib_gid *gid, gfp_t gfp);
/* Any context. + ref, or NULL. */
struct mrc_peer *mrc_peer_find(struct mrc_dev *dev, const union ib_gid *gid);
/* Any context. The first peer after @gid in GID order, or (@same) @gid itself; with a reference, or NULL. */
struct mrc_peer *mrc_peer_next(struct mrc_dev *dev, const union ib_gid *gid, bool same);
void mrc_peer_put(struct mrc_peer *peer);	/* any context */

/* Under rtnl. Calls @fn, which may sleep, with each peer (+ ref) of the device. */
void mrc_peers_for_each(struct mrc_dev *dev, void (*fn)(struct mrc_peer *peer));
/* The same, until @fn returns true for a peer. Return: did it? */
bool mrc_peers_any(struct mrc_dev *dev, bool (*fn)(struct mrc_peer *peer, void *arg), void *arg);
int mrc_peers_init(struct mrc_dev *dev);
void mrc_peers_destroy(struct mrc_dev *dev);	/* process context; no packet path left */

#endif
