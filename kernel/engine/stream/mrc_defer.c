// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_defer.c - received packets that wait for the left edge before they are placed.
 *
 * The kind of connection decides:
 *   - verbs QP, not strict: the last MRC_TAIL_LEN bytes of a WRITE of several packets (a tail), so
 *     that a program that polls them sees the whole message. Tails are in a list sorted by PSN.
 *     Packets arrive nearly in order, so a new tail belongs near the end, and the first one is the
 *     next to be placed.
 *   - strict mode: every data packet beyond a hole. The caller keeps the packets and is told to
 *     place them in PSN order. The left edge moves only over placed packets, so acknowledgements,
 *     completions and requests wait too.
 *   - QP of mrc.h, not strict: nothing, because mrc.h promises no order of bytes.
 * A deferred packet has been SACKed, so the peer has forgotten it and cannot send it again. If it
 * can no longer be placed, strict mode answers with a NAK; a tail is dropped (tails_dropped).
 */
#include "conn/mrc_conn.h"

/* ---- tails ---- */

void mrc_tail_reset(struct mrc_conn *c)
{
	u8 i;

	memset(c->tails.slot, 0, c->cfg.tails * sizeof(*c->tails.slot));
	for (i = 0; i < c->cfg.tails; i++)
		c->tails.slot[i].next = (u8)(i + 1 < c->cfg.tails ? i + 1 : MRC_TAIL_END);
	c->tails.free = 0;
	c->tails.first = MRC_TAIL_END;
	c->tails.last = MRC_TAIL_END;
	c->tails.used = 0;
}

/* The slot that mrc_tail_keep() will take, or -1. */
s16 mrc_tail_slot(const struct mrc_conn *c)
{
	return c->tails.free == MRC_TAIL_END ? -1 : c->tails.free;
}

static void mrc_tail_insert(struct mrc_conn *c, u8 i)
{
	struct mrc_tail_rec *t = &c->tails.slot[i];
	u8 before = c->tails.last, after = MRC_TAIL_END;

	while (before != MRC_TAIL_END && mrc_psn_diff(c->tails.slot[before].psn, t->psn) > 0) {
		after = before;
		before = c->tails.slot[before].prev;
	}
	t->prev = before;
	t->next = after;
	*(before == MRC_TAIL_END ? &c->tails.first : &c->tails.slot[before].next) = i;
	*(after == MRC_TAIL_END ? &c->tails.last : &c->tails.slot[after].prev) = i;
}

void mrc_tail_keep(struct mrc_conn *c, const struct mrc_rxop *op)
{
	u8 i = c->tails.free;
	struct mrc_tail_rec *t = &c->tails.slot[i];
	u32 len = min_t(u32, op->len, MRC_TAIL_LEN);

	if (mrc_assert(i != MRC_TAIL_END && op->tail == i))
		return;
	c->tails.free = t->next;
	t->psn = op->psn;
	t->va = op->va + op->len - len;
	t->rkey = op->rkey;
	t->len = len;
	mrc_tail_insert(c, i);
	c->tails.used++;
}

bool mrc_tail_next(struct mrc_conn *c, struct mrc_tail *out)
{
	u8 i = c->tails.first;
	struct mrc_tail_rec *t = &c->tails.slot[i];

	if (i == MRC_TAIL_END || mrc_psn_diff(t->psn, c->rcv.cack) > 0)
		return false;
	out->slot = i;
	out->va = t->va;
	out->rkey = t->rkey;
	out->len = t->len;
	c->tails.first = t->next;
	*(t->next == MRC_TAIL_END ? &c->tails.last : &c->tails.slot[t->next].prev) = MRC_TAIL_END;
	t->next = c->tails.free;
	c->tails.free = i;
	c->tails.used--;
	return true;
}

/* ---- strict placement ---- */

void mrc_hold_keep(struct mrc_conn *c, u32 psn)
{
	u32 slot = mrc_rcv_slot(c, psn);

	c->rcv.hold[slot >> 6] |= 1ull << (slot & 63);
	c->stats.rx_held++;
}

bool mrc_hold_next(const struct mrc_conn *c, u32 *slot)
{
	u32 psn = mrc_psn_add(c->rcv.cack, 1), i = mrc_rcv_slot(c, psn);

	if (!c->rx.strict || !c->rcv.held || c->fail)
		return false;
	if (c->rcv.nak != MRC_NAK_NONE && mrc_psn_diff(psn, c->rcv.nak_psn) >= 0)
		return false;
	if (!(c->rcv.hold[i >> 6] >> (i & 63) & 1))
		return false;
	*slot = i;
	return true;
}

void mrc_hold_done(struct mrc_conn *c, enum mrc_nak nak)
{
	u32 i;

	if (mrc_assert(mrc_hold_next(c, &i)))
		return;
	if (nak != MRC_NAK_NONE) {
		mrc_rcv_refuse(c, mrc_psn_add(c->rcv.cack, 1), nak);
		return;
	}
	c->rcv.hold[i >> 6] &= ~(1ull << (i & 63));
	mrc_rcv_advance(c);
	if (c->rx.dyn_mpr)
		mrc_mpr_update(c);
}

/* ---- invariants ---- */

static int mrc_check_tails(const struct mrc_conn *c)
{
	u8 i, prev = MRC_TAIL_END;
	u32 n = 0;

	for (i = c->tails.first; i != MRC_TAIL_END; prev = i, i = c->tails.slot[i].next) {
		if (n++ == c->cfg.tails || c->tails.slot[i].prev != prev)
			return __LINE__;
		if (prev != MRC_TAIL_END &&
		    mrc_psn_diff(c->tails.slot[i].psn, c->tails.slot[prev].psn) <= 0)
			return __LINE__;
	}
	if (prev != c->tails.last || n != c->tails.used)
		return __LINE__;
	for (i = c->tails.free; i != MRC_TAIL_END; i = c->tails.slot[i].next)
		if (n++ == c->cfg.tails)
			return __LINE__;
	return n == c->cfg.tails ? 0 : __LINE__;
}

int mrc_defer_check(const struct mrc_conn *c)
{
	u32 i;

	for (i = 0; c->rx.strict && i <= c->rcv_mask >> 6; i++)
		if (c->rcv.hold[i] & ~c->rcv.bits[i])
			return __LINE__;	/* held, but not committed */
	return mrc_check_tails(c);
}
