// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_rx.c - received packets: from the hook at PRE_ROUTING to the QP.
 *
 * The hook runs with BH off, before IP and UDP check the packet. So it sees the congestion mark of
 * the outer header, and trimmed packets (UDP length greater than the remaining data), which they
 * would hide or drop. It takes
 *
 *  - SRv6 packets that arrive on a plane for the locator of that plane. MRC packets and datagrams
 *    inside go to their QP. Other IP for our address is decapsulated, on the device's netdev.
 *  - plain UDP to an MRC port at an address of a device of this namespace.
 *
 * It also reads ICMP errors about our packets (data/mrc_rx_icmp.h) and passes them on. All other
 * packets continue through the stack unchanged. Each packet that is taken and refused increments
 * exactly one counter; a multicast packet increments one per QP that refuses it. A QP that opted
 * out of its own multicast packets counts nothing.
 *
 * This is the trust boundary below mrc_wire_parse(). Every offset is checked against the end that
 * IP's length gives. Headers are pulled before they are read. pskb_may_pull() may move them, so no
 * pointer is kept across it.
 */
#include <linux/ktime.h>
#include <linux/netfilter.h>
#include <net/dsfield.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include "compat/mrc_compat_net.h"
#include "path/mrc_peer_hint.h"
#include "path/mrc_peer_paths.h"
#include "path/mrc_peer_port.h"
#include "path/mrc_peers.h"
#include "data/mrc_icrc.h"
#include "data/mrc_loop_rx.h"
#include "data/mrc_mcast.h"
#include "data/mrc_policy.h"
#include "data/mrc_qp_rx.h"
#include "data/mrc_rx.h"
#include "data/mrc_rx_burst.h"
#include "data/mrc_rx_icmp.h"
#include "data/mrc_rx_ip.h"
#include "data/mrc_rx_pkt.h"
#include "data/mrc_tx.h"
#include "data/mrc_ud_rx.h"

#define RX_BATCH	4	/* packets placed per hold of a QP's lock; small, because a batch is on the stack */

enum { RX_NOT_OURS = -1, RX_PLAIN, RX_OUTER };

/* Packets of a burst for one QP, collected while the burst is split. */
struct rx_batch {
	struct mrc_qp *qp;	/* their QP, or NULL; valid under RCU */
	u32 n;
	struct mrc_arrival arrival[RX_BATCH];
};

/* ---- outer headers ---- */

/* The length of the segment routing header at @off; *@proto: the type of the header after it. -1: not for us. */
static int srh_skip(const struct sk_buff *skb, u32 off, u8 *proto)
{
	u8 buf[8], *rh = skb_header_pointer(skb, (int)off, sizeof(buf), buf);

	/* With segments left, this host is not the end of the path: the stack processes the segment (End). */
	if (!rh || rh[2] != IPV6_SRCRT_TYPE_4 || rh[3])
		return -1;
	*proto = rh[0];
	return 8 + rh[1] * 8;
}

/*
 * Reads the outermost IPv6 header. RX_PLAIN: UDP follows. RX_OUTER: it is SRv6 for our locator, or p->stray is set;
 * p->l3 and p->v4 describe the inner header. RX_NOT_OURS: all other packets.
 */
static int rx_outer6(struct mrc_rx_pkt *p, const struct sk_buff *skb)
{
	const struct ipv6hdr *ip6 = ipv6_hdr(skb);
	u8 proto = ip6->nexthdr;
	u32 off = sizeof(*ip6);
	int n;

	p->end = off + ntohs(ip6->payload_len);
	p->ds = ipv6_get_dsfield(ip6);
	if (proto == NEXTHDR_UDP)
		return RX_PLAIN;
	if (proto != NEXTHDR_IPV6 && proto != IPPROTO_IPIP && proto != NEXTHDR_ROUTING)
		return RX_NOT_OURS;
	if (!p->plane || !smp_load_acquire(&p->plane->has_sid) || p->end > skb->len)
		return RX_NOT_OURS;
	if (proto == NEXTHDR_ROUTING) {
		n = srh_skip(skb, off, &proto);
		if (n < 0)
			return RX_NOT_OURS;
		off += (u32)n;
	}
	if (proto != NEXTHDR_IPV6 && proto != IPPROTO_IPIP)
		return RX_NOT_OURS;
	if (!ipv6_addr_equal(&ip6->daddr, &p->plane->sid)) {
		mrc_dev_count(p->plane->dev, rx_bad_sid);
		p->stray = mrc_loop_other_plane(p->plane->dev, &ip6->daddr);
		if (likely(!p->stray))
			return RX_NOT_OURS;
	}
	p->l3 = off;
	p->v4 = proto == IPPROTO_IPIP;
	p->outer = true;
	return RX_OUTER;
}

