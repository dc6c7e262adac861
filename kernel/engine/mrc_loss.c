// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_loss.c - what has been delivered, what is lost, and when to find out.
 *
 * MRC 1.0 section 4 (7.4, Table 7-1). A packet is lost when
 *   - a packet sent later (on whatever path) is known as delivered, and the
 *     packet has been out for a round trip plus a reordering window (RACK; in
 *     time only: counting packets across different paths says nothing), or, as an
 *     option, the peer holds many packets out of order (SLEEK, mrc_sleek.c),
 *   - a NACK says so, its plane went down, or the acknowledgement timeout passed.
 * When acknowledgements stop, a probe asks the peer for its state: its answer is
 * "something sent later was delivered", so the tail of a burst need not wait for
 * the timeout. Timeouts and NACKs without any progress use up one retry budget:
 * linear_cnt at the plain interval, then exp_cnt doubling.
 *
 * The reordering window begins small, so that a dead path is left within three
 * round trips, and grows with every loss that turns out to have been none.
 */
#include "mrc_conn.h"

#define MRC_RTT_INIT_NS		2000000u	/* before the first sample */
#define MRC_RTT_MAX_NS		1000000000u
#define MRC_REO_MIN_NS		1000u		/* least reordering window: clocks and batches */
/* Reordering window, quarters of a round trip: queues on other paths differ by that much. */
#define MRC_REO_MULT_MIN	4
#define MRC_REO_MULT_MAX	32		/* eight round trips */
#define MRC_REO_KEEP_RTTS	16		/* without a false alarm: a quarter less */
#define MRC_PTO_MIN_NS		10000u
#define MRC_PTO_MAX_NS		1000000000ull
#define MRC_RTO_MAX_NS		60000000000ull

void mrc_loss_reset(struct mrc_conn *c)
{
	c->srtt_ns = 0;
	c->rttvar_ns = 0;
	c->min_rtt_ns = ~0u;
	c->rack_rtt_ns = 0;
	c->rack_valid = false;
	c->reo_mult = MRC_REO_MULT_MIN;
	c->rack_at_ns = MRC_TIME_NEVER;
	c->probe_at_ns = MRC_TIME_NEVER;
	c->rto_at_ns = MRC_TIME_NEVER;
	c->probe_backoff = 0;
	c->probe_out = 0;
	c->probe_owed = false;
	c->retries = 0;
	c->nack_until_ns = 0;
	c->nack_charge_ns = 0;
	c->nack_backoff = 0;
	c->rnr_tries = 0;
	c->rnr_until_ns = 0;
	c->hold_until_ns = 0;
	mrc_loss_forget_evs(c);
}

/* ---- round trip time (RFC 6298's estimator) ---- */

void mrc_loss_rtt(struct mrc_conn *c, u64 rtt_ns)
{
	u32 rtt = (u32)clamp_t(u64, rtt_ns, 1, MRC_RTT_MAX_NS), err;

	if (rtt < c->min_rtt_ns)
		c->min_rtt_ns = rtt;
	if (!c->srtt_ns) {
		c->srtt_ns = rtt;
		c->rttvar_ns = rtt / 2;
		return;
	}
	err = rtt > c->srtt_ns ? rtt - c->srtt_ns : c->srtt_ns - rtt;
	c->rttvar_ns = (u32)((3ull * c->rttvar_ns + err) / 4);
	c->srtt_ns = (u32)max_t(u64, (7ull * c->srtt_ns + rtt) / 8, 1);
}

/*
 * How long after its send a packet overtaken by others is called lost. The age of
 * the latest delivery counts as a round trip too: when acknowledgements are late,
 * all packets are, and none of them is lost for that.
 */
static u64 mrc_rack_wait_ns(const struct mrc_conn *c)
{
	u64 reo = max_t(u64, 4ull * c->rttvar_ns, (u64)c->reo_mult * (c->srtt_ns / 4));

	if (!c->srtt_ns)
		return MRC_RTT_INIT_NS;
	return max_t(u64, c->srtt_ns, c->rack_rtt_ns) + max_t(u64, reo, MRC_REO_MIN_NS);
}

