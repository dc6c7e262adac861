// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_mpr.c - how much the peer is let send: the window offered (dynamic MPR) and
 * the receiver's word on its congestion window.
 *
 * MRC 1.0 sections 2.4, 5.3 (7.5.1). With dynamic MPR every SACK carries the live
 * window. It halves when what a packet out of order may need runs short: slots for
 * tails, records of receive messages, requests that wait for their turn; not more often
 * than once per window in flight, because what is on its way was allowed. It grows
 * by one unit per window of progress without shortage. It never closes: one unit is
 * the least, and packets up to the window of RTR are taken in whatever was said.
 */
#include "mrc_conn.h"

/* The window of RTR; what exceeds the bitmap is refused by NACK NO_BITMAP. */
void mrc_mpr_start(struct mrc_conn *c, u8 agreed)
{
	u8 mpr = min_t(u8, agreed, c->cfg.mpr_max);

	c->rx_agreed = (u32)agreed * MRC_MPR_UNIT;
	c->rx_window = (u32)mpr * MRC_MPR_UNIT;
	c->rx_mpr = mpr;
	c->rx_mpr_cap = mpr;
	c->rx_mpr_wait = false;
}

void mrc_conn_set_mpr(struct mrc_conn *c, u8 mpr)
{
	if (!c->rx.dyn_mpr)
		return;
	mpr = clamp_t(u8, mpr, 1, (u8)(c->rx_window / MRC_MPR_UNIT));
	c->stats.mpr_shrunk += mpr < c->rx_mpr;
	c->rx_mpr = mpr;
	c->rx_mpr_cap = mpr;
	c->rx_mpr_wait = false;
	c->rx_mpr_mark = c->rx_cack;
}

/* Less than a quarter left of anything? */
static bool mrc_mpr_short(const struct mrc_conn *c)
{
	return 4u * c->tails_used > 3u * c->cfg.tails ||
	       4u * c->rq_used > 3u * c->cfg.rq_max ||
	       4u * c->exec_waiting > 3u * c->cfg.rd_max;
}

void mrc_mpr_update(struct mrc_conn *c)
{
	bool passed = mrc_psn_diff(c->rx_cack, c->rx_mpr_mark) >= 0;

	if (c->rx_mpr_wait) {
		if (!passed)
			return;
		c->rx_mpr_wait = false;
	} else if (mrc_mpr_short(c)) {
		if (c->rx_mpr > 1) {
			c->rx_mpr /= 2;
			c->rx_mpr_wait = true;
			c->rx_mpr_mark = c->rx_max;
			c->stats.mpr_shrunk++;
			return;
		}
	} else {
		if (c->rx_mpr == c->rx_mpr_cap || !passed)
			return;
		c->rx_mpr++;
	}
	/* To grow: a whole window without shortage, from here. */
	c->rx_mpr_mark = mrc_psn_add(c->rx_cack, (s32)(c->rx_mpr * MRC_MPR_UNIT));
}

/* ---- receiver-side incast ---- */

bool mrc_conn_incast_note(struct mrc_conn *c, struct mrc_incast_note *note)
{
	if (!c->rx_note.bytes && !c->rx_note.trims && !c->rx_note.marks)
		return false;
	*note = c->rx_note;
	memset(&c->rx_note, 0, sizeof(c->rx_note));
	return true;
}

/*
 * Said in every SACK until something else is: single ones may be lost. The first one
 * leaves at once: a sender in an incast may be far from the SACK threshold.
 */
void mrc_conn_set_penalty(struct mrc_conn *c, u8 rcv_cwnd_pen, bool restore)
{
	if (rcv_cwnd_pen && !c->rx_pen && c->rx_ready)
		mrc_ctl_owe_word(c);
	c->rx_pen = min_t(u8, rcv_cwnd_pen, 127);
	c->rx_restore = restore;
}
