// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_tx.c - builds packets: headers around the engine's output, routes, hand-over to the network.
 *
 * A packet is [outer IPv6 [SRH]] IP UDP BTH.. payload pad ICRC. Headers and small payloads are
 * linear. Larger payloads are fragments that refer to the user's pages, with pad and ICRC in a
 * fragment of their own. Computing the ICRC reads the whole packet, so it is done after the QP's
 * lock is dropped: packets that arrive on other CPUs wait for that lock.
 *
 * The outer header (SRv6 H.Encaps.Red) comes from the EV, never from the FIB. The FIB only gives
 * the route to the outermost destination out of the plane, which is cached with the EV
 * (path/mrc_route.h).
 *
 * Built packets skip LOCAL_OUT and continue after routing (data/mrc_tx_out.h).
 *
 * Contexts: build runs under qp->lock and may take path_lock; xmit runs without our locks. One RCU
 * read section covers both, because the route is not referenced (the stack takes a reference when
 * it queues a packet). Within it the device and its namespace are valid while !dev->dead.
 */
#include <linux/etherdevice.h>
#include <linux/icmpv6.h>
#include <linux/inetdevice.h>
#include <linux/ktime.h>
#include <net/addrconf.h>
#include <net/icmp.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include "core/mrc_dev_plane.h"
#include "path/mrc_peer.h"
#include "data/mrc_icrc.h"
#include "data/mrc_policy.h"
#include "data/mrc_tx.h"
#include "data/mrc_tx_burst.h"
#include "data/mrc_tx_cb.h"
#include "data/mrc_tx_out.h"

#define MRC_COPY_MAX	256	/* bytes; payloads up to this size are copied, which is cheaper than fragments */
#define MRC_HEAD_MAX	1024	/* bytes; larger heads come from alloc_skb() */
#define MRC_INNER_TTL	64
#define MRC_ECT0	2

/* ---- headers ---- */

void mrc_tx_push_outer(struct mrc_dev *dev, struct sk_buff *skb, const struct mrc_route *w,
		       u8 tclass, u32 flow_label, u8 inner_proto)
{
	struct ipv6hdr *ip6;
	u8 *srh;

	if (w->srh) {
		srh = skb_push(skb, MRC_SRH_LEN);
		memset(srh, 0, 8);
		srh[0] = inner_proto;
		srh[1] = MRC_SRH_LEN / 8 - 1;
		srh[2] = IPV6_SRCRT_TYPE_4;
		srh[3] = 1;	/* segments left: the only one in the list */
		memcpy(srh + 8, &w->segment, sizeof(w->segment));
	}
	ip6 = skb_push(skb, sizeof(*ip6));
	ip6_flow_hdr(ip6, tclass, htonl(flow_label & 0xfffff));
	ip6->payload_len = htons((u16)(skb->len - sizeof(*ip6)));
	ip6->nexthdr = w->srh ? NEXTHDR_ROUTING : inner_proto;
	ip6->hop_limit = READ_ONCE(dev->attr.hop_limit);
	ip6->saddr = w->outer_src;
	ip6->daddr = w->outer_dst;
	skb_reset_network_header(skb);
	skb->protocol = htons(ETH_P_IPV6);
}

static void push_ip4(struct sk_buff *skb, const struct mrc_tx_hdrs *e, u8 tos)
{
	struct iphdr *ip = skb_push(skb, sizeof(*ip));

	ip->version = 4;
	ip->ihl = 5;
	ip->tos = tos;
	ip->tot_len = htons((u16)skb->len);
	ip->id = 0;	/* allowed with DF (RFC 6864); the ICRC covers it */
	ip->frag_off = htons(IP_DF);
	ip->ttl = e->hops ?: MRC_INNER_TTL;
	ip->protocol = IPPROTO_UDP;
	ip->saddr = ((const struct in6_addr *)e->sgid)->s6_addr32[3];
	ip->daddr = ((const struct in6_addr *)e->dgid)->s6_addr32[3];
	ip_send_check(ip);
	skb->protocol = htons(ETH_P_IP);
}

