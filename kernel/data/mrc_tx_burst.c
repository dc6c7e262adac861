// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_tx_burst.c - see mrc_tx_burst.h.
 *
 * A burst is one packet with a list of further packets (SKB_GSO_FRAGLIST), as GRO builds it on
 * forwarding hosts. Each has its own headers, BTH and ICRC. The burst passes routing, firewall
 * rules and virtual ports as one packet. For a port that does not support such lists the kernel
 * splits it and hands over the packets with xmit_more.
 *
 * IPv6 only: when the kernel splits IPv4 it numbers the packets (RFC 791, Identification), and the
 * ICRC covers that number.
 */
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/udp.h>
#include "engine/paths/mrc_spray.h"
#include "data/mrc_tx_burst.h"
#include "data/mrc_tx_cb.h"

#define BURST_BYTES_MAX	(64 * 1024 - 512)	/* because length fields have 16 bits */

/* GSO requires packets of equal length; only the last may be shorter. */

static bool burst_fits(struct sk_buff *head, struct sk_buff *skb)
{
	const struct mrc_tx_cb *h = mrc_tx_cb(head), *s = mrc_tx_cb(skb);
	struct sk_buff *last = h->last ?: head;

	return s->joins && s->ev == h->ev && s->plane == h->plane && s->tos == h->tos &&
	       s->l3_off == h->l3_off && skb_dst(skb) == skb_dst(head) &&
	       s->len <= h->len && mrc_tx_cb(last)->len == h->len &&
	       skb_shinfo(head)->gso_segs < MRC_BURST_MAX &&
	       head->len + s->len <= BURST_BYTES_MAX;
}

bool mrc_tx_burst_add(struct sk_buff *head, struct sk_buff *skb)
{
	struct mrc_tx_cb *h = mrc_tx_cb(head);
	const struct mrc_tx_cb *s = mrc_tx_cb(skb);

	if (!burst_fits(head, skb))
		return false;
	/* When the kernel splits the burst, it expects skb->data at the payload and the headers in front of it. */
	skb_set_network_header(skb, s->l3_off);
	__skb_pull(skb, mrc_tx_cb_body6(s));
	skb_dst_drop(skb);
	if (h->last)
		h->last->next = skb;
	else
		skb_shinfo(head)->frag_list = skb;
	h->last = skb;
	head->len += skb->len;
	head->data_len += skb->len;
	head->truesize += skb->truesize;
	skb_shinfo(head)->gso_segs += skb_shinfo(head)->gso_segs ? 1 : 2;
	return true;
}

static void set_len6(struct sk_buff *skb, u32 off)
{
	struct ipv6hdr *ip6 = (struct ipv6hdr *)(skb->data + off);

	ip6->payload_len = htons((u16)(skb->len - off - sizeof(*ip6)));
}

void mrc_tx_burst_end(struct sk_buff *head)
{
	const struct mrc_tx_cb *cb = mrc_tx_cb(head);
	struct skb_shared_info *si = skb_shinfo(head);

	if (!cb->last)
		return;
	si->gso_size = cb->len;
	si->gso_type = SKB_GSO_UDP_L4 | SKB_GSO_FRAGLIST;
	head->ip_summed = CHECKSUM_UNNECESSARY;	/* UDP checksum 0: none */
	set_len6(head, cb->l3_off);
	((struct udphdr *)(head->data + cb->l3_off + sizeof(struct ipv6hdr)))->len =
		htons((u16)(head->len - cb->l3_off - sizeof(struct ipv6hdr)));
	if (!cb->l3_off)
		return;
	set_len6(head, 0);
	si->gso_type |= SKB_GSO_IPXIP6;
	head->encapsulation = 1;
	skb_set_inner_mac_header(head, cb->l3_off);
	skb_set_inner_network_header(head, cb->l3_off);
	skb_set_inner_transport_header(head, cb->l3_off + (int)sizeof(struct ipv6hdr));
	skb_set_inner_ipproto(head, IPPROTO_IPV6);
}