/* ---- innermost IP header ---- */

/*
 * Sets the end of the packet from the length @len in its innermost IP header. False: that exceeds the data, and there
 * is no outer header. With one, the packet may be trimmed (p->cut): a switch corrects only the length of the outer
 * header.
 */
static bool rx_end(struct mrc_rx_pkt *p, u32 len)
{
	if (unlikely(len > p->end - p->l3)) {
		p->cut = p->outer;
		return p->outer;
	}
	p->end = p->l3 + len;
	return true;
}

static bool rx_ip4(struct mrc_rx_pkt *p, struct sk_buff *skb)
{
	const struct iphdr *ip;
	u32 len, hlen;

	if (p->end - p->l3 < sizeof(*ip) || !pskb_may_pull(skb, p->l3 + sizeof(*ip)))
		return false;
	ip = (const struct iphdr *)(skb->data + p->l3);
	hlen = ip->ihl * 4u;
	len = ntohs(ip->tot_len);
	if (ip->version != 4 || hlen < sizeof(*ip) || len < hlen || hlen > p->end - p->l3)
		return false;
	if (!rx_end(p, len) || !pskb_may_pull(skb, p->l3 + hlen))
		return false;
	ip = (const struct iphdr *)(skb->data + p->l3);
	if (p->outer && ip_fast_csum((const u8 *)ip, ip->ihl))
		return false;
	p->l4 = p->l3 + hlen;
	p->inner_ds = ip->tos;
	p->proto = ip_is_fragment(ip) ? 0xff : ip->protocol;
	p->flow_label = 0;
	ipv6_addr_set_v4mapped(ip->saddr, &p->src);
	ipv6_addr_set_v4mapped(ip->daddr, &p->dst);
	return true;
}

static bool rx_ip6(struct mrc_rx_pkt *p, struct sk_buff *skb)
{
	const struct ipv6hdr *ip6;
	u32 len;

	if (p->end - p->l3 < sizeof(*ip6) || !pskb_may_pull(skb, p->l3 + sizeof(*ip6)))
		return false;
	ip6 = (const struct ipv6hdr *)(skb->data + p->l3);
	len = sizeof(*ip6) + ntohs(ip6->payload_len);
	if (ip6->version != 6 || !rx_end(p, len))
		return false;
	p->l4 = p->l3 + sizeof(*ip6);
	p->inner_ds = ipv6_get_dsfield(ip6);
	p->proto = ip6->nexthdr;
	p->flow_label = (u16)ntohl(ip6_flowlabel(ip6));
	p->src = ip6->saddr;
	p->dst = ip6->daddr;
	return true;
}

/* ---- the device of a packet ---- */

/* For a group: the device of the plane of arrival. NULL: none; counted if the packet arrived on a plane. */
static struct mrc_dev *rx_dev_by_group(const struct mrc_rx_pkt *p)
{
	struct mrc_dev *dev = p->plane ? p->plane->dev : NULL;

	if (!dev || mrc_mcast_find(dev, (const union ib_gid *)&p->dst))
		return dev;
	mrc_dev_count(dev, rx_mcast_unknown);
	return NULL;
}

static struct mrc_dev *rx_dev_by_addr(const struct mrc_rx_pkt *p)
{
	struct mrc_dev *dev;

	if (unlikely(mrc_dev_addr_is_group(&p->dst)))
		return rx_dev_by_group(p);
	if (p->plane && mrc_dev_owns_addr(p->plane->dev, &p->dst))
		return p->plane->dev;
	list_for_each_entry_rcu(dev, &p->mnet->devs, link)
		if (mrc_dev_owns_addr(dev, &p->dst))
			return dev;
	return NULL;
}