static void push_ip6(struct sk_buff *skb, const struct mrc_tx_hdrs *e, u8 tclass)
{
	struct ipv6hdr *ip6 = skb_push(skb, sizeof(*ip6));

	ip6_flow_hdr(ip6, tclass, htonl(e->ev & 0xffff));
	ip6->payload_len = htons((u16)(skb->len - sizeof(*ip6)));
	ip6->nexthdr = IPPROTO_UDP;
	ip6->hop_limit = e->hops ?: MRC_INNER_TTL;
	memcpy(&ip6->saddr, e->sgid, sizeof(ip6->saddr));
	memcpy(&ip6->daddr, e->dgid, sizeof(ip6->daddr));
	skb->protocol = htons(ETH_P_IPV6);
}

static void push_udp(struct sk_buff *skb, u32 ev, u16 port)
{
	struct udphdr *udp = skb_push(skb, sizeof(*udp));

	udp->source = htons((u16)(ev >> 16));
	udp->dest = htons(port);
	udp->len = htons((u16)skb->len);
	udp->check = 0;		/* none, as in RoCEv2: the ICRC protects the packet */
	skb_reset_transport_header(skb);
}

/* Control packets are not ECN-capable: no sender would slow down for their marks. */
static u8 ds_field(const struct mrc_dev *dev, const struct mrc_tx_hdrs *e)
{
	u8 dscp = e->has_dscp ? e->dscp : READ_ONCE(dev->attr.dscp[e->tclass]);

	return (u8)(dscp << 2 | (e->tclass == MRC_TC_CONTROL ? 0 : MRC_ECT0));
}

/* ---- payload ---- */

static void copy_payload(u8 *to, const struct mrc_payload *pl)
{
	u8 i;

	if (pl->linear) {
		memcpy(to, pl->linear, pl->len);
		return;
	}
	for (i = 0; i < pl->n; i++) {
		if (unlikely(pl->frag[i].off == MRC_PAYLOAD_AT))
			memcpy(to, pl->frag[i].at, pl->frag[i].len);
		else
			memcpy_from_page((char *)to, pl->frag[i].page, pl->frag[i].off,
					 pl->frag[i].len);
		to += pl->frag[i].len;
	}
}

/*
 * Should the payload be copied? That of a retransmission is: the original packet may be acknowledged while this one
 * waits in a queue of the host, and then the program reuses its buffer. A fragment that crosses a page boundary inside
 * a compound page is not copied, because memcpy_from_page() cannot do that.
 */
static bool copy_wanted(const struct mrc_payload *pl, bool rtx)
{
	u8 i;

	if (pl->linear || !pl->len || pl->copy)
		return true;
	if (pl->n >= MAX_SKB_FRAGS)	/* one more is needed for pad and ICRC */
		return true;
	if (pl->len > MRC_COPY_MAX && !rtx)
		return false;
	for (i = 0; i < pl->n; i++)
		if (pl->frag[i].off + pl->frag[i].len > PAGE_SIZE)
			return false;
	return true;
}

/*
 * Allocates an skb with @linear bytes, and @extra bytes after its end for a fragment, as one piece of a page. The
 * struct comes from NAPI's cache, which received packets refill. Large heads have copied payload and are rare.
 */
static struct sk_buff *alloc_head(u32 linear, u32 extra)
{
	u32 size = SKB_DATA_ALIGN(linear) + SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	struct sk_buff *skb;
	void *head;

	if (unlikely(!extra && size > MRC_HEAD_MAX))
		return alloc_skb(linear, GFP_ATOMIC);
	head = napi_alloc_frag(size + extra);
	if (unlikely(!head))
		return NULL;
	skb = napi_build_skb(head, size);
	if (unlikely(!skb))
		skb_free_frag(head);
	return skb;
}

/*
 * Adds the payload's pages as fragments, and a fragment for pad and ICRC (@len zeroed bytes). That one is after the
 * end of the head, not in its tailroom, which pskb_may_pull() overwrites. Returns its address.
 */
static u8 *add_pages_and_tail(struct sk_buff *skb, const struct mrc_payload *pl, u32 len)
{
	u8 *tail = skb_end_pointer(skb) + SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	struct page *page = virt_to_head_page(tail);
	u8 i;

	for (i = 0; i < pl->n; i++) {
		skb_fill_page_desc(skb, i, pl->frag[i].page, (int)pl->frag[i].off,
				   (int)pl->frag[i].len);
		get_page(pl->frag[i].page);
	}
	skb_fill_page_desc(skb, i, page, (int)(tail - (u8 *)page_address(page)), (int)len);
	get_page(page);
	skb->len += pl->len + len;
	skb->data_len += pl->len + len;
	skb->truesize += pl->len + SKB_DATA_ALIGN(len);
	/* The program may write to its pages at any time. The stack must not write to them. */
	skb_shinfo(skb)->flags |= SKBFL_SHARED_FRAG;
	memset(tail, 0, len);
	return tail;
}

