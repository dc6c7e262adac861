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
#define MRC_REPORT_MUTE	4	/* SACKs in a row without a timestamp: the peer reflects none */

/*
 * A SACK arrived or was requested: set the number of packets until the next request. It is three times
 * the usual SACK threshold (16 KiB), so that a peer that sends SACKs unasked is never asked, and less
 * than a bitmap can show.
 */
void mrc_report_requested(struct mrc_conn *c)
{
	c->report.ask_in = c->rx.mtu >= 4096 ? 12 : c->rx.mtu >= 2048 ? 20 : 32;
}

/*
 * Is the message whose packet @psn leaves now sent slowly, because many QPs share the port? Before the peer has
 * a SACK's worth of packets, this QP would lose patience and probe: a probe and an answer for each packet of data.
 */
bool mrc_report_slow(const struct mrc_conn *c, u32 psn, u64 now_ns)
{
	u32 sent = c->snd.rec[mrc_psn_add(psn, -1) & c->snd.mask].sent;

	return MRC_REPORT_FEW * mrc_tick_age_ns(now_ns, sent) >= mrc_rtt_patience_ns(c);
}

/* The send stream begins. */
void mrc_report_start(struct mrc_conn *c)
{
	c->report.shown = c->snd.acked & MRC_PSN_MASK;
	c->report.ask_in = 0xff;	/* no SACK can have arrived yet */
	c->report.far = false;
	c->report.blind = false;
	c->report.mute = 0;
	c->report.answers = false;
}

/*
 * The upper half of the bitmap is empty, and the packet right behind it was declared lost. Then assume that
 * nothing beyond has arrived either. Otherwise, if the rest of the window was lost, each round trip
 * would detect only as many losses as the left edge advances.
 */
static bool mrc_report_void(const struct mrc_conn *c, const struct mrc_sack *s)
{
	u32 end = mrc_psn_add(s->cack, 64);

	return s->sack_offset == 1 && !(s->bitmap >> MRC_REPORT_HALF) && mrc_psn_out(c, end) &&
	       c->snd.rec[end & c->snd.mask].state == MRC_REC_LOST;
}

/*
 * Learn from SACK @s which PSNs the peer's bitmaps cover. The trigger has arrived: if the bitmap covers it
 * but lacks its bit, bitmaps of this peer prove nothing (report.blind). A peer whose bitmap once began
 * elsewhere than after cack shows the whole window in time (report.far).
 */
void mrc_report_sack(struct mrc_conn *c, const struct mrc_sack *s)
{
	s32 ahead = s->ack_psn_offset;
	u32 bit = (u32)(ahead - s->sack_offset), end;

	c->report.answers |= s->pr;
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
	mrc_report_requested(c);
}

/* Will a reflected timestamp tell which copy of a packet arrived? */
bool mrc_report_stamps(const struct mrc_conn *c)
{
	return c->tx.timestamps && c->report.mute < MRC_REPORT_MUTE;
}
