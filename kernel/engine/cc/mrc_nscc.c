// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_nscc.c - "uet-1.0-nscc": a window from delay and ECN, at the sender.
 *
 * MRC 1.0 section 5 (8.1-8.7); the algorithm is NSCC of UEC 1.0, 3.6.13.
 *
 *	delay = rtt - base_rtt			base_rtt: of the packet's plane (mrc_nscc_base.c);
 *						for window and steps the mean of planes
 *	mark  delay	on each acknowledgement of n bytes
 *	no    < target	window grows with (target - delay): inc += alpha n (target - delay);
 *			with no delay at all for a whole window: window += fi_scale n
 *	no    >= target	all grow alike: inc += fi n
 *	yes   >= target	window *= max(1 - gamma (avg - target) / avg, max_md_jump), once per base_rtt
 *	yes   < target	nothing: only the packet's path is avoided
 *	each adjust_bytes or adjust_period: window += inc / window; each period: += eta
 *	trimmed, lost	window -= n
 *	  in a queue	... without trimming: window /= 2, once per flight
 *	  on the way	... (trimmed before the last hop) from the bytes in flight, if these are at
 *			least half of the window; not below 5/8 per base_rtt; restored after a
 *			short burst of trims
 *	quick adapt	after trims, losses or much delay, once per base_rtt + target: if the
 *			bytes achieved are far below the largest window, they become the window;
 *			until the bytes in flight then are acknowledged or trimmed, trims neither
 *			cut it again nor adapt it (they still pace a window of one packet)
 *
 * All steps are relative to a reference network of 100 Gb/s x 12 us: a larger
 * one takes larger steps (a: bandwidth-delay product, b: target delay).
 *
 * Samples come from the peer and are not trusted: the window stays within
 * [MTU, max_cwnd] for any sample, and no sum here can overflow.
 */
#include "cc/mrc_nscc_state.h"

#define MRC_NSCC_SPIKE_TARGETS	2
#define MRC_NSCC_EWMA_Q16	819		/* 1/80 */
#define MRC_NSCC_PACE_MAX_RTTS	16
#define MRC_NSCC_PACE_MAX_NS	(1u << 28)	/* limit, in case the peer lies about round trips */
#define MRC_NSCC_PEN_HOLD	7		/* up to here a penalty only forbids growth */
#define MRC_NSCC_NO_DELAY_NS	1000u		/* below: no queue on the path */
#define MRC_NSCC_WAY_FLOOR(wnd)	((u32)((u64)(wnd) * 5 / 8))	/* for the largest window: 15/16 of a BDP */
#define MRC_NSCC_WAY_PKTS	8	/* a smaller window is not halved */
#define MRC_NSCC_BURST_PART	3		/* 1/3 of a flight trimmed: more than few bad paths */
#define MRC_NSCC_BURST_RTTS	16		/* minimum pause between two bursts */

static struct mrc_nscc_state *mrc_nscc_of(struct mrc_cc *cc)
{
	BUILD_BUG_ON(offsetof(struct mrc_nscc_state, cc));
	BUILD_BUG_ON(sizeof(struct mrc_nscc_state) > 288);
	return (struct mrc_nscc_state *)(void *)cc;
}

static void mrc_nscc_init(struct mrc_cc *cc, const struct mrc_cc_cfg *cfg, u64 now_ns)
{
	struct mrc_nscc_state *n = mrc_nscc_of(cc);

	mrc_nscc_take_cfg(n, cfg);
	mrc_nscc_set_wnd(n, cfg->window_bytes ? cfg->window_bytes : n->p.max_cwnd);
	n->adjust_at_ns = now_ns + n->p.adjust_period_ns;
	n->eta_at_ns = n->adjust_at_ns;
}

/* Planes came or went: scale the window with the largest window. */
static void mrc_nscc_set_cfg(struct mrc_cc *cc, const struct mrc_cc_cfg *cfg, u64 now_ns)
{
	struct mrc_nscc_state *n = mrc_nscc_of(cc);
	u32 before = n->p.max_cwnd;

	(void)now_ns;
	mrc_nscc_take_cfg(n, cfg);
	mrc_nscc_set_wnd(n, div_u64((u64)cc->cwnd_bytes * n->p.max_cwnd, before));
	if (n->saved_wnd)
		n->saved_wnd = mrc_nscc_sat(div_u64((u64)n->saved_wnd * n->p.max_cwnd, before));
	n->fast = false;
	n->fast_acked = 0;
}

