// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_budget.c - the retry budget, and pauses while the peer lacks resources.
 *
 * MRC 1.0 sections 1.8, 4 (7.4). Timeouts and NACKs without progress consume one budget: linear_cnt
 * retries at the plain interval, then exp_cnt retries at doubling intervals. Progress restores the
 * budget. When it is used up, the connection fails.
 */
#include "conn/mrc_conn.h"

#define MRC_RTO_MAX_NS		60000000000ull
#define MRC_RTO_FIRST_NS	20000000u	/* before the first round-trip sample */
#define MRC_UNSURE		2	/* timeouts */
#define MRC_NACK_MIN_NS		1000u
#define MRC_NACK_MAX_NS		1000000000ull

void mrc_budget_reset(struct mrc_conn *c)
{
	c->budget.rto_at_ns = MRC_TIME_NEVER;
	c->budget.retries = 0;
	c->budget.nack_until_ns = 0;
	c->budget.nack_charge_ns = 0;
	c->budget.nack_backoff = 0;
	c->budget.beyond = false;
	c->budget.unsure = 0;
	c->hold_until_ns = 0;
}

/*
 * The configured timeout, or more if queues lengthen the round trip: retransmitting packets that still
 * wait in a queue would only make it longer. A timeout shorter than the first round trip would use
 * up the budget before an answer can arrive.
 */
static u64 mrc_budget_interval_ns(const struct mrc_conn *c)
{
	u64 least = mrc_clock_late_ns(&c->rtt);

	/* The answer may come by the slowest plane. The test avoids the costly call in most cases. */
	if (c->evs && (!least || c->evs->patience_most_ns > max_t(u64, least, c->tx.timeout_ns)))
		least = max_t(u64, least, mrc_evset_patience_ns(c->evs));
	return max_t(u64, c->tx.timeout_ns, least ? least : MRC_RTO_FIRST_NS);
}

u64 mrc_budget_rto_ns(const struct mrc_conn *c)
{
	u64 ns;

	if (!c->tx.timeout_ns)	/* also in RTR, where the caller does not hold path_lock */
		return MRC_TIME_NEVER;
	ns = min_t(u64, mrc_budget_interval_ns(c), MRC_RTO_MAX_NS);
	if (likely(c->budget.retries <= c->tx.linear_cnt))
		return ns;
	return min_t(u64, ns << min_t(u32, c->budget.retries - c->tx.linear_cnt, 25), MRC_RTO_MAX_NS);
}

/* When the timeout expires. It starts after the receiver's RNR pause. */
u64 mrc_budget_rto_from(const struct mrc_conn *c, u64 now_ns)
{
	u64 rto = mrc_budget_rto_ns(c);

	return mrc_time_after(max_t(u64, now_ns, c->rnr_until_ns), rto);
}

/*
 * A packet of a response arrived while own packets are in flight: the peer is alive. The probe timer is not
 * changed, since a later request may be lost.
 */
void mrc_budget_alive(struct mrc_conn *c, u64 now_ns)
{
	mrc_budget_restore(c);
	c->budget.rto_at_ns = mrc_budget_rto_from(c, now_ns);
}

static bool mrc_budget_left(const struct mrc_conn *c)
{
	return !c->tx.timeout_ns || c->tx.exp_cnt >= MRC_EXP_FOREVER ||
	       c->budget.retries < (u32)c->tx.linear_cnt + c->tx.exp_cnt;
}

/* Use one retry. False: none is left, and the connection fails. */
static bool mrc_budget_take(struct mrc_conn *c, u64 now_ns)
{
	if (!mrc_budget_left(c)) {
		mrc_conn_failing(c, MRC_ST_RETRY_EXC);
		return false;
	}
	c->budget.retries++;
	c->budget.rto_at_ns = mrc_budget_rto_from(c, now_ns);
	c->budget.nack_charge_ns = c->budget.rto_at_ns;
	return true;
}

/* About a round trip. Limited by the shortest one, as the mean stays high long after a host's pause. */
static u64 mrc_budget_rtt_ns(const struct mrc_conn *c)
{
	if (!c->rtt.srtt_ns)
		return mrc_rtt_patience_ns(c);
	return max_t(u64, min_t(u64, c->rtt.srtt_ns, 2ull * c->rack.min_rtt_ns), MRC_NACK_MIN_NS);
}

