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
#define MRC_RTO_FIRST_NS	20000000u	/* before anything is known of the round trip */
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
	c->hold_until_ns = 0;
}

/*
 * The timeout agreed on, or more where queues make round trips longer: resending
 * what still waits in a queue would only lengthen it. A timeout shorter than the first
 * round trip would use up the budget before any answer could come.
 */
static u64 mrc_budget_interval_ns(const struct mrc_conn *c)
{
	u64 least = mrc_clock_late_ns(&c->rtt);

	/* The slowest plane may be the one that is waited for. Most often it makes no difference. */
	if (c->evs && (!least || c->evs->patience_most_ns > max_t(u64, least, c->tx.timeout_ns)))
		least = max_t(u64, least, mrc_evset_patience_ns(c->evs));
	return max_t(u64, c->tx.timeout_ns, least ? least : MRC_RTO_FIRST_NS);
}

u64 mrc_budget_rto_ns(const struct mrc_conn *c)
{
	u64 ns;

	if (!c->tx.timeout_ns)	/* also in RTR, where what others share is not looked at (path_lock) */
		return MRC_TIME_NEVER;
	ns = min_t(u64, mrc_budget_interval_ns(c), MRC_RTO_MAX_NS);
	if (likely(c->budget.retries <= c->tx.linear_cnt))
		return ns;
	return min_t(u64, ns << min_t(u32, c->budget.retries - c->tx.linear_cnt, 25), MRC_RTO_MAX_NS);
}

/* When the timeout is over; a pause that the receiver asked for does not count. */
u64 mrc_budget_rto_from(const struct mrc_conn *c, u64 now_ns)
{
	u64 rto = mrc_budget_rto_ns(c);

	return mrc_time_after(max_t(u64, now_ns, c->rnr_until_ns), rto);
}

/*
 * A piece of a response came while something of ours is out: the peer is alive and at work. The time of
 * the probe stays: another request may have got lost behind the one that is answered.
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

/* One retry less. False: there was none, and the connection fails. */
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

/* About a round trip. The mean remembers a host that paused for long after it goes on again. */
static u64 mrc_budget_rtt_ns(const struct mrc_conn *c)
{
	if (!c->rtt.srtt_ns)
		return mrc_rtt_patience_ns(c);
	return max_t(u64, min_t(u64, c->rtt.srtt_ns, 2ull * c->rack.min_rtt_ns), MRC_NACK_MIN_NS);
}

/*
 * A NACK for want of resources: what it names leaves after about a round trip, longer
 * while nothing gets on. It takes a retry from the budget, though not more than one
 * per timeout: a budget is also a time that the peer is given.
 */
void mrc_budget_pace(struct mrc_conn *c, u64 now_ns)
{
	u64 wait = mrc_budget_rtt_ns(c);

	if (now_ns < c->budget.nack_until_ns)
		return;		/* leaves together with those that wait */
	if (now_ns >= c->budget.nack_charge_ns && !mrc_budget_take(c, now_ns))
		return;
	c->budget.nack_until_ns = now_ns + min_t(u64, wait << c->budget.nack_backoff, MRC_NACK_MAX_NS);
	if (c->budget.nack_backoff < 10)
		c->budget.nack_backoff++;
}

/*
 * A trimmed packet counts likewise (1.8), at most once per timeout. But it does not end the
 * connection: its header reached a peer that lives, so what is left of the budget
 * is for silence to take.
 */
void mrc_budget_trimmed(struct mrc_conn *c, u64 now_ns)
{
	if (now_ns < c->budget.nack_charge_ns || !mrc_budget_left(c))
		return;
	c->budget.retries++;
	c->budget.nack_charge_ns = mrc_budget_rto_from(c, now_ns);
}

/*
 * Silence took the oldest packet, which is in @slot. It leaves again whatever the window: losses may have shrunk that
 * below what is out and lost, too, and nobody would ever say so (RFC 6298, 5.4). Returns its bytes.
 */
u32 mrc_budget_lose(struct mrc_conn *c, u16 slot, u64 now_ns)
{
	c->budget.beyond = true;
	return mrc_snd_lose(c, mrc_rec_psn(c, slot), MRC_CAUSE_RTO, now_ns);
}

/*
 * No progress for a whole timeout. The oldest packet is sent again and a probe
 * asks: if either is answered, RACK finds all that is lost. Resending everything
 * here would, where queues are longer than the timeout, make them longer still.
 * False: the budget is used up.
 */
bool mrc_budget_timeout(struct mrc_conn *c, u64 now_ns)
{
	struct mrc_cc_sample cc = { 0 };
	u16 slot = mrc_snd_oldest(c);

	c->stats.timeouts++;
	cc.inflight_bytes = c->cc->inflight_bytes;
	if (!mrc_budget_take(c, now_ns))
		return false;
	cc.now_ns = now_ns;
	if (slot != MRC_NONE16 &&
	    mrc_tick_age_ns(now_ns, c->snd.rec[slot].sent) + (1u << MRC_TICK_SHIFT) >=
	    mrc_budget_interval_ns(c))
		cc.lost_bytes = mrc_budget_lose(c, slot, now_ns);
	c->cc->ops->on_timeout(c->cc, &cc);
	return true;
}
