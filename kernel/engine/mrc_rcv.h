/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_rcv.h - what every packet of data asks and tells the receive stream (mrc_rcv.c).
 */
#ifndef MRC_RCV_H
#define MRC_RCV_H

#include "mrc_conn.h"

/* An acknowledgement was asked for while packets were missing: once more when none is. */
bool mrc_rcv_filled(struct mrc_conn *c, const struct mrc_pkt *p);

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
	if (unlikely(p->ecn_ce)) {
		c->stats.rx_ecn++;
		if (c->rcv.note.marks != 0xffff)
			c->rcv.note.marks++;
	}
}

/*
 * The triggers of 7.5.2; a packet counts 1 KiB at least. A sender that was asked to
 * slow down has few packets out: each is answered.
 */
static inline bool mrc_rcv_sack_due(struct mrc_conn *c, const struct mrc_pkt *p)
{
	bool filled = unlikely(c->rcv.ar | p->ackreq) && mrc_rcv_filled(c, p);
	u32 bytes = max_t(u32, p->payload_len, 1024), early = c->rcv.early;

	c->rcv.sack_pkts++;
	c->rcv.sack_bytes += bytes;
	return c->rcv.sack_pkts + early >= c->rx.sack_pkts ||
	       c->rcv.sack_bytes + (early ? bytes : 0) >= c->rx.sack_bytes ||
	       p->ackreq | p->rtx | p->ecn_ce | (c->ctl.pen != 0) | filled;
}

#endif