bool mrc_rx_is_port(const struct mrc_net *mnet, u16 port)
{
	struct mrc_dev *dev;

	if (likely(port == MRC_UDP_PORT) || port == MRC_UDP_PORT_ALT)
		return true;
	list_for_each_entry_rcu(dev, &mnet->devs, link)
		if (READ_ONCE(dev->attr.udp_port) == port)
			return true;
	return false;
}

/*
 * May @dev receive the packet? False: counted. A device that is down receives nothing. The hook runs before reverse
 * path filters and firewall rules, so packets are accepted only on the device's own planes, or over lo from this host.
 */
static bool rx_allowed(const struct mrc_rx_pkt *p, struct mrc_dev *dev)
{
	if (unlikely(READ_ONCE(dev->down))) {
		mrc_dev_count(dev, rx_down);
		return false;
	}
	if (likely(p->plane && p->plane->dev == dev))
		return true;
	if (p->lo)
		return true;
	mrc_dev_count(dev, rx_no_plane);
	return false;
}

static bool same_addr(const struct in6_addr *a, const union ib_gid *gid)
{
	return ipv6_addr_equal(a, (const struct in6_addr *)gid);
}

/* ---- MRC packets ---- */

/* The ICRC is wrong. The apparent sender, if it is a known peer, may have ICRCs off: hint, and remind it. */
static void rx_bad_icrc(const struct mrc_rx_pkt *p, struct mrc_dev *dev, const struct sk_buff *skb)
{
	struct mrc_peer *peer = mrc_peer_find(dev, (const union ib_gid *)&p->src);
	u32 off = p->l4 + sizeof(struct udphdr);
	bool icrc = mrc_rx_icrc(p, skb);
	struct mrc_pkt pkt;

	mrc_dev_count(dev, rx_bad_icrc);
	if (peer && !mrc_wire_parse(skb->data + off, p->end - off - MRC_ICRC_LEN, 0, &pkt)) {
		mrc_peer_hint_icrc(peer, &pkt, icrc);
		if (mrc_crc_tell(&peer->crc, &pkt, icrc, ktime_get_ns()))
			mrc_peer_port_remind(peer);
	}
	mrc_peer_put(peer);
}

/*
 * The packet is as long as UDP says. True: it is complete. If it has a wrong ICRC and the mark of a trimmed packet, a
 * switch trimmed it and corrected UDP's length, too: false, and *@trimmed is the mark. Any other wrong ICRC: false,
 * counted. With ICRCs off, only the mark is checked.
 */
static bool rx_complete(const struct mrc_rx_pkt *p, struct mrc_dev *dev, const struct sk_buff *skb,
			u8 *trimmed)
{
	bool icrc = READ_ONCE(dev->attr.icrc);

	if (icrc && likely(mrc_rx_icrc_ok(p, skb)))
		return true;
	*trimmed = mrc_rx_trim_mark(p, dev);
	if (icrc && !*trimmed)
		rx_bad_icrc(p, dev, skb);
	return !icrc && !*trimmed;
}

/*
 * Checks lengths, ICRC and P_Key, and decodes the packet. @dev: the receiving device. False: counted. BTH, and all
 * bytes that mrc_wire_parse() may read, are linear.
 */
static bool rx_decode(const struct mrc_rx_pkt *p, struct mrc_dev *dev, const struct sk_buff *skb,
		      struct mrc_pkt *pkt)
{
	const struct udphdr *udp = (const struct udphdr *)(skb->data + p->l4);
	u32 len = p->end - p->l4 - sizeof(*udp);
	u32 udp_len = ntohs(udp->len);
	u8 trimmed = 0;

	if (unlikely(udp_len < p->end - p->l4))
		goto malformed;
	if (unlikely(udp_len > p->end - p->l4)) {
		trimmed = mrc_rx_trim_mark(p, dev) ?: MRC_NACK_TRIMMED;
	} else if (unlikely(len < MRC_BTH_LEN + MRC_ICRC_LEN)) {
		goto malformed;
	} else if (unlikely(!rx_complete(p, dev, skb, &trimmed))) {
		if (!trimmed)
			return false;	/* counted */
	} else {
		len -= MRC_ICRC_LEN;
	}
	if (unlikely(mrc_wire_parse(udp + 1, len, trimmed, pkt)))
		goto malformed;
	if (unlikely((pkt->pkey & 0x7fff) != 0x7fff)) {
		mrc_dev_count(dev, rx_bad_pkey);
		return false;
	}
	if (unlikely(READ_ONCE(dev->attr.ev_port_low)))
		mrc_tx_swap_halves(pkt);
	pkt->ev = (u32)ntohs(udp->source) << 16 | p->flow_label;
	pkt->plane = p->plane ? p->plane->num : MRC_PLANE_NONE;
	pkt->ecn_ce = mrc_rx_marked(p);
	pkt->udp_len = (u16)udp_len;
	return true;

malformed:
	mrc_dev_count(dev, rx_malformed);
	return false;
}

