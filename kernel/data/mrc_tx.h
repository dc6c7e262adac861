/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_tx.h - builds packets, with headers around the engine's output, and hands them to the plane.
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
 * BH off, in the RCU section in which the packet is sent; qp->lock may be held, path_lock must not. Builds the packet
 * of @op. NULL: there is no memory, route or plane, and the caller undoes @op (mrc_conn_tx_undo()).
 */
struct sk_buff *mrc_tx_build(struct mrc_dev *dev, struct mrc_pathset *ps,
			     const union ib_gid *sgid, const union ib_gid *dgid,
			     const struct mrc_txop *op, const struct mrc_payload *pl);

/* What the headers around BTH and payload depend on. */
struct mrc_tx_hdrs {
	const union ib_gid *sgid, *dgid;
	struct mrc_route way;	/* of the EV whose value is ev */
	u8 *icrc;		/* where to store the ICRC at transmission; NULL: no ICRC */
	enum mrc_tclass tclass;
	bool joins;		/* may be part of a burst (mrc_tx_burst.h) */
	bool proven;		/* the plane delivered recently, so its neighbour is reachable */
	bool has_dscp;		/* use dscp, not that of tclass */
	u8 dscp;
	u8 plane;		/* by which the packet leaves, 0-based; MRC_PLANE_NONE: lo */
	u32 ev;
	u16 port;		/* UDP destination port */
	u8 hops;		/* TTL or hop limit of the innermost header; 0: the default */
};

/* Bytes of headroom that mrc_tx_wrap() needs in front of BTH. */
u32 mrc_tx_room(const struct mrc_route *w);
/* BH off, in the RCU section in which e->way was found. Adds UDP, IP and outer header in front of @skb. */
void mrc_tx_wrap(struct mrc_dev *dev, bool v4, struct sk_buff *skb, const struct mrc_tx_hdrs *e);
/* The same context. Builds @op for the route in @e; sets port, icrc and joins of @e. NULL: no memory; counted. */
struct sk_buff *mrc_tx_build_by(struct mrc_peer *peer, const struct mrc_txop *op,
				const struct mrc_payload *pl, struct mrc_tx_hdrs *e);
/* Any context. The plane of EV @idx. */
static inline u8 mrc_tx_plane(const struct mrc_pathset *ps, u16 idx)
{
	return ps->local ? MRC_PLANE_NONE : ps->path[idx].port - 1;
}

/* BH off, in the RCU section in which @skb was built, no lock of ours held. Sends @skb, consumes it, and counts. */
void mrc_tx_xmit(struct sk_buff *skb);
/* The same for all packets in @q. Consecutive packets of one EV that may join leave as one burst. */
void mrc_tx_xmit_all(struct sk_buff_head *q);

/*
 * Any context. Adds the SRv6 header (H.Encaps.Red, RFC 8986 section 5.2; MRC 1.0 section 1.13) in front of the IP
 * packet at skb->data.
 */
void mrc_tx_push_outer(struct mrc_dev *dev, struct sk_buff *skb, const struct mrc_route *w,
		       u8 tclass, u32 flow_label, u8 inner_proto);
/*
 * A SACK or NACK names an EV by 32 bits. The engine uses port << 16 | flow label. A device with ev_port_low uses the
 * opposite order on the wire, in both directions.
 */
static inline void mrc_tx_swap_halves(struct mrc_pkt *pkt)
{
	if (pkt->opcode == MRC_OPC_SACK)
		pkt->u.sack.ev = rol32(pkt->u.sack.ev, 16);
	else if (pkt->opcode == MRC_OPC_NACK)
		pkt->u.nack.ev = rol32(pkt->u.nack.ev, 16);
}

#endif
