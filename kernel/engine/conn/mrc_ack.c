// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_ack.c - processes SACKs, NACKs and transport ACKs from the peer.
 *
 * MRC 1.0 sections 1.7, 1.8, 1.11, 2.2, 4 (7.4, 7.5). Called by mrc_conn.c for each control packet.
 * A packet that contradicts what was sent is counted and changes nothing. mrc_snd.c records which
 * packets are delivered or lost.
 */
#include "conn/mrc_conn.h"

/* ---- SACK (DC) ---- */

/* A round-trip sample. */
struct mrc_ack_rtt {
	u64 ns;			/* 0: none */
	u8 plane;		/* MRC_PLANES_MAX: not known */
};

/* Is this SACK at least as new as all before it? Known only if the peer counts received bytes. */
static bool mrc_ack_fresh(const struct mrc_conn *c, const struct mrc_sack *s)
{
	return c->report.valid && !((s->rcvd_bytes - c->report.seen) & 1u << 23);
}

/* Does an answer reflect a timestamp? A peer without timestamps sends zero: Karn's algorithm applies. */
static bool mrc_ack_stamped(const struct mrc_conn *c, u16 stamp)
{
	return c->tx.timestamps && stamp;
}

/*
 * Round trip of the packet that triggered this SACK, unless it is ambiguous. For a retransmitted packet
 * the timestamp may identify the copy. For a packet already known as delivered, the SACK may show
 * that the peer received it twice.
 */
static struct mrc_ack_rtt mrc_ack_measure_rtt(struct mrc_conn *c, const struct mrc_sack *s, u64 now_ns)
{
	u32 psn = mrc_psn_add(s->cack, s->ack_psn_offset);
	const struct mrc_rec *r = &c->snd.rec[psn & c->snd.mask];
	struct mrc_ack_rtt rtt = { 0, r->plane };

	if (!mrc_psn_out(c, psn) || r->state != MRC_REC_SENT) {
		if (!mrc_psn_out(c, psn) || r->state == MRC_REC_FREE)
			mrc_resent_trigger(c, psn, NULL, s, mrc_ack_fresh(c, s), now_ns);
	} else if (r->tries > 1) {
		if (mrc_resent_trigger(c, psn, r, s, false, now_ns))
			rtt.ns = mrc_ack_stamped(c, s->tx_ts) ? mrc_rtt_of_stamp(r->sent, s->tx_ts, now_ns) :
						    mrc_tick_age_ns(now_ns, r->sent);
	} else if (mrc_ack_stamped(c, s->tx_ts)) {
		rtt.ns = mrc_rtt_of_stamp(r->sent, s->tx_ts, now_ns);
	} else {
		rtt.ns = mrc_tick_age_ns(now_ns, r->sent);
	}
	return rtt;
}

/*
 * The packet that triggered a SACK has arrived even if the bitmap does not show it. Not used if the peer's
 * bitmaps cover the whole window (report.far): they will show it together with its neighbours, which
 * would otherwise look overtaken.
 */
static u32 mrc_ack_trigger(struct mrc_conn *c, const struct mrc_sack *s, u64 now_ns)
{
	u32 psn = mrc_psn_add(s->cack, s->ack_psn_offset);

	if (s->pr || c->report.far || s->ack_psn_offset <= 0 || s->ack_psn_offset > (s32)c->snd.window ||
	    !mrc_psn_out(c, psn))
		return 0;
	return mrc_snd_deliver(c, psn, now_ns);
}

static u32 mrc_ack_bitmap(struct mrc_conn *c, const struct mrc_sack *s, u64 now_ns)
{
	u32 base = mrc_psn_add(s->cack, s->sack_offset), bytes = 0;
	u64 bits = s->bitmap;

	for (; bits; bits &= bits - 1) {
		u32 psn = mrc_psn_add(base, (s32)mrc_ffs64(bits));

		/* Never sent, or beyond the window that the peer accepts. */
		if (mrc_psn_diff(psn, c->snd.next) >= 0 ||
		    mrc_psn_diff(psn, s->cack) > (s32)c->snd.window) {
			c->stats.rx_bad_ack++;
			break;
		}
		if (mrc_psn_out(c, psn))
			bytes += mrc_snd_deliver(c, psn, now_ns);
	}
	return bytes;
}

/*
 * The SACK's verdict on the EV of the packet that triggered it. The record may meanwhile belong to another
 * PSN or copy. Then the entropy differs, or the EV is the same and the verdict holds.
 */
