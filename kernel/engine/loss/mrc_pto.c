// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_pto.c - the tail probe (probe timeout), and the one timer of the send stream.
 *
 * MRC 1.0 section 4 (7.4). When acknowledgements stop, a probe requests the state of the peer. Its
 * answer is a later delivery, so the last packets of a burst are found lost without waiting for the
 * timeout.
 *
 * A timer that fires much too late means that this host paused, not that the peer was silent. The
 * packets that the peer sent meanwhile are in the receive ring and must be processed first.
 */
#include "conn/mrc_conn.h"

#define MRC_PTO_MAX_NS		1000000000ull
#define MRC_PTO_SHIFT_MAX	10	/* doublings */
#define MRC_PTO_AGAIN		3	/* after so many tail probes, repeat a packet, too */
#define MRC_PTO_SILENT		7	/* after so many without a timeout, declare a packet lost */
#define MRC_PTO_ALONE		2u	/* so many tail probes leave one by one, then in bursts */
#define MRC_PTO_ALONE_FIRST	4u	/* the same before the first round-trip sample */
#define MRC_PTO_SLOW_NS		100000000ull	/* longest interval of probes to a peer that answers without news */
#define MRC_PAUSE_MIN_NS	100000u	/* a timer later than this: this host paused */
#define MRC_PAUSE_LOOK_NS	50000u	/* time to process the receive ring after a pause */
#define MRC_OUT_MAX_NS		60000000000ull	/* far below the wrap of ticks */

void mrc_pto_reset(struct mrc_conn *c)
{
	c->pto.at_ns = MRC_TIME_NEVER;
	c->pto.backoff = 0;
	c->pto.out = 0;
	c->pto.more = 0;
	c->pto.owed = 0;
	c->pto.slept = false;
}

static u64 mrc_pto_ns(const struct mrc_conn *c)
{
	u64 ns = mrc_rtt_patience_ns(c);

	if (unlikely(c->pto.backoff))
		ns <<= min_t(u8, c->pto.backoff, MRC_PTO_SHIFT_MAX);
	return min_t(u64, ns, MRC_PTO_MAX_NS);
}

static void mrc_pto_put_off(u64 *at_ns, u64 until_ns)
{
	if (*at_ns < until_ns)
		*at_ns = until_ns;
}

/* An answer is outstanding: start the timers that do not run. */
void mrc_pto_arm(struct mrc_conn *c, u64 now_ns)
{
	if (c->budget.rto_at_ns == MRC_TIME_NEVER)
		c->budget.rto_at_ns = mrc_time_after(now_ns, mrc_budget_rto_ns(c));
	if (c->pto.at_ns == MRC_TIME_NEVER)
		c->pto.at_ns = now_ns + mrc_pto_ns(c);
}

/*
 * Set the timers after an answer. If nothing is outstanding, they stop. Progress postpones them; an answer
 * without news, for example to an EV probe, does not. Progress without a delivery (the peer is alive
 * but slow) keeps the probe's back-off, because more probes would not help.
 */
void mrc_pto_rearm(struct mrc_conn *c, u64 now_ns, bool waiting, bool progress, bool delivered)
{
	if (!waiting) {
		c->budget.rto_at_ns = MRC_TIME_NEVER;
		c->pto.at_ns = MRC_TIME_NEVER;
		c->rack.at_ns = MRC_TIME_NEVER;
		c->pto.owed &= (u8)~(MRC_OWED_TAIL | MRC_OWED_AGAIN);
		c->pto.backoff = 0;
		c->pto.more = 0;
		c->pto.slept = false;
		mrc_budget_restore(c);
		return;
	}
	if (progress) {
		c->pto.more = 0;
		c->pto.slept = false;
		mrc_budget_restore(c);
		if (delivered)
			c->pto.backoff = 0;
		c->pto.at_ns = now_ns + mrc_pto_ns(c);
		c->budget.rto_at_ns = mrc_budget_rto_from(c, now_ns);
		if (!delivered)	/* the timeout sends a probe, too: do not let it probe more often */
			mrc_pto_put_off(&c->budget.rto_at_ns,
					min_t(u64, c->pto.at_ns, now_ns + MRC_PTO_SLOW_NS));
	} else if (c->pto.at_ns == MRC_TIME_NEVER) {
		c->pto.at_ns = now_ns + mrc_pto_ns(c);
	}
}