/*
 * Builds BTH to ICRC, with headroom for all outer headers. Returns the address of the ICRC. NULL: no memory; free
 * *@skbp.
 */
static u8 *build_body(struct sk_buff **skbp, const struct mrc_txop *op,
		      const struct mrc_payload *pl, u32 headroom)
{
	u32 hdr_len = mrc_wire_hdr_len(op->hdr.opcode, op->hdr.has_ts);
	u32 pad = op->hdr.pad, tail_len = pad + MRC_ICRC_LEN;
	bool copy = copy_wanted(pl, op->hdr.rtx);
	struct sk_buff *skb;
	u8 *bth, *tail;

	skb = alloc_head(headroom + hdr_len + (copy ? pl->len + tail_len : 0), copy ? 0 : tail_len);
	*skbp = skb;
	if (unlikely(!skb))
		return NULL;
	skb_reserve(skb, (int)headroom);
	bth = skb_put(skb, hdr_len);
	if (WARN_ON_ONCE(mrc_wire_build(bth, hdr_len, &op->hdr) != (int)hdr_len))
		return NULL;
	if (copy) {
		if (pl->len)
			copy_payload(skb_put(skb, pl->len), pl);
		tail = skb_put_zero(skb, tail_len);
	} else {
		tail = add_pages_and_tail(skb, pl, tail_len);
	}
	return tail + pad;
}

/* The same for a SACK or NACK of a device with ev_port_low. */
static u8 *build_body_swapped(struct sk_buff **skbp, const struct mrc_txop *op,
			      const struct mrc_payload *pl, u32 headroom)
{
	struct mrc_txop swapped = *op;

	mrc_tx_swap_halves(&swapped.hdr);
	return build_body(skbp, &swapped, pl, headroom);
}

static bool names_ev(const struct mrc_txop *op)
{
	return op->hdr.opcode == MRC_OPC_SACK || op->hdr.opcode == MRC_OPC_NACK;
}

u32 mrc_tx_room(const struct mrc_route *w)
{
	return LL_RESERVED_SPACE(w->dst->dev) + w->outer_len + sizeof(struct ipv6hdr) +
	       sizeof(struct udphdr);
}

void mrc_tx_wrap(struct mrc_dev *dev, bool v4, struct sk_buff *skb, const struct mrc_tx_hdrs *e)
{
	const struct mrc_route *w = &e->way;
	u8 tos = ds_field(dev, e);
	u16 len = (u16)skb->len;

	push_udp(skb, e->ev, e->port);
	if (v4)
		push_ip4(skb, e, tos);
	else
		push_ip6(skb, e, tos);
	skb_reset_network_header(skb);
	if (w->srv6)
		mrc_tx_push_outer(dev, skb, w, tos, e->ev & 0xffff,
				  v4 ? IPPROTO_IPIP : IPPROTO_IPV6);
	skb_dst_set_noref(skb, w->dst);
	*mrc_tx_cb(skb) = (struct mrc_tx_cb) {
		.dev = dev, .icrc = e->icrc, .ev = e->ev, .len = len,
		.l3_off = (u8)w->outer_len, .plane = e->plane, .tos = tos, .joins = e->joins,
		.proven = e->proven,
	};
}

/* Bursts consist of data of requests and responses over IPv6, without retransmissions. */
static bool may_join(const struct mrc_peer *peer, const struct mrc_txop *op)
{
	return mrc_burst_joins(READ_ONCE(peer->dev->attr.burst), op->len) && !peer->v4 && !op->hdr.rtx &&
	       (op->tclass == MRC_TC_DATA || op->tclass == MRC_TC_NO_TRIM);
}