/* How long an answer may take. */
static u64 mrc_patience_ns(const struct mrc_conn *c)
{
	u64 pto = c->srtt_ns ? 2ull * c->srtt_ns + 4ull * c->rttvar_ns : 2ull * MRC_RTT_INIT_NS;

	return max_t(u64, pto, MRC_PTO_MIN_NS);
}

static u64 mrc_pto_ns(const struct mrc_conn *c)
{
	return min_t(u64, mrc_patience_ns(c) << min_t(u8, c->probe_backoff, 10), MRC_PTO_MAX_NS);
}

/*
 * The timeout agreed on, or more where queues make round trips longer: resending
 * what still waits in a queue would only lengthen it.
 */
static u64 mrc_timeout_ns(const struct mrc_conn *c)
{
	return max_t(u64, c->tx.timeout_ns, c->srtt_ns + 4ull * c->rttvar_ns);
}

u64 mrc_loss_rto_ns(const struct mrc_conn *c)
{
	u32 doublings = c->retries > c->tx.linear_cnt ? c->retries - c->tx.linear_cnt : 0;

	if (!c->tx.timeout_ns)
		return MRC_TIME_NEVER;
	return min_t(u64, min_t(u64, mrc_timeout_ns(c), MRC_RTO_MAX_NS) << min_t(u32, doublings, 25),
		     MRC_RTO_MAX_NS);
}

/* ---- timers ---- */

void mrc_loss_arm(struct mrc_conn *c, u64 now_ns)
{
	if (c->rto_at_ns == MRC_TIME_NEVER)
		c->rto_at_ns = mrc_time_after(now_ns, mrc_loss_rto_ns(c));
	if (c->probe_at_ns == MRC_TIME_NEVER)
		c->probe_at_ns = now_ns + mrc_pto_ns(c);
}

/* When the timeout is over; a pause that the receiver asked for does not count. */
static u64 mrc_rto_from(const struct mrc_conn *c, u64 now_ns)
{
	return mrc_time_after(max_t(u64, now_ns, c->rnr_until_ns), mrc_loss_rto_ns(c));
}

static void mrc_budget_restore(struct mrc_conn *c)
{
	c->retries = 0;
	c->nack_backoff = 0;
	c->nack_charge_ns = 0;
}

/*
 * Nothing waited for: no timers. Progress pushes them out; answers that tell
 * nothing new (to an EV's probe, say) do not. Progress without a delivery (the
 * peer lives and is slow) keeps the probe's back-off: asking more often is no help.
 */
void mrc_loss_rearm(struct mrc_conn *c, u64 now_ns, bool progress, bool delivered)
{
	if (!mrc_tx_waiting(c)) {
		c->rto_at_ns = MRC_TIME_NEVER;
		c->probe_at_ns = MRC_TIME_NEVER;
		c->rack_at_ns = MRC_TIME_NEVER;
		c->probe_owed = false;
		c->probe_backoff = 0;
		mrc_budget_restore(c);
		return;
	}
	if (progress) {
		mrc_budget_restore(c);
		if (delivered)
			c->probe_backoff = 0;
		c->rto_at_ns = mrc_rto_from(c, now_ns);
		c->probe_at_ns = now_ns + mrc_pto_ns(c);
	} else if (c->probe_at_ns == MRC_TIME_NEVER) {
		c->probe_at_ns = now_ns + mrc_pto_ns(c);
	}
}

/*
 * A piece of a response came: the peer is alive and at work. The time of the probe stays:
 * another request may have got lost behind the one that is answered.
 */
void mrc_loss_alive(struct mrc_conn *c, u64 now_ns)
{
	if (!c->rd_out)
		return;
	mrc_budget_restore(c);
	c->rto_at_ns = mrc_rto_from(c, now_ns);
}

/* ---- blame: which EV a loss was put down to ---- */

/* The path set is another one: its indices mean nothing here. */
void mrc_loss_forget_evs(struct mrc_conn *c)
{
	u32 i;

	for (i = 0; i < MRC_BLAMES; i++)
		c->blame[i].ev = MRC_NONE16;
	c->blame_n = 0;
}

