// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_loss.c - what has been delivered, what is lost, and when to find out.
 *
 * MRC 1.0 section 4 (7.4, Table 7-1). A packet is lost when
 *   - a packet sent later (on whatever path) is known as delivered, and the
 *     packet has been out for a round trip plus a reordering window (RACK; in
 *     time only: counting packets across different paths says nothing),
 *   - a NACK says so, its plane went down, or the acknowledgement timeout passed.
 * When acknowledgements stop, a probe asks the peer for its state: its answer is
 * "something sent later was delivered", so the tail of a burst need not wait for
 * the timeout. Timeouts without any progress use up one retry budget: linear_cnt at
 * the plain interval, then exp_cnt doubling.
 */
#include "mrc_conn.h"

#define MRC_RTT_INIT_NS		2000000ull	/* before the first sample */
#define MRC_REO_MIN_NS		20000ull	/* least reordering window */
#define MRC_REO_MULT_MAX	16
#define MRC_PTO_MIN_NS		100000ull
#define MRC_PTO_MAX_NS		1000000000ull
#define MRC_RTO_MAX_NS		60000000000ull

void mrc_loss_reset(struct mrc_conn *c)
{
	c->srtt_ns = 0;
	c->rttvar_ns = 0;
	c->min_rtt_ns = MRC_TIME_NEVER;
	c->rack_valid = false;
	c->reo_mult = 1;
	c->rack_at_ns = MRC_TIME_NEVER;
	c->probe_at_ns = MRC_TIME_NEVER;
	c->rto_at_ns = MRC_TIME_NEVER;
	c->probe_backoff = 0;
	c->probe_out = 0;
	c->probe_owed = false;
	c->retries = 0;
	c->rnr_tries = 0;
	c->rnr_until_ns = 0;
}

/* ---- round trip time (RFC 6298's estimator) ---- */

static void mrc_rtt_sample(struct mrc_conn *c, u64 rtt_ns)
{
	u64 err;

	if (rtt_ns < c->min_rtt_ns)
		c->min_rtt_ns = rtt_ns;
	if (!c->srtt_ns) {
		c->srtt_ns = max_t(u64, rtt_ns, 1);
		c->rttvar_ns = rtt_ns / 2;
		return;
	}
	err = rtt_ns > c->srtt_ns ? rtt_ns - c->srtt_ns : c->srtt_ns - rtt_ns;
	c->rttvar_ns = (3 * c->rttvar_ns + err) / 4;
	c->srtt_ns = max_t(u64, (7 * c->srtt_ns + rtt_ns) / 8, 1);
}

/* How long after its send a packet overtaken by others is called lost. */
static u64 mrc_rack_wait_ns(const struct mrc_conn *c)
{
	u64 reo = max_t(u64, 4 * c->rttvar_ns, c->srtt_ns / 4);

	if (!c->srtt_ns)
		return MRC_RTT_INIT_NS;
	return c->srtt_ns + c->reo_mult * max_t(u64, reo, MRC_REO_MIN_NS);
}

static u64 mrc_pto_ns(const struct mrc_conn *c)
{
	u64 pto = c->srtt_ns ? 2 * c->srtt_ns + 4 * c->rttvar_ns : 2 * MRC_RTT_INIT_NS;

	pto = max_t(u64, pto, MRC_PTO_MIN_NS);
	return min_t(u64, pto << min_t(u8, c->probe_backoff, 10), MRC_PTO_MAX_NS);
}

/*
 * The timeout agreed on, or more where queues make round trips longer: resending
 * what still waits in a queue would only lengthen it.
 */
static u64 mrc_timeout_ns(const struct mrc_conn *c)
{
	return max_t(u64, c->tx.timeout_ns, c->srtt_ns + 4 * c->rttvar_ns);
}

static u64 mrc_rto_ns(const struct mrc_conn *c)
{
	u32 doublings = c->retries > c->tx.linear_cnt ? c->retries - c->tx.linear_cnt : 0;

	if (!c->tx.timeout_ns)
		return MRC_TIME_NEVER;
	return min_t(u64, mrc_timeout_ns(c) << min_t(u32, doublings, 25), MRC_RTO_MAX_NS);
}

/* ---- timers ---- */

static u64 mrc_time_after(u64 now_ns, u64 wait_ns)
{
	return wait_ns == MRC_TIME_NEVER ? wait_ns : now_ns + wait_ns;
}

