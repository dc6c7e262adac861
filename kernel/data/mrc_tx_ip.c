// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_tx_ip.c - see mrc_tx_ip.h.
 */
#include <linux/icmpv6.h>
#include <linux/netdevice.h>
#include <net/icmp.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include "path/mrc_peer_paths.h"
#include "path/mrc_peers.h"
#include "path/mrc_route.h"
#include "data/mrc_policy.h"
#include "data/mrc_tx.h"
#include "data/mrc_tx_ip.h"
#include "data/mrc_tx_out.h"

/* True: @skb does not fit the path, and its sender gets an ICMP error. */
static bool ip_too_long(struct sk_buff *skb, const struct mrc_route *w)
{
	u32 mtu = dst_mtu(w->dst) - w->outer_len;
	bool v4 = skb->protocol == htons(ETH_P_IP);

	if (likely(skb->len <= mtu))
		return false;
	if (v4 && !w->srv6 && !(ip_hdr(skb)->frag_off & htons(IP_DF)))
		return false;	/* dst_output() fragments it */
	skb_dst_update_pmtu_no_confirm(skb, mtu);
	if (v4)
		icmp_ndo_send(skb, ICMP_DEST_UNREACH, ICMP_FRAG_NEEDED, htonl(mtu));
	else
		icmpv6_ndo_send(skb, ICMPV6_PKT_TOOBIG, 0, mtu);
	return true;
}

/* As mrc_tx_ip(). */
static bool ip_send(struct mrc_dev *dev, struct mrc_pathset *ps, struct sk_buff *skb, u8 tos)
{
	u8 proto = skb->protocol == htons(ETH_P_IP) ? IPPROTO_IPIP : IPPROTO_IPV6;
	struct mrc_route w;
	u16 idx;

	spin_lock_bh(&ps->peer->path_lock);
	idx = mrc_evset_of_flow(&ps->evs, skb_get_hash(skb));
	spin_unlock_bh(&ps->peer->path_lock);
	if (idx == MRC_NONE16 || mrc_route_find(dev, ps, idx, &w))
		return false;
	if (ip_too_long(skb, &w) ||
	    skb_cow_head(skb, LL_RESERVED_SPACE(w.dst->dev) + w.outer_len))
		return false;
	/* The inner packet has passed this host's firewall rules. NAT must not apply its state to the outer header. */
	skb_scrub_packet(skb, false);
	skb_dst_set_noref(skb, w.dst);
	if (w.srv6)
		mrc_tx_push_outer(dev, skb, &w, tos, mrc_evset_value(&ps->evs, idx) & 0xffff,
				  proto);
	/*
	 * IP has checked the policy for the inner packet. A packet blocked here counts as sent: it is lost on the way.
	 */
	if (w.srv6 && unlikely(mrc_policy_any(dev->net)) && !mrc_policy_out(dev, skb, 0))
		return true;
	mrc_tx_output(dev, mrc_tx_plane(ps, idx), false, skb);
	return true;
}

bool mrc_tx_ip(struct mrc_dev *dev, struct sk_buff *skb, const union ib_gid *gid, u8 tos)
{
	struct mrc_peer *peer = mrc_peer_get(dev, gid, GFP_ATOMIC);
	struct mrc_pathset *ps;
	bool sent;

	if (!peer)
		return false;
	ps = mrc_peer_paths_get(peer);
	sent = ip_send(dev, ps, skb, tos);
	mrc_pathset_put(ps);
	mrc_peer_put(peer);
	if (sent)
		mrc_dev_count(dev, tx_ip);
	return sent;
}
