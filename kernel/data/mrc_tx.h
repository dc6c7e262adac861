/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_tx.h - builds packets: headers around the engine's output, and hand-over to the plane.
 */
#ifndef MRC_TX_H
#define MRC_TX_H

#include <linux/skbuff.h>
#include "engine/conn/mrc_conn.h"
#include "core/mrc_dev.h"
#include "path/mrc_pathset.h"
#include "path/mrc_peer.h"
#include "path/mrc_route.h"
#include "mem/mrc_payload.h"

/*
 * BH off; under qp->lock or none, never path_lock, and in the RCU section in which the packet is
 * sent. NULL when memory, a route or the plane
 * is missing: the caller takes @op back (mrc_conn_tx_undo()).
 */
struct sk_buff *mrc_tx_build(struct mrc_dev *dev, struct mrc_pathset *ps,
			     const union ib_gid *sgid, const union ib_gid *dgid,
			     const struct mrc_txop *op, const struct mrc_payload *pl);

/* The headers around BTH and payload. */
struct mrc_tx_env {
	const union ib_gid *sgid, *dgid;
	struct mrc_route way;	/* of the EV whose value is ev */
	u8 *icrc;		/* where to store the ICRC at transmission; NULL: no ICRC */
	enum mrc_tclass tclass;
	bool joins;		/* may leave in one burst with others */
	bool proven;		/* the plane has delivered lately: so has its neighbour */
	bool has_dscp;		/* then not that of tclass, but */
	u8 dscp;
	u8 plane;		/* that it leaves by, 0-based; MRC_PLANE_NONE: over lo */
	u32 ev;
	u16 port;		/* of the peer */
	u8 hops;		/* TTL or hop limit of the innermost header; 0: the usual one */
};

/* Room in front of BTH for mrc_tx_wrap(). */
u32 mrc_tx_room(const struct mrc_route *w);
/* BH off, in the RCU section that found e->way. UDP, IP and outer header around @skb. */
void mrc_tx_wrap(struct mrc_dev *dev, bool v4, struct sk_buff *skb, const struct mrc_tx_env *e);
/* Likewise; builds @op for the route in @e. NULL: no memory, counted. */
struct sk_buff *mrc_tx_build_by(struct mrc_peer *peer, const struct mrc_txop *op,
				const struct mrc_payload *pl, struct mrc_tx_env *e);
/* Any context. The plane of EV @idx. */
static inline u8 mrc_tx_plane(const struct mrc_pathset *ps, u16 idx)
{
	return ps->local ? MRC_PLANE_NONE : ps->path[idx].port - 1;
}

/* BH off, no lock of ours held. Consumes @skb, which one of these made; counts. */
void mrc_tx_xmit(struct sk_buff *skb);
/* Likewise, of all in @q; what follows each other by one EV leaves as one, where the device has bursts. */
void mrc_tx_xmit_all(struct sk_buff_head *q);

/* Any context. SRv6 H.Encaps.Red in front of the IP packet that skb->data points to. */
void mrc_tx_push_outer(struct mrc_dev *dev, struct sk_buff *skb, const struct mrc_route *w,
		       u8 tclass, u32 flow_label, u8 inner_proto);
/*
 * A SACK or NACK names EVs by 32 bits, in the engine port << 16 | flow label: the other
 * way around where the device has ev_port_low.
 */
static inline void mrc_tx_swap_halves(struct mrc_pkt *pkt)
{
	if (pkt->opcode == MRC_OPC_SACK)
		pkt->u.sack.ev = rol32(pkt->u.sack.ev, 16);
	else if (pkt->opcode == MRC_OPC_NACK)
		pkt->u.nack.ev = rol32(pkt->u.nack.ev, 16);
}

#endif
