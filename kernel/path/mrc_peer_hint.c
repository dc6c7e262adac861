// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_peer_hint.c - see mrc_peer_hint.h.
 */
#include <linux/ratelimit.h>
#include "core/mrc_log.h"
#include "path/mrc_peer_hint.h"
#include "path/mrc_peer_port.h"

#define HINT_BAD_ICRCS	16	/* in a row */
#define HINT_ASKED	3	/* attempts without an answer */
#define HINT_ASKED_GAP	(3 * HZ)	/* packets closer together count as one attempt */

/* Ten lines per 5 s, all peers together, because any host may cause them. */
static DEFINE_RATELIMIT_STATE(hint_lines, DEFAULT_RATELIMIT_INTERVAL, DEFAULT_RATELIMIT_BURST);

/* True: the hint is new and must be logged. */
static bool hint_new(struct mrc_peer *peer, enum mrc_hint hint)
{
	if (READ_ONCE(peer->dev->dead) || test_and_set_bit(__ffs(hint), &peer->hints))
		return false;
	mrc_log_hint(peer->dev, &peer->gid, hint);
	return __ratelimit(&hint_lines);
}

#define hint_say(peer, hint, fmt, ...) do {						\
	if (hint_new(peer, hint))							\
		netdev_warn((peer)->dev->ndev, fmt "\n", ##__VA_ARGS__);		\
} while (0)

static const char *hint_icrc_word(const struct mrc_peer *peer)
{
	return READ_ONCE(peer->dev->attr.icrc) ? "on" : "off";
}

void mrc_peer_hint_icrc(struct mrc_peer *peer, const struct mrc_pkt *pkt, bool icrc)
{
	if (!mrc_crc_wrong(pkt, icrc))
		return;
	if (atomic_inc_return(&peer->bad_icrcs) != HINT_BAD_ICRCS)
		return;
	hint_say(peer, MRC_HINT_ICRC,
		 "the ICRC of each packet from %pI6c is wrong: icrc is on here; set it on there, too. If it is, a link damages packets",
		 peer->gid.raw);
}

void mrc_peer_hint_port(struct mrc_peer *peer, u16 port)
{
	mrc_dev_count(peer->dev, rx_other_port);
	hint_say(peer, MRC_HINT_UDP_PORT,
		 "%pI6c sends to UDP port %u, but this device listens on 4791, 4971 and udp-port %u: set the same udp-port on both hosts",
		 peer->gid.raw, port, READ_ONCE(peer->dev->attr.udp_port));
}

void mrc_peer_hint_hops(struct mrc_peer *peer, const struct in6_addr *by)
{
	mrc_dev_count(peer->dev, hops_exceeded);
	hint_say(peer, MRC_HINT_HOP_LIMIT,
		 "packets to %pI6c expire at %pI6c: hop-limit %u is too small, or there is a routing loop",
		 peer->gid.raw, by, READ_ONCE(peer->dev->attr.hop_limit));
}

void mrc_peer_hint_nobody(struct mrc_peer *peer, u16 port)
{
	mrc_dev_count(peer->dev, port_unreach);
	hint_say(peer, MRC_HINT_NOBODY,
		 "%pI6c reports that UDP port %u is closed: no RoCEv2 device has this address there (module not loaded, or an iWARP device), or a firewall rejects the packets",
		 peer->gid.raw, port);
}

/*
 * A plane that silently loses packets looks like a missing peer. So the line names the planes that were used, and the
 * command that probes each of them.
 */
static void hint_unanswered(struct mrc_peer *peer)
{
	DECLARE_BITMAP(by, 64);

	bitmap_from_u64(by, READ_ONCE(peer->requested_planes));
	hint_say(peer, MRC_HINT_NOBODY,
		 "the connection manager of %pI6c does not answer requests sent on plane %*pbl. Check that a RoCEv2 device (not iWARP) has this address, that firewalls pass UDP port %u, and that these planes work: mrcctl probe dev %s peer %pI6c",
		 peer->gid.raw, 64, by, READ_ONCE(peer->dev->attr.udp_port), peer->dev->ndev->name,
		 peer->gid.raw);
}

/*
 * RoCEv2 over IPv6 has no UDP checksum, so a host without a listener drops it silently. A connection manager repeats a
 * request after 4 s and expects an answer at once. The last packet of an exchange has no answer, and the next
 * request may follow it: so three attempts are needed.
 */
