// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_rx_burst.c - see mrc_rx_burst.h.
 *
 * The kernel's own segmentation calls the handler of each header, from Ethernet on. Here the list
 * is split directly. The headers of the first packet are copied to each one, because changes on the
 * way were made there for all of them. Then the lengths of the inner headers are set. The outer
 * header was read before.
 */
#include <linux/ipv6.h>
#include <linux/udp.h>
#include "data/mrc_rx_burst.h"

/*
 * True: IPv6; still a list of packets (a device on the way may have linearised it); we may change all bytes; and each
 * packet has headroom for the headers.
 */
static bool burst_is_plain(const struct mrc_rx_pkt *p, const struct sk_buff *skb, u32 headers)
{
	const struct sk_buff *part;

	if (p->v4 || !(skb_shinfo(skb)->gso_type & SKB_GSO_FRAGLIST) || !skb_has_frag_list(skb) ||
	    skb_pagelen(skb) - headers != skb_shinfo(skb)->gso_size || skb_cloned(skb) || skb_shared(skb))
		return false;
	skb_walk_frags(skb, part)
		if (skb_cloned(part) || skb_shared(part) || skb_headroom(part) < headers)
			return false;
	return true;
}

static void burst_lengths(const struct mrc_rx_pkt *p, struct sk_buff *skb)
{
	struct ipv6hdr *ip6 = (struct ipv6hdr *)(skb->data + p->l3);
	struct udphdr *udp = (struct udphdr *)(skb->data + p->l4);

	ip6->payload_len = htons((u16)(skb->len - p->l3 - sizeof(*ip6)));
	udp->len = htons((u16)(skb->len - p->l4));
}

/* Subtracts what @part on the list contributed to the lengths of the first packet. */
static void burst_leave(struct sk_buff *skb, const struct sk_buff *part)
{
	skb->len -= part->len;
	skb->data_len -= part->len;
	skb->truesize -= part->truesize;
}

bool mrc_rx_burst_part(const struct mrc_rx_pkt *p, struct sk_buff *skb)
{
	u32 headers = p->l4 + sizeof(struct udphdr);
	struct sk_buff *part;

	if (unlikely(!burst_is_plain(p, skb, headers)))
		return false;
	skb_walk_frags(skb, part) {
		burst_leave(skb, part);
		memcpy(__skb_push(part, headers), skb->data, headers);
		skb_reset_network_header(part);
		burst_lengths(p, part);
		part->dev = skb->dev;
	}
	burst_lengths(p, skb);
	skb->next = skb_shinfo(skb)->frag_list;
	skb_shinfo(skb)->frag_list = NULL;
	skb_gso_reset(skb);
	return true;
}