static void mrc_blame(struct mrc_conn *c, u32 psn, u16 ev, u64 now_ns)
{
	if (!c->evs || ev >= c->evs->n)
		return;
	c->blame[c->blame_n].psn = psn;
	c->blame[c->blame_n].ev = ev;
	c->blame_n = (u8)((c->blame_n + 1) % MRC_BLAMES);
	mrc_evset_sign(c->evs, ev, MRC_SIGN_LOST, now_ns);
}

/* @psn had arrived: the EV blamed last for it, if that is remembered, is cleared. */
static void mrc_unblame(struct mrc_conn *c, u32 psn, u64 now_ns)
{
	u32 i;

	for (i = 1; i <= MRC_BLAMES; i++) {
		struct mrc_blame *b = &c->blame[(c->blame_n - i) % MRC_BLAMES];

		if (b->ev == MRC_NONE16 || b->psn != psn)
			continue;
		if (c->evs && b->ev < c->evs->n)
			mrc_evset_sign(c->evs, b->ev, MRC_SIGN_SPURIOUS, now_ns);
		b->ev = MRC_NONE16;
		return;
	}
}

/* A loss that was none; it arrived @late_ns after its send, if known: allow for more reordering. */
static void mrc_rack_false_alarm(struct mrc_conn *c, u64 late_ns, u64 now_ns)
{
	u32 quarter = max_t(u32, c->srtt_ns / 4, 1);
	u64 need = late_ns > c->srtt_ns ? div_u64(late_ns - c->srtt_ns, quarter) + 1 : 0;

	need = max_t(u64, need, c->reo_mult + 1u);
	c->reo_mult = (u8)min_t(u64, need, MRC_REO_MULT_MAX);
	c->reo_tick = mrc_tick(now_ns);
}

static void mrc_rack_calm(struct mrc_conn *c, u64 now_ns)
{
	if (c->reo_mult == MRC_REO_MULT_MIN || mrc_tick_age_ns(now_ns, c->reo_tick) <
	    (u64)MRC_REO_KEEP_RTTS * c->srtt_ns)
		return;
	c->reo_mult--;
	c->reo_tick = mrc_tick(now_ns);
}

/* An earlier copy of @psn than the latest has arrived, @late_ns after its send or 0. */
void mrc_loss_spurious(struct mrc_conn *c, u32 psn, u64 late_ns, u64 now_ns)
{
	c->stats.rtx_spurious++;
	if (c->rec[psn & c->rec_mask].cause == MRC_CAUSE_RACK)
		mrc_rack_false_alarm(c, late_ns, now_ns);
	mrc_unblame(c, psn, now_ns);
}

/* ---- delivery ---- */

/* What was sent at @tick as @psn has arrived. */
void mrc_loss_rack(struct mrc_conn *c, u32 tick, u32 psn, u64 now_ns)
{
	if (!c->rack_valid || (s32)(tick - c->rack_sent) > 0 ||
	    (tick == c->rack_sent && mrc_psn_diff(psn, c->rack_psn) > 0)) {
		c->rack_sent = tick;
		c->rack_psn = psn;
		c->rack_rtt_ns = (u32)min_t(u64, mrc_tick_age_ns(now_ns, tick), MRC_RTT_MAX_NS);
	}
	c->rack_valid = true;
}

/* It arrived while it waited to be resent. */
static mrc_noinline void mrc_deliver_lost(struct mrc_conn *c, u32 psn, struct mrc_rec *r,
					  u64 now_ns)
{
	u64 late = r->tries == 1 ? mrc_tick_age_ns(now_ns, r->sent) : 0;

	mrc_list_del(c->rec, r->state == MRC_REC_PACED ? &c->paced : &c->lost,
		     (u16)(psn & c->rec_mask));
	if (r->tries == 1)
		mrc_loss_rack(c, r->sent, psn, now_ns);
	if (r->cause == MRC_CAUSE_RACK)
		mrc_rack_false_alarm(c, late, now_ns);
	if (r->cause == MRC_CAUSE_RACK || r->cause == MRC_CAUSE_RTO ||
	    r->cause == MRC_CAUSE_SLEEK)
		mrc_unblame(c, psn, now_ns);
}

