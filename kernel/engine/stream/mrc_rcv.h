/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_rcv.h - the inline part of the receive stream (mrc_rcv.c), used for every data packet.
 */
#ifndef MRC_RCV_H
#define MRC_RCV_H

#include "conn/mrc_conn.h"

/* Does the committed packet @p, which is notable, call for a SACK at once? */
bool mrc_rcv_asks(struct mrc_conn *c, const struct mrc_pkt *p);

/* May the packet call for a SACK before the threshold? */
static inline bool mrc_rcv_notable(const struct mrc_conn *c, const struct mrc_pkt *p)
{
	return p->notable | c->rcv.ar | c->ctl.pen;
}

static inline bool mrc_rcv_has(const struct mrc_conn *c, u32 psn)
{
	u32 i = mrc_rcv_slot(c, psn);

	return c->rcv.bits[i >> 6] >> (i & 63) & 1;
}

static inline void mrc_rcv_count(struct mrc_conn *c, const struct mrc_rxop *op)
{
	const struct mrc_pkt *p = op->pkt;
	u32 bytes = (p->udp_len ? p->udp_len : op->len) + MRC_NOMINAL_HDR;

	c->rcv.bytes += bytes;
	c->rcv.note.bytes += bytes;
	c->stats.rx_pkts++;
	c->stats.rx_bytes += op->len;
}

/* Counts the packet. True: the threshold in packets or bytes (7.5.2) is reached. A packet is 1 KiB at least. */
static inline bool mrc_rcv_sack_due(struct mrc_conn *c, const struct mrc_pkt *p)
{
	u32 bytes = max_t(u32, p->payload_len, 1024), early = c->rcv.early;
	u32 before = c->rcv.sack_bytes;

	c->rcv.sack_pkts++;
	c->rcv.sack_bytes = before + bytes;
	return c->rcv.sack_pkts + early >= c->rx.sack_pkts ||
	       before + (bytes << early) >= c->rx.sack_bytes;	/* early: one more fits */
}

#endif
