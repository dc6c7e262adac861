// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_endpoint.c - see mrc_endpoint.h.
 */
#include <linux/inetdevice.h>
#include <net/addrconf.h>
#include "linux/mrc.h"
#include "engine/wire/mrc_entropy.h"
#include "core/mrc_random.h"
#include "path/mrc_ev_over.h"
#include "path/mrc_peer_request.h"
#include "path/mrc_peer_paths.h"
#include "path/mrc_peer_port.h"
#include "path/mrc_peer_users.h"
#include "path/mrc_peers.h"
#include "data/mrc_endpoint.h"
#include "data/mrc_tx.h"

/* Our address that the peer knows, else the one that the kernel selects. False: there is none. */
static bool endpoint_source(struct mrc_peer *peer, union ib_gid *sgid)
{
	struct mrc_dev *dev = peer->dev;
	__be32 a;

	mrc_peer_users_local(peer, sgid);
	if (memchr_inv(sgid, 0, sizeof(*sgid)))
		return true;
	if (!peer->v4)
		return !ipv6_dev_get_saddr(dev->net, dev->ndev,
					   (const struct in6_addr *)&peer->gid, 0,
					   (struct in6_addr *)sgid);
	a = inet_select_addr(dev->ndev, ((const struct in6_addr *)&peer->gid)->s6_addr32[3],
			     RT_SCOPE_UNIVERSE);
	ipv6_addr_set_v4mapped(a, (struct in6_addr *)sgid);
	return a;
}

/* Sets the EV of @op: the next usable one, on a plane of @avoid only if there is no other. False: no EV is usable. */
static bool endpoint_ev(struct mrc_pathset *ps, struct mrc_txop *op, u32 avoid)
{
	u8 tries = mrc_evset_n_planes(&ps->evs);

	spin_lock_bh(&ps->peer->path_lock);
	do {
		op->ev_idx = mrc_spray_pick(&ps->ip_rot, &ps->evs, MRC_NONE16);
		if (op->ev_idx == MRC_NONE16)
			break;
		op->hdr.ev = mrc_evset_value(&ps->evs, op->ev_idx);
		op->hdr.plane = mrc_evset_plane(&ps->evs, op->ev_idx);
	} while (--tries && avoid & 1u << op->hdr.plane);
	spin_unlock_bh(&ps->peer->path_lock);
	return op->ev_idx != MRC_NONE16;
}

/* Sets the EV of @op: one of the plane that the engine named, usable or not. False: the plane has no EV. */
static bool endpoint_ev_of(struct mrc_pathset *ps, struct mrc_txop *op)
{
	op->ev_idx = mrc_evset_nth_of(&ps->evs, op->hdr.plane, op->hdr.ev);
	if (op->ev_idx == MRC_NONE16)
		return false;
	op->hdr.ev = mrc_evset_value(&ps->evs, op->ev_idx);
	return true;
}

/* @op as the peers of @dev read the specification. */
static void endpoint_read_by(const struct mrc_dev *dev, struct mrc_txop *op)
{
	struct mrc_ep_hdr *ep = &op->hdr.u.ep;

	ep->op_high = READ_ONCE(dev->attr.ep_op_high);
	if (op->hdr.opcode == MRC_OPC_EP_REQ && ep->op == MRC_EP_PORT_STATUS && READ_ONCE(dev->attr.port_bit_1))
		ep->port_status_mask = mrc_port_mask_to_1(ep->port_status_mask);
}

/* The entropy value of an EV that need not be in a set, with random values for the parts that are not configured. */
static u32 free_entropy(const struct mrc_peer *peer, u32 fmt, const struct mrc_profile_ev *ev)
{
	struct mrc_entropy e;

	mrc_entropy_init(&e, mrc_random_u64(), peer->v4, READ_ONCE(peer->dev->attr.ev_port_low));
	return mrc_entropy_of(&e, (enum mrc_ev_fmt)fmt, ev->value, 0);
}

/* The answer over the switch that the probe named. NULL: this host has no such path, so the answer takes any. */
static struct sk_buff *endpoint_over(struct mrc_peer *peer, const struct mrc_pathset *ps, const union ib_gid *sgid,
				     struct mrc_txop *op)
{
	static const struct mrc_payload empty;
	struct mrc_tx_hdrs e = {
		.sgid = sgid, .dgid = &peer->gid, .tclass = op->tclass, .plane = op->hdr.plane,
	};
	struct mrc_profile_ev ev;
	struct sk_buff *skb;

	if (mrc_ev_over(ps, op->hdr.plane, op->hdr.u.ep.via, &ev) &&
	    !mrc_route_named(peer, &ev, true, &e.way)) {
		e.ev = free_entropy(peer, MRC_FMT_SRV6, &ev);
		skb = mrc_tx_build_by(peer, op, &empty, &e);
		if (skb)
			return skb;
	}
	op->hdr.plane = MRC_PLANE_NONE;
	op->hdr.u.ep.vendor_info = 0;
	return NULL;
}