static void mrc_ack_ev(struct mrc_conn *c, const struct mrc_sack *s, u64 now_ns)
{
	u32 psn = mrc_psn_add(s->cack, s->ack_psn_offset);
	u16 idx = c->snd.rec[psn & c->snd.mask].ev;

	if (mrc_psn_lag(c, psn) > c->snd.mask || idx >= c->evs->n ||
	    c->evs->ev[idx].value != s->ev)
		return;
	if (likely(s->m == MRC_M_NONE))
		mrc_ev_delivered(c->evs, &c->evs->ev[idx], now_ns);
	else if (s->m != MRC_M_SKIP_ONCE)
		mrc_evset_sign(c->evs, idx, MRC_SIGN_BAD, now_ns);
	else
		mrc_evset_sign(c->evs, idx, mrc_spray_heeds(&c->spray) ? MRC_SIGN_ECN : MRC_SIGN_ECN_PLANE, now_ns);
}

/* Answer to a tail probe. Return: its round trip, or 0 if no such probe is outstanding. */
static u64 mrc_ack_probe(struct mrc_conn *c, const struct mrc_sack *s, u64 now_ns)
{
	u32 i = s->probe_id % MRC_TAIL_PROBES;
	const struct mrc_tail_sent *tail = &c->pto.sent[i];
	u64 age, rtt = 0;

	if (s->probe_id < MRC_PROBE_ID_TAIL || ((c->pto.id - s->probe_id) & 0xfffu) >= MRC_TAIL_PROBES ||
	    !(c->pto.out >> i & 1))
		return 0;
	c->pto.out &= (u16)~(1u << i);
	age = max_t(u64, mrc_tick_age_ns(now_ns, tail->tick), 1);
	if (mrc_ack_stamped(c, s->tx_ts))
		rtt = mrc_rtt_of_stamp(tail->tick, s->tx_ts, now_ns);
	/* The probe was sent after the missing packets, and it arrived. */
	mrc_last_delivered_learn(c, tail->tick, c->snd.una, MRC_PLANES_MAX, now_ns);
	return rtt ? rtt : age;
}

/* A tail probe was answered: the EV by which it left is alive. */
static void mrc_ack_awake(struct mrc_conn *c, const struct mrc_sack *s, u64 now_ns)
{
	u16 idx = c->pto.sent[s->probe_id % MRC_TAIL_PROBES].ev;

	if (idx < c->evs->n)
		mrc_evset_sign(c->evs, idx, MRC_SIGN_TAIL_OK, now_ns);
}

/*
 * Bytes newly received, for the controller. The peer's count is preferred if it is plausible, because it
 * includes packets that no bitmap has shown yet. Otherwise @bytes stays: newly delivered according to
 * the records. @before: bytes in flight before this SACK. Returns false if a later SACK has
 * overtaken this one.
 */
static bool mrc_ack_bytes(struct mrc_conn *c, const struct mrc_sack *s, u32 before,
			   u32 *bytes)
{
	u32 delta = (s->rcvd_bytes - c->report.seen) & 0xffffff, most = before + c->rx.mtu +
		    MRC_PKT_OVERHEAD + 256;
	bool stale = delta >> 23;

	if (!s->rcvd_bytes && !c->report.valid)
		return true;
	if (stale && c->report.valid) {
		c->report.credit -= (s32)*bytes;
		return false;
	}
	c->report.valid = true;
	c->report.seen = s->rcvd_bytes & 0xffffff;
	if (delta > most >> 8 || c->report.credit < -(s32)most || c->report.credit > (s32)most) {
		c->report.credit = 0;
		return true;
	}
	c->report.credit += (s32)(delta << 8);
	*bytes = (u32)clamp_t(s32, c->report.credit, 0, (s32)most);
	c->report.credit -= (s32)*bytes;
	return true;
}

/* Window and congestion fields, which only the newest SACK may set. */
static void mrc_ack_levers(struct mrc_conn *c, const struct mrc_sack *s,
			    struct mrc_cc_sample *cc)
{
	if (c->tx.dyn_mpr && s->mpr)
		mrc_snd_allow(c, min_t(u32, s->mpr * MRC_MPR_UNIT, c->snd.window));
	cc->rcv_cwnd_pen = s->rcv_cwnd_pen;
	cc->restore_cwnd = s->restore_cwnd;
	c->stats.pens_rcvd += s->rcv_cwnd_pen != 0;
}