void mrc_loss_sent(struct mrc_conn *c, u64 now_ns)
{
	if (c->rto_at_ns == MRC_TIME_NEVER)
		c->rto_at_ns = mrc_time_after(now_ns, mrc_rto_ns(c));
	/* Not pushed out by sending: resending what is refused must not hide a loss. */
	if (c->probe_at_ns == MRC_TIME_NEVER)
		c->probe_at_ns = now_ns + mrc_pto_ns(c);
}

/*
 * Nothing waited for: no timers. Progress pushes them out; answers that tell
 * nothing new (to an EV's probe, say) do not. Progress without a delivery (the
 * peer lives and is slow) keeps the probe's back-off: asking more often is no help.
 */
static void mrc_loss_rearm(struct mrc_conn *c, u64 now_ns, bool progress, bool delivered)
{
	if (!mrc_tx_waiting(c)) {
		c->rto_at_ns = MRC_TIME_NEVER;
		c->probe_at_ns = MRC_TIME_NEVER;
		c->rack_at_ns = MRC_TIME_NEVER;
		c->probe_owed = false;
		c->retries = 0;
		c->probe_backoff = 0;
		return;
	}
	if (progress) {
		c->retries = 0;
		if (delivered)
			c->probe_backoff = 0;
		c->rto_at_ns = mrc_time_after(now_ns, mrc_rto_ns(c));
		c->probe_at_ns = now_ns + mrc_pto_ns(c);
	} else if (c->probe_at_ns == MRC_TIME_NEVER) {
		c->probe_at_ns = now_ns + mrc_pto_ns(c);
	}
}

/* Data arrived: if it is what we wait for, the peer is alive and at work. */
void mrc_loss_alive(struct mrc_conn *c, u64 now_ns)
{
	if (c->rd_out)
		mrc_loss_rearm(c, now_ns, true, true);
}

/* ---- delivery ---- */

static void mrc_rack_advance(struct mrc_conn *c, u32 tick, u32 psn)
{
	if (!c->rack_valid || (s32)(tick - c->rack_sent) > 0 ||
	    (tick == c->rack_sent && mrc_psn_diff(psn, c->rack_psn) > 0)) {
		c->rack_sent = tick;
		c->rack_psn = psn;
	}
	c->rack_valid = true;
}

/* Was this sent before what is known as delivered? A batch carries one time. */
static bool mrc_rack_before(const struct mrc_conn *c, u32 tick, u32 psn)
{
	return (s32)(c->rack_sent - tick) > 0 ||
	       (tick == c->rack_sent && mrc_psn_diff(psn, c->rack_psn) < 0);
}

/* A loss that was none: allow for more reordering. */
static void mrc_rack_false_alarm(struct mrc_conn *c)
{
	if (c->reo_mult < MRC_REO_MULT_MAX)
		c->reo_mult++;
}

/* @psn is known as delivered. Returns the bytes newly so. */
static u32 mrc_loss_deliver(struct mrc_conn *c, u32 psn, u64 now_ns)
{
	u16 slot = (u16)(psn & c->rec_mask);
	struct mrc_rec *r = &c->rec[slot];
	u32 bytes;

	if (r->state == MRC_REC_FREE)
		return 0;
	bytes = mrc_tx_rec_bytes(c, psn);
	if (r->state == MRC_REC_SENT) {
		mrc_list_del(c, &c->sent, slot);
		c->inflight_bytes -= bytes;
		/* Sent once, or so long ago that it is this copy which arrived. */
		if (r->tries == 1 || mrc_tick_age_ns(now_ns, r->sent) >= c->min_rtt_ns)
			mrc_rack_advance(c, r->sent, psn);
		else
			mrc_rack_false_alarm(c);
	} else {
		mrc_list_del(c, &c->lost, slot);
		if (r->cause == MRC_CAUSE_RACK)
			mrc_rack_false_alarm(c);
	}
	r->state = MRC_REC_FREE;
	if (r->msg & MRC_REC_RESP)
		mrc_tx_rec_msg(c, r)->resp_pkts--;
	return bytes;
}

static void mrc_loss_advance_una(struct mrc_conn *c)
{
	while (c->psn_una != c->psn_next &&
	       c->rec[c->psn_una & c->rec_mask].state == MRC_REC_FREE)
		c->psn_una = mrc_psn_add(c->psn_una, 1);
	mrc_tx_responses_done(c);
}

