// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_policy.c - see mrc_policy.h.
 *
 * Routes are cached with paths, which many QPs share, but policies depend on addresses, ports and
 * protocols. So the policy is looked up for each packet, if there are policies at all. The result
 * is a route through IPsec.
 *
 * The kernel's IPsec cannot reach MRC's own header behind an SRv6 header. A policy that requires
 * protection of it cannot be met, so the packet is dropped. A policy about the outer header can be
 * met.
 */
#include <net/dst.h>
#include <net/flow.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/xfrm.h>
#include "path/mrc_peer_hint.h"
#include "path/mrc_peers.h"
#include "data/mrc_policy.h"

#ifdef CONFIG_XFRM

static void flow4(const struct iphdr *ip, int oif, struct flowi *fl)
{
	struct flowi4 *fl4 = &fl->u.ip4;
	const struct udphdr *udp = (const struct udphdr *)((const u8 *)ip + ip->ihl * 4);

	fl4->flowi4_oif = oif;
	fl4->flowi4_proto = ip->protocol;
	fl4->saddr = ip->saddr;
	fl4->daddr = ip->daddr;
	if (ip->protocol == IPPROTO_UDP) {
		fl4->fl4_sport = udp->source;
		fl4->fl4_dport = udp->dest;
	}
}

static void flow6(const struct ipv6hdr *ip6, int oif, struct flowi *fl)
{
	const u8 *next = (const u8 *)(ip6 + 1);
	const struct udphdr *udp = (const struct udphdr *)next;
	struct flowi6 *fl6 = &fl->u.ip6;

	fl6->flowi6_oif = oif;
	/* The first byte of a segment routing header is the type of the next header. */
	fl6->flowi6_proto = ip6->nexthdr == NEXTHDR_ROUTING ? next[0] : ip6->nexthdr;
	fl6->saddr = ip6->saddr;
	fl6->daddr = ip6->daddr;
	if (ip6->nexthdr == NEXTHDR_UDP) {
		fl6->fl6_sport = udp->source;
		fl6->fl6_dport = udp->dest;
	}
}

/* Describes the flow of the packet with IP header @at. That header and the next one are linear. */
static void flow_of(const u8 *at, int oif, struct flowi *fl)
{
	memset(fl, 0, sizeof(*fl));
	if (*at >> 4 == 4)
		flow4((const struct iphdr *)at, oif, fl);
	else
		flow6((const struct ipv6hdr *)at, oif, fl);
}

/*
 * The route for IP header @at, referenced: that of @skb if no policy demands protection. Error: the packet is blocked.
 */
static struct dst_entry *policy_route(struct net *net, const struct sk_buff *skb, const u8 *at)
{
	struct dst_entry *dst = skb_dst(skb);
	struct flowi fl;

	flow_of(at, dst->dev->ifindex, &fl);
	dst_hold(dst);	/* xfrm_lookup() consumes a reference */
	return xfrm_lookup(net, dst, &fl, NULL, 0);
}

/* May the inner packet at @at leave unprotected? IPsec cannot reach it. */
static bool policy_allows_clear(struct net *net, const struct sk_buff *skb, const u8 *at)
{
	struct dst_entry *dst = policy_route(net, skb, at);

	if (IS_ERR(dst))
		return false;
	dst_release(dst);
	return dst == skb_dst(skb);
}

/* Gives @skb the route that its policy demands. False: the policy blocks it. */
static bool policy_apply(struct net *net, struct sk_buff *skb)
{
	struct dst_entry *dst = policy_route(net, skb, skb->data);

	if (IS_ERR(dst))
		return false;
	if (dst == skb_dst(skb)) {
		dst_release(dst);
		return true;
	}
	skb_dst_drop(skb);
	skb_dst_set(skb, dst);
	/*
	 * With the bytes that IPsec adds, the packet may exceed the plane's MTU. It may be fragmented, because the peer
	 * reassembles it before it removes the protection.
	 */
	skb->ignore_df = 1;
	return true;
}

/*
 * An IPv6 tunnel would fragment the packet first and then protect the fragments, which the peer's hook does not take.
 */
static bool policy_too_long(const struct sk_buff *skb)
{
	const struct dst_entry *dst = skb_dst(skb);

	return dst_xfrm(dst) && dst_xfrm(dst)->props.mode != XFRM_MODE_TRANSPORT &&
	       ip_hdr(skb)->version == 6 && !skb_is_gso(skb) && skb->len > dst_mtu(dst);
}

static void addr_of(const u8 *at, bool dest, union ib_gid *gid)
{
	const struct ipv6hdr *ip6 = (const struct ipv6hdr *)at;
	const struct iphdr *ip = (const struct iphdr *)at;

	if (*at >> 4 == 4)
		ipv6_addr_set_v4mapped(dest ? ip->daddr : ip->saddr, (struct in6_addr *)gid);
	else
		memcpy(gid, dest ? &ip6->daddr : &ip6->saddr, sizeof(*gid));
}

static void policy_hint(struct mrc_dev *dev, const u8 *at, bool out)
{
	struct mrc_peer *peer;
	union ib_gid gid;

	addr_of(at, out, &gid);
	peer = mrc_peer_find(dev, &gid);
	if (peer)
		mrc_peer_hint_policy(peer, out);
	mrc_peer_put(peer);
}

bool mrc_policy_out(struct mrc_dev *dev, struct sk_buff *skb, u32 inner)
{
	if (skb_dst_force(skb) && (!inner || policy_allows_clear(dev->net, skb, skb->data + inner)) &&
	    policy_apply(dev->net, skb)) {
		if (likely(!policy_too_long(skb)))
			return true;
		mrc_dev_count(dev, tx_too_long);
	} else {
		mrc_dev_count(dev, tx_policy);
		policy_hint(dev, skb->data + inner, true);
	}
	kfree_skb(skb);
	return false;
}

/* ---- in ---- */

/* Did the packet arrive with the protection that the policies for its outermost header demand? */
static bool policy_in_ok(struct sk_buff *skb)
{
	return ip_hdr(skb)->version == 4 ? xfrm4_policy_check(NULL, XFRM_POLICY_IN, skb) :
					   xfrm6_policy_check(NULL, XFRM_POLICY_IN, skb);
}

/* The same for the inner header, for which protection of the outer one does not count. */
static bool policy_in_ok_inner(const struct mrc_rx_pkt *p, struct sk_buff *skb)
{
	int off = skb_network_offset(skb);
	bool heard;

	secpath_reset(skb);
	skb_set_network_header(skb, (int)p->l3);
	heard = policy_in_ok(skb);
	skb_set_network_header(skb, off);
	return heard;
}

bool mrc_policy_in(const struct mrc_rx_pkt *p, struct mrc_dev *dev, struct sk_buff *skb)
{
	if (p->lo || likely(policy_in_ok(skb) && (!p->outer || policy_in_ok_inner(p, skb))))
		return true;
	mrc_dev_count(dev, rx_policy);
	policy_hint(dev, skb->data + p->l3, false);
	return false;
}

bool mrc_policy_in_outer(struct mrc_dev *dev, struct sk_buff *skb)
{
	if (likely(policy_in_ok(skb)))
		return true;
	mrc_dev_count(dev, rx_policy);
	return false;
}

#endif
