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
#define MRC_PTO_AGAIN		3	/* tail probes that brought no ACK */
#define MRC_PTO_SILENT		7	/* and that brought nothing at all */
#define MRC_PTO_ALONE		2u	/* tail probes that leave alone, */
#define MRC_PTO_ALONE_FIRST	4u	/* and while no round trip is known */
#define MRC_PTO_SLOW_NS		100000000ull	/* a peer that lives and has nothing to say is asked so often */
#define MRC_PAUSE_MIN_NS	100000u	/* later than this: a pause of our own */
#define MRC_PAUSE_LOOK_NS	50000u	/* for what waits in the receive ring */
#define MRC_OUT_MAX_NS		60000000000ull	/* long before ticks wrap */

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

/* Something is waited for now. */
void mrc_pto_arm(struct mrc_conn *c, u64 now_ns)
{
	if (c->budget.rto_at_ns == MRC_TIME_NEVER)
		c->budget.rto_at_ns = mrc_time_after(now_ns, mrc_budget_rto_ns(c));
	if (c->pto.at_ns == MRC_TIME_NEVER)
		c->pto.at_ns = now_ns + mrc_pto_ns(c);
}

/*
 * Nothing waited for: no timers. Progress pushes them out; answers that tell
 * nothing new (to an EV's probe, say) do not. Progress without a delivery (the
 * peer lives and is slow) keeps the probe's back-off: asking more often is no help.
 */
void mrc_pto_rearm(struct mrc_conn *c, u64 now_ns, bool waiting, bool progress, bool delivered)
{
	if (!waiting) {
		c->budget.rto_at_ns = MRC_TIME_NEVER;
		c->pto.at_ns = MRC_TIME_NEVER;
		c->rack.at_ns = MRC_TIME_NEVER;
		c->pto.owed &= (u8)~(MRC_OWED_TAIL | MRC_OWED_AGAIN);
		c->pto.backoff = 0;
		mrc_budget_restore(c);
		return;
	}
	if (progress) {
		mrc_budget_restore(c);
		if (delivered)
			c->pto.backoff = 0;
		c->pto.at_ns = now_ns + mrc_pto_ns(c);
		c->budget.rto_at_ns = mrc_budget_rto_from(c, now_ns);
		if (!delivered)	/* the timeout asks, too */
			mrc_pto_put_off(&c->budget.rto_at_ns,
					min_t(u64, c->pto.at_ns, now_ns + MRC_PTO_SLOW_NS));
	} else if (c->pto.at_ns == MRC_TIME_NEVER) {
		c->pto.at_ns = now_ns + mrc_pto_ns(c);
	}
}

/*
 * What is out for a minute is lost, for ticks wrap: after 274 s it would look young, and nobody would find it.
 * Returns the oldest of the others.
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
 * All that left has arrived, and the peer is at work on a READ or ATOMIC. It sends the answer until that arrives,
 * too, so there is nothing to ask.
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

/* Were the latest two tail probes answered by nobody? A peer that answers waits for a slow plane, as we do. */
static bool mrc_pto_unanswered(const struct mrc_conn *c)
{
	return c->pto.out >> c->pto.id % MRC_TAIL_PROBES & 1 && c->pto.out >> (c->pto.id - 1u) % MRC_TAIL_PROBES & 1;
}

/*
 * One more question. Beside every other one from the third on, what has arrived leaves again for its ACK, or what is
 * lost though the window is full: some peers answer no probe.
 */
static void mrc_pto_back_off(struct mrc_conn *c)
{
	u32 alone = c->rtt.srtt_ns ? MRC_PTO_ALONE : MRC_PTO_ALONE_FIRST;

	if (c->pto.backoff < 255)
		c->pto.backoff++;
	if (c->pto.backoff > alone && mrc_pto_unanswered(c))
		c->pto.more = ((1u << min_t(u32, c->pto.backoff - alone, MRC_PTO_BURST_SHIFT)) - 1) & 7;
	if (c->pto.backoff < MRC_PTO_AGAIN || !(c->pto.backoff & 1))
		return;
	c->pto.owed |= MRC_OWED_AGAIN;
	c->budget.beyond |= c->snd.lost.count > 0;
}

/*
 * The time of the tail probe has come. Not if all that is missing waits here (held, refused):
 * the peer has nothing to say about that, and the next packet that leaves arms the
 * probe again. Nor if the oldest packet left too lately to be answered; what is
 * lost becomes the oldest, whatever is sent and refused after it.
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
		if (c->evs)	/* the slowest plane may be the one that is waited for */
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
	/* After so long a word may have got lost that nobody repeats, as a NAK. */
	if (!mrc_pto_answer_comes(c) || c->pto.backoff >= MRC_PTO_SHIFT_MAX)
		c->pto.owed |= MRC_OWED_TAIL;
	/* A QP without a timeout, and a peer that answers no probes: nobody else would find what is lost at the end. */
	if (!c->tx.timeout_ns && slot != MRC_NONE16 && c->pto.backoff >= MRC_PTO_SILENT)
		mrc_budget_lose(c, slot, now_ns);
	mrc_pto_back_off(c);
	c->pto.at_ns = now_ns + mrc_pto_ns(c);
}

/* ---- the timer ---- */

static u64 mrc_pto_silence_ns(const struct mrc_conn *c)
{
	return min_t(u64, c->rack.at_ns, min_t(u64, c->pto.at_ns, c->budget.rto_at_ns));
}

/*
 * Did this host sleep? Then nothing is concluded from silence in this call, and soon
 * after, when the receive ring is empty, it is. Once: a host whose timers are always late
 * must find losses, too.
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
 * For an ACK or a response that got lost. A peer that answers probes puts the tail probe off, so that only the
 * timeout asks: the packet leaves again here, too.
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