void mrc_peer_hint_requested(struct mrc_peer *peer, u64 planes)
{
	u8 asked = READ_ONCE(peer->asked);

	WRITE_ONCE(peer->requested_planes, READ_ONCE(peer->requested_planes) | planes);	/* a lost update does no harm */
	if (asked >= HINT_ASKED || (asked && time_before(jiffies, READ_ONCE(peer->asked_at) + HINT_ASKED_GAP)))
		return;
	WRITE_ONCE(peer->asked_at, jiffies);
	WRITE_ONCE(peer->asked, asked + 1);	/* nor does a lost count */
	if (asked + 1 < HINT_ASKED)
		return;
	hint_unanswered(peer);
}

void mrc_peer_hint_silent(struct mrc_peer *peer, u32 qpn, const struct mrc_conn_info *info)
{
	const struct mrc_dev_attr *a = &peer->dev->attr;

	mrc_dev_count(peer->dev, never_answered);
	hint_say(peer, MRC_HINT_NO_ANSWER,
		 "QP %u failed after %u retries with a timeout of %llu us: %pI6c never acknowledged a packet (%s). Check that udp-port %u, icrc %s and hop-limit %u are the same there, that firewalls pass UDP, and that a round trip is shorter than the timeout",
		 qpn, info->retries, div_u64(info->timeout_ns, NSEC_PER_USEC), peer->gid.raw,
		 READ_ONCE(peer->heard) ? "other packets of it arrive" : "nothing of it has arrived",
		 READ_ONCE(a->udp_port), hint_icrc_word(peer), READ_ONCE(a->hop_limit));
	/* The peer may consider our ports down, as a former device of this host announced. */
	if (READ_ONCE(peer->greets))
		mrc_peer_port_greet(peer);
}

void mrc_peer_hint_plain(struct mrc_peer *peer)
{
	mrc_dev_count(peer->dev, plain_refused);
	hint_say(peer, MRC_HINT_PLAIN,
		 "connection to %pI6c refused: its connection manager speaks plain RoCEv2, but RC QPs of this device speak MRC. Load mrc there, or use the address of its MRC device",
		 peer->gid.raw);
}

void mrc_peer_hint_link_local(struct mrc_peer *peer)
{
	mrc_dev_count(peer->dev, link_local_refused);
	if (__ratelimit(&hint_lines))
		netdev_warn(peer->dev->ndev, "connection to %pI6c refused: a link-local address of an MRC device is on none of its ports; use another GID of the peer\n",
			    peer->gid.raw);
}

/* Not recorded as a hint of the peer, because it is about a local user. */
void mrc_peer_hint_claimed(struct mrc_peer *peer, u32 dqpn)
{
	mrc_dev_count(peer->dev, claims_refused);
	if (__ratelimit(&hint_lines))
		netdev_warn(peer->dev->ndev, "connection to QP %u of %pI6c refused: a QP of another user is connected to it\n",
			    dqpn, peer->gid.raw);
}

void mrc_peer_hint_policy(struct mrc_peer *peer, bool out)
{
	hint_say(peer, MRC_HINT_POLICY,
		 "an IPsec policy blocks packets %s %pI6c: check the policies and keys of both hosts (ip xfrm policy, ip xfrm state)",
		 out ? "to" : "from", peer->gid.raw);
}

void mrc_peer_hint_forget(struct mrc_peer *peer)
{
	mrc_crc_forget(&peer->crc);
	WRITE_ONCE(peer->heard, false);
	WRITE_ONCE(peer->asked, 0);
	WRITE_ONCE(peer->requested_planes, 0);
	atomic_set(&peer->bad_icrcs, 0);
	WRITE_ONCE(peer->hints, 0);
}

/* Clears the hints that a valid packet of the peer disproves. Others concern the packets sent to it. */
void mrc_peer_hint_settled(struct mrc_peer *peer)
{
	WRITE_ONCE(peer->heard, true);
	atomic_set(&peer->bad_icrcs, 0);
	clear_bit(__ffs(MRC_HINT_ICRC), &peer->hints);
	clear_bit(__ffs(MRC_HINT_UDP_PORT), &peer->hints);
	clear_bit(__ffs(MRC_HINT_NOBODY), &peer->hints);
	if (READ_ONCE(peer->greets))
		mrc_peer_port_greet(peer);
}