/*
 * Declare packets lost that have been in flight for a minute: ticks wrap after 274 s, and then an old packet
 * would look young. Returns the oldest of the others.
 */
static u16 mrc_pto_oldest(struct mrc_conn *c, u64 now_ns)
{
	u16 slot;

	while ((slot = mrc_snd_oldest(c)) != MRC_NONE16 &&
	       mrc_tick_age_ns(now_ns, c->snd.rec[slot].sent) >= MRC_OUT_MAX_NS)
		mrc_snd_lose(c, mrc_rec_psn(c, slot), MRC_CAUSE_PLANE, now_ns);
	return slot;
}

/*
 * All packets are delivered, and the oldest message is a READ or ATOMIC that the peer works on. The peer
 * retransmits its response until it arrives, so no probe is needed.
 */
static bool mrc_pto_answer_comes(const struct mrc_conn *c)
{
	u32 i = c->msgs.sq_acked;

	if (!c->snd.known || c->snd.una != c->snd.next)
		return false;
	while (i != c->msgs.sq_seg && mrc_sq_at(c, i)->op == MRC_OP_LOCAL)
		i++;
	return i != c->msgs.sq_seg ? mrc_op_is_rd(mrc_sq_at(c, i)->op) : c->msgs.rd_out;
}

/* Is the tail probe sent @ago probes ago unanswered? A peer that answers is alive: then bursts would not help. */
static bool mrc_pto_unanswered(const struct mrc_conn *c, u32 ago)
{
	return c->pto.out >> (c->pto.id - ago) % MRC_TAIL_PROBES & 1;
}

/*
 * How many more probes leave with the next one, by several paths: both a probe and its answer must meet a path
 * that works. If many packets wait, a burst does no harm after one probe without an answer (c->pto.backoff is 2
 * then). Otherwise wait for more.
 */
static u32 mrc_pto_burst(const struct mrc_conn *c)
{
	u32 alone = c->rtt.srtt_ns ? MRC_PTO_ALONE : MRC_PTO_ALONE_FIRST, n = c->pto.backoff;

	if (!mrc_pto_unanswered(c, 0))
		return 0;
	if (mrc_pto_many(c) && c->rtt.srtt_ns)
		return (1u << min_t(u32, 2 * (n - 1), MRC_PTO_MANY_SHIFT)) - 1;
	if (mrc_pto_many(c))	/* the round trip may be long: carefully */
		return (1u << min_t(u32, n - 1, MRC_PTO_BURST_SHIFT)) - 1;
	if (n <= alone || !mrc_pto_unanswered(c, 1))
		return 0;
	return (1u << min_t(u32, n - alone, MRC_PTO_BURST_SHIFT)) - 1;
}

/*
 * One more tail probe without success. From the third on, every other probe is accompanied by a repeated
 * packet, or by a lost packet beyond the window, because some peers do not answer probes.
 */
static void mrc_pto_back_off(struct mrc_conn *c)
{
	if (c->pto.backoff < 255)
		c->pto.backoff++;
	c->pto.more = mrc_pto_burst(c) & 7;
	if (c->pto.backoff < MRC_PTO_AGAIN || !(c->pto.backoff & 1))
		return;
	c->pto.owed |= MRC_OWED_AGAIN;
	c->budget.beyond |= c->snd.lost.count > 0;
}

/*
 * The tail probe's timer expired. No probe if all missing packets wait here for retransmission: the peer
 * has no news of them, and the next packet arms the timer again. Also none if the oldest packet is too
 * young to be answered.
 */