/* The answer to a probe of a QP in RTR tells where its send stream begins. */
static bool mrc_ack_start(struct mrc_conn *c, const struct mrc_sack *s, u64 now_ns)
{
	u64 rtt = s->pr ? mrc_ack_probe(c, s, now_ns) : 0;

	if (!rtt)
		return false;
	mrc_rtt_sample(c, MRC_PLANES_MAX, rtt, now_ns);
	c->last_delivered.valid = false;	/* no data has been sent yet */
	mrc_tx_start(c, mrc_psn_add(s->cack, 1), now_ns);
	return true;
}

/*
 * Delay and marks for the controller. A plane with less than a full share is slower than the others. Its
 * share already accounts for that, so its delay and marks are hidden: they say nothing about the
 * capacity of all planes together.
 */
static inline void mrc_ack_delay(const struct mrc_conn *c, const struct mrc_ack_rtt *rtt,
				 u32 psn, struct mrc_cc_sample *cc)
{
	cc->rtt_ns = rtt->ns;
	if (unlikely(!(psn & 0x3c)))	/* sampled: the mean is costly to compute */
		cc->mean_base_ns = mrc_evset_mean_base_ns(c->evs);
	if (rtt->plane >= MRC_PLANES_MAX)
		return;
	cc->base_ns = mrc_evset_base_ns(c->evs, rtt->plane);
	if (unlikely(mrc_evset_share(c->evs, rtt->plane) < MRC_SHARE_FULL)) {
		cc->rtt_ns = 0;
		cc->ecn = false;
	}
}

/* After deliveries: advance the left edge, finish responses. @out: packets in flight before. */
static inline void mrc_ack_landed(struct mrc_conn *c, u32 out)
{
	mrc_snd_advance(c);
	if (unlikely(c->rnr.on))
		mrc_rnr_taken(c, out - c->snd.out);
	if (c->msgs.rs_head != c->msgs.rs_seg)
		mrc_exec_responses(c);
}

/* Spurious losses: the controller restores the window that they took. */
static mrc_noinline void mrc_ack_undo(struct mrc_conn *c, u64 now_ns)
{
	struct mrc_cc_sample cc = { 0 };

	cc.now_ns = now_ns;
	cc.lost_bytes = c->resent.undone;
	cc.inflight_bytes = c->cc->inflight_bytes;
	c->resent.undone = 0;
	c->cc->ops->on_spurious(c->cc, &cc);
}

void mrc_ack_sack(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns)
{
	const struct mrc_sack *s = &p->u.sack;
	struct mrc_cc_sample cc = { 0 };
	struct mrc_ack_rtt rtt = { 0, MRC_PLANES_MAX };
	u32 before = c->snd.inflight, out = c->snd.out, bytes;
	bool answered = false, all;

	c->stats.sacks_rcvd++;
	mrc_ctl_sack_arrived(c);
	if (s->pr && s->probe_id < MRC_PROBE_ID_EV_END)	/* also for QPs that only receive */
		mrc_evset_probe_answer(c->evs, s->probe_id, s->m == MRC_M_SKIP_ONCE, now_ns);
	if (!c->snd.known && !mrc_ack_start(c, s, now_ns))
		return;
	if (mrc_psn_diff(s->cack, c->snd.next) >= 0) {
		c->stats.rx_bad_ack++;
		return;
	}
	mrc_report_sack(c, s);
	cc.now_ns = now_ns;
	cc.inflight_bytes = c->cc->inflight_bytes;
	cc.ecn = s->m == MRC_M_SKIP_ONCE;
	if (s->pr) {
		rtt.ns = mrc_ack_probe(c, s, now_ns);
		answered = rtt.ns;
	} else {
		rtt = mrc_ack_measure_rtt(c, s, now_ns);
		mrc_ack_ev(c, s, now_ns);
	}
	if (rtt.ns)
		mrc_rtt_sample(c, rtt.plane, rtt.ns, now_ns);
	mrc_ack_delay(c, &rtt, s->cack, &cc);
	bytes = mrc_snd_deliver_upto(c, s->cack, now_ns) + mrc_ack_bitmap(c, s, now_ns);
	bytes += mrc_ack_trigger(c, s, now_ns);
	mrc_ack_landed(c, out);
	cc.acked_bytes = bytes;
	if (mrc_ack_bytes(c, s, before, &cc.acked_bytes))
		mrc_ack_levers(c, s, &cc);
	c->cc->ops->on_ack(c->cc, &cc);
	/* Without delivered bytes, do not adopt a longer pause: other QPs' data may have caused it. */
	if (cc.acked_bytes || c->cc->hold_until_ns < c->hold_until_ns)
		mrc_tx_hold(c);
	if (c->tx.sleek && answered)
		mrc_sleek_recover(c, now_ns);
	else if (c->tx.sleek)
		mrc_sleek_ooo(c, s->ooo_count, now_ns);
	if (unlikely(c->resent.undone))
		mrc_ack_undo(c, now_ns);
	mrc_rack_detect(c, now_ns);
	if (answered)	/* after loss detection, which may have blamed this EV */
		mrc_ack_awake(c, s, now_ns);
	/* An answer that reports everything as received counts as progress, although an ACK is missing. */
	all = answered && !mrc_psn_lag(c, s->cack);
	mrc_pto_rearm(c, now_ns, mrc_tx_waiting(c), bytes || all, bytes);
}