/*
 * Weight of a marked packet in the average. Each mark is reported at once, other packets several per SACK, so a few
 * bad paths would dominate the average. So the delay is averaged with that of the unmarked packets which the
 * same SACK acknowledges.
 */
static u32 mrc_nscc_dilute(const struct mrc_nscc_state *n, u32 delay_ns, u32 acked)
{
	u32 others_ns = n->p.base_rtt_ns / 4;

	acked += n->cc.mtu / 2;		/* whole packets, about */
	if (delay_ns <= others_ns || acked < 2 * n->cc.mtu)
		return delay_ns;
	return others_ns + ((delay_ns - others_ns) >> (acked < 4 * n->cc.mtu ? 1 : 2));
}

/*
 * Average delay, which determines the depth of a decrease. A long delay without a mark is a slow path or host, not a
 * shared queue, and counts as base_rtt / 4. With a mark it is limited, because it is the delay of a single
 * packet on one path.
 */
static void mrc_nscc_average(struct mrc_nscc_state *n, u32 delay_ns, bool marked, u32 acked)
{
	s64 diff;

	if (marked)
		delay_ns = min_t(u32, mrc_nscc_dilute(n, delay_ns, acked),
				 MRC_NSCC_SPIKE_TARGETS * n->p.target_delay_ns);
	else if (delay_ns > n->p.target_delay_ns)
		delay_ns = n->p.base_rtt_ns / 4;
	diff = (s64)((u64)delay_ns << 8) - (s64)n->avg_q8;
	n->avg_q8 = (u64)((s64)n->avg_q8 + diff * MRC_NSCC_EWMA_Q16 / 65536);
}

/*
 * Set the window to the bytes that the network delivered. Losses are inferred and may prove to be spurious; then the
 * cut is undone. A trim is reported by the peer, so after a trim in the period nothing is undone.
 */
static void mrc_nscc_adapt(struct mrc_nscc_state *n, u32 inflight_bytes)
{
	n->undo_wnd = n->cc.cwnd_bytes;
	n->undo_lost = n->qa_lost;
	if (n->qa_trimmed) {
		n->undo_lost = 0;
		n->taken = 0;
	}
	mrc_nscc_set_wnd(n, n->achieved);
	n->to_ignore = inflight_bytes;
	n->inc_q8 = 0;
	n->fast = false;
}

/*
 * True: the window was set to the bytes that the network delivered. Only if at least half of the window was in use:
 * a host that sends to many peers, or has little to send, delivers little to each, and then a trim or delay
 * says nothing about this window.
 */
static bool mrc_nscc_quick_adapt(struct mrc_nscc_state *n, const struct mrc_cc_sample *s,
				 u32 delay_ns)
{
	u32 gone = mrc_nscc_add(n->qa_lost, n->qa_trimmed);
	bool adapt;

	if (n->p.disable_qa || s->now_ns < n->qa_at_ns)
		return false;
	/* Not in the first period, whose start is not known. */
	adapt = n->qa_at_ns && !n->to_ignore && n->achieved < n->p.max_cwnd >> n->p.qa_gate &&
		(gone || delay_ns > n->p.qa_threshold_ns) &&
		(u64)s->inflight_bytes + gone >= n->cc.cwnd_bytes / 2;
	if (adapt)
		mrc_nscc_adapt(n, s->inflight_bytes);
	n->achieved = 0;
	n->qa_lost = 0;
	n->qa_trimmed = 0;
	n->qa_at_ns = s->now_ns + n->p.base_rtt_ns + n->p.target_delay_ns;
	return adapt;
}

static void mrc_nscc_add_inc(struct mrc_nscc_state *n, u64 step_q8, u32 acked)
{
	/* step < 2^32, acked <= max_cwnd <= 2^28; the sum is saturated at 2^63. */
	n->inc_q8 = min_t(u64, n->inc_q8 + min_t(u64, step_q8, ~0u) * acked, 1ull << 63);
}

