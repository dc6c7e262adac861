/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_peer_port.h - the ports of a peer: their announced state, and our announcements to the peer
 * (Port Status Updates).
 *
 * The engine decides (mrc_port.h, mrc_damp.h). This file owns the timer that runs it.
 */
#ifndef MRC_PEER_PORT_H
#define MRC_PEER_PORT_H

#include "path/mrc_peer.h"

/* The function that sends endpoint packets (data/mrc_endpoint.c). Returns 0 or -errno. Set once, before any peer. */
typedef int (*mrc_peer_port_send)(struct mrc_peer *peer, const struct mrc_pkt *pkt, u32 avoid);
void mrc_peer_port_sender(mrc_peer_port_send send);

/* For a new, unpublished peer. All of its ports count as up until it announces otherwise. */
void mrc_peer_port_init(struct mrc_peer *peer);
void mrc_peer_port_stop(struct mrc_peer *peer);		/* may sleep: the timer has ended */
/*
 * Any context, no lock held. A QP uses the peer; @first: it is the first one. Announces our ports, now or (peer->greets)
 * after the peer's next packet.
 */
void mrc_peer_port_meet(struct mrc_peer *peer, bool first);
/* Any context, peer->lock not held: a packet of the peer arrived, or we gave up. A waiting announcement leaves. */
void mrc_peer_port_greet(struct mrc_peer *peer);
/* Softirq, a QP's lock may be held: a packet of the peer arrived on plane @plane (0-based), which is down here. */
void mrc_peer_port_stray(struct mrc_peer *peer, u8 plane);
/* Any context, no lock held: the planes that are up here (dev->planes_up) may have changed. */
void mrc_peer_port_planes(struct mrc_peer *peer);
/*
 * Any context, no lock held. Settings of this device changed. Announces the ports again, because that packet shows the
 * peer our UDP port and use of ICRCs, which it needs to reach us.
 */
void mrc_peer_port_announce(struct mrc_peer *peer);
/* The same, unless an announcement is in progress: the peer does not know our settings (mrc_crc_tell()). */
void mrc_peer_port_remind(struct mrc_peer *peer);
/* Any context, no lock held. Sends answers and announcements that are due. */
void mrc_peer_port_run(struct mrc_peer *peer);
/* Any context, no lock held. Damping was reconfigured. */
void mrc_peer_port_damp(struct mrc_peer *peer);
/* An endpoint packet (QP 2) arrived from this peer, for @to of ours; softirq. */
void mrc_peer_port_rx(struct mrc_peer *peer, const struct mrc_pkt *pkt,
		      const struct in6_addr *to);

#endif
