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
 * Packet @pkt of the peer had a wrong ICRC, or (@icrc false) none. Many in a row, including packets that a peer
 * always sends with an ICRC, are due to a setting, not to noise.
 */
void mrc_peer_hint_icrc(struct mrc_peer *peer, const struct mrc_pkt *pkt, bool icrc);
/* A packet for a local QP arrived at UDP @port, on which this device does not listen. */
void mrc_peer_hint_port(struct mrc_peer *peer, u16 port);
/* Router @by reports that the hop limit of a packet to the peer expired. */
void mrc_peer_hint_hops(struct mrc_peer *peer, const struct in6_addr *by);
/* The peer, or a firewall, reports that UDP @port, to which a packet was sent, is closed. */
void mrc_peer_hint_nobody(struct mrc_peer *peer, u16 port);
/* A management packet to the peer leaves by @planes (bit n: plane n, counted from 1; 0: over lo). */
void mrc_peer_hint_requested(struct mrc_peer *peer, u64 planes);
static inline void mrc_peer_hint_answered(struct mrc_peer *peer)
{
	WRITE_ONCE(peer->asked, 0);
	WRITE_ONCE(peer->requested_planes, 0);
	clear_bit(__ffs(MRC_HINT_NOBODY), &peer->hints);
}

/* QP @qpn failed with RETRY_EXC, and none of its packets was ever acknowledged. @info: of its connection. */
void mrc_peer_hint_silent(struct mrc_peer *peer, u32 qpn, const struct mrc_conn_info *info);
/* A QP to the peer was refused: the peer speaks plain RoCEv2 (path/mrc_plain_roce.h). */
void mrc_peer_hint_plain(struct mrc_peer *peer);
/* A QP to the peer was refused: link-local address without a profile that leads there. */
void mrc_peer_hint_link_local(struct mrc_peer *peer);
/* A QP to the peer was refused: a QP of another user is connected to its QP @dqpn (path/mrc_claim.h). */
void mrc_peer_hint_claimed(struct mrc_peer *peer, u32 dqpn);
/* An IPsec policy blocked a packet to it (@out) or from it. */
void mrc_peer_hint_policy(struct mrc_peer *peer, bool out);
/* Settings changed here: resets all hints. */
void mrc_peer_hint_forget(struct mrc_peer *peer);

void mrc_peer_hint_settled(struct mrc_peer *peer);	/* for mrc_peer_note_rx() */

/* Hints that end with the first valid packet of the peer. */
#define MRC_HINT_SETTLES	(MRC_HINT_ICRC | MRC_HINT_UDP_PORT | MRC_HINT_NOBODY)

/* Properties of a received packet that show its sender's settings. */
struct mrc_peer_how {
	u16 port;	/* local UDP port at which it arrived */
	bool icrc;	/* it has an ICRC */
};

/* A valid, untrimmed packet of the peer arrived: both ends understand each other. */
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