void mrc_loss_delivered(struct mrc_conn *c, u32 psn, u64 now_ns)
{
	if (mrc_psn_diff(psn, c->psn_una) < 0 || mrc_psn_diff(psn, c->psn_next) >= 0)
		return;
	mrc_loss_deliver(c, psn, now_ns);
	mrc_loss_advance_una(c);
}

/* All up to @psn. The caller has checked that it was sent. */
static u32 mrc_loss_deliver_upto(struct mrc_conn *c, u32 psn, u64 now_ns)
{
	u32 p, bytes = 0;

	for (p = c->psn_una; mrc_psn_diff(p, psn) <= 0; p = mrc_psn_add(p, 1))
		bytes += mrc_loss_deliver(c, p, now_ns);
	return bytes;
}

/* ---- loss ---- */

void mrc_loss_mark(struct mrc_conn *c, u32 psn, enum mrc_cause cause, u64 now_ns)
{
	u16 slot = (u16)(psn & c->rec_mask);
	struct mrc_rec *r = &c->rec[slot];

	if (mrc_assert(r->state == MRC_REC_SENT))
		return;
	mrc_list_del(c, &c->sent, slot);
	c->inflight_bytes -= mrc_tx_rec_bytes(c, psn);
	r->state = MRC_REC_LOST;
	r->cause = (u8)cause;
	mrc_list_add_tail(c, &c->lost, slot);
	if ((cause == MRC_CAUSE_RACK || cause == MRC_CAUSE_RTO) && r->ev < c->evs->n)
		mrc_evset_sign(c->evs, r->ev, MRC_SIGN_LOST, now_ns);
}

static u32 mrc_loss_slot_psn(const struct mrc_conn *c, u16 slot)
{
	return mrc_psn_add(c->psn_una, (s32)((slot - c->psn_una) & c->rec_mask));
}

/* RACK: walk the oldest sends, stop at the first that may still arrive. */
static void mrc_loss_detect(struct mrc_conn *c, u64 now_ns)
{
	u64 wait = mrc_rack_wait_ns(c);
	u16 slot = c->sent.head, next;

	c->rack_at_ns = MRC_TIME_NEVER;
	if (!c->rack_valid)
		return;
	for (; slot != MRC_NONE16; slot = next) {
		struct mrc_rec *r = &c->rec[slot];
		u64 age = mrc_tick_age_ns(now_ns, r->sent);

		next = r->next;
		if (!mrc_rack_before(c, r->sent, mrc_loss_slot_psn(c, slot)))
			return;
		if (age < wait) {
			/* Round up: at that time the age in ticks must suffice. */
			c->rack_at_ns = now_ns + wait - age + (1u << MRC_TICK_SHIFT);
			return;
		}
		mrc_loss_mark(c, mrc_loss_slot_psn(c, slot), MRC_CAUSE_RACK, now_ns);
	}
}

/* ---- SACK (DC) ---- */

/* Round trip of the packet that triggered this SACK, 0 if ambiguous. */
static u64 mrc_sack_rtt(const struct mrc_conn *c, const struct mrc_sack *s, u64 now_ns)
{
	u32 psn = mrc_psn_add(s->cack, s->ack_psn_offset);
	const struct mrc_rec *r = &c->rec[psn & c->rec_mask];

	if (s->pr || mrc_psn_diff(psn, c->psn_una) < 0 || mrc_psn_diff(psn, c->psn_next) >= 0 ||
	    r->state != MRC_REC_SENT || r->tries != 1)
		return 0;
	return mrc_tick_age_ns(now_ns, r->sent);
}

static u32 mrc_sack_bitmap(struct mrc_conn *c, const struct mrc_sack *s, u64 now_ns)
{
	u32 base = mrc_psn_add(s->cack, s->sack_offset), bytes = 0;
	u64 bits = s->bitmap;

	for (; bits; bits &= bits - 1) {
		u32 psn = mrc_psn_add(base, (s32)mrc_ffs64(bits));

		if (mrc_psn_diff(psn, c->psn_una) < 0)
			continue;
		if (mrc_psn_diff(psn, c->psn_next) >= 0) {
			c->stats.rx_bad_ack++;
			break;
		}
		bytes += mrc_loss_deliver(c, psn, now_ns);
	}
	return bytes;
}

