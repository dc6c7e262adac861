/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_rcv.h - what every packet of data asks and tells the receive stream (mrc_rcv.c).
 */
#ifndef MRC_RCV_H
#define MRC_RCV_H

#include "mrc_conn.h"

/* @p, which is notable, was counted: does it call for a SACK at once? */
bool mrc_rcv_asks(struct mrc_conn *c, const struct mrc_pkt *p);

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

/* What comes in order, while nothing else is here, only moves the left edge. */
static inline void mrc_rcv_take(struct mrc_conn *c, const struct mrc_rxop *op)
{
	if (likely(op->plain && !c->rcv.held && op->psn == mrc_psn_add(c->rcv.cack, 1))) {
		c->rcv.cack = op->psn;
		c->rcv.max = op->psn;
	} else {
		mrc_rcv_mark(c, op);
	}
}

/*
 * The triggers of 7.5.2; a packet counts 1 KiB at least. A sender that was asked to
 * slow down has few packets out: each is answered.
 */
static inline bool mrc_rcv_sack_due(struct mrc_conn *c, const struct mrc_pkt *p)
{
	bool asks = unlikely(p->notable | c->rcv.ar | c->ctl.pen) && mrc_rcv_asks(c, p);
	u32 bytes = max_t(u32, p->payload_len, 1024), early = c->rcv.early;
	u32 before = c->rcv.sack_bytes;

	c->rcv.sack_pkts++;
	c->rcv.sack_bytes = before + bytes;
	return c->rcv.sack_pkts + early >= c->rx.sack_pkts ||
	       before + (bytes << early) >= c->rx.sack_bytes || asks;	/* early: one more fits */
}

#endif