static void mrc_pto_probe(struct mrc_conn *c, u64 now_ns)
{
	u64 patience = mrc_rtt_patience_ns(c), age = patience;
	u16 slot = mrc_pto_oldest(c, now_ns);

	if (!mrc_tx_waiting(c)) {
		mrc_pto_rearm(c, now_ns, false, false, false);
		return;
	}
	if (slot != MRC_NONE16) {
		if (c->evs)	/* the answer may come by the slowest plane */
			patience = max_t(u64, patience, mrc_evset_patience_ns(c->evs));
		age = mrc_tick_age_ns(now_ns, c->snd.rec[slot].sent);
	} else if (c->snd.lost.count || c->snd.paced.count) {
		c->pto.at_ns = MRC_TIME_NEVER;
		return;
	}
	if (age < patience) {
		c->pto.at_ns = now_ns + patience - age;
		return;
	}
	/* After so long, a packet may be lost that the peer does not repeat, such as a NAK. */
	if (!mrc_pto_answer_comes(c) || c->pto.backoff >= MRC_PTO_SHIFT_MAX)
		c->pto.owed |= MRC_OWED_TAIL;
	/* Without a timeout and with a peer that does not answer probes, only this finds a loss at the end. */
	if (!c->tx.timeout_ns && slot != MRC_NONE16 && c->pto.backoff >= MRC_PTO_SILENT) {
		mrc_budget_lose(c, slot, now_ns);
		c->snd.rec[slot].charged = 0;	/* the controller is not told */
	}
	mrc_pto_back_off(c);
	c->pto.at_ns = now_ns + mrc_pto_ns(c);
}

/* ---- the timer ---- */

static u64 mrc_pto_silence_ns(const struct mrc_conn *c)
{
	return min_t(u64, c->rack.idle ? MRC_TIME_NEVER : c->rack.at_ns,
		     min_t(u64, c->pto.at_ns, c->budget.rto_at_ns));
}

/*
 * Did this host pause? Then silence means nothing yet, and the timers are postponed until the receive ring
 * has been processed. Not twice in a row: a host whose timers are always late must find losses, too.
 */
static bool mrc_pto_slept(struct mrc_conn *c, u64 now_ns)
{
	u64 at = mrc_pto_silence_ns(c), soon;

	if (now_ns < at)
		return false;
	if (c->pto.slept || now_ns - at <= max_t(u64, c->rtt.srtt_ns / 2, MRC_PAUSE_MIN_NS)) {
		c->pto.slept = false;
		return false;
	}
	c->pto.slept = true;
	soon = now_ns + max_t(u64, c->rtt.srtt_ns / 4, MRC_PAUSE_LOOK_NS);
	mrc_pto_put_off(&c->rack.at_ns, soon);
	mrc_pto_put_off(&c->pto.at_ns, soon);
	mrc_pto_put_off(&c->budget.rto_at_ns, soon);
	return true;
}

/*
 * The timeout sends a tail probe. If no packet is in flight, an ACK or response was lost. A peer that
 * answers probes postpones the probe's timer, so the packet must also be repeated from here.
 */
static void mrc_pto_timed_out(struct mrc_conn *c)
{
	c->pto.owed |= MRC_OWED_TAIL;
	if (!c->snd.out)
		mrc_pto_back_off(c);
}

void mrc_pto_timer(struct mrc_conn *c, u64 now_ns)
{
	if (c->rnr_until_ns && now_ns >= c->rnr_until_ns)
		c->rnr_until_ns = 0;
	if (now_ns >= c->hold_until_ns)
		c->hold_until_ns = 0;
	if (c->snd.paced.count && now_ns >= c->budget.nack_until_ns)
		mrc_snd_unpace(c);
	if (mrc_pto_slept(c, now_ns))
		return;
	if (now_ns >= c->rack.at_ns)
		mrc_rack_look(c, now_ns);
	if (now_ns >= c->pto.at_ns)
		mrc_pto_probe(c, now_ns);
	if (now_ns >= c->budget.rto_at_ns && mrc_budget_timeout(c, now_ns))
		mrc_pto_timed_out(c);
}

u64 mrc_pto_deadline_ns(const struct mrc_conn *c)
{
	u64 at = mrc_pto_silence_ns(c);

	if (c->snd.paced.count)
		at = min_t(u64, at, c->budget.nack_until_ns);
	if (c->hold_until_ns)
		at = min_t(u64, at, c->hold_until_ns);
	return c->rnr_until_ns ? min_t(u64, at, c->rnr_until_ns) : at;
}
