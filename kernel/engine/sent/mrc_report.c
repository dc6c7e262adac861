// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_report.c - how the peer reports: whether it echoes timestamps, how far its bitmaps reach, and
 * when to request a SACK.
 *
 * MRC 1.0 sections 1.7, 4 (7.5.2). Each implementation decides when it sends a SACK and where the
 * 64 bits begin. So a packet that no bitmap has covered is not reported missing, and time alone
 * does not make it lost (mrc_rack.c). If a peer sends SACKs only on request, requests are frequent.
 */
#include "conn/mrc_conn.h"

#define MRC_REPORT_HALF	32	/* bits of a bitmap */
#define MRC_REPORT_MUTE	4	/* SACKs in a row without a stamp: the peer reflects none */

/*
 * A SACK came, or one was asked for: so many packets may leave until one must be asked for. They are three
 * times what the usual threshold counts (16 KiB), so a peer that sends SACKs unasked is not asked; and less than
 * what a bitmap shows.
 */
void mrc_report_asked(struct mrc_conn *c)
{
	c->report.ask_in = c->rx.mtu >= 4096 ? 12 : c->rx.mtu >= 2048 ? 20 : 32;
}

/* Our stream begins, of which nothing is known as delivered. */
void mrc_report_start(struct mrc_conn *c)
{
	c->report.shown = c->snd.acked & MRC_PSN_MASK;
	c->report.ask_in = 0xff;	/* nothing can have been answered yet */
	c->report.far = false;
	c->report.blind = false;
	c->report.mute = 0;
}

/*
 * The far half of the bitmap of @s is empty, and its end is called lost. Then nothing behind it has come either: else
 * all of the window may be out there, and each round trip finds as many lost as the left edge moves.
 */
static bool mrc_report_void(const struct mrc_conn *c, const struct mrc_sack *s)
{
	u32 end = mrc_psn_add(s->cack, 64);

	return s->sack_offset == 1 && !(s->bitmap >> MRC_REPORT_HALF) && mrc_psn_out(c, end) &&
	       c->snd.rec[end & c->snd.mask].state == MRC_REC_LOST;
}

/*
 * What @s shows by its form. Its trigger has arrived: a bitmap that covers it and lacks its bit
 * says nothing of the others either, nor did those before it. Who has shown more than what follows cack shows all in
 * time.
 */
void mrc_report_sack(struct mrc_conn *c, const struct mrc_sack *s)
{
	s32 ahead = s->ack_psn_offset;
	u32 bit = (u32)(ahead - s->sack_offset), end;

	if (!s->pr) {
		c->report.mute = s->tx_ts ? 0 : min_t(u32, c->report.mute + 1u, MRC_REPORT_MUTE) & 7u;
		if (ahead > 0 && bit < 64)
			c->report.blind = !(s->bitmap >> bit & 1);
	}
	if (s->bitmap && s->sack_offset > 1)
		c->report.far = true;
	end = mrc_psn_add(s->cack, c->report.blind ? 1 : 64);
	if (unlikely(c->snd.lost.count) && !c->report.blind && mrc_report_void(c, s))
		end = mrc_psn_add(c->snd.next, -1);
	if (c->report.blind || mrc_psn_diff(end, c->report.shown) > 0)
		c->report.shown = end & MRC_PSN_MASK;
	mrc_report_asked(c);
}

/* Will a stamp say which copy of a packet arrived? */
bool mrc_report_stamps(const struct mrc_conn *c)
{
	return c->tx.timestamps && c->report.mute < MRC_REPORT_MUTE;
}