/* The local UDP port. */
static u16 rx_port(const struct mrc_rx_pkt *p, const struct sk_buff *skb)
{
	return ntohs(((const struct udphdr *)(skb->data + p->l4))->dest);
}

/* For a decoded packet that is not trimmed. If ICRCs are on, its ICRC was checked, so it has one. */
static struct mrc_peer_how rx_how(const struct mrc_rx_pkt *p, const struct mrc_dev *dev,
				  const struct sk_buff *skb)
{
	return (struct mrc_peer_how) {
		.port = rx_port(p, skb),
		.icrc = READ_ONCE(dev->attr.icrc) || mrc_rx_icrc(p, skb),
	};
}

/*
 * No QPN or PSN protects an endpoint packet, so it must arrive on a plane that leads to its sender. Port Status
 * Updates in the name of this host, or of a group, are refused: this host has no cable to itself, and a group has no
 * ports.
 */
static bool rx_plausible(const struct mrc_rx_pkt *p, struct mrc_peer *peer)
{
	struct mrc_pathset *ps;
	bool leads;

	if (!p->plane || peer->local || peer->group) {
		mrc_dev_count(peer->dev, port_updates_refused);
		return false;
	}
	ps = mrc_peer_paths_get(peer);
	leads = mrc_evset_plane_has_evs(&ps->evs, p->plane->num);
	mrc_pathset_put(ps);
	if (!leads)
		mrc_dev_count(peer->dev, port_updates_refused);
	return leads;
}

/* A packet to QP 2: a self-probe, or an endpoint request or response (D8, D9; MRC 1.0 section 1.10). */
static void rx_endpoint(const struct mrc_rx_pkt *p, struct mrc_dev *dev, const struct sk_buff *skb)
{
	struct mrc_peer_how how;
	struct mrc_peer *peer;
	struct mrc_pkt pkt;

	if (mrc_loop_rx(p, dev, skb) || !rx_decode(p, dev, skb, &pkt))
		return;
	if (pkt.opcode != MRC_OPC_EP_REQ && pkt.opcode != MRC_OPC_EP_RSP) {
		mrc_dev_count(dev, rx_malformed);
		return;
	}
	peer = pkt.trimmed ? NULL : mrc_peer_find(dev, (const union ib_gid *)&p->src);
	if (!peer) {		/* unknown senders get no answer */
		mrc_dev_count(dev, rx_wrong_source);
		return;
	}
	if (rx_plausible(p, peer)) {
		mrc_dev_count(dev, rx_endpoint);
		how = rx_how(p, dev, skb);
		mrc_peer_note_rx(peer, &how);
		if (pkt.opcode == MRC_OPC_EP_REQ && READ_ONCE(dev->attr.port_bit_1))
			pkt.u.ep.port_status_mask = mrc_port_mask_from_1(pkt.u.ep.port_status_mask);
		mrc_peer_port_rx(peer, &pkt, &p->dst);
	}
	mrc_peer_put(peer);
}

/* Checks and decodes a packet for @qp into @a. False: counted. */
static bool rx_arrived(const struct mrc_rx_pkt *p, struct mrc_qp *qp, struct sk_buff *skb,
		       struct mrc_arrival *a)
{
	if (unlikely(!same_addr(&p->src, &qp->dgid))) {
		mrc_dev_count(qp->dev, rx_wrong_source);
		return false;
	}
	if (!rx_decode(p, qp->dev, skb, &a->pkt))
		return false;
	a->skb = skb;
	a->off = (int)(p->l4 + sizeof(struct udphdr) + a->pkt.hdr_len);
	a->how = rx_how(p, qp->dev, skb);
	return true;
}