struct sk_buff *mrc_tx_build_by(struct mrc_peer *peer, const struct mrc_txop *op,
				const struct mrc_payload *pl, struct mrc_tx_hdrs *e)
{
	struct mrc_dev *dev = peer->dev;
	struct sk_buff *skb = NULL;
	u8 *icrc;

	if (unlikely(READ_ONCE(dev->attr.ev_port_low)) && names_ev(op))
		icrc = build_body_swapped(&skb, op, pl, mrc_tx_room(&e->way));
	else
		icrc = build_body(&skb, op, pl, mrc_tx_room(&e->way));
	if (unlikely(!icrc)) {
		mrc_dev_count(dev, tx_no_mem);
		kfree_skb(skb);
		return NULL;
	}
	e->port = mrc_udp_dest(&peer->udp, READ_ONCE(dev->attr.udp_port), &op->hdr);
	if (mrc_crc_wanted(&peer->crc, READ_ONCE(dev->attr.icrc), &op->hdr))
		e->icrc = icrc;
	e->joins = may_join(peer, op);
	mrc_tx_wrap(dev, peer->v4, skb, e);
	return skb;
}

/*
 * Should the packet confirm its neighbour? Yes if @plane has delivered recently, and later than at the last
 * confirmation, at most every 50 ms. A delivery before a pause proves nothing about the neighbour after it.
 */
static bool tx_proven(struct mrc_pathset *ps, u8 plane)
{
	u32 at;

	if (unlikely(plane == MRC_PLANE_NONE))
		return false;
	at = mrc_evset_proven_at(&ps->evs, plane);
	if (likely(at - READ_ONCE(ps->told[plane]) < MRC_PROVEN_FRESH / 2))
		return false;
	WRITE_ONCE(ps->told[plane], at);
	return mrc_evset_proof_fresh(at, ktime_get_ns());
}

struct sk_buff *mrc_tx_build(struct mrc_dev *dev, struct mrc_pathset *ps,
			     const union ib_gid *sgid, const union ib_gid *dgid,
			     const struct mrc_txop *op, const struct mrc_payload *pl)
{
	struct mrc_tx_hdrs e = {
		.sgid = sgid, .dgid = dgid,
		.tclass = op->tclass, .ev = op->hdr.ev, .plane = mrc_tx_plane(ps, op->ev_idx),
	};

	if (mrc_route_find(dev, ps, op->ev_idx, &e.way))
		return NULL;
	e.proven = tx_proven(ps, e.plane);
	return mrc_tx_build_by(ps->peer, op, pl, &e);
}

/* ---- hand-over ---- */

/* Under RCU. Stores the ICRC. False: the packet must not leave; it was counted and freed. */
static bool tx_finish(struct sk_buff *skb)
{
	const struct mrc_tx_cb *cb = mrc_tx_cb(skb);
	struct mrc_dev *dev = cb->dev;

	if (cb->icrc)
		put_unaligned_le32(mrc_icrc_skb(skb, cb->l3_off, (int)skb->len - MRC_ICRC_LEN),
				   cb->icrc);
	if (unlikely(READ_ONCE(dev->down)))
		mrc_dev_count(dev, tx_down);
	else if (unlikely(READ_ONCE(dev->dead)))
		mrc_dev_count(dev, tx_errors);
	else if (unlikely(skb->len > dst_mtu(skb_dst(skb))))
		/* Not fragmented: the peer's hook runs before reassembly. */
		mrc_dev_count(dev, tx_too_long);
	else
		return true;
	kfree_skb(skb);
	return false;
}

/* Sends a packet, or the burst that it heads. */
static void tx_go(struct sk_buff *skb)
{
	const struct mrc_tx_cb *cb = mrc_tx_cb(skb);

	mrc_tx_burst_end(skb);
	if (unlikely(mrc_policy_any(cb->dev->net)) && !mrc_policy_out(cb->dev, skb, cb->l3_off))
		return;
	mrc_tx_output(cb->dev, cb->plane, cb->proven, skb);
}

void mrc_tx_xmit(struct sk_buff *skb)
{
	rcu_read_lock();
	if (tx_finish(skb))
		tx_go(skb);
	rcu_read_unlock();
}

void mrc_tx_xmit_all(struct sk_buff_head *q)
{
	struct sk_buff *skb, *head = NULL;	/* head: first packet of a burst to which more may be added */

	rcu_read_lock();
	while ((skb = __skb_dequeue(q))) {
		if (!tx_finish(skb) || (head && mrc_tx_burst_add(head, skb)))
			continue;
		if (head)
			tx_go(head);
		head = NULL;
		if (mrc_tx_cb(skb)->joins)
			head = skb;
		else
			tx_go(skb);
	}
	if (head)
		tx_go(head);
	rcu_read_unlock();
}
