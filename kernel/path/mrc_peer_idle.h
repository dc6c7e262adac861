/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_peer_idle.h - peers without QPs: peers of ordinary IP, and peers that QPs have left.
 *
 * Anybody can create them, by a datagram or by a QP that changes its address. So they have their
 * own limit and replace each other, the least recently used one first. The number of QPs limits
 * peers with QPs.
 */
#ifndef MRC_PEER_IDLE_H
#define MRC_PEER_IDLE_H

#include "path/mrc_peer.h"

#define MRC_PEERS_IDLE_MAX	4096	/* per device */

/* Under dev->peer_lock. */
void mrc_peer_idle_add(struct mrc_peer *peer);
void mrc_peer_idle_del(struct mrc_peer *peer);	/* does nothing if the peer is not idle */
/* Under dev->peer_lock. If there are too many idle peers: one to remove, to which only the table has a reference; or NULL. */
struct mrc_peer *mrc_peer_idle_victim(struct mrc_dev *dev);

#endif