/*
 * A NACK for lack of resources: its packet is retransmitted after about a round trip, and later with each
 * NACK without progress. NACKs use at most one retry per timeout, because the budget also stands for
 * the time that the peer is given.
 */
void mrc_budget_pace(struct mrc_conn *c, u64 now_ns)
{
	u64 wait = mrc_budget_rtt_ns(c);

	if (now_ns < c->budget.nack_until_ns)
		return;		/* leaves together with the packets that wait already */
	if (now_ns >= c->budget.nack_charge_ns && !mrc_budget_take(c, now_ns))
		return;
	c->budget.nack_until_ns = now_ns + min_t(u64, wait << c->budget.nack_backoff, MRC_NACK_MAX_NS);
	if (c->budget.nack_backoff < 10)
		c->budget.nack_backoff++;
}

/*
 * A trimmed packet uses a retry (section 1.8), at most one per timeout. But it never fails the connection:
 * its header has reached a live peer, so only silence may use up the budget.
 */
void mrc_budget_trimmed(struct mrc_conn *c, u64 now_ns)
{
	if (now_ns < c->budget.nack_charge_ns || !mrc_budget_left(c))
		return;
	c->budget.retries++;
	c->budget.nack_charge_ns = mrc_budget_rto_from(c, now_ns);
}

/*
 * After a timeout, declare the oldest packet (in @slot) lost. Its retransmission may exceed the window: if
 * the window has shrunk below the bytes in flight, and all of those are lost, nothing else would get the
 * connection going (RFC 6298, 5.4). Returns its bytes.
 */
u32 mrc_budget_lose(struct mrc_conn *c, u16 slot, u64 now_ns)
{
	c->budget.beyond = true;
	return mrc_snd_lose(c, mrc_rec_psn(c, slot), MRC_CAUSE_RTO, now_ns);
}

/*
 * The packets that a timeout of @age_ns declares lost, in bytes: the oldest one. The caller also sends a probe.
 * If either is answered, RACK finds all losses. Retransmitting everything would make queues that exceed the
 * timeout even longer. But of a peer that echoes no timestamps, the answer to a repeated packet proves nothing
 * (Karn). If it answers no probes either, one packet would leave per timeout, so from the third one on all that
 * are old enough do.
 */
static u32 mrc_budget_lose_old(struct mrc_conn *c, u64 age_ns, u64 now_ns)
{
	bool all = c->budget.unsure > MRC_UNSURE && !c->report.answers && !mrc_report_stamps(c);
	u32 left = c->snd.busy, bytes = 0;
	u16 slot = mrc_snd_oldest(c);

	if (slot != MRC_NONE16 && mrc_tick_age_ns(now_ns, c->snd.rec[slot].sent) >= age_ns)
		bytes = mrc_budget_lose(c, slot, now_ns);
	for (; all && left; left &= left - 1)
		while ((slot = c->snd.sent[mrc_ffs64(left)].head) != MRC_NONE16 &&
		       mrc_tick_age_ns(now_ns, c->snd.rec[slot].sent) >= age_ns)
			bytes += mrc_budget_lose(c, slot, now_ns);
	return bytes;
}

/* No progress for a whole timeout. False: the budget is used up. */
bool mrc_budget_timeout(struct mrc_conn *c, u64 now_ns)
{
	struct mrc_cc_sample cc = { 0 };

	c->stats.timeouts++;
	if (c->budget.unsure <= MRC_UNSURE)
		c->budget.unsure++;
	cc.inflight_bytes = c->cc->inflight_bytes;
	if (!mrc_budget_take(c, now_ns))
		return false;
	cc.now_ns = now_ns;
	cc.lost_bytes = mrc_budget_lose_old(c, mrc_budget_interval_ns(c) - (1u << MRC_TICK_SHIFT), now_ns);
	if (cc.lost_bytes || c->snd.inflight)	/* else only an answer is slow */
		c->cc->ops->on_timeout(c->cc, &cc);
	return true;
}
