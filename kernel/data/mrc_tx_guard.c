// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_tx_guard.c - see mrc_tx_guard.h.
 *
 * Sending a UDP datagram needs no privilege, and QPNs can be guessed. So any local program could
 * send packets to an MRC port that peers, or local QPs over lo, would accept as packets of this
 * host. Raw sockets are not checked: they need CAP_NET_RAW, whose owner can bypass every hook by
 * AF_PACKET.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/ipv6.h>
#include <net/sock.h>
#include "core/mrc_dev.h"
#include "core/mrc_dev_plane.h"
#include "core/mrc_net.h"
#include "data/mrc_rx.h"
#include "data/mrc_tx_guard.h"

/*
 * The offset of the UDP header of @skb; <= 0: there is none. Extension headers are skipped, because a program may send
 * a routing header in front of UDP, which a switch on the way may remove.
 */
static int guard_udp(const struct sk_buff *skb, bool v4)
{
	int off = skb_network_offset(skb);
	__be16 frag;
	u8 proto;

	if (v4)
		return ip_hdr(skb)->protocol == IPPROTO_UDP ? off + (int)ip_hdrlen(skb) : 0;
	proto = ipv6_hdr(skb)->nexthdr;
	off = ipv6_skip_exthdr(skb, off + (int)sizeof(struct ipv6hdr), &proto, &frag);
	return proto == NEXTHDR_UDP ? off : 0;
}

/* The device whose peers would receive a packet that leaves by @out; for lo, any device. NULL: none. */
static struct mrc_dev *guard_dev(const struct mrc_net *mnet, const struct net_device *out)
{
	struct mrc_dev_plane *plane = mrc_dev_plane_of(out);
	struct mrc_dev *dev;

	if (plane)
		return plane->dev;
	list_for_each_entry_rcu(dev, &mnet->devs, link)
		if (dev->ndev == out || out->flags & IFF_LOOPBACK)
			return dev;
	return NULL;
}

unsigned int mrc_tx_guard(void *priv, struct sk_buff *skb, const struct nf_hook_state *st)
{
	const struct mrc_net *mnet = priv;
	int off = guard_udp(skb, st->pf == NFPROTO_IPV4);
	const struct udphdr *udp;
	struct udphdr space;
	struct mrc_dev *dev;

	if (off <= 0 || !st->out || (skb->sk && skb->sk->sk_type == SOCK_RAW))
		return NF_ACCEPT;
	udp = skb_header_pointer(skb, off, sizeof(space), &space);
	if (!udp || likely(!mrc_rx_is_port(mnet, ntohs(udp->dest))))
		return NF_ACCEPT;
	dev = guard_dev(mnet, st->out);
	if (!dev)
		return NF_ACCEPT;
	mrc_dev_count(dev, tx_not_ours);
	return NF_DROP;
}
