// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_loop_send.c - see mrc_loop_send.h.
 *
 * A probe is sent from our own address to our own address. The uSIDs of its outer header lead out
 * and back. A probe that tests the host itself has no outer header and is sent over lo.
 */
#include <net/ipv6.h>
#include "path/mrc_route.h"
#include "data/mrc_loop_send.h"
#include "data/mrc_tx.h"

/* One of our addresses: the IPv6 address that fits @to best, else an IPv4 address. False: there is none. */
static bool send_own(const struct mrc_dev *dev, const struct in6_addr *to, union ib_gid *own)
{
	struct in6_addr any4;

	ipv6_addr_set_v4mapped(0, &any4);
	return mrc_dev_own_addr(dev, to, (struct in6_addr *)own) ||
	       mrc_dev_own_addr(dev, &any4, (struct in6_addr *)own);
}

static int send_way(struct mrc_dev *dev, const struct mrc_selfprobe_cfg *t, const struct in6_addr *to,
		    struct mrc_tx_hdrs *e)
{
	const struct mrc_dev_plane *plane;

	if (t->plane == MRC_PLANE_NONE)
		return mrc_route_loopback(dev, (const struct in6_addr *)e->sgid, &e->way);
	plane = rcu_dereference(dev->plane[t->plane]);
	return plane ? mrc_route_to(dev, plane, to, &e->way) : -ENETDOWN;
}

/* Bytes of the message: @size is that of the whole IP packet, which the MTU of the route limits. */
static u32 send_len(const struct mrc_tx_hdrs *e, bool v4, u32 size)
{
	u32 around = e->way.outer_len + (v4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr)) +
		     sizeof(struct udphdr) + MRC_ICRC_LEN;

	size = min(size, dst_mtu(e->way.dst));
	return max_t(u32, size > around ? size - around : 0, MRC_SELFMSG_MIN);
}

static struct sk_buff *send_build(struct mrc_dev *dev, const struct mrc_prober_op *op, struct mrc_tx_hdrs *e)
{
	const struct mrc_selfmsg msg = { .id = op->cfg.id, .seq = op->seq, .secret = op->secret };
	bool v4 = ipv6_addr_v4mapped((const struct in6_addr *)e->sgid);
	u32 len = send_len(e, v4, op->size);
	struct sk_buff *skb = alloc_skb(mrc_tx_room(&e->way) + len + MRC_ICRC_LEN, GFP_ATOMIC);

	if (!skb)
		return NULL;
	skb_reserve(skb, (int)mrc_tx_room(&e->way));
	mrc_selfmsg_build(skb_put(skb, len), len, &msg);
	e->icrc = skb_put_zero(skb, MRC_ICRC_LEN);
	mrc_tx_wrap(dev, v4, skb, e);
	return skb;
}

int mrc_loop_send(struct mrc_dev *dev, const struct mrc_prober_op *op)
{
	bool control = op->cfg.dscp == MRC_SELFPROBE_CONTROL ||
		       op->cfg.dscp == READ_ONCE(dev->attr.dscp[MRC_TC_CONTROL]);
	union ib_gid own;
	struct mrc_tx_hdrs e = {
		.sgid = &own, .dgid = &own, .plane = op->cfg.plane,
		.tclass = control ? MRC_TC_CONTROL : MRC_TC_DATA, .has_dscp = !control, .dscp = op->cfg.dscp,
		/* A different UDP source port for each probe, from the range of flows. */
		.ev = (op->seq * 0x9e3779b1u ^ (u32)op->secret) | 0xc0000000u,
		.port = READ_ONCE(dev->attr.udp_port),
	};
	struct in6_addr to;
	struct sk_buff *skb;
	int err;

	memcpy(&to, op->cfg.path, sizeof(to));
	if (!send_own(dev, &to, &own))
		return -EADDRNOTAVAIL;
	err = send_way(dev, &op->cfg, &to, &e);
	if (err)
		return err;
	skb = send_build(dev, op, &e);
	if (!skb)
		return -ENOMEM;
	mrc_tx_xmit(skb);
	return 0;
}