/* Did the latest copy arrive? It was sent so long ago; else it was an earlier one. */
static mrc_noinline bool mrc_deliver_resent(struct mrc_conn *c, u32 psn, const struct mrc_rec *r,
					    u64 now_ns)
{
	if (mrc_tick_age_ns(now_ns, r->sent) >= c->min_rtt_ns)
		return true;
	if (c->srtt_ns)
		mrc_loss_spurious(c, psn, 0, now_ns);
	return false;
}

/* What several deliveries add up to, applied once at their end. */
struct mrc_landed {
	u32 inflight;		/* bytes newly delivered that were in flight */
	u32 late;		/* likewise, that had been given up */
	bool rack;		/* there is a latest send among the first: */
	u32 tick, psn;
};

/* @psn is known as delivered. Called in the order of PSNs. */
static inline void mrc_loss_land(struct mrc_conn *c, u32 psn, u64 now_ns, struct mrc_landed *l)
{
	u16 slot = (u16)(psn & c->rec_mask);
	struct mrc_rec *r = &c->rec[slot];

	if (likely(r->state == MRC_REC_SENT)) {
		mrc_list_del(c->rec, &c->sent, slot);
		l->inflight += mrc_rec_bytes(r);
		if (likely(r->tries == 1) || mrc_deliver_resent(c, psn, r, now_ns)) {
			if (!l->rack || (s32)(r->sent - l->tick) >= 0) {
				l->tick = r->sent;
				l->psn = psn;
			}
			l->rack = true;
		}
	} else if (r->state == MRC_REC_FREE) {
		return;
	} else {
		l->late += mrc_rec_bytes(r);
		mrc_deliver_lost(c, psn, r, now_ns);
	}
	r->state = MRC_REC_FREE;
	if (r->msg & MRC_REC_RESP)
		mrc_msg_at(c, r->msg)->resp_pkts--;
}

/* Returns the bytes newly delivered. */
static u32 mrc_loss_landed(struct mrc_conn *c, const struct mrc_landed *l, u64 now_ns)
{
	if (l->inflight)
		mrc_tx_inflight(c, -(s32)l->inflight);
	if (l->rack)
		mrc_loss_rack(c, l->tick, l->psn, now_ns);
	return l->inflight + l->late;
}

/* @psn is known as delivered. Returns the bytes newly so. */
u32 mrc_loss_deliver(struct mrc_conn *c, u32 psn, u64 now_ns)
{
	struct mrc_landed l = { 0 };

	mrc_loss_land(c, psn, now_ns, &l);
	return mrc_loss_landed(c, &l, now_ns);
}

void mrc_loss_advance_una(struct mrc_conn *c)
{
	while (c->psn_una != c->psn_next &&
	       c->rec[c->psn_una & c->rec_mask].state == MRC_REC_FREE)
		c->psn_una = mrc_psn_add(c->psn_una, 1);
	mrc_tx_responses_done(c);
}

void mrc_loss_delivered(struct mrc_conn *c, u32 psn, u64 now_ns)
{
	if (!mrc_psn_out(c, psn))
		return;
	mrc_loss_deliver(c, psn, now_ns);
	mrc_loss_advance_una(c);
}

/* All up to @psn; nothing when it is behind una, or was never sent. */
u32 mrc_loss_deliver_upto(struct mrc_conn *c, u32 psn, u64 now_ns)
{
	u32 p = c->psn_una, end = mrc_psn_add(psn, 1);
	struct mrc_landed l = { 0 };

	if (!mrc_psn_out(c, psn))
		return 0;
	for (; p != end; p = mrc_psn_add(p, 1))
		mrc_loss_land(c, p, now_ns, &l);
	c->psn_una = end;
	return mrc_loss_landed(c, &l, now_ns);
}

/* ---- loss ---- */