/* True while there is no delay: the window grows in proportion to the bytes acknowledged. */
static bool mrc_nscc_fast_increase(struct mrc_nscc_state *n, u32 delay_ns, u32 acked)
{
	if (delay_ns >= max_t(u32, MRC_NSCC_NO_DELAY_NS, n->p.base_rtt_ns >> 4)) {
		n->fast_acked = 0;
		n->fast = false;
		return false;
	}
	n->fast_acked = mrc_nscc_add(n->fast_acked, acked);
	if (!n->fast && n->fast_acked <= n->cc.cwnd_bytes)
		return false;
	n->fast = true;
	mrc_nscc_set_wnd(n, n->cc.cwnd_bytes + (((u64)acked * n->p.fi_scale_q16) >> 16));
	return true;
}

static void mrc_nscc_decrease(struct mrc_nscc_state *n, u64 now_ns)
{
	u32 avg_ns = (u32)(n->avg_q8 >> 8);
	u32 keep_q16;

	if (now_ns < n->md_at_ns || avg_ns <= n->p.target_delay_ns)
		return;
	keep_q16 = (1u << 16) - (u32)div_u64((u64)n->p.gamma_q16 * (avg_ns - n->p.target_delay_ns),
					     avg_ns);
	keep_q16 = max_t(u32, keep_q16, n->p.max_md_jump_q16);
	n->taken = 0;		/* congestion is certain: earlier reductions are not undone */
	n->burst_wnd = 0;
	n->undo_lost = 0;
	mrc_nscc_set_wnd(n, ((u64)n->cc.cwnd_bytes * keep_q16) >> 16);
	n->md_at_ns = now_ns + n->p.base_rtt_ns;
}

/*
 * A burst of trims: many flows started at the same moment. At least a third of a flight is trimmed before the last
 * hop, and a round trip later there is neither trim, mark nor delay. That is no lack of capacity, so the window is
 * restored to the bytes in flight before. Slow paths, in contrast, trim a smaller part of each flight.
 */
static void mrc_nscc_burst_note(struct mrc_nscc_state *n, const struct mrc_cc_sample *s)
{
	if (s->now_ns < n->no_burst_ns)
		return;
	n->burst_at_ns = s->now_ns;
	if (!n->burst_wnd) {
		n->burst_wnd = s->inflight_bytes;
		n->burst_lost = 0;
	}
	n->burst_lost = mrc_nscc_add(n->burst_lost, s->lost_bytes);
}

static void mrc_nscc_burst_over(struct mrc_nscc_state *n, const struct mrc_cc_sample *s,
				u32 delay_ns)
{
	if (s->ecn || delay_ns >= n->p.target_delay_ns ||
	    s->now_ns <= n->burst_at_ns + n->p.base_rtt_ns)
		return;
	if (n->burst_lost >= n->burst_wnd / MRC_NSCC_BURST_PART)
		mrc_nscc_set_wnd(n, max_t(u32, n->cc.cwnd_bytes, n->burst_wnd));
	n->burst_wnd = 0;
	n->no_burst_ns = s->now_ns + MRC_NSCC_BURST_RTTS * (u64)n->p.base_rtt_ns;
}

static void mrc_nscc_quadrant(struct mrc_nscc_state *n, const struct mrc_cc_sample *s,
			      u32 delay_ns, u32 acked)
{
	if (s->ecn) {
		n->fast = false;
		n->fast_acked = 0;
		if (delay_ns >= n->p.target_delay_ns)
			mrc_nscc_decrease(n, s->now_ns);
	} else if (delay_ns >= n->p.target_delay_ns) {
		n->fast = false;
		n->fast_acked = 0;
		mrc_nscc_add_inc(n, n->p.fi_q8, acked);
	} else if (!mrc_nscc_fast_increase(n, delay_ns, acked)) {
		mrc_nscc_add_inc(n, ((u64)n->alpha_q16 * (n->p.target_delay_ns - delay_ns)) >> 8, acked);
	}
}

/* Apply the increases collected since the last adjustment to the window. */
static void mrc_nscc_adjust(struct mrc_nscc_state *n, u64 now_ns)
{
	u64 add_q8;

	if (n->adjust_acked < n->p.adjust_bytes && now_ns < n->adjust_at_ns)
		return;
	add_q8 = div_u64(n->inc_q8, n->cc.cwnd_bytes);
	if (now_ns >= n->eta_at_ns) {
		add_q8 += n->p.eta_q8;
		n->eta_at_ns = now_ns + n->p.adjust_period_ns;
	}
	mrc_nscc_set_wnd(n, n->cc.cwnd_bytes + (add_q8 >> 8));
	if (n->cc.cwnd_bytes >= n->saved_wnd)
		n->saved_wnd = 0;
	n->inc_q8 = 0;
	n->adjust_acked = 0;
	n->adjust_at_ns = now_ns + n->p.adjust_period_ns;
}