static void mrc_sack_ev(struct mrc_conn *c, const struct mrc_sack *s, u64 now_ns)
{
	u16 idx;

	if (s->m == MRC_M_NONE)
		return;
	idx = mrc_evset_find(c->evs, s->ev);
	if (idx != MRC_NONE16)
		mrc_evset_sign(c->evs, idx, s->m == MRC_M_SKIP_ONCE ? MRC_SIGN_ECN : MRC_SIGN_BAD,
			       now_ns);
}

/* Answer to a tail probe. */
static bool mrc_sack_probe(struct mrc_conn *c, const struct mrc_sack *s, u64 now_ns)
{
	u32 i;

	i = s->probe_id % MRC_TAIL_PROBES;
	if ((u16)(c->probe_id - s->probe_id) >= MRC_TAIL_PROBES || !(c->probe_out >> i & 1))
		return false;
	c->probe_out &= (u16)~(1u << i);
	mrc_rtt_sample(c, mrc_tick_age_ns(now_ns, c->probe_sent[i]));
	/* Sent later than what is missing, and delivered. */
	mrc_rack_advance(c, c->probe_sent[i], c->psn_una);
	return true;
}

void mrc_loss_sack(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns)
{
	const struct mrc_sack *s = &p->u.sack;
	struct mrc_cc_sample cc = { 0 };
	bool answered = false;

	c->stats.sacks_rcvd++;
	if (s->pr && s->probe_id < MRC_PROBE_ID_EV_END)	/* also for QPs that only receive */
		mrc_evset_probe_answer(c->evs, s->probe_id, s->m == MRC_M_SKIP_ONCE, now_ns);
	if (!c->psn_known && (!s->pr || !mrc_sack_probe(c, s, now_ns)))
		return;
	if (!c->psn_known)
		mrc_tx_start(c, mrc_psn_add(s->cack, 1));
	if (mrc_psn_diff(s->cack, c->psn_next) >= 0) {
		c->stats.rx_bad_ack++;
		return;
	}
	cc.now_ns = now_ns;
	cc.inflight_bytes = c->inflight_bytes;
	cc.rtt_ns = mrc_sack_rtt(c, s, now_ns);
	cc.ecn = s->m == MRC_M_SKIP_ONCE;
	cc.rcv_cwnd_pen = s->rcv_cwnd_pen;
	cc.restore_cwnd = s->restore_cwnd;
	if (cc.rtt_ns)
		mrc_rtt_sample(c, cc.rtt_ns);
	if (s->pr)
		answered = mrc_sack_probe(c, s, now_ns);
	else
		mrc_sack_ev(c, s, now_ns);
	cc.acked_bytes = mrc_loss_deliver_upto(c, s->cack, now_ns);
	cc.acked_bytes += mrc_sack_bitmap(c, s, now_ns);
	mrc_loss_advance_una(c);
	c->cc.ops->on_ack(&c->cc, &cc);
	mrc_loss_detect(c, now_ns);
	mrc_loss_rearm(c, now_ns, cc.acked_bytes || (answered && c->psn_una == c->psn_next),
		       cc.acked_bytes);
}

/* ---- NACK (DD) ---- */

u64 mrc_rnr_timer_ns(u8 code)
{
	/* IBTA table 45, in units of 10 us; code 0 is the longest. */
	static const u32 tens_of_us[32] = {
		65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
		256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192,
		12288, 16384, 24576, 32768, 49152,
	};

	return tens_of_us[code & 31] * 10000ull;
}

/* The receiver has no receive posted: pause, then try again. */
static void mrc_nack_rnr(struct mrc_conn *c, u32 psn, u8 code, u64 now_ns)
{
	mrc_loss_mark(c, psn, MRC_CAUSE_RNR, now_ns);
	if (now_ns < c->rnr_until_ns && mrc_psn_diff(psn, c->rnr_psn) > 0)
		return;		/* behind the one that is waited for */
	if (psn != c->rnr_psn)
		c->rnr_tries = 0;
	c->rnr_psn = psn;
	if (c->tx.rnr_retry != MRC_RNR_FOREVER && c->rnr_tries++ >= c->tx.rnr_retry) {
		mrc_conn_fail(c, MRC_ST_RNR_EXC, now_ns);
		return;
	}
	c->rnr_until_ns = now_ns + mrc_rnr_timer_ns(code);
	c->rto_at_ns = mrc_time_after(c->rnr_until_ns, mrc_rto_ns(c));
}