/* @psn, in flight, is lost. Returns its bytes. */
u32 mrc_loss_mark(struct mrc_conn *c, u32 psn, enum mrc_cause cause, u64 now_ns)
{
	u16 slot = (u16)(psn & c->rec_mask);
	struct mrc_rec *r = &c->rec[slot];

	if (mrc_assert(r->state == MRC_REC_SENT))
		return 0;
	mrc_list_del(c->rec, &c->sent, slot);
	mrc_tx_inflight(c, -(s32)mrc_rec_bytes(r));
	r->cause = (unsigned int)cause & 31u;
	if (cause == MRC_CAUSE_NACK) {
		r->state = MRC_REC_PACED;
		mrc_list_add_tail(c->rec, &c->paced, slot);
	} else {
		r->state = MRC_REC_LOST;
		mrc_list_add_tail(c->rec, &c->lost, slot);
	}
	if (cause == MRC_CAUSE_RACK || cause == MRC_CAUSE_RTO || cause == MRC_CAUSE_SLEEK)
		mrc_blame(c, psn, r->ev, now_ns);
	return mrc_rec_bytes(r);
}

/* The controller is told of @bytes that were inferred as lost just now. */
void mrc_loss_tell(struct mrc_conn *c, u32 bytes, u64 now_ns)
{
	struct mrc_cc_sample cc = { 0 };

	if (!bytes)
		return;
	cc.now_ns = now_ns;
	cc.lost_bytes = bytes;
	cc.inflight_bytes = c->cc->inflight_bytes + bytes;
	c->cc->ops->on_loss(c->cc, &cc);
	mrc_tx_hold(c);
}

/* RACK: walk the oldest sends, stop at the first that may still arrive. */
void mrc_loss_detect(struct mrc_conn *c, u64 now_ns)
{
	u64 wait = c->sent.count ? mrc_rack_wait_ns(c) : 0;
	u16 slot = c->sent.head, next;
	u32 lost = 0;

	c->rack_at_ns = MRC_TIME_NEVER;
	if (!c->rack_valid)
		return;
	mrc_rack_calm(c, now_ns);
	for (; slot != MRC_NONE16; slot = next) {
		struct mrc_rec *r = &c->rec[slot];
		u64 age = mrc_tick_age_ns(now_ns, r->sent);
		u32 psn = mrc_rec_psn(c, slot);

		next = r->next;
		if (!mrc_rack_before(c, r->sent, psn))
			break;
		if (age < wait) {
			/* Round up: at that time the age in ticks must suffice. */
			c->rack_at_ns = now_ns + wait - age + (1u << MRC_TICK_SHIFT);
			break;
		}
		/* With SLEEK time speaks only for what was resent: nothing else would. */
		if (!c->tx.sleek || r->tries > 1)
			lost += mrc_loss_mark(c, psn, MRC_CAUSE_RACK, now_ns);
	}
	if (lost)
		mrc_loss_tell(c, lost, now_ns);
}

/* ---- the retry budget ---- */

static bool mrc_budget_take(struct mrc_conn *c, u64 now_ns)
{
	if (c->tx.timeout_ns && c->tx.exp_cnt < MRC_EXP_FOREVER &&
	    c->retries >= (u32)c->tx.linear_cnt + c->tx.exp_cnt) {
		mrc_conn_fail(c, MRC_ST_RETRY_EXC, now_ns);
		return false;
	}
	c->retries++;
	c->rto_at_ns = mrc_rto_from(c, now_ns);
	c->nack_charge_ns = c->rto_at_ns;
	return true;
}

/*
 * A NACK for want of resources: what it names leaves after about a round trip, longer
 * while nothing gets on. It takes a retry from the budget, though not more than one
 * per timeout: a budget is also a time that the peer is given. False: used up.
 */
bool mrc_loss_pace(struct mrc_conn *c, u64 now_ns)
{
	u64 wait = max_t(u64, c->srtt_ns ? c->srtt_ns : MRC_RTT_INIT_NS, MRC_REO_MIN_NS);

	if (now_ns < c->nack_until_ns)
		return true;	/* leaves together with those that wait */
	if (now_ns >= c->nack_charge_ns && !mrc_budget_take(c, now_ns))
		return false;
	c->nack_until_ns = now_ns + min_t(u64, wait << c->nack_backoff, MRC_PTO_MAX_NS);
	if (c->nack_backoff < 10)
		c->nack_backoff++;
	return true;
}