static void rx_to_qp(const struct mrc_rx_pkt *p, struct mrc_qp *qp, struct sk_buff *skb)
{
	struct mrc_arrival a __uninitialized;

	if (rx_arrived(p, qp, skb, &a))
		mrc_qp_rx(qp, &a, 1);
}

/*
 * Makes the headers from BTH on linear, but no payload of MRC packets: payload in two places would be copied and
 * summed in two pieces. For datagrams, whose opcodes mrc_wire.h does not know, it makes MRC_HDR_MAX bytes linear,
 * which include some payload. False: malformed.
 */
static bool rx_pull(struct sk_buff *skb, u32 off, u32 len)
{
	return len >= MRC_BTH_LEN && pskb_may_pull(skb, off + MRC_BTH_LEN) &&
	       pskb_may_pull(skb, off + min(len, mrc_wire_reads(skb->data + off)));
}

/* For a packet whose BTH is linear. */
static u32 rx_dqpn(const struct mrc_rx_pkt *p, const struct sk_buff *skb)
{
	return get_unaligned_be32(skb->data + p->l4 + sizeof(struct udphdr) + 4) & 0xffffff;
}

/* Under RCU. The QP with number @dqpn and the local address of @p, or NULL. */
static struct mrc_qp *rx_qp(const struct mrc_rx_pkt *p, u32 dqpn)
{
	struct mrc_qp *qp = dqpn > MRC_QPN_ENDPOINT ? mrc_qp_look(dqpn) : NULL;

	return likely(qp && qp->dev->mnet == p->mnet && same_addr(&p->dst, &qp->sgid)) ? qp : NULL;
}

static unsigned int rx_mrc(const struct mrc_rx_pkt *p, struct sk_buff *skb)
{
	u32 off = p->l4 + sizeof(struct udphdr), len = p->end - off, dqpn;
	struct mrc_dev *dev = NULL;
	struct mrc_qp *qp;

	if (!rx_pull(skb, off, len)) {
		dev = rx_dev_by_addr(p);
		if (!dev)
			return NF_ACCEPT;
		mrc_dev_count(dev, rx_malformed);
		return NF_DROP;
	}
	dqpn = rx_dqpn(p, skb);
	qp = rx_qp(p, dqpn);
	if (unlikely(!qp)) {
		dev = rx_dev_by_addr(p);
		if (!dev)
			return NF_ACCEPT;	/* to be forwarded, or for a UDP socket */
	}
	if (qp)
		dev = qp->dev;
	if (unlikely(!rx_allowed(p, dev) || !mrc_policy_in(p, dev, skb)))
		return NF_DROP;
	if (p->plane)
		mrc_dev_plane_count_rx(p->plane, skb->len);
	if (likely(qp))
		rx_to_qp(p, qp, skb);
	else if (mrc_dev_addr_is_group(&p->dst))
		mrc_ud_rx_group(p, dev, dqpn, skb);
	else if (dqpn == MRC_QPN_ENDPOINT)
		rx_endpoint(p, dev, skb);
	else
		mrc_ud_rx(p, dev, dqpn, skb);
	napi_consume_skb(skb, 1);	/* into NAPI's cache, from which answers are allocated */
	return NF_STOLEN;
}

/* ---- packets to another UDP port ---- */

static bool rx_fits_qp(const struct mrc_rx_pkt *p, const struct mrc_qp *qp,
		       const struct sk_buff *skb)
{
	return qp->dev == p->plane->dev && same_addr(&p->dst, &qp->sgid) &&
	       same_addr(&p->src, &qp->dgid) &&
	       (!READ_ONCE(qp->dev->attr.icrc) || mrc_rx_icrc_ok(p, skb));
}

