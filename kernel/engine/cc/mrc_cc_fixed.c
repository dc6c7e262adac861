// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_cc_fixed.c - the "fixed" algorithm: a constant window as the limit, and congestion control
 * below it.
 *
 * The window is a limit; below it, congestion decides (RFC 2914). Also the yardstick for other
 * algorithms.
 *
 *	trims	A packet that is trimmed twice halves the window. A packet that is trimmed once, the
 *		ordinary incast, does not: MRC 1.0 section 4 (7.4) retransmits it at once. That is no
 *		cure where the headers alone fill the port. So the receiver's penalties (section 5.3)
 *		reduce the window, too, as for NSCC; without them it grows by a quarter per round trip.
 *	losses	Where the fabric trims, a silent loss is a fault of the path. Elsewhere losses halve the
 *		window if there is a queue, or if a round trip lost more than one byte in 32. So a bad
 *		cable costs no speed.
 *	queue	The smallest delay of a round trip. Neither jitter nor a slow plane counts as a queue.
 *	growth	With a queue: W^1.5 / 256 packets per round trip (W: window in packets), at most one.
 *		RFC 5681 adds one, which loses half of all packets where W is two. Without a queue: one
 *		eighth, or one quarter if earlier losses came with a queue.
 *	start	10 packets, doubled each round trip until there is a queue.
 *	floor	One packet in flight. Below that, a pause between packets replaces the window.
 *
 * The window is reduced once per window of feedback. If all losses that reduced it prove to be
 * false alarms, it is restored.
 */
#include "cc/mrc_cc.h"

#define MRC_FIXED_START_PKTS	10u	/* RFC 6928 */
#define MRC_FIXED_GROW_SHIFT	3
#define MRC_FIXED_CALM_SHIFT	2
#define MRC_FIXED_GENTLE	256u
#define MRC_FIXED_GENTLE_PKTS	40u	/* 40^1.5 is nearly 256: one packet per round trip from here on */
#define MRC_FIXED_LOSS_PART	32u
#define MRC_FIXED_QUEUE_NS	1000u	/* a shorter delay is no queue, nor is an eighth of the base */
#define MRC_FIXED_PACE_RTTS	16u	/* slowest pacing: one packet in 16 round trips */
#define MRC_FIXED_RTT_MIN_NS	1000u
#define MRC_FIXED_RTT_MAX_NS	((1u << 24) - 1)	/* pacing fits 32 bits */

static struct mrc_fixed_state *mrc_fixed_of(struct mrc_cc *cc)
{
	return (struct mrc_fixed_state *)cc;
}

static void mrc_fixed_set_wnd(struct mrc_fixed_state *f, u64 bytes)
{
	f->cc.cwnd_bytes = (u32)clamp_t(u64, bytes, f->cc.mtu, f->window);
}

/* A round trip begins. */
static void mrc_fixed_round(struct mrc_fixed_state *f)
{
	f->round = f->cc.cwnd_bytes;
	f->lost = 0;
	f->low_ns = MRC_FIXED_NO_SAMPLE;
}

static void mrc_fixed_unpace(struct mrc_fixed_state *f)
{
	f->pace_ns = 0;
	f->cc.hold_until_ns = 0;
}

static void mrc_cc_fixed_set_cfg(struct mrc_cc *cc, const struct mrc_cc_cfg *cfg, u64 now_ns)
{
	struct mrc_fixed_state *f = mrc_fixed_of(cc);

	(void)now_ns;
	if (cfg->mtu)
		cc->mtu = min_t(u32, cfg->mtu, MRC_CC_MTU_MAX);
	f->window = clamp_t(u32, cfg->window_bytes, cc->mtu, MRC_CC_WND_MAX);
	f->start_to = f->window;
	f->trimming = cfg->trimming;
	f->spared = 0;
	f->undo_lost = 0;
	f->queue = false;
	f->calm = false;
	mrc_fixed_set_wnd(f, f->trimming ? f->window : MRC_FIXED_START_PKTS * cc->mtu);
	mrc_fixed_unpace(f);
	mrc_fixed_round(f);
}

/* ---- delay ---- */

static void mrc_fixed_rtt(struct mrc_fixed_state *f, const struct mrc_cc_sample *s)
{
	u32 rtt_ns = (u32)clamp_t(u64, s->rtt_ns, MRC_FIXED_RTT_MIN_NS, MRC_FIXED_RTT_MAX_NS);

	if (s->base_ns)
		f->base_ns = min_t(u32, s->base_ns, MRC_FIXED_RTT_MAX_NS);
	else if (!f->base_ns)	/* the plane is not known: start with this sample */
		f->base_ns = rtt_ns;
	f->rtt_ns = f->rtt_ns ? f->rtt_ns - f->rtt_ns / 8 + rtt_ns / 8 : rtt_ns;
	f->low_ns = min_t(u32, f->low_ns, rtt_ns > f->base_ns ? rtt_ns - f->base_ns : 0);
}