/* The wait is over. */
void mrc_loss_unpace(struct mrc_conn *c)
{
	while (c->paced.count) {
		u16 slot = c->paced.head;

		mrc_list_del(c->rec, &c->paced, slot);
		c->rec[slot].state = MRC_REC_LOST;
		mrc_list_add_tail(c->rec, &c->lost, slot);
	}
}

/*
 * No progress for a whole timeout. The oldest packet is sent again and a probe
 * asks: if either is answered, RACK finds all that is lost. Resending everything
 * here would, where queues are longer than the timeout, make them longer still.
 */
static void mrc_loss_rto(struct mrc_conn *c, u64 now_ns)
{
	struct mrc_cc_sample cc = { 0 };
	u16 slot = c->sent.head;

	c->stats.timeouts++;
	cc.inflight_bytes = c->cc->inflight_bytes;
	if (!mrc_budget_take(c, now_ns))
		return;
	cc.now_ns = now_ns;
	if (slot != MRC_NONE16 &&
	    mrc_tick_age_ns(now_ns, c->rec[slot].sent) + (1u << MRC_TICK_SHIFT) >=
	    mrc_timeout_ns(c))
		cc.lost_bytes = mrc_loss_mark(c, mrc_rec_psn(c, slot), MRC_CAUSE_RTO, now_ns);
	c->cc->ops->on_timeout(c->cc, &cc);
	c->probe_owed = true;	/* for an ACK or a response that got lost */
}

/*
 * The time of the tail probe has come. Not if all that is missing waits here (held, refused):
 * the peer has nothing to say about that, and the next packet that leaves arms the
 * probe again. Nor if the oldest packet left too lately to be answered; what is
 * lost becomes the oldest, whatever is sent and refused after it.
 */
static void mrc_loss_probe(struct mrc_conn *c, u64 now_ns)
{
	u64 patience = mrc_patience_ns(c), age = patience;

	/* Ticks say nothing of what is out for longer than half of their range. */
	while (c->sent.count &&
	       mrc_tick_age_ns(now_ns, c->rec[c->sent.head].sent) >= MRC_RTO_MAX_NS)
		mrc_loss_mark(c, mrc_rec_psn(c, c->sent.head), MRC_CAUSE_PLANE, now_ns);
	if (c->sent.count) {
		age = mrc_tick_age_ns(now_ns, c->rec[c->sent.head].sent);
	} else if (c->lost.count || c->paced.count) {
		c->probe_at_ns = MRC_TIME_NEVER;
		return;
	}
	if (age && age < patience) {	/* 0: out for so long that its tick says nothing */
		c->probe_at_ns = now_ns + patience - age;
		return;
	}
	c->probe_owed = true;
	if (c->probe_backoff < 255)
		c->probe_backoff++;
	c->probe_at_ns = now_ns + mrc_pto_ns(c);
}

void mrc_loss_timer(struct mrc_conn *c, u64 now_ns)
{
	if (c->rnr_until_ns && now_ns >= c->rnr_until_ns)
		c->rnr_until_ns = 0;
	if (now_ns >= c->hold_until_ns)
		c->hold_until_ns = 0;
	if (c->paced.count && now_ns >= c->nack_until_ns)
		mrc_loss_unpace(c);
	if (now_ns >= c->rack_at_ns)
		mrc_loss_detect(c, now_ns);
	if (now_ns >= c->probe_at_ns)
		mrc_loss_probe(c, now_ns);
	if (now_ns >= c->rto_at_ns)
		mrc_loss_rto(c, now_ns);
}

u64 mrc_loss_deadline_ns(const struct mrc_conn *c)
{
	u64 at = min_t(u64, c->rack_at_ns, min_t(u64, c->probe_at_ns, c->rto_at_ns));

	if (c->paced.count)
		at = min_t(u64, at, c->nack_until_ns);
	if (c->hold_until_ns)
		at = min_t(u64, at, c->hold_until_ns);
	return c->rnr_until_ns ? min_t(u64, at, c->rnr_until_ns) : at;
}