/* Is @age_ns too long for a round trip of plane @p? Then the answer may have waited for other packets. */
static bool mrc_ack_stands_out(const struct mrc_conn *c, u8 p, u64 age_ns)
{
	u64 late = mrc_evset_late_ns(c->evs, p);

	if (!late)
		late = mrc_clock_late_ns(&c->rtt);
	return late && age_ns > late;
}

/* ---- NACK (DD) ---- */

/* React to the reason of a NACK (Table 7-3). Its packet is in flight. */
static void mrc_nack_obey(struct mrc_conn *c, const struct mrc_nack_hdr *n, u64 now_ns)
{
	const struct mrc_rec *r = &c->snd.rec[n->psn & c->snd.mask];

	switch (n->reason) {
	case MRC_NACK_NO_RESOURCE:
		if (!c->rx.mrc_only) {	/* verbs QP: RNR. MRC 1.0 has no RNR */
			mrc_snd_lose(c, n->psn, MRC_CAUSE_RNR, now_ns);
			mrc_rnr_refused(c, n->psn, n->vendor_info, now_ns);
			break;
		}
		mrc_snd_lose(c, n->psn, MRC_CAUSE_NACK, now_ns);
		mrc_budget_pace(c, now_ns);
		break;
	case MRC_NACK_TRIMMED:
		if (r->ev < c->evs->n)
			mrc_evset_sign(c->evs, r->ev, MRC_SIGN_TRIMMED, now_ns);
		mrc_snd_lose(c, n->psn, MRC_CAUSE_TRIM, now_ns);
		mrc_budget_trimmed(c, now_ns);
		break;
	case MRC_NACK_TRIMMED_LASTHOP:	/* every path shares the last hop */
		mrc_snd_lose(c, n->psn, MRC_CAUSE_TRIM, now_ns);
		mrc_budget_trimmed(c, now_ns);
		break;
	default:	/* NO_BITMAP, NO_PKT_BUFFER, PSN_OOR_WINDOW, or a reason of a later version */
		mrc_snd_lose(c, n->psn, MRC_CAUSE_NACK, now_ns);
		mrc_budget_pace(c, now_ns);
		break;
	}
}

void mrc_ack_nack(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns)
{
	const struct mrc_nack_hdr *n = &p->u.nack;
	const struct mrc_rec *r = &c->snd.rec[n->psn & c->snd.mask];
	struct mrc_cc_sample cc = { 0 };
	u64 rtt = 0;

	c->stats.nacks_rcvd++;
	if (!c->snd.known)
		return;
	/* UNEXP_EVENT is only valid for a packet in flight: such a packet is never acknowledged. */
	if (mrc_psn_diff(n->psn, c->snd.next) >= 0 ||
	    (n->reason == MRC_NACK_UNEXP_EVENT && !mrc_psn_out(c, n->psn))) {
		c->stats.rx_bad_ack++;
		return;
	}
	if (n->reason == MRC_NACK_UNEXP_EVENT) {
		mrc_conn_failing(c, MRC_ST_REM_OP);
		return;
	}
	/* An earlier copy, or the packet has arrived since: nothing to do. */
	if (!mrc_psn_out(c, n->psn) || r->state != MRC_REC_SENT ||
	    (r->ev < c->evs->n && c->evs->ev[r->ev].value != n->ev))
		return;
	cc.now_ns = now_ns;
	cc.inflight_bytes = c->cc->inflight_bytes;
	cc.lost_bytes = mrc_rec_bytes(r);
	cc.trimmed = n->reason == MRC_NACK_TRIMMED || n->reason == MRC_NACK_TRIMMED_LASTHOP;
	cc.trimmed_again = cc.trimmed && r->tries > 1 && r->cause == MRC_CAUSE_TRIM;
	cc.last_hop = n->reason == MRC_NACK_TRIMMED_LASTHOP;
	if (r->tries == 1)
		rtt = mrc_ack_stamped(c, n->tx_ts) ? mrc_rtt_of_stamp(r->sent, n->tx_ts, now_ns) :
					 mrc_tick_age_ns(now_ns, r->sent);
	/* Trimmed packets bypass the queues: their round trip is for the controller, no sample of the plane. */
	if (cc.trimmed)
		cc.rtt_ns = rtt;
	else if (rtt && !mrc_ack_stands_out(c, r->plane, rtt))
		mrc_rtt_sample(c, r->plane, rtt, now_ns);
	cc.mean_base_ns = mrc_evset_mean_base_ns(c->evs);
	mrc_nack_obey(c, n, now_ns);
	if (c->failing || n->reason == MRC_NACK_NO_RESOURCE)
		return;
	c->cc->ops->on_nack(c->cc, &cc);
	mrc_tx_hold(c);
}