static bool mrc_fixed_queue(const struct mrc_fixed_state *f)
{
	if (f->low_ns == MRC_FIXED_NO_SAMPLE)
		return f->queue;
	return f->low_ns > max_t(u32, f->base_ns / 8, MRC_FIXED_QUEUE_NS);
}

/* ---- growth ---- */

/* 16 times the square root of @w_q8, 24.8, which is below 2^14. */
static u32 mrc_fixed_root(u32 w_q8)
{
	u32 root = 0, bit;

	for (bit = 64; bit; bit >>= 1)
		if ((root + bit) * (root + bit) <= w_q8)
			root += bit;
	return root;
}

/* Growth in a round trip with a queue: W^1.5 / 256 packets, at most one. */
static u32 mrc_fixed_step(const struct mrc_fixed_state *f)
{
	u32 wnd = f->cc.cwnd_bytes, mtu = f->cc.mtu;

	if (wnd / MRC_FIXED_GENTLE_PKTS >= mtu)
		return mtu;
	return wnd / (16 * MRC_FIXED_GENTLE) * mrc_fixed_root((wnd << 8) / mtu);
}

/* Growth for @bytes that were delivered without a queue. */
static u32 mrc_fixed_rise(const struct mrc_fixed_state *f, u32 bytes)
{
	if (f->cc.cwnd_bytes < f->start_to)
		return bytes;
	return bytes >> (f->calm && f->seen ? MRC_FIXED_CALM_SHIFT : MRC_FIXED_GROW_SHIFT);
}

/* A round trip is over. */
static void mrc_fixed_turn(struct mrc_fixed_state *f, bool grows)
{
	f->queue = f->low_ns == MRC_FIXED_NO_SAMPLE || mrc_fixed_queue(f);
	f->calm = !f->queue && !f->lost;
	if (f->queue)
		f->start_to = 0;
	if (f->queue && grows)
		mrc_fixed_set_wnd(f, f->cc.cwnd_bytes + mrc_fixed_step(f));
	mrc_fixed_round(f);
}

/* @bytes were acknowledged or lost. */
static void mrc_fixed_feedback(struct mrc_fixed_state *f, u32 bytes, bool grows)
{
	f->spared -= min_t(u32, bytes, f->spared);
	if (f->round > bytes)
		f->round -= bytes;
	else
		mrc_fixed_turn(f, grows);
}

/* ---- below the floor ---- */

static void mrc_fixed_pace_slower(struct mrc_fixed_state *f, u64 now_ns)
{
	u32 rtt_ns = max_t(u32, f->rtt_ns, MRC_FIXED_RTT_MIN_NS);

	f->pace_ns = clamp_t(u32, 2 * f->pace_ns, 2 * rtt_ns, MRC_FIXED_PACE_RTTS * rtt_ns);
	f->cc.hold_until_ns = now_ns + f->pace_ns;
}

/* True: pacing continues, and the window stays at its floor. */
static bool mrc_fixed_pace_faster(struct mrc_fixed_state *f, const struct mrc_cc_sample *s)
{
	u32 rtt_ns = max_t(u32, f->rtt_ns, MRC_FIXED_RTT_MIN_NS);

	if (!f->pace_ns || !s->acked_bytes)
		return f->pace_ns;
	if (mrc_fixed_queue(f))
		f->pace_ns -= (u32)div_u64((u64)f->pace_ns * (f->pace_ns / MRC_FIXED_GENTLE), rtt_ns);
	else
		f->pace_ns -= f->pace_ns >> MRC_FIXED_GROW_SHIFT;
	if (f->pace_ns <= rtt_ns) {
		mrc_fixed_unpace(f);
		return false;
	}
	if (f->pace_ns > s->rtt_ns)
		f->cc.hold_until_ns = max_t(u64, f->cc.hold_until_ns, s->now_ns + f->pace_ns - s->rtt_ns);
	return true;
}

/* ---- events ---- */

/* Where the fabric trims: the receiver's penalties reduce the window; without one it grows, or is restored. */
static void mrc_fixed_by_receiver(struct mrc_fixed_state *f, const struct mrc_cc_sample *s)
{
	u32 pen = s->rcv_cwnd_pen & 127;
	u64 wnd = f->cc.cwnd_bytes, less;

	if (likely(wnd == f->window && !pen))
		return;
	if (pen) {	/* instead of halving, so what is spared stays */
		/* Round up to whole packets. */
		wnd = min_t(u64, wnd, (u64)s->inflight_bytes + f->cc.mtu - 1);
		less = ((u64)pen * s->acked_bytes) >> 7;
		mrc_fixed_set_wnd(f, wnd - min_t(u64, wnd, less));
		return;
	}
	f->spared -= min_t(u32, s->acked_bytes, f->spared);
	if (s->restore_cwnd)
		mrc_fixed_set_wnd(f, f->window);
	else
		mrc_fixed_set_wnd(f, wnd + (s->acked_bytes >> MRC_FIXED_CALM_SHIFT));
}

