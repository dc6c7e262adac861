// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_rx_icmp.c - see mrc_rx_icmp.h.
 *
 * The one error that is looked at says that a hop limit ended: it is a setting of ours
 * (hop-limit, of outer headers), and nothing else would tell. Nothing but a hint comes of it, so
 * anybody on a plane may invent one.
 */
#include <linux/icmpv6.h>
#include <net/ipv6.h>
#include "path/mrc_peer_hint.h"
#include "path/mrc_peers.h"
#include "data/mrc_rx_icmp.h"

/* Behind the outer header at @off: whom the packet inside was for. */
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

void mrc_rx_icmp(struct mrc_dev *dev, const struct sk_buff *skb)
{
	struct {
		struct icmp6hdr icmp;
		struct ipv6hdr outer;	/* of ours */
	} buf;
	const typeof(buf) *p;
	struct mrc_peer *peer;
	union ib_gid gid;

	p = skb_header_pointer(skb, sizeof(struct ipv6hdr), sizeof(buf), &buf);
	if (!p || p->icmp.icmp6_type != ICMPV6_TIME_EXCEED ||
	    p->icmp.icmp6_code != ICMPV6_EXC_HOPLIMIT)
		return;
	if (!icmp_inner_dst(skb, sizeof(struct ipv6hdr) + sizeof(buf), p->outer.nexthdr, &gid))
		return;
	peer = mrc_peer_find(dev, &gid);
	if (peer)
		mrc_peer_hint_hops(peer, &ipv6_hdr(skb)->saddr);
	mrc_peer_put(peer);
}