/* UDP to a port on which we do not listen. If it fits a QP, the peer has another setting udp-port: hint. */
static void rx_other_port(const struct mrc_rx_pkt *p, struct sk_buff *skb)
{
	u32 off = p->l4 + sizeof(struct udphdr), dqpn;
	struct mrc_peer *peer = NULL;
	struct mrc_qp *qp;

	if (p->proto != IPPROTO_UDP || !p->plane || p->end < off + MRC_BTH_LEN + MRC_ICRC_LEN ||
	    !pskb_may_pull(skb, off + MRC_BTH_LEN))
		return;
	dqpn = rx_dqpn(p, skb);
	qp = dqpn > MRC_QPN_ENDPOINT ? mrc_qp_look(dqpn) : NULL;
	if (likely(!qp))
		return;
	if (rx_fits_qp(p, qp, skb))
		peer = mrc_peer_find(qp->dev, (const union ib_gid *)&p->src);
	if (peer)
		mrc_peer_hint_port(peer, rx_port(p, skb));
	mrc_peer_put(peer);
}

/* ---- packets at the hook ---- */

static bool rx_wanted(const struct sk_buff *skb, bool v4)
{
	u8 proto;

	if (v4)
		return ip_hdr(skb)->protocol == IPPROTO_UDP || ip_hdr(skb)->protocol == IPPROTO_ICMP;
	proto = ipv6_hdr(skb)->nexthdr;
	return proto == NEXTHDR_UDP || proto == NEXTHDR_ICMP || proto == NEXTHDR_IPV6 ||
	       proto == IPPROTO_IPIP || proto == NEXTHDR_ROUTING;
}

static bool rx_is_icmp(const struct sk_buff *skb, bool v4)
{
	return v4 ? ip_hdr(skb)->protocol == IPPROTO_ICMP : ipv6_hdr(skb)->nexthdr == NEXTHDR_ICMP;
}

static bool rx_is_mrc(const struct mrc_rx_pkt *p, struct sk_buff *skb)
{
	const struct udphdr *udp;

	if (p->proto != IPPROTO_UDP || p->end - p->l4 < sizeof(*udp) ||
	    !pskb_may_pull(skb, p->l4 + sizeof(*udp)))
		return false;
	udp = (const struct udphdr *)(skb->data + p->l4);
	return mrc_rx_is_port(p->mnet, ntohs(udp->dest));
}

/* A packet for another plane's locator is not for us, but a self-probe among them reveals a wrong cable. */
static unsigned int rx_other_plane(const struct mrc_rx_pkt *p, struct sk_buff *skb)
{
	struct mrc_dev *dev = p->plane->dev;
	u32 off = p->l4 + sizeof(struct udphdr);

	return rx_is_mrc(p, skb) && !skb_is_gso(skb) && rx_pull(skb, off, p->end - off) &&
	       !READ_ONCE(dev->down) && mrc_dev_owns_addr(dev, &p->dst) && mrc_loop_rx(p, dev, skb) ?
		       NF_DROP : NF_ACCEPT;
}

/* ---- bursts ---- */

static void batch_flush(struct rx_batch *b)
{
	u32 i;

	if (b->n)
		mrc_qp_rx(b->qp, b->arrival, b->n);
	for (i = 0; i < b->n; i++)
		napi_consume_skb(b->arrival[i].skb, 1);
	b->n = 0;
}

/* Adds @skb to the batch. False: it is not a packet for a connected QP, so the caller must process it individually. */
static bool batch_add(struct rx_batch *b, const struct mrc_rx_pkt *p, struct sk_buff *skb)
{
	u32 off = p->l4 + sizeof(struct udphdr), dqpn;

	if (unlikely(!rx_pull(skb, off, p->end - off)))
		return false;
	dqpn = rx_dqpn(p, skb);
	if (!b->qp || b->qp->qpn != dqpn) {
		batch_flush(b);
		b->qp = rx_qp(p, dqpn);
	}
	if (unlikely(!b->qp || !p->plane || p->plane->dev != b->qp->dev || READ_ONCE(b->qp->dev->down)))
		return false;
	mrc_dev_plane_count_rx(p->plane, skb->len);
	if (likely(rx_arrived(p, b->qp, skb, &b->arrival[b->n])))
		b->n++;
	else
		napi_consume_skb(skb, 1);
	if (b->n == ARRAY_SIZE(b->arrival))
		batch_flush(b);
	return true;
}