/* Builds the packet with the first EV that has a route. If the engine named a plane, only that plane is tried. */
static struct sk_buff *endpoint_build(struct mrc_peer *peer, struct mrc_txop *op, u32 avoid)
{
	static const struct mrc_payload empty;
	struct mrc_pathset *ps = mrc_peer_paths_get(peer);
	struct sk_buff *skb = NULL;
	union ib_gid sgid;
	bool named;
	u8 tries;

	if (endpoint_source(peer, &sgid)) {
		if (op->hdr.u.ep.via)
			skb = endpoint_over(peer, ps, &sgid, op);
		named = op->hdr.plane != MRC_PLANE_NONE;
		tries = named ? 1 : mrc_evset_n_planes(&ps->evs);
		while (!skb && tries-- &&
		       (named ? endpoint_ev_of(ps, op) : endpoint_ev(ps, op, avoid)))
			skb = mrc_tx_build(peer->dev, ps, &sgid, &peer->gid, op, &empty);
	}
	mrc_pathset_put(ps);
	return skb;
}

/*
 * Any context, no lock of ours held. Sends @pkt to QP 2 of the peer: by the plane that @pkt names, or else by any
 * plane, those of @avoid last. 0 or -ENETDOWN.
 */
static int endpoint_send(struct mrc_peer *peer, const struct mrc_pkt *pkt, u32 avoid)
{
	struct mrc_txop op = {
		.hdr = *pkt,
		.tclass = MRC_TC_CONTROL,
		.src = MRC_SRC_NONE,
	};
	struct sk_buff *skb = NULL;

	op.hdr.dqpn = MRC_QPN_ENDPOINT;
	op.hdr.pkey = 0xffff;
	endpoint_read_by(peer->dev, &op);
	local_bh_disable();
	rcu_read_lock();
	if (!READ_ONCE(peer->dev->dead))
		skb = endpoint_build(peer, &op, avoid);
	if (skb)
		mrc_tx_xmit(skb);
	rcu_read_unlock();
	local_bh_enable();
	return skb ? 0 : -ENETDOWN;
}

/* ---- requests of controllers ---- */

static int ask_source(struct mrc_peer *peer, const struct mrc_endpoint_request *ask,
		      union ib_gid *sgid)
{
	*sgid = ask->from;
	if (memchr_inv(sgid, 0, sizeof(*sgid)))
		return mrc_dev_owns_addr(peer->dev, (const struct in6_addr *)sgid) ?
			       0 : -EADDRNOTAVAIL;
	return endpoint_source(peer, sgid) ? 0 : -EADDRNOTAVAIL;
}

/* BH off, in the RCU section in which @way was found. */
static int ask_xmit(struct mrc_peer *peer, const struct mrc_endpoint_request *ask,
		    const union ib_gid *sgid, const struct mrc_route *way, const struct mrc_pkt *pkt)
{
	static const struct mrc_payload empty;
	struct mrc_txop op = {
		.hdr = *pkt,
		.tclass = MRC_TC_CONTROL,
		.src = MRC_SRC_NONE,
	};
	struct mrc_tx_hdrs e = {
		.sgid = sgid, .dgid = &peer->gid, .way = *way,
		.tclass = MRC_TC_CONTROL, .has_dscp = ask->has_dscp, .dscp = ask->dscp,
		.ev = free_entropy(peer, ask->fmt, &ask->ev) | pkt->ev, .plane = ask->ev.port - 1,
	};
	struct sk_buff *skb;

	endpoint_read_by(peer->dev, &op);
	skb = mrc_tx_build_by(peer, &op, &empty, &e);
	if (!skb)
		return -ENOMEM;
	mrc_tx_xmit(skb);
	mrc_dev_count(peer->dev, ep_asked);
	return 0;
}

/* BH off, under RCU. */
static int ask_send(struct mrc_peer *peer, const struct mrc_endpoint_request *ask,
		    const struct mrc_pkt *pkt)
{
	union ib_gid sgid;
	struct mrc_route way;
	int err = ask_source(peer, ask, &sgid);

	if (!err)
		err = mrc_route_named(peer, &ask->ev, ask->fmt == MRC_FMT_SRV6, &way);
	return err ?: ask_xmit(peer, ask, &sgid, &way, pkt);
}

static int ask_peer(struct mrc_peer *peer, const struct mrc_endpoint_request *ask)
{
	struct mrc_pkt pkt;
	int err = mrc_peer_request(peer, &ask->q, &pkt);

	if (err)
		return err;
	mrc_peer_used(peer);
	local_bh_disable();
	rcu_read_lock();
	err = ask_send(peer, ask, &pkt);
	rcu_read_unlock();
	local_bh_enable();
	if (err)
		mrc_peer_request_undo(peer, &pkt);
	return err;
}

int mrc_endpoint_request(struct mrc_dev *dev, const struct mrc_endpoint_request *ask)
{
	struct mrc_peer *peer = mrc_peer_find(dev, &ask->to);
	int err = peer ? ask_peer(peer, ask) : -ENOENT;

	mrc_peer_put(peer);
	return err;
}

void mrc_endpoint_init(void)
{
	mrc_peer_port_sender(endpoint_send);
}
