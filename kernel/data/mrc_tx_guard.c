// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_tx_guard.c - see mrc_tx_guard.h.
 *
 * A datagram needs no privilege, has an address of this host, and QPNs and PSNs are everybody's to
 * read (mrcctl, rdma). So whoever may open a socket could send to an MRC port what the peers of this host, or
 * its own QPs over lo, take for its word. RoCEv2 NICs pass such datagrams; here the way out is ours.
 * Raw sockets need CAP_NET_RAW, whose owner can send by AF_PACKET, past every hook, as well.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/sock.h>
#include "engine/mrc_wire.h"
#include "core/mrc_dev.h"
#include "core/mrc_dev_plane.h"
#include "core/mrc_net.h"
#include "data/mrc_tx_guard.h"

static bool guard_is_port(const struct mrc_net *mnet, u16 port)
{
	const struct mrc_dev *dev;

	if (port == MRC_UDP_PORT || port == MRC_UDP_PORT_ALT)
		return true;
	list_for_each_entry_rcu(dev, &mnet->devs, link)
		if (READ_ONCE(dev->attr.udp_port) == port)
			return true;
	return false;
}

/* Where the UDP header of @skb begins, or 0. Headers in between take CAP_NET_RAW to send. */
static int guard_udp(const struct sk_buff *skb, bool v4)
{
	if (!v4)
		return ipv6_hdr(skb)->nexthdr == NEXTHDR_UDP ? sizeof(struct ipv6hdr) : 0;
	return ip_hdr(skb)->protocol == IPPROTO_UDP ? ip_hdrlen(skb) : 0;
}

/* The device whose peers would hear what leaves by @out; of lo, one for all. */
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

	if (!off || !st->out || (skb->sk && skb->sk->sk_type == SOCK_RAW))
		return NF_ACCEPT;
	udp = skb_header_pointer(skb, skb_network_offset(skb) + off, sizeof(space), &space);
	if (!udp || likely(!guard_is_port(mnet, ntohs(udp->dest))))
		return NF_ACCEPT;
	dev = guard_dev(mnet, st->out);
	if (!dev)
		return NF_ACCEPT;
	mrc_dev_count(dev, tx_not_ours);
	return NF_DROP;
}