/* @skb: a list of packets with the same addresses, from the same plane. Consumes all of them. */
static unsigned int rx_parts(const struct mrc_rx_pkt *p, struct sk_buff *skb)
{
	struct rx_batch b __uninitialized;
	struct mrc_rx_pkt part = *p;
	struct sk_buff *next;

	b.qp = NULL;
	b.n = 0;
	skb_list_walk_safe(skb, skb, next) {
		skb_mark_not_on_list(skb);
		part.end = skb->len;
		if (!batch_add(&b, &part, skb) && rx_mrc(&part, skb) != NF_STOLEN)
			kfree_skb(skb);
	}
	batch_flush(&b);
	return NF_STOLEN;
}

/* The kernel splits the GSO packet, and each part passes the hook by itself. */
static unsigned int rx_segments(const struct mrc_rx_pkt *p, struct mrc_dev *dev, struct sk_buff *skb,
				const struct nf_hook_state *st)
{
	struct sk_buff *parts, *part, *next;

	__skb_push(skb, (u32)-skb_mac_offset(skb));
	parts = __skb_gso_segment(skb, NETIF_F_SG, false);
	if (IS_ERR_OR_NULL(parts)) {
		mrc_dev_count(dev, rx_malformed);
		return NF_DROP;
	}
	skb_list_walk_safe(parts, part, next) {
		skb_mark_not_on_list(part);
		__skb_pull(part, (u32)skb_network_offset(part));
		if (mrc_rx_hook(p->mnet, part, st) != NF_STOLEN)
			kfree_skb(part);
	}
	consume_skb(skb);
	return NF_STOLEN;
}

/* A GSO packet: the burst of a peer on this host, or aggregated by GRO. All parts share its headers. */
static unsigned int rx_gso(const struct mrc_rx_pkt *p, struct sk_buff *skb, const struct nf_hook_state *st)
{
	struct mrc_dev *dev = rx_dev_by_addr(p);

	if (!dev)
		return NF_ACCEPT;
	if (unlikely(!mrc_policy_in(p, dev, skb)))
		return NF_DROP;
	return likely(mrc_rx_burst_part(p, skb)) ? rx_parts(p, skb) : rx_segments(p, dev, skb, st);
}

/* ---- the hook ---- */

/* BH off. IP's own checks are done: the outermost header is linear and at skb->data. */
static unsigned int rx_hook(void *priv, struct sk_buff *skb, const struct nf_hook_state *st)
{
	struct mrc_rx_pkt p = {
		.mnet = priv,
		.v4 = st->pf == NFPROTO_IPV4,
	};

	if (!rx_wanted(skb, p.v4))
		return NF_ACCEPT;
	p.plane = st->in ? mrc_dev_plane_of(st->in) : NULL;
	p.lo = st->in && st->in->flags & IFF_LOOPBACK;
	if (rx_is_icmp(skb, p.v4)) {
		if (p.plane)
			(p.v4 ? mrc_rx_icmp4 : mrc_rx_icmp6)(p.plane->dev, skb);
		return NF_ACCEPT;
	}
	if (p.v4) {
		p.ds = ip_hdr(skb)->tos;
		p.end = ntohs(ip_hdr(skb)->tot_len);
	} else if (rx_outer6(&p, skb) == RX_NOT_OURS) {
		return NF_ACCEPT;
	}
	if (p.end > skb->len || p.l3 >= p.end)
		return NF_ACCEPT;
	if (p.v4 ? !rx_ip4(&p, skb) : !rx_ip6(&p, skb)) {
		if (!p.outer || p.stray)
			return NF_ACCEPT;	/* IP drops it and counts the error */
		mrc_dev_count(p.plane->dev, rx_malformed);
		return NF_DROP;
	}
	if (unlikely(p.stray))
		return rx_other_plane(&p, skb);
	if (rx_is_mrc(&p, skb))
		return unlikely(skb_is_gso(skb)) ? rx_gso(&p, skb, st) : rx_mrc(&p, skb);
	rx_other_port(&p, skb);
	return p.outer ? mrc_rx_ip(&p, skb) : NF_ACCEPT;
}

/* If an earlier hook queued the packet (NFQUEUE), this runs in the context of the verdict, where BH may be on. */
unsigned int mrc_rx_hook(void *priv, struct sk_buff *skb, const struct nf_hook_state *st)
{
	unsigned int verdict;

	if (likely(in_softirq()))
		return rx_hook(priv, skb, st);
	local_bh_disable();
	verdict = rx_hook(priv, skb, st);
	local_bh_enable();
	return verdict;
}
