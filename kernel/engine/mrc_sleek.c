// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_sleek.c - SLEEK, an option: loss inferred from how many packets the peer holds out
 * of order, not from time (UEC 1.0; MRC 1.0 section 4, 7.4.5). The rest of loss is in mrc_loss.c.
 */
#include "mrc_conn.h"

/* Requeue what was overtaken and not resent yet, from the left edge, one window at most. */
static void mrc_sleek_requeue(struct mrc_conn *c, u64 now_ns)
{
	u32 room = c->cc->cwnd_bytes, lost = 0, psn;

	for (psn = c->psn_una; mrc_psn_diff(psn, c->sleek_psn) < 0 && lost < room;
	     psn = mrc_psn_add(psn, 1)) {
		const struct mrc_rec *r = &c->rec[psn & c->rec_mask];

		if (r->state == MRC_REC_SENT && r->tries == 1 &&
		    mrc_rack_before(c, r->sent, psn) &&
		    mrc_tick_age_ns(now_ns, r->sent) >= c->min_rtt_ns)
			lost += mrc_loss_mark(c, psn, MRC_CAUSE_SLEEK, now_ns);
	}
	mrc_loss_tell(c, lost, now_ns);
}

/* Recovery: what was sent until now and is overtaken is lost. */
void mrc_sleek_recover(struct mrc_conn *c, u64 now_ns)
{
	c->sleek_psn = c->psn_next;
	c->sleek = true;
	mrc_sleek_requeue(c, now_ns);
}

/*
 * @ooo: packets that the peer holds beyond a hole. Recovery begins at one and a half
 * windows of them, at least five; "the largest window" of the rule is half of the
 * PSN window here: beyond it the count could not get.
 */
void mrc_sleek_ooo(struct mrc_conn *c, u32 ooo, u64 now_ns)
{
	u32 mss = c->rx.mtu + MRC_PKT_OVERHEAD;
	u32 share = c->cc->cwnd_bytes / max_t(u32, c->cc->n_active, 1);
	u32 limit = min_t(u32, (share + share / 2) / mss, c->tx_window / 2);

	if (c->sleek && mrc_psn_diff(c->psn_una, c->sleek_psn) >= 0)
		c->sleek = false;
	if (c->sleek)
		mrc_sleek_requeue(c, now_ns);
	else if (ooo >= max_t(u32, limit, 5))
		mrc_sleek_recover(c, now_ns);
}