static void mrc_cc_fixed_on_ack(struct mrc_cc *cc, const struct mrc_cc_sample *s)
{
	struct mrc_fixed_state *f = mrc_fixed_of(cc);
	bool grows;

	if (f->trimming) {
		mrc_fixed_by_receiver(f, s);
		return;
	}
	if (s->rtt_ns)
		mrc_fixed_rtt(f, s);
	/* RFC 7661: a window that is not used does not grow. */
	grows = !mrc_fixed_pace_faster(f, s) && !f->spared && s->inflight_bytes >= cc->cwnd_bytes / 2;
	if (grows && !mrc_fixed_queue(f))
		mrc_fixed_set_wnd(f, (u64)cc->cwnd_bytes + mrc_fixed_rise(f, s->acked_bytes));
	mrc_fixed_feedback(f, s->acked_bytes, grows);
}

static void mrc_cc_fixed_on_nack(struct mrc_cc *cc, const struct mrc_cc_sample *s)
{
	struct mrc_fixed_state *f = mrc_fixed_of(cc);

	if (!s->trimmed_again)
		return;
	if (f->spared > s->lost_bytes) {
		f->spared -= s->lost_bytes;
		return;
	}
	f->spared = cc->cwnd_bytes;
	f->start_to = 0;
	mrc_fixed_set_wnd(f, cc->cwnd_bytes / 2);
}

/* The first loss of a flight: halve the window. */
static void mrc_fixed_give_way(struct mrc_fixed_state *f, const struct mrc_cc_sample *s)
{
	struct mrc_cc *cc = &f->cc;

	f->undo_wnd = cc->cwnd_bytes;
	f->undo_lost = f->lost;
	f->flight = max_t(u32, min_t(u32, s->inflight_bytes, cc->cwnd_bytes), s->lost_bytes);
	f->gone = 0;
	f->spared = f->flight;
	f->start_to = 0;
	f->seen = mrc_fixed_queue(f);
	if (cc->cwnd_bytes / 2 < cc->mtu)
		mrc_fixed_pace_slower(f, s->now_ns);
	mrc_fixed_set_wnd(f, cc->cwnd_bytes / 2);
}

/* If more than half of a flight is lost, the window is what the network has delivered of it. */
static void mrc_fixed_storm(struct mrc_fixed_state *f, u32 lost_bytes)
{
	f->gone += min_t(u32, lost_bytes, f->flight - f->gone);
	if (f->flight >= f->undo_wnd / 2)
		mrc_fixed_set_wnd(f, min_t(u32, f->cc.cwnd_bytes, f->flight - f->gone));
}

static void mrc_cc_fixed_on_loss(struct mrc_cc *cc, const struct mrc_cc_sample *s)
{
	struct mrc_fixed_state *f = mrc_fixed_of(cc);
	bool spared = f->spared;

	if (f->trimming)
		return;
	f->lost += min_t(u32, s->lost_bytes, MRC_CC_WND_MAX);
	if (!spared && (mrc_fixed_queue(f) || f->lost > cc->cwnd_bytes / MRC_FIXED_LOSS_PART)) {
		mrc_fixed_give_way(f, s);
		mrc_fixed_storm(f, s->lost_bytes);
	} else if (spared) {
		f->undo_lost += s->lost_bytes;
		mrc_fixed_storm(f, s->lost_bytes);
	}
	mrc_fixed_feedback(f, s->lost_bytes, false);
}

/* Timeout: slow start from one packet up to half of the window (RFC 5681). */
static void mrc_cc_fixed_on_timeout(struct mrc_cc *cc, const struct mrc_cc_sample *s)
{
	struct mrc_fixed_state *f = mrc_fixed_of(cc);

	if (f->trimming)
		return;
	if (!f->undo_lost)
		f->undo_wnd = cc->cwnd_bytes;
	f->undo_lost += s->lost_bytes;
	f->start_to = cc->cwnd_bytes / 2;
	f->spared = 0;
	mrc_fixed_set_wnd(f, cc->mtu);
	mrc_fixed_round(f);
}

static void mrc_cc_fixed_on_spurious(struct mrc_cc *cc, const struct mrc_cc_sample *s)
{
	struct mrc_fixed_state *f = mrc_fixed_of(cc);

	if (!f->undo_lost)
		return;
	f->undo_lost -= min_t(u32, f->undo_lost, s->lost_bytes);
	if (f->undo_lost)
		return;
	mrc_fixed_set_wnd(f, max_t(u32, cc->cwnd_bytes, f->undo_wnd));
	mrc_fixed_unpace(f);
}

const struct mrc_cc_ops mrc_cc_fixed = {
	.name = "fixed",
	.size = sizeof(struct mrc_fixed_state),
	.init = mrc_cc_fixed_set_cfg,
	.set_cfg = mrc_cc_fixed_set_cfg,
	.on_ack = mrc_cc_fixed_on_ack,
	.on_nack = mrc_cc_fixed_on_nack,
	.on_loss = mrc_cc_fixed_on_loss,
	.on_timeout = mrc_cc_fixed_on_timeout,
	.on_spurious = mrc_cc_fixed_on_spurious,
};
