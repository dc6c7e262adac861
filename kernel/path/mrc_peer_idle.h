/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_peer_idle.h - peers that no QP uses: those of ordinary IP, and those that QPs left.
 *
 * Anybody can have them made, by a datagram or by a QP that goes from address to address, so
 * they are counted apart from those of QPs, and make room for each other: the one that has
 * not been used for longest first. Peers with QPs are bounded by QPs.
 */
#ifndef MRC_PEER_IDLE_H
#define MRC_PEER_IDLE_H

#include "path/mrc_peer.h"

#define MRC_PEERS_IDLE_MAX	4096	/* per device */

/* Under dev->peer_lock. */
void mrc_peer_idle_add(struct mrc_peer *peer);
void mrc_peer_idle_del(struct mrc_peer *peer);	/* nothing, if it is not idle */
/* Under dev->peer_lock. Too many: the one to go, with nobody's reference but the table's; NULL. */
struct mrc_peer *mrc_peer_idle_victim(struct mrc_dev *dev);

#endif