void mrc_loss_nack(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns)
{
	const struct mrc_nack_hdr *n = &p->u.nack;
	const struct mrc_rec *r = &c->rec[n->psn & c->rec_mask];
	struct mrc_cc_sample cc = { 0 };

	c->stats.nacks_rcvd++;
	if (!c->psn_known)
		return;
	if (mrc_psn_diff(n->psn, c->psn_next) >= 0) {
		c->stats.rx_bad_ack++;
		return;
	}
	if (n->reason == MRC_NACK_UNEXP_EVENT) {
		mrc_conn_fail(c, MRC_ST_REM_OP, now_ns);
		return;
	}
	/* Of an earlier copy, or of what has arrived since: nothing to do. */
	if (mrc_psn_diff(n->psn, c->psn_una) < 0 || r->state != MRC_REC_SENT ||
	    (r->ev < c->evs->n && c->evs->ev[r->ev].value != n->ev))
		return;
	cc.now_ns = now_ns;
	cc.inflight_bytes = c->inflight_bytes;
	cc.lost_bytes = mrc_tx_rec_bytes(c, n->psn);
	switch (n->reason) {
	case MRC_NACK_NO_RESOURCE:
		mrc_nack_rnr(c, n->psn, n->vendor_info, now_ns);
		break;
	case MRC_NACK_TRIMMED:
		if (r->ev < c->evs->n)
			mrc_evset_sign(c->evs, r->ev, MRC_SIGN_TRIMMED, now_ns);
		mrc_loss_mark(c, n->psn, MRC_CAUSE_TRIM, now_ns);
		break;
	case MRC_NACK_TRIMMED_LASTHOP:	/* every path shares the last hop */
		mrc_loss_mark(c, n->psn, MRC_CAUSE_TRIM, now_ns);
		break;
	default:
		mrc_loss_mark(c, n->psn, MRC_CAUSE_NACK, now_ns);
		break;
	}
	if (!c->fail && n->reason != MRC_NACK_NO_RESOURCE)
		c->cc.ops->on_nack(&c->cc, &cc);
}

/* ---- transport ACK and NAK (D1) ---- */

/* Messages whose last packet the transport ACK covers. */
static bool mrc_ack_messages(struct mrc_conn *c, u32 psn)
{
	bool any = false;

	for (; c->sq_acked != c->sq_seg; c->sq_acked++) {
		struct mrc_msg *m = &c->sq[c->sq_acked & (c->cfg.sq_max - 1u)];

		if (m->op == MRC_OP_LOCAL)
			continue;
		if (mrc_psn_diff(mrc_psn_add(m->psn, (s32)m->npkts - 1), psn) > 0)
			break;
		m->acked = true;
		if (m->op == MRC_OP_WRITE_IMM || m->op == MRC_OP_SEND ||
		    m->op == MRC_OP_SEND_IMM || m->op == MRC_OP_SEND_INV)
			c->rqm_out--;
		any = true;
	}
	return any;
}

static enum mrc_status mrc_nak_status(u8 code)
{
	switch (code) {
	case MRC_NAK_INV_REQ:
		return MRC_ST_REM_INV_REQ;
	case MRC_NAK_REM_ACCESS:
		return MRC_ST_REM_ACCESS;
	default:
		return MRC_ST_REM_OP;
	}
}

/*
 * The peer refused @psn for good and has taken all before it. The message
 * fails when its turn comes, so that what precedes it completes rightly;
 * nothing more is sent or resent.
 */
static void mrc_loss_nak(struct mrc_conn *c, u32 psn, u8 code, u64 now_ns)
{
	u32 i;

	mrc_loss_deliver_upto(c, mrc_psn_add(c->psn_next, -1), now_ns);
	mrc_loss_advance_una(c);
	c->tx_stopped = true;
	for (i = c->sq_head; i != c->sq_seg + (c->cutting && !c->cutting_rs); i++) {
		struct mrc_msg *m = &c->sq[i & (c->cfg.sq_max - 1u)];

		if (m->op == MRC_OP_LOCAL ||
		    mrc_psn_diff(mrc_psn_add(m->psn, (s32)m->npkts - 1), psn) < 0)
			continue;
		m->error = (u8)mrc_nak_status(code);
		m->acked = false;
		return;
	}
	/* It was a response of ours that the peer could not take. */
	mrc_conn_fail(c, mrc_nak_status(code), now_ns);
}

