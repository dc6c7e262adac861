// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_tx_out.c - see mrc_tx_out.h.
 *
 * dst_output() checks each packet for features that few hosts use: a hook at POST_ROUTING, a
 * tunnel, a transformation (IPsec), fragmentation. If none is used and the neighbour's address is
 * known, the packet goes directly to the neighbour, as ip6_finish_output2() would send it, with the
 * same counters. neigh_output() verifies the neighbour when necessary. Nothing is bypassed: the
 * first rule of a firewall or NAT at POST_ROUTING registers a hook, and then all packets pass it.
 * tc, the egress hook of the netdev and captures come later, on the common path.
 */
#include <linux/netfilter.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/ndisc.h>
#include "engine/wire/mrc_wire.h"
#include "compat/mrc_compat_net.h"
#include "core/mrc_dev_plane.h"
#include "data/mrc_tx_out.h"

static void out_count(const struct mrc_dev *dev, u8 num, u32 n, u32 len)
{
	const struct mrc_dev_plane *plane;

	plane = num == MRC_PLANE_NONE ? NULL : rcu_dereference(dev->plane[num]);
	if (likely(plane))
		mrc_dev_plane_count_tx(plane, n, len);
}

static bool out_hooked(const struct net *net)
{
#ifdef CONFIG_NETFILTER
	return rcu_access_pointer(net->nf.hooks_ipv6[NF_INET_POST_ROUTING]);
#else
	return false;
#endif
}

/* Would dst_output() do no more than count the packet and find its neighbour? */
static bool out_plain(const struct net *net, const struct dst_entry *dst, const struct sk_buff *skb)
{
	const struct inet6_dev *idev;

	if (dst->output != ip6_output || dst->lwtstate || dst_xfrm(dst) || out_hooked(net) ||
	    (skb_is_gso(skb) && !skb_gso_validate_network_len(skb, dst_mtu(dst))) ||
	    ipv6_addr_is_multicast(&ipv6_hdr(skb)->daddr))
		return false;
	idev = ip6_dst_idev(dst);
	return idev && !READ_ONCE(idev->cnf.disable_ipv6);
}

/* NULL: its address is unknown and must be solicited, which dst_output() does. */
static struct neighbour *out_neighbour(const struct dst_entry *dst, const struct sk_buff *skb)
{
	const struct in6_addr *to = rt6_nexthop((const struct rt6_info *)dst,
						&ipv6_hdr(skb)->daddr);
	struct neighbour *n = __ipv6_neigh_lookup_noref(dst->dev, to);

	return n && READ_ONCE(n->nud_state) & NUD_VALID ? n : NULL;
}

static int out(struct net *net, struct sk_buff *skb)
{
	struct dst_entry *dst = skb_dst(skb);
	struct neighbour *n;

	/* IP keeps its own data there (IPCB, IP6CB). And classifiers on the netdev must not see ours. */
	memset(skb->cb, 0, sizeof(skb->cb));
	if (likely(out_plain(net, dst, skb))) {
		n = out_neighbour(dst, skb);
		if (likely(n)) {
			skb->dev = dst->dev;
			IP6_UPD_PO_STATS(net, ip6_dst_idev(dst), IPSTATS_MIB_OUT, skb->len);
			return neigh_output(n, skb, false);
		}
	}
	return dst_output(net, NULL, skb);
}

/*
 * RFC 4861 section 7.3.1: an upper layer that gets answers confirms the neighbour. Without confirmation the kernel
 * solicits the neighbour every half minute. If the solicitations are lost, all peers behind it become unreachable.
 */
static void out_confirm(const struct sk_buff *skb)
{
	const struct dst_entry *dst = skb_dst(skb);

	if (ip_hdr(skb)->version == 4)
		dst_confirm_neigh(dst, &ip_hdr(skb)->daddr);
	else
		dst_confirm_neigh(dst, &ipv6_hdr(skb)->daddr);
}

void mrc_tx_output(struct mrc_dev *dev, u8 plane, bool proven, struct sk_buff *skb)
{
	u32 len = skb->len, n = skb_shinfo(skb)->gso_segs ?: 1;
	int err;

	if (unlikely(proven))
		out_confirm(skb);
	err = out(dev->net, skb);
	if (likely(!net_xmit_eval(err)))	/* a macro that evaluates its argument twice */
		out_count(dev, plane, n, len);
	else
		mrc_dev_count(dev, tx_errors);
}