/* ---- transport ACK and NAK (D1) ---- */

/*
 * An ACK may lag by more than half of the PSN space: a message has up to 2^23 packets, and a READ before it
 * may take long. So PSNs are compared here by their distance behind the newest one.
 * mrc_tx_cut_next() keeps that distance within the PSN space.
 */

/* Mark messages as acknowledged whose last packet the transport ACK covers. Return: any? */
static bool mrc_ack_messages(struct mrc_conn *c, u32 psn)
{
	bool any = false;

	for (; c->msgs.sq_acked != c->msgs.sq_seg; c->msgs.sq_acked++) {
		struct mrc_msg *m = &c->msgs.sq[c->msgs.sq_acked & (c->cfg.sq_max - 1u)];

		if (m->op == MRC_OP_LOCAL)
			continue;
		if (mrc_psn_lag(c, m->psn + m->npkts - 1) < mrc_psn_lag(c, psn))
			break;
		m->acked = true;
		if (m->op == MRC_OP_WRITE_IMM || m->op == MRC_OP_SEND ||
		    m->op == MRC_OP_SEND_IMM || m->op == MRC_OP_SEND_INV)
			c->msgs.rqm_out--;
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
 * The peer refused @psn for good and has accepted all packets before it. Its message fails when it is the
 * oldest one, so that earlier messages complete first. Nothing more is sent or retransmitted.
 */
static void mrc_ack_nak(struct mrc_conn *c, u32 psn, u8 code, u64 now_ns)
{
	u32 i;

	mrc_snd_deliver_upto(c, mrc_psn_add(c->snd.next, -1), now_ns);
	mrc_ack_landed(c, c->snd.out);
	c->msgs.stopped = true;
	for (i = c->msgs.sq_head; i != c->msgs.sq_seg + mrc_sq_cutting(c); i++) {
		struct mrc_msg *m = &c->msgs.sq[i & (c->cfg.sq_max - 1u)];

		if (m->op == MRC_OP_LOCAL)
			continue;
		if (i != c->msgs.sq_seg &&
		    mrc_psn_lag(c, m->psn + m->npkts - 1) > mrc_psn_lag(c, psn))
			continue;
		m->error = (u8)mrc_nak_status(code);
		m->acked = false;
		return;
	}
	/* The peer refused a response. */
	mrc_conn_failing(c, mrc_nak_status(code));
}

/*
 * Does a NAK refuse a READ or ATOMIC that was acknowledged but not answered? Its execution may fail after
 * an ACK of later packets was sent.
 */
static bool mrc_nak_old(const struct mrc_conn *c, u32 psn)
{
	u32 i;

	for (i = c->msgs.sq_head; c->msgs.rd_out && i != c->msgs.sq_acked; i++) {
		const struct mrc_msg *m = &c->msgs.sq[i & (c->cfg.sq_max - 1u)];

		if (m->started && m->resp_pkts && m->psn == psn)
			return true;
	}
	return false;
}

/*
 * A transport ACK may answer this packet, or arrive much later (a hole was filled, an earlier ACK was lost).
 * So its age is a sample only if it is plausible, and if the ACK cannot be the answer to a tail probe.
 */
static u64 mrc_ack_rtt(struct mrc_conn *c, u32 psn, u64 now_ns)
{
	const struct mrc_rec *r = &c->snd.rec[psn & c->snd.mask];
	u64 age = mrc_tick_age_ns(now_ns, r->sent);

	if (r->state != MRC_REC_SENT || r->tries != 1 || mrc_pto_since(c, r->sent, now_ns) ||
	    mrc_ack_stands_out(c, r->plane, age))
		return 0;
	mrc_rtt_sample(c, r->plane, age, now_ns);
	return age;
}

/* AETH.msn counts completed messages. More than were started is an error, which is only counted. */
static void mrc_ack_msn(struct mrc_conn *c, u32 msn)
{
	u32 begun = c->msgs.sq_seg + c->msgs.rs_seg + (c->msgs.cut != MRC_NONE16);

	c->stats.rx_bad_ack += (begun - msn) >> 23 & 1;
}

/* All packets up to @psn are delivered, and the messages that end there are acknowledged. Return: progress? */
static bool mrc_ack_upto(struct mrc_conn *c, u32 psn, struct mrc_cc_sample *cc, u64 now_ns)
{
	u32 out = c->snd.out;
	bool done;

	cc->acked_bytes = mrc_snd_deliver_upto(c, psn, now_ns);
	c->report.credit -= c->report.valid ? (s32)cc->acked_bytes : 0;
	mrc_ack_landed(c, out);
	done = mrc_ack_messages(c, psn);
	c->snd.acked = psn;
	c->cc->ops->on_ack(c->cc, cc);
	mrc_tx_hold(c);
	return done || cc->acked_bytes;
}

/* After an acknowledgement: look for losses, and set the timers. */
static void mrc_ack_look(struct mrc_conn *c, bool progress, u64 now_ns)
{
	if (unlikely(c->resent.undone))
		mrc_ack_undo(c, now_ns);
	mrc_rack_detect(c, now_ns);
	mrc_pto_rearm(c, now_ns, mrc_tx_waiting(c), progress, progress);
}

/*
 * The first packet of the response to request @psn has arrived. The peer executed all before it
 * (mrc_exec_next()), so this acknowledges like an ACK, which may be lost or was not sent
 * (mrc_ctl_answered()). It is no round-trip sample: a response may wait for the peer's window.
 */
void mrc_ack_answered(struct mrc_conn *c, u32 psn, u64 now_ns)
{
	struct mrc_cc_sample cc = { 0 };

	if (c->msgs.stopped || mrc_psn_lag(c, psn) >= mrc_psn_lag(c, c->snd.acked))
		return;
	cc.now_ns = now_ns;
	cc.inflight_bytes = c->cc->inflight_bytes;
	mrc_ack_look(c, mrc_ack_upto(c, psn, &cc, now_ns), now_ns);
}

void mrc_ack_ack(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns)
{
	u8 syndrome = p->u.aeth.syndrome;
	bool nak = (syndrome & 0xe0) == MRC_AETH_NAK;
	u32 psn = nak ? mrc_psn_add(p->psn, -1) : p->psn;
	struct mrc_cc_sample cc = { 0 };
	struct mrc_ack_rtt rtt;
	bool progress;
	u32 known;

	c->stats.acks_rcvd++;
	if (!c->snd.known)	/* our first PSN is not known; the answer to our probe brings another ACK */
		return;
	if (c->msgs.stopped)
		return;
	known = mrc_psn_lag(c, c->snd.acked);
	if (nak && mrc_nak_old(c, p->psn)) {
		mrc_ack_nak(c, p->psn, syndrome & 0x1f, now_ns);
		return;
	}
	if (mrc_psn_lag(c, psn) > known || mrc_psn_lag(c, p->psn) > known ||
	    (!nak && syndrome & 0xe0)) {	/* old, or invalid */
		c->stats.rx_bad_ack += nak || syndrome & 0xe0 ||
				       mrc_psn_diff(p->psn, c->snd.next) >= 0;
		return;
	}
	mrc_ack_msn(c, p->u.aeth.msn);
	cc.now_ns = now_ns;
	cc.inflight_bytes = c->cc->inflight_bytes;
	if (mrc_psn_out(c, psn)) {
		rtt.plane = c->snd.rec[psn & c->snd.mask].plane;
		rtt.ns = mrc_ack_rtt(c, psn, now_ns);
		mrc_ack_delay(c, &rtt, psn, &cc);
	}
	progress = mrc_ack_upto(c, psn, &cc, now_ns);
	if (nak)
		mrc_ack_nak(c, p->psn, syndrome & 0x1f, now_ns);
	else
		mrc_ack_look(c, progress, now_ns);
}