/* The receiver's penalty (section 5.3). While it is set, the window does not grow. */
static void mrc_nscc_penalty(struct mrc_nscc_state *n, const struct mrc_cc_sample *s, u32 acked)
{
	u32 pen = s->rcv_cwnd_pen & 127;

	if (pen) {
		n->burst_wnd = 0;
		if (!n->saved_wnd)
			n->saved_wnd = n->cc.cwnd_bytes;
		/* Round up to whole packets. */
		mrc_nscc_set_wnd(n, min_t(u64, n->cc.cwnd_bytes,
					  (u64)s->inflight_bytes + n->cc.mtu - 1));
		mrc_nscc_shrink(n, (u32)(((u64)pen * acked) >> 7));
		n->inc_q8 = 0;
		n->fast = false;
		n->fast_acked = 0;
	} else if (s->restore_cwnd && n->saved_wnd) {
		mrc_nscc_set_wnd(n, max_t(u32, n->saved_wnd, n->cc.cwnd_bytes));
		n->saved_wnd = 0;
		n->pace_ns = 0;
		n->cc.hold_until_ns = 0;
	}
}

/*
 * Pacing below a window of one packet. One packet per round trip of each of many senders can exceed the last hop, and
 * each trimmed packet is retransmitted at once: at 128:1 that makes three retransmissions per packet. So a trim
 * at the last hop, or a loss without trimming, doubles the time per packet once the window is at its floor.
 * ACKs shorten it by 1/8, or by half once there is no queue.
 */
static void mrc_nscc_pace_slower(struct mrc_nscc_state *n, u64 now_ns)
{
	if (n->cc.cwnd_bytes > n->cc.mtu)
		return;
	if (now_ns >= n->md_at_ns) {
		n->pace_ns = (u32)clamp_t(u64, (u64)n->pace_ns * 2, 2 * (u64)n->p.base_rtt_ns,
					  (u64)n->p.base_rtt_ns * MRC_NSCC_PACE_MAX_RTTS);
		n->pace_ns = min_t(u32, n->pace_ns, MRC_NSCC_PACE_MAX_NS);
		n->md_at_ns = now_ns + n->p.base_rtt_ns;
	}
	n->cc.hold_until_ns = now_ns + n->pace_ns;
}

static u32 mrc_nscc_pace_step(const struct mrc_nscc_state *n, const struct mrc_cc_sample *s,
			      u32 delay_ns)
{
	if (!s->acked_bytes || s->ecn || s->rcv_cwnd_pen > MRC_NSCC_PEN_HOLD)
		return 0;
	/* A small penalty forbids growth, but the slowest senders must recover, too. */
	if (s->rcv_cwnd_pen)
		return n->pace_ns / 16;
	return s->rtt_ns && delay_ns < n->p.target_delay_ns ? n->pace_ns / 2 : n->pace_ns / 8;
}

/* True: pacing continues, and the window stays at its floor. */
static bool mrc_nscc_pace_faster(struct mrc_nscc_state *n, const struct mrc_cc_sample *s,
				 u32 delay_ns)
{
	if (!n->pace_ns)
		return false;
	n->pace_ns -= mrc_nscc_pace_step(n, s, delay_ns);
	if (n->pace_ns <= n->p.base_rtt_ns) {
		n->pace_ns = 0;
		n->cc.hold_until_ns = 0;
		return false;
	}
	/* Only after answers to data: answers to probes would prolong the pause without end. */
	if (s->acked_bytes && n->pace_ns > s->rtt_ns)
		n->cc.hold_until_ns = max_t(u64, n->cc.hold_until_ns,
					    s->now_ns + n->pace_ns - s->rtt_ns);
	return true;
}

