/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_peer_hint.h - hints that settings of this host and a peer do not match.
 *
 * Such a QP fails with RETRY_EXC, which does not name the cause. So each hint is counted, logged
 * once, and shown with the peer (mrcctl peer show). Any context, no lock.
 */
#ifndef MRC_PEER_HINT_H
#define MRC_PEER_HINT_H

#include "linux/mrc.h"
#include "engine/conn/mrc_conn.h"
#include "path/mrc_peer.h"

/*
 * Packet @pkt of the peer's had a wrong ICRC, or (@icrc false) none: many in a row that a peer
 * which can do without would have sent with one are a setting, not noise.
 */
void mrc_peer_hint_icrc(struct mrc_peer *peer, const struct mrc_pkt *pkt, bool icrc);
/* A packet for one of our QPs arrived at @port, which is not ours. */
void mrc_peer_hint_port(struct mrc_peer *peer, u16 port);
/* @by reports that the hop limit of a packet to it expired. */
void mrc_peer_hint_hops(struct mrc_peer *peer, const struct in6_addr *by);
/* It, or a firewall, reports that UDP @port, to which we sent a packet, is closed. */
void mrc_peer_hint_nobody(struct mrc_peer *peer, u16 port);
/* A management packet to it leaves by @planes (bit n: plane n, counted from 1; 0: over lo); and one of it arrived. */
void mrc_peer_hint_asked(struct mrc_peer *peer, u64 planes);
static inline void mrc_peer_hint_answered(struct mrc_peer *peer)
{
	WRITE_ONCE(peer->asked, 0);
	WRITE_ONCE(peer->asked_by, 0);
	clear_bit(__ffs(MRC_HINT_NOBODY), &peer->hints);
}

/* QP @qpn gave up: nothing that it sent was ever acknowledged in time. @info: of its connection. */
void mrc_peer_hint_silent(struct mrc_peer *peer, u32 qpn, const struct mrc_conn_info *info);
/* A QP for it was refused: it speaks plain RoCEv2 (path/mrc_plain_roce.h). */
void mrc_peer_hint_plain(struct mrc_peer *peer);
/* A QP for it was refused: a link-local address, and no profile that leads there. */
void mrc_peer_hint_link_local(struct mrc_peer *peer);
/* A QP for it was refused: another user's is connected to QP @dqpn there (path/mrc_claim.h). */
void mrc_peer_hint_claimed(struct mrc_peer *peer, u32 dqpn);
/* An IPsec policy blocked a packet to it (@out) or from it. */
void mrc_peer_hint_policy(struct mrc_peer *peer, bool out);
/* Settings changed here: resets all hints. */
void mrc_peer_hint_forget(struct mrc_peer *peer);

void mrc_peer_hint_settled(struct mrc_peer *peer);	/* for mrc_peer_note_rx() */

/* Over with the first sound packet of the peer's. */
#define MRC_HINT_SETTLES	(MRC_HINT_ICRC | MRC_HINT_UDP_PORT | MRC_HINT_NOBODY)

/* Properties of a received packet that show its sender's settings. */
struct mrc_peer_how {
	u16 port;	/* of ours */
	bool icrc;	/* with an ICRC */
};

/* A sound packet of the peer's arrived, not trimmed: we understand each other. */
static inline void mrc_peer_note_rx(struct mrc_peer *peer, const struct mrc_peer_how *how)
{
	mrc_udp_rx(&peer->udp, how->port);
	mrc_crc_rx(&peer->crc, how->icrc);
	if (unlikely(!READ_ONCE(peer->heard) || READ_ONCE(peer->greets) ||
		     atomic_read(&peer->bad_icrcs) ||
		     READ_ONCE(peer->hints) & MRC_HINT_SETTLES))
		mrc_peer_hint_settled(peer);
}

#endif
