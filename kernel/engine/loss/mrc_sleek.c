// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_sleek.c - SLEEK, an option (mrcctl dev set sleek on): loss detection by count.
 *
 * Each SACK says how many packets the peer holds out of order. Beyond one and a half windows of
 * them, all packets that were overtaken count as lost and are retransmitted. Packets that were
 * retransmitted before are judged by time alone, as mrc_rack.c does for all of them. UEC 1.0; MRC
 * 1.0 section 4, 7.4.5.
 */
#include "conn/mrc_conn.h"

#define MRC_SLEEK_LOOK	256	/* records looked at by one call */

/*
 * A packet of plane @p that is in flight for less than this is not lost: it may just be on a longer plane,
 * which also puts many packets out of order.
 */
static u64 mrc_sleek_rtt_ns(const struct mrc_conn *c, u8 p)
{
	return max_t(u64, c->evs ? mrc_evset_srtt_ns(c->evs, p) : 0, c->rack.min_rtt_ns);
}

/*
 * Declare overtaken packets lost that were sent only once, at most one window of bytes. A call examines a
 * part of the records; the next call continues there, and starts again at the left edge after the last.
 */
static void mrc_sleek_requeue(struct mrc_conn *c, u64 now_ns)
{
	u32 room = c->cc->cwnd_bytes, lost = 0, n;

	if (mrc_psn_diff(c->sleek.at, c->snd.una) < 0 || mrc_psn_diff(c->sleek.at, c->sleek.psn) >= 0)
		c->sleek.at = c->snd.una;
	for (n = 0; n < MRC_SLEEK_LOOK && lost < room && mrc_psn_diff(c->sleek.at, c->sleek.psn) < 0;
	     n++, c->sleek.at = mrc_psn_add(c->sleek.at, 1)) {
		const struct mrc_rec *r = &c->snd.rec[c->sleek.at & c->snd.mask];

		if (r->state == MRC_REC_SENT && r->tries == 1 &&
		    mrc_last_delivered_before(c, r->sent, c->sleek.at) &&
		    mrc_tick_age_ns(now_ns, r->sent) >= mrc_sleek_rtt_ns(c, r->plane))
			lost += mrc_snd_lose(c, c->sleek.at, MRC_CAUSE_SLEEK, now_ns);
	}
	mrc_snd_report_lost(c, lost, now_ns);
}

/*
 * Start recovery, or extend it to all packets sent until now. The walk continues at its position: restarted
 * by each answer to a probe, it would never reach the end of a large window.
 */
void mrc_sleek_recover(struct mrc_conn *c, u64 now_ns)
{
	c->sleek.psn = c->snd.next & MRC_PSN_MASK;
	if (!c->sleek.on)
		c->sleek.at = c->snd.una;
	c->sleek.on = true;
	mrc_sleek_requeue(c, now_ns);
}

/*
 * @ooo: packets that the peer holds out of order. Recovery starts at one and a half windows of them, at least
 * five, at most half of the PSNs that may be in flight (a larger count might never be reached).
 */
void mrc_sleek_ooo(struct mrc_conn *c, u32 ooo, u64 now_ns)
{
	u32 mss = c->rx.mtu + MRC_PKT_OVERHEAD;
	u32 share = c->cc->cwnd_bytes / max_t(u32, c->cc->n_active, 1);
	u32 limit = min_t(u32, (share + share / 2) / mss, c->snd.range / 2);

	if (c->sleek.on && mrc_psn_diff(c->snd.una, c->sleek.psn) >= 0)
		c->sleek.on = false;
	if (c->sleek.on)
		mrc_sleek_requeue(c, now_ns);
	else if (ooo >= max_t(u32, limit, 5))
		mrc_sleek_recover(c, now_ns);
}
