// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_rx_icmp.c - see mrc_rx_icmp.h.
 *
 * Two errors are evaluated, because nothing else reports these faults. An expired hop limit: our
 * setting hop-limit of outer headers is too low. An unreachable UDP port: the host has no RoCEv2,
 * its address belongs to an iWARP device (siw), or its module is not loaded. Both only cause a
 * hint, so forged errors do no harm.
 */
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include "path/mrc_peer_hint.h"
#include "path/mrc_peers.h"
#include "data/mrc_rx_icmp.h"

/* @off: offset of the header after the outer IPv6 header, @proto its type. @gid: destination of the inner packet. */
static bool icmp_inner_dst(const struct sk_buff *skb, int off, u8 proto, union ib_gid *gid)
{
	struct ipv6hdr buf6;
	const struct ipv6hdr *ip6;
	struct iphdr buf4;
	const struct iphdr *ip;
	u8 buf[8], *srh;

	if (proto == NEXTHDR_ROUTING) {
		srh = skb_header_pointer(skb, off, sizeof(buf), buf);
		if (!srh)
			return false;
		proto = srh[0];
		off += 8 + srh[1] * 8;
	}
	if (proto == NEXTHDR_IPV6) {
		ip6 = skb_header_pointer(skb, off, sizeof(buf6), &buf6);
		if (ip6)
			memcpy(gid, &ip6->daddr, sizeof(*gid));
		return ip6;
	}
	if (proto != IPPROTO_IPIP)
		return false;
	ip = skb_header_pointer(skb, off, sizeof(buf4), &buf4);
	if (ip)
		ipv6_addr_set_v4mapped(ip->daddr, (struct in6_addr *)gid);
	return ip;
}

static void icmp_hops(struct mrc_dev *dev, const struct sk_buff *skb, const struct ipv6hdr *inside, int off)
{
	struct mrc_peer *peer;
	union ib_gid gid;

	if (!icmp_inner_dst(skb, off + (int)sizeof(*inside), inside->nexthdr, &gid))
		return;
	peer = mrc_peer_find(dev, &gid);
	if (peer)
		mrc_peer_hint_hops(peer, &ipv6_hdr(skb)->saddr);
	mrc_peer_put(peer);
}

/* @gid: destination of the packet in the error; @udp_at: offset of its UDP header. */
static void icmp_port(struct mrc_dev *dev, const struct sk_buff *skb, const union ib_gid *gid, int udp_at)
{
	struct mrc_peer *peer;
	struct udphdr buf;
	const struct udphdr *udp = skb_header_pointer(skb, udp_at, sizeof(buf), &buf);

	if (!udp)
		return;
	peer = mrc_peer_find(dev, gid);
	if (peer)
		mrc_peer_hint_nobody(peer, ntohs(udp->dest));
	mrc_peer_put(peer);
}

void mrc_rx_icmp6(struct mrc_dev *dev, const struct sk_buff *skb)
{
	struct {
		struct icmp6hdr icmp;
		struct ipv6hdr inside;	/* the header of our packet */
	} buf;
	const typeof(buf) *p;
	union ib_gid gid;

	p = skb_header_pointer(skb, sizeof(struct ipv6hdr), sizeof(buf), &buf);
	if (!p)
		return;
	if (p->icmp.icmp6_type == ICMPV6_TIME_EXCEED && p->icmp.icmp6_code == ICMPV6_EXC_HOPLIMIT) {
		icmp_hops(dev, skb, &p->inside, sizeof(struct ipv6hdr) + sizeof(p->icmp));
	} else if (p->icmp.icmp6_type == ICMPV6_DEST_UNREACH && p->icmp.icmp6_code == ICMPV6_PORT_UNREACH &&
		   p->inside.nexthdr == IPPROTO_UDP) {
		memcpy(&gid, &p->inside.daddr, sizeof(gid));
		icmp_port(dev, skb, &gid, sizeof(struct ipv6hdr) + sizeof(buf));
	}
}

void mrc_rx_icmp4(struct mrc_dev *dev, const struct sk_buff *skb)
{
	int at = ip_hdrlen(skb);
	struct {
		struct icmphdr icmp;
		struct iphdr inside;	/* the header of our packet, which has no options */
	} buf;
	const typeof(buf) *p;
	union ib_gid gid;

	p = skb_header_pointer(skb, at, sizeof(buf), &buf);
	if (!p || p->icmp.type != ICMP_DEST_UNREACH || p->icmp.code != ICMP_PORT_UNREACH ||
	    p->inside.ihl != 5 || p->inside.protocol != IPPROTO_UDP)
		return;
	ipv6_addr_set_v4mapped(p->inside.daddr, (struct in6_addr *)&gid);
	icmp_port(dev, skb, &gid, at + (int)sizeof(buf));
}
