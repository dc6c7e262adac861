// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_rcv.c - the receive stream: which PSNs have arrived, the left edge, and the end after a
 * refusal.
 *
 * MRC 1.0 sections 2.2, 2.3 (7.5). A ring bitmap records which PSNs in (cack, cack + window] were
 * committed. The left edge cack moves over them. A packet that is refused for good (NAK) stops the
 * stream at its PSN: messages before it still complete, packets after it are dropped. mrc_rx.c and
 * its neighbours classify packets and call this file, which calls no other.
 */
#include "stream/mrc_rcv.h"

#define MRC_SACK_EARLY_MASK	3	/* one SACK in four leaves early */

static bool mrc_bit_test(const u64 *bits, u32 i)
{
	return bits[i >> 6] >> (i & 63) & 1;
}

static void mrc_bit_set(u64 *bits, u32 i)
{
	bits[i >> 6] |= 1ull << (i & 63);
}

static void mrc_bit_clear(u64 *bits, u32 i)
{
	bits[i >> 6] &= ~(1ull << (i & 63));
}

void mrc_rcv_reset(struct mrc_conn *c)
{
	size_t bytes = (c->rcv_mask + 1) / 8;

	memset(c->rcv.bits, 0, bytes);
	*mrc_rcv_unreported(c) = 0;
	memset(mrc_rcv_last(c), 0, bytes);
	memset(c->rcv.rq, 0, c->cfg.rq_max * sizeof(*c->rcv.rq));
	if (c->rcv.hold)
		memset(c->rcv.hold, 0, bytes);
	memset(&c->rcv.note, 0, sizeof(c->rcv.note));
	c->rcv.held = 0;
	c->rcv.bytes = 0;
	c->rcv.ar = false;
	/* The first packet triggers a SACK: it gives the peer a round-trip sample. */
	c->rcv.sack_pkts = 0xffff;
	c->rcv.sack_bytes = 0;
	c->rcv.early = false;
	c->rcv.rand.state = ~c->cfg.seed;	/* other numbers than the spray's */
	c->rcv.rq_next = 0;
	c->rcv.rq_used = 0;
	c->rcv.nak = MRC_NAK_NONE;
	c->rcv.nak_sent = false;
	c->rcv.done_msn = 0;
}

/* ---- refusal ---- */

/* Stop the stream at @psn for good. The NAK names the lowest PSN that is refused before it is sent. */
void mrc_rcv_refuse(struct mrc_conn *c, u32 psn, enum mrc_nak why)
{
	if (c->rcv.nak != MRC_NAK_NONE && (c->rcv.nak_sent || mrc_psn_diff(psn, c->rcv.nak_psn) >= 0))
		return;
	c->rcv.nak = (u8)why;
	c->rcv.nak_psn = psn;
	if (why == MRC_NAK_REM_ACCESS)
		c->stats.naks_access++;
	else
		c->stats.naks_invalid++;
}

/* ---- the left edge ---- */

/* Advance the left edge by one packet. The last packet of a message triggers a transport ACK. */
static void mrc_rcv_pass(struct mrc_conn *c, bool last)
{
	c->rcv.cack = mrc_psn_add(c->rcv.cack, 1);
	if (last) {
		c->rcv.done_msn = (c->rcv.done_msn + 1) & MRC_PSN_MASK;
		c->ctl.ack_owed = true;
		c->ctl.ack_again = false;
		c->ctl.probes = 0;
	}
}

/* Advance the left edge over committed (strict: placed) packets. */
void mrc_rcv_advance(struct mrc_conn *c)
{
	u32 slot = mrc_rcv_slot(c, c->rcv.cack + 1);

	while (c->rcv.held && mrc_bit_test(c->rcv.bits, slot) &&
	       !(c->rx.strict && mrc_bit_test(c->rcv.hold, slot))) {
		mrc_bit_clear(c->rcv.bits, slot);
		c->rcv.held--;
		mrc_rcv_pass(c, mrc_bit_test(mrc_rcv_last(c), slot));
		mrc_bit_clear(mrc_rcv_last(c), slot);
		slot = (slot + 1) & c->rcv_mask;
	}
}

/* Commit packet op->psn: it advances the left edge, or is marked in the bitmap. */
void mrc_rcv_mark(struct mrc_conn *c, const struct mrc_rxop *op)
{
	bool last = mrc_opc_is_last(op->pkt->opcode);
	u32 slot = mrc_rcv_slot(c, op->psn);

	if (mrc_psn_diff(op->psn, c->rcv.max) > 0)
		c->rcv.max = op->psn;
	if (op->psn == mrc_psn_add(c->rcv.cack, 1)) {
		mrc_rcv_pass(c, last);
		if (c->rcv.held)
			mrc_rcv_advance(c);
		return;
	}
	if (mrc_assert(!mrc_bit_test(c->rcv.bits, slot)))
		return;
	c->stats.rx_ooo++;
	mrc_bit_set(c->rcv.bits, slot);
	*mrc_rcv_unreported(c) |= 1ull << (op->psn >> 6 & 63);
	if (last)
		mrc_bit_set(mrc_rcv_last(c), slot);
	c->rcv.held++;
}

/* ---- when a SACK is due ---- */

/* An acknowledgement was requested while packets were missing. True: the last hole is filled now. */
static bool mrc_rcv_filled(struct mrc_conn *c, const struct mrc_pkt *p)
{
	bool whole = (u32)mrc_psn_diff(c->rcv.max, c->rcv.cack) == c->rcv.held;
	bool filled = whole && c->rcv.ar;

	c->rcv.ar = !whole && (c->rcv.ar || p->ackreq);
	return filled;
}

/*
 * Does @p call for a SACK at once? Also while a penalty is set (ctl.pen): a sender that was slowed down has few
 * packets in flight.
 */
bool mrc_rcv_asks(struct mrc_conn *c, const struct mrc_pkt *p)
{
	bool filled = mrc_rcv_filled(c, p);

	if (p->ecn_ce) {
		c->stats.rx_ecn++;
		if (c->rcv.note.marks != 0xffff)
			c->rcv.note.marks++;
	}
	return p->ackreq | p->rtx | p->ecn_ce | (c->ctl.pen != 0) | filled;
}

/*
 * A SACK is pending that covers all arrivals: count anew. The next SACK is due after the configured number
 * of packets, or at random one earlier. Planes alternate, so with a threshold that is a multiple of
 * their number, the same plane would trigger every SACK.
 */
void mrc_rcv_sacked(struct mrc_conn *c)
{
	c->rcv.sack_pkts = 0;
	c->rcv.sack_bytes = 0;
	c->rcv.early = !(mrc_prng_u64(&c->rcv.rand) & MRC_SACK_EARLY_MASK);
}

/* ---- invariants ---- */

int mrc_rcv_check(const struct mrc_conn *c)
{
	u32 held = 0, i;

	for (i = 0; i <= c->rcv_mask >> 6; i++)
		held += (u32)hweight64(c->rcv.bits[i]);
	if (held != c->rcv.held)
		return __LINE__;
	if (held && mrc_psn_diff(c->rcv.max, c->rcv.cack) <= 0)
		return __LINE__;
	if (mrc_psn_diff(c->rcv.max, c->rcv.cack) > (s32)c->rcv.window)
		return __LINE__;
	return 0;
}
