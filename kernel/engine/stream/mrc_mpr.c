// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_mpr.c - the receive window that is offered to the peer (dynamic MPR), and arrivals for
 * receiver-side incast.
 *
 * MRC 1.0 sections 2.4, 5.3 (7.5.1). With dynamic MPR every SACK carries the current window. It
 * halves when a resource for packets out of order runs short: tail slots, records of receive
 * messages, or requests that wait. It halves at most once per window, because packets in flight
 * were allowed. It grows by one unit per window without shortage. It never closes: one unit is the
 * minimum, and packets within the window of RTR are accepted in any case.
 */
#include "conn/mrc_conn.h"

/* The window of RTR. PSNs within it that exceed the bitmap get a NACK NO_BITMAP. */
void mrc_mpr_start(struct mrc_conn *c, u8 agreed)
{
	u8 mpr = min_t(u8, agreed, c->cfg.mpr_max);

	c->rcv.agreed = (u16)(agreed * MRC_MPR_UNIT);
	c->rcv.window = (u32)mpr * MRC_MPR_UNIT;
	c->mpr.live = mpr;
	c->mpr.cap = mpr;
	c->mpr.wait = false;
}

void mrc_conn_set_mpr(struct mrc_conn *c, u8 mpr)
{
	if (!c->rx.dyn_mpr)
		return;
	mpr = clamp_t(u8, mpr, 1, (u8)(c->rcv.window / MRC_MPR_UNIT));
	c->stats.mpr_shrunk += mpr < c->mpr.live;
	c->mpr.live = mpr;
	c->mpr.cap = mpr;
	c->mpr.wait = false;
	c->mpr.mark = c->rcv.cack;
}

/* Is less than a quarter left of any resource? */
static bool mrc_mpr_short(const struct mrc_conn *c)
{
	return 4u * c->tails.used > 3u * c->cfg.tails ||
	       4u * c->rcv.rq_used > 3u * c->cfg.rq_max ||
	       4u * c->execs.waiting > 3u * c->cfg.rd_max;
}

void mrc_mpr_update(struct mrc_conn *c)
{
	bool passed = mrc_psn_diff(c->rcv.cack, c->mpr.mark) >= 0;

	if (c->mpr.wait) {
		if (!passed)
			return;
		c->mpr.wait = false;
	} else if (mrc_mpr_short(c)) {
		if (c->mpr.live > 1) {
			c->mpr.live /= 2;
			c->mpr.wait = true;
			c->mpr.mark = c->rcv.max;
			c->stats.mpr_shrunk++;
			return;
		}
	} else {
		if (c->mpr.live == c->mpr.cap || !passed)
			return;
		c->mpr.live++;
	}
	/* Growing takes a whole window without shortage, starting here. */
	c->mpr.mark = mrc_psn_add(c->rcv.cack, (s32)(c->mpr.live * MRC_MPR_UNIT));
}

/* ---- receiver-side incast ---- */

bool mrc_conn_incast_note(struct mrc_conn *c, struct mrc_incast_note *note)
{
	if (!c->rcv.note.bytes && !c->rcv.note.trims && !c->rcv.note.marks)
		return false;
	*note = c->rcv.note;
	memset(&c->rcv.note, 0, sizeof(c->rcv.note));
	return true;
}
