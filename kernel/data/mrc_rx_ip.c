// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_rx_ip.c - see mrc_rx_ip.h.
 */
#include <linux/etherdevice.h>
#include <linux/netfilter.h>
#include <net/inet_ecn.h>
#include <net/ip_tunnels.h>
#include "data/mrc_policy.h"
#include "data/mrc_rx_ip.h"

unsigned int mrc_rx_ip(const struct mrc_rx_pkt *p, struct sk_buff *skb)
{
	struct mrc_dev *dev = p->plane->dev;
	struct net_device *ndev = dev->ndev;
	struct ethhdr *eth;

	if (!mrc_dev_owns_addr(dev, &p->dst))
		return NF_ACCEPT;	/* for another local SID, or to be forwarded */
	if (unlikely(p->cut)) {
		mrc_dev_count(dev, rx_malformed);
		return NF_DROP;
	}
	if (unlikely(!mrc_policy_in_outer(dev, skb)))
		return NF_DROP;
	if (!(ndev->flags & IFF_UP) || skb_unclone(skb, GFP_ATOMIC) ||
	    iptunnel_pull_offloads(skb)) {
		DEV_STATS_INC(ndev, rx_dropped);
		return NF_DROP;
	}
	mrc_dev_plane_count_rx(p->plane, skb->len);
	skb_pull_rcsum(skb, p->l3);
	if (pskb_trim_rcsum(skb, p->end - p->l3)) {
		DEV_STATS_INC(ndev, rx_dropped);
		return NF_DROP;
	}
	skb->protocol = p->v4 ? htons(ETH_P_IP) : htons(ETH_P_IPV6);
	skb_reset_network_header(skb);
	if ((p->ds & MRC_ECN_CE) == MRC_ECN_CE)
		INET_ECN_set_ce(skb);
	/* Captures on the netdev expect an Ethernet header. The outer header made room for it. */
	eth = (struct ethhdr *)skb_push(skb, ETH_HLEN);
	ether_addr_copy(eth->h_dest, ndev->dev_addr);
	ether_addr_copy(eth->h_source, ndev->dev_addr);
	eth->h_proto = skb->protocol;
	skb_reset_mac_header(skb);
	skb_pull(skb, ETH_HLEN);
	skb_reset_mac_len(skb);
	skb_scrub_packet(skb, false);
	skb->dev = ndev;
	skb->pkt_type = PACKET_HOST;
	mrc_dev_count(dev, rx_decap);
	if (dev->own_netdev)
		dev_sw_netstats_rx_add(ndev, skb->len);
	netif_rx(skb);
	return NF_STOLEN;
}
