// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_nscc_base.c - the round trip of a packet that meets no queue.
 *
 * If only queues delayed packets, the shortest recent round trip would be that base. But coalesced
 * interrupts, busy hosts and link-level retransmission add time too, a different one for each
 * packet. That time is no congestion. A window for the shortest round trip would be too small for
 * the usual one.
 *
 *	jitter	mean minus minimum of the round trips of one round. A standing queue raises both
 *		(CoDel, RFC 8289), so it does not count as jitter.
 *	base	the recent minimum plus the jitter
 *
 * There is a standing queue when even the fastest packet of a round waited.
 *
 * Jitter of more than a quarter of the shortest round trip means bursts, and does not count. In a
 * round with a mark, a trim or a loss, queues come and go: the jitter estimate falls instead.
 *
 * The mean does not show all delay. A SACK names the latest packet of a batch, which waited least
 * for its interrupt. If the sender's own interrupts are late, the window must cover the longest
 * wait. One observation reveals it: the largest window is in flight, and the shortest round trip
 * met no queue.
 */
#include "cc/mrc_nscc_state.h"

#define MRC_NSCC_JITTER_SAMPLES	16u	/* minimum for a round */
#define MRC_NSCC_JITTER_SHIFT	2	/* a new round has weight 1/4 */
#define MRC_NSCC_JITTER_FALL	3	/* congestion in a round reduces the jitter by 1/8 */
#define MRC_NSCC_QUEUE_NS	1000u	/* a shorter wait is no queue */
#define MRC_NSCC_HIDDEN_MAX_NS	(1u << 20)

/* Set the base round trip. Expensive: the derived parameters need divisions. */
static void mrc_nscc_base_set(struct mrc_nscc_state *n)
{
	n->p.base_rtt_ns = mrc_nscc_rtt((u64)n->least_ns + n->jitter_ns);
	mrc_nscc_derive(n);
	mrc_nscc_set_wnd(n, n->cc.cwnd_bytes);
}

/*
 * Update the base round trip, on which the largest window, the target and the steps depend. It is the mean of the
 * planes, or without planes the running minimum. A configured value stays.
 */
void mrc_nscc_base_rtt(struct mrc_nscc_state *n, const struct mrc_cc_sample *s)
{
	u32 was_ns = n->least_ns, least_ns = was_ns;

	if (n->given & MRC_NSCC_BASE_RTT)
		return;
	if (s->mean_base_ns) {
		least_ns = mrc_nscc_rtt(s->mean_base_ns);
		/* Ignore changes of less than 1/16: the mean moves all the time. */
		if (n->by_planes && least_ns - was_ns + was_ns / 16 <= was_ns / 8)
			return;
		n->by_planes = true;
	} else if (!n->by_planes && s->rtt_ns && (!n->measured || mrc_nscc_rtt(s->rtt_ns) < was_ns)) {
		least_ns = mrc_nscc_rtt(s->rtt_ns);
	}
	if (n->measured && least_ns == was_ns)
		return;
	n->measured = true;
	n->least_ns = least_ns;
	mrc_nscc_base_set(n);
}

/* A mark, a trim or a loss: there were queues in this round. */
void mrc_nscc_base_sign(struct mrc_nscc_state *n)
{
	n->round.signs = true;
}

static void mrc_nscc_base_begin(struct mrc_nscc_state *n, u64 now_ns)
{
	n->round.until_ns = now_ns + n->p.base_rtt_ns;
	n->round.sum_ns = 0;
	n->round.least_ns = ~0u;
	n->round.inflight = 0;
}

/* The round is over, and had no sign of congestion. */
static void mrc_nscc_base_calm(struct mrc_nscc_state *n, u32 mean_ns)
{
	u32 spread_ns = mean_ns - n->round.least_ns;

	spread_ns -= min_t(u32, spread_ns, n->least_ns / 4);
	n->jitter_ns += (spread_ns >> MRC_NSCC_JITTER_SHIFT) - (n->jitter_ns >> MRC_NSCC_JITTER_SHIFT);
	if (n->round.least_ns > n->p.base_rtt_ns / 4)
		n->hidden_ns -= n->hidden_ns >> MRC_NSCC_JITTER_FALL;
	else if (n->round.least_ns < n->p.base_rtt_ns / 8 && n->cc.cwnd_bytes == n->p.max_cwnd &&
		 n->round.inflight >= n->p.max_cwnd - n->p.max_cwnd / 8)
		n->hidden_ns = min_t(u32, n->hidden_ns + n->p.base_rtt_ns / 8, MRC_NSCC_HIDDEN_MAX_NS);
}

static void mrc_nscc_base_round(struct mrc_nscc_state *n)
{
	u32 was_ns = n->jitter_ns + n->hidden_ns;

	n->queue = n->round.least_ns > max_t(u32, n->p.base_rtt_ns / 8, MRC_NSCC_QUEUE_NS);
	if (n->given & MRC_NSCC_BASE_RTT) {
		n->round.samples = 0;
		return;
	}
	if (n->round.signs) {
		n->jitter_ns -= n->jitter_ns >> MRC_NSCC_JITTER_FALL;
		n->hidden_ns /= 2;
	} else {
		mrc_nscc_base_calm(n, (u32)div_u64(n->round.sum_ns, n->round.samples));
	}
	n->round.samples = 0;
	n->round.signs = false;
	if (n->jitter_ns + n->hidden_ns != was_ns)
		mrc_nscc_base_set(n);
}

/* Queueing delay of @s: its round trip minus the base of its plane and minus the usual jitter. */
u32 mrc_nscc_base_delay(struct mrc_nscc_state *n, const struct mrc_cc_sample *s)
{
	u32 rtt_ns = mrc_nscc_rtt(s->rtt_ns), least_ns = s->base_ns ? mrc_nscc_rtt(s->base_ns) : n->least_ns, more_ns;
	struct mrc_nscc_round *r = &n->round;

	if (n->given & MRC_NSCC_BASE_RTT)
		least_ns = n->p.base_rtt_ns;
	more_ns = rtt_ns > least_ns ? rtt_ns - least_ns : 0;
	if (!r->samples)
		mrc_nscc_base_begin(n, s->now_ns);
	r->sum_ns += more_ns;
	r->least_ns = min_t(u32, r->least_ns, more_ns);
	r->inflight = max_t(u32, r->inflight, s->inflight_bytes);
	r->samples++;
	r->signs |= s->ecn;
	if (s->now_ns >= r->until_ns && r->samples >= MRC_NSCC_JITTER_SAMPLES)
		mrc_nscc_base_round(n);
	return more_ns > n->jitter_ns ? more_ns - n->jitter_ns : 0;
}