/*
 * A transport ACK may be the answer to this packet, or come long after (a hole
 * was filled, an earlier ACK was lost): believed unless it stands out.
 */
static u64 mrc_ack_rtt(struct mrc_conn *c, u64 age_ns)
{
	if (c->srtt_ns && age_ns > c->srtt_ns + 4 * c->rttvar_ns)
		return 0;
	mrc_rtt_sample(c, age_ns);
	return age_ns;
}

void mrc_loss_ack(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns)
{
	u8 syndrome = p->u.aeth.syndrome;
	bool nak = (syndrome & 0xe0) == MRC_AETH_NAK;
	u32 psn = nak ? mrc_psn_add(p->psn, -1) : p->psn;
	struct mrc_cc_sample cc = { 0 };
	bool progress;

	c->stats.acks_rcvd++;
	if (!c->psn_known)	/* the answer to the probe that asks for it brings an ACK too */
		return;
	if (mrc_psn_diff(p->psn, c->psn_next) >= 0 ||
	    (!nak && syndrome & 0xe0) || c->tx_stopped) {
		c->stats.rx_bad_ack += !c->tx_stopped;
		return;
	}
	cc.now_ns = now_ns;
	cc.inflight_bytes = c->inflight_bytes;
	if (mrc_psn_diff(psn, c->psn_una) >= 0) {
		const struct mrc_rec *r = &c->rec[psn & c->rec_mask];

		if (r->state == MRC_REC_SENT && r->tries == 1)
			cc.rtt_ns = mrc_ack_rtt(c, mrc_tick_age_ns(now_ns, r->sent));
		cc.acked_bytes = mrc_loss_deliver_upto(c, psn, now_ns);
	}
	mrc_loss_advance_una(c);
	progress = mrc_ack_messages(c, psn) || cc.acked_bytes;
	if (mrc_psn_diff(psn, c->psn_acked) > 0)
		c->psn_acked = psn;
	c->cc.ops->on_ack(&c->cc, &cc);
	if (nak) {
		mrc_loss_nak(c, p->psn, syndrome & 0x1f, now_ns);
		return;
	}
	mrc_loss_detect(c, now_ns);
	mrc_loss_rearm(c, now_ns, progress, progress);
}

/* ---- time ---- */

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
	if (c->tx.exp_cnt < MRC_EXP_FOREVER &&
	    c->retries >= (u32)c->tx.linear_cnt + c->tx.exp_cnt) {
		mrc_conn_fail(c, MRC_ST_RETRY_EXC, now_ns);
		return;
	}
	c->retries++;
	c->reo_mult = 1;
	cc.now_ns = now_ns;
	cc.inflight_bytes = c->inflight_bytes;
	if (slot != MRC_NONE16 &&
	    mrc_tick_age_ns(now_ns, c->rec[slot].sent) + (1u << MRC_TICK_SHIFT) >=
	    mrc_timeout_ns(c))
		mrc_loss_mark(c, mrc_loss_slot_psn(c, slot), MRC_CAUSE_RTO, now_ns);
	cc.lost_bytes = cc.inflight_bytes - c->inflight_bytes;
	c->cc.ops->on_timeout(&c->cc, &cc);
	c->probe_owed = true;	/* for an ACK or a response that got lost */
	c->rto_at_ns = mrc_time_after(now_ns, mrc_rto_ns(c));
}

void mrc_loss_timer(struct mrc_conn *c, u64 now_ns)
{
	if (c->rnr_until_ns && now_ns >= c->rnr_until_ns)
		c->rnr_until_ns = 0;
	if (now_ns >= c->rack_at_ns)
		mrc_loss_detect(c, now_ns);
	if (now_ns >= c->probe_at_ns) {
		c->probe_owed = true;
		if (c->probe_backoff < 255)
			c->probe_backoff++;
		c->probe_at_ns = now_ns + mrc_pto_ns(c);
	}
	if (now_ns >= c->rto_at_ns)
		mrc_loss_rto(c, now_ns);
}

u64 mrc_loss_deadline_ns(const struct mrc_conn *c)
{
	u64 at = min_t(u64, c->rack_at_ns, min_t(u64, c->probe_at_ns, c->rto_at_ns));

	return c->rnr_until_ns ? min_t(u64, at, c->rnr_until_ns) : at;
}