static void mrc_nscc_on_ack(struct mrc_cc *cc, const struct mrc_cc_sample *s)
{
	struct mrc_nscc_state *n = mrc_nscc_of(cc);
	u32 acked = min_t(u32, s->acked_bytes, n->p.max_cwnd);
	u32 delay_ns = 0;

	n->achieved = mrc_nscc_add(n->achieved, acked);
	n->adjust_acked = mrc_nscc_add(n->adjust_acked, acked);
	n->to_ignore -= min_t(u32, n->to_ignore, acked);
	if (s->rtt_ns) {
		mrc_nscc_base_rtt(n, s);
		delay_ns = mrc_nscc_base_delay(n, s);
		mrc_nscc_average(n, delay_ns, s->ecn, acked);
	}
	mrc_nscc_penalty(n, s, acked);
	if (mrc_nscc_pace_faster(n, s, delay_ns) || s->rcv_cwnd_pen ||
	    (s->ecn && n->to_ignore) || mrc_nscc_quick_adapt(n, s, delay_ns))
		return;
	if (n->burst_wnd && s->rtt_ns)
		mrc_nscc_burst_over(n, s, delay_ns);
	if (s->rtt_ns)
		mrc_nscc_quadrant(n, s, delay_ns, acked);
	mrc_nscc_adjust(n, s->now_ns);
}

/* Remember the window before the first trim or loss of a period. */
static void mrc_nscc_save(struct mrc_nscc_state *n)
{
	if (!n->qa_lost && !n->qa_trimmed && !n->saved_wnd)
		n->saved_wnd = n->cc.cwnd_bytes;
}

/* A trim or loss reduces the window. True: it caused a quick adapt instead, which is undone as a whole. */
static bool mrc_nscc_lost(struct mrc_nscc_state *n, const struct mrc_cc_sample *s, bool pace,
			  u32 floor)
{
	u32 spared;
	bool old;	/* of the flight of the latest quick adapt */

	mrc_nscc_base_sign(n);
	n->to_ignore -= min_t(u32, n->to_ignore, s->lost_bytes);
	old = s->trimmed && n->to_ignore;
	mrc_nscc_save(n);
	if (s->trimmed)
		n->qa_trimmed = mrc_nscc_add(n->qa_trimmed, s->lost_bytes);
	else
		n->qa_lost = mrc_nscc_add(n->qa_lost, s->lost_bytes);
	n->fast = false;
	n->fast_acked = 0;
	if (pace)
		mrc_nscc_pace_slower(n, s->now_ns);
	if (mrc_nscc_quick_adapt(n, s, 0))
		return true;
	if (old)
		return false;
	spared = min_t(u32, n->spare, s->lost_bytes);
	n->spare -= spared;
	if (n->cc.cwnd_bytes > floor)
		mrc_nscc_shrink(n, min_t(u32, s->lost_bytes - spared, n->cc.cwnd_bytes - floor));
	return false;
}

/* The window below which trims before the last hop do not reduce it within one round trip. */
static u32 mrc_nscc_floor(struct mrc_nscc_state *n, u64 now_ns)
{
	if (now_ns >= n->floor_at_ns) {
		n->floor = MRC_NSCC_WAY_FLOOR(n->cc.cwnd_bytes);
		n->floor_at_ns = now_ns + n->p.base_rtt_ns;
	}
	return n->floor;
}

/* A trim counts as a queueing delay of a whole round trip: the trimmed packet itself bypassed the queue. */
static void mrc_nscc_on_nack(struct mrc_cc *cc, const struct mrc_cc_sample *s)
{
	struct mrc_nscc_state *n = mrc_nscc_of(cc);
	u32 before = cc->cwnd_bytes, floor;

	if (!s->trimmed)
		return;
	if (s->rtt_ns)
		mrc_nscc_base_rtt(n, s);
	mrc_nscc_average(n, n->p.base_rtt_ns, true, 0);
	floor = s->last_hop ? 0 : mrc_nscc_floor(n, s->now_ns);
	mrc_nscc_save(n);
	if (s->last_hop)
		n->burst_wnd = 0;
	else
		mrc_nscc_burst_note(n, s);
	/* Not at the last hop, where the receiver's penalties limit the window to the bytes in flight. */
	if (!s->last_hop && s->inflight_bytes >= cc->cwnd_bytes / 2)
		mrc_nscc_set_wnd(n, min_t(u32, cc->cwnd_bytes,
					  max_t(u32, s->inflight_bytes, floor)));
	mrc_nscc_lost(n, s, s->last_hop, floor);
	/* Undoing an earlier cut does not restore this reduction. */
	if (cc->cwnd_bytes < before)
		n->undo_wnd -= min_t(u32, n->undo_wnd, before - cc->cwnd_bytes);
}

/*
 * A loss while there is a queue halves the window, as for other senders (RFC 2914). Further losses of the same flight
 * reduce it only beyond that half. If all of them prove to be spurious, the window is restored.
 */
static void mrc_nscc_give_way(struct mrc_nscc_state *n, const struct mrc_cc_sample *s)
{
	if (s->now_ns < n->way_at_ns) {
		n->undo_lost = mrc_nscc_add(n->undo_lost, s->lost_bytes);
		return;
	}
	n->spare = 0;
	if (!n->queue || n->cc.cwnd_bytes < MRC_NSCC_WAY_PKTS * n->cc.mtu)
		return;
	n->undo_wnd = n->cc.cwnd_bytes;
	n->undo_lost = s->lost_bytes;
	n->spare = n->cc.cwnd_bytes / 2;
	n->way_at_ns = s->now_ns + n->p.base_rtt_ns + n->p.target_delay_ns;
	mrc_nscc_shrink(n, n->spare);
}

/* With trimming, a silent loss is the fault of a path, not congestion. */
static void mrc_nscc_on_loss(struct mrc_cc *cc, const struct mrc_cc_sample *s)
{
	struct mrc_nscc_state *n = mrc_nscc_of(cc);
	u32 before;

	if (n->trimming) {
		n->to_ignore -= min_t(u32, n->to_ignore, s->lost_bytes);
		return;
	}
	mrc_nscc_give_way(n, s);
	before = cc->cwnd_bytes;
	if (!mrc_nscc_lost(n, s, true, 0) && cc->cwnd_bytes < before)
		n->taken = mrc_nscc_add(n->taken, before - cc->cwnd_bytes);
}

/* Timeout: halve the window, once per round trip for all connections together. */
static void mrc_nscc_on_timeout(struct mrc_cc *cc, const struct mrc_cc_sample *s)
{
	struct mrc_nscc_state *n = mrc_nscc_of(cc);

	n->to_ignore -= min_t(u32, n->to_ignore, s->lost_bytes);
	n->qa_lost = mrc_nscc_add(n->qa_lost, s->lost_bytes);
	n->fast = false;
	n->fast_acked = 0;
	if (s->now_ns < n->md_at_ns)
		return;
	n->undo_wnd = n->cc.cwnd_bytes;
	n->undo_lost = s->lost_bytes;
	mrc_nscc_shrink(n, max_t(u32, n->cc.cwnd_bytes / 2, s->lost_bytes));
	n->md_at_ns = s->now_ns + n->p.base_rtt_ns;
}

/*
 * Bytes declared lost had arrived. Restore exactly what they took from the window. If all losses that caused a quick
 * adapt, a halving or a timeout were spurious, restore the window before it.
 */
static void mrc_nscc_on_spurious(struct mrc_cc *cc, const struct mrc_cc_sample *s)
{
	struct mrc_nscc_state *n = mrc_nscc_of(cc);
	u32 give = min_t(u32, s->lost_bytes, n->taken);

	n->qa_lost -= min_t(u32, n->qa_lost, s->lost_bytes);
	n->taken -= give;
	mrc_nscc_set_wnd(n, (u64)cc->cwnd_bytes + give);
	if (!n->undo_lost)
		return;
	n->undo_lost -= min_t(u32, n->undo_lost, s->lost_bytes);
	if (!n->undo_lost)
		mrc_nscc_set_wnd(n, max_t(u32, cc->cwnd_bytes, n->undo_wnd));
}

const struct mrc_cc_ops mrc_nscc = {
	.name = "uet-1.0-nscc",
	.size = sizeof(struct mrc_nscc_state),
	.init = mrc_nscc_init,
	.set_cfg = mrc_nscc_set_cfg,
	.on_ack = mrc_nscc_on_ack,
	.on_nack = mrc_nscc_on_nack,
	.on_loss = mrc_nscc_on_loss,
	.on_timeout = mrc_nscc_on_timeout,
	.on_spurious = mrc_nscc_on_spurious,
};
