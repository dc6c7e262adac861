// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_ack.c - what the peer tells: SACK, NACK and transport ACK.
 *
 * MRC 1.0 sections 1.7, 1.8, 1.11, 2.2, 4 (7.4, 7.5). Nothing in such a packet
 * is believed that contradicts what was sent: it is counted and does no harm.
 * What is delivered and lost is kept in mrc_loss.c.
 */
#include "mrc_conn.h"

/* ---- SACK (DC) ---- */

#define MRC_TS_WRAP_NS	(1ull << (16 + MRC_TS_SHIFT))

/*
 * Round trip of what was sent at tick @sent, told by a reflected stamp. The responder may
 * have moved the stamp on by the time it held the packet. 0: not the stamp of this
 * send, or too old to tell from one a wrap away.
 */
static u64 mrc_stamp_rtt(u32 sent, u16 stamp, u64 now_ns)
{
	u64 age = mrc_tick_age_ns(now_ns, sent);
	u64 held = (u64)(u16)(stamp - (u16)(sent >> (MRC_TS_SHIFT - MRC_TICK_SHIFT))) <<
		   MRC_TS_SHIFT;

	if (held > age || (held && age >= MRC_TS_WRAP_NS))
		return 0;
	return max_t(u64, age - held, 1);
}

/*
 * Round trip of the packet that triggered this SACK, 0 if ambiguous. A stamp older
 * than the latest send is of an earlier copy: it was resent in vain, and from here on
 * the record tells of that copy.
 */
static u64 mrc_sack_rtt(struct mrc_conn *c, const struct mrc_sack *s, u64 now_ns)
{
	u32 psn = mrc_psn_add(s->cack, s->ack_psn_offset);
	struct mrc_rec *r = &c->rec[psn & c->rec_mask];
	u16 ago;

	if (!mrc_psn_out(c, psn) || r->state != MRC_REC_SENT)
		return 0;
	if (!c->tx.timestamps)
		return r->tries == 1 ? mrc_tick_age_ns(now_ns, r->sent) : 0;
	if (r->tries == 1)
		return mrc_stamp_rtt(r->sent, s->tx_ts, now_ns);
	if (s->tx_ts == (u16)(r->sent >> (MRC_TS_SHIFT - MRC_TICK_SHIFT)))
		return max_t(u64, mrc_tick_age_ns(now_ns, r->sent), 1);
	if (mrc_stamp_rtt(r->sent, s->tx_ts, now_ns) ||
	    mrc_tick_age_ns(now_ns, r->sent) >= MRC_TS_WRAP_NS)
		return 0;	/* the latest copy, held a while; or an earlier one */
	ago = (u16)(mrc_ts16(now_ns) - s->tx_ts);
	mrc_loss_spurious(c, psn, (u64)ago << MRC_TS_SHIFT, now_ns);
	r->sent = mrc_tick(now_ns) - ((u32)ago << (MRC_TS_SHIFT - MRC_TICK_SHIFT));
	return 0;
}

static u32 mrc_sack_bitmap(struct mrc_conn *c, const struct mrc_sack *s, u64 now_ns)
{
	u32 base = mrc_psn_add(s->cack, s->sack_offset), bytes = 0;
	u64 bits = s->bitmap;

	for (; bits; bits &= bits - 1) {
		u32 psn = mrc_psn_add(base, (s32)mrc_ffs64(bits));

		/* Never sent, or further beyond cack than the peer can have let in. */
		if (mrc_psn_diff(psn, c->psn_next) >= 0 ||
		    mrc_psn_diff(psn, s->cack) > (s32)c->tx_window) {
			c->stats.rx_bad_ack++;
			break;
		}
		if (mrc_psn_out(c, psn))
			bytes += mrc_loss_deliver(c, psn, now_ns);
	}
	return bytes;
}

/*
 * What the SACK says about the EV of the packet that triggered it. The record may be
 * another PSN's by now, or of another copy: then the entropy differs, or is as good.
 */
static void mrc_sack_ev(struct mrc_conn *c, const struct mrc_sack *s, u64 now_ns)
{
	u32 psn = mrc_psn_add(s->cack, s->ack_psn_offset);
	u16 idx = c->rec[psn & c->rec_mask].ev;

	if (mrc_psn_lag(c, psn) > c->rec_mask || idx >= c->evs->n ||
	    c->evs->ev[idx].value != s->ev)
		return;
	mrc_evset_sign(c->evs, idx, s->m == MRC_M_SKIP_ONCE ? MRC_SIGN_ECN :
		       s->m == MRC_M_NONE ? MRC_SIGN_DELIVERED : MRC_SIGN_BAD, now_ns);
}

/* Answer to a tail probe: its round trip, 0 if it is none of ours. */
static u64 mrc_sack_probe(struct mrc_conn *c, const struct mrc_sack *s, u64 now_ns)
{
	u32 i = s->probe_id % MRC_TAIL_PROBES;
	u64 age, rtt = 0;

	if ((u16)(c->probe_id - s->probe_id) >= MRC_TAIL_PROBES || !(c->probe_out >> i & 1))
		return 0;
	c->probe_out &= (u16)~(1u << i);
	age = max_t(u64, mrc_tick_age_ns(now_ns, c->probe_sent[i]), 1);
	if (c->tx.timestamps)
		rtt = mrc_stamp_rtt(c->probe_sent[i], s->tx_ts, now_ns);
	/* Sent later than what is missing, and delivered. */
	mrc_loss_rack(c, c->probe_sent[i], c->psn_una, now_ns);
	return rtt ? rtt : age;
}

/*
 * Bytes newly received, for the controller: what the peer counts (it also knows of
 * packets that no bitmap has told of), as long as that is plausible; else @bytes,
 * newly delivered by the records. @before: in flight until now. Returns false for a
 * SACK that was overtaken by a later one.
 */
static bool mrc_sack_bytes(struct mrc_conn *c, const struct mrc_sack *s, u32 before,
			   u32 *bytes)
{
	u32 delta = (s->rcvd_bytes - c->rcvd_seen) & 0xffffff, most = before + c->rx.mtu +
		    MRC_PKT_OVERHEAD + 256;
	bool stale = delta >> 23;

	if (!s->rcvd_bytes && !c->rcvd_valid)
		return true;
	if (stale && c->rcvd_valid) {
		c->rcvd_credit -= (s32)*bytes;
		return false;
	}
	c->rcvd_valid = true;
	c->rcvd_seen = s->rcvd_bytes;
	if (delta > most >> 8 || c->rcvd_credit < -(s32)most || c->rcvd_credit > (s32)most) {
		c->rcvd_credit = 0;
		return true;
	}
	c->rcvd_credit += (s32)(delta << 8);
	*bytes = (u32)clamp_t(s32, c->rcvd_credit, 0, (s32)most);
	c->rcvd_credit -= (s32)*bytes;
	return true;
}

/* What only the latest word of the peer may say. */
static void mrc_sack_levers(struct mrc_conn *c, const struct mrc_sack *s,
			    struct mrc_cc_sample *cc)
{
	if (c->tx.dyn_mpr && s->mpr)
		c->tx_range = (u16)min_t(u32, s->mpr * MRC_MPR_UNIT, c->tx_window);
	cc->rcv_cwnd_pen = s->rcv_cwnd_pen;
	cc->restore_cwnd = s->restore_cwnd;
	c->stats.pens_rcvd += s->rcv_cwnd_pen != 0;
}

static bool mrc_sack_start(struct mrc_conn *c, const struct mrc_sack *s, u64 now_ns)
{
	u64 rtt = s->pr ? mrc_sack_probe(c, s, now_ns) : 0;

	if (!rtt)
		return false;
	mrc_loss_rtt(c, rtt);
	c->rack_valid = false;	/* nothing has been sent that this could be before */
	mrc_tx_start(c, mrc_psn_add(s->cack, 1), now_ns);
	return true;
}

void mrc_ack_sack(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns)
{
	const struct mrc_sack *s = &p->u.sack;
	struct mrc_cc_sample cc = { 0 };
	u32 before = c->inflight_bytes, bytes;
	bool answered = false, all;

	c->stats.sacks_rcvd++;
	if (s->pr && s->probe_id < MRC_PROBE_ID_EV_END)	/* also for QPs that only receive */
		mrc_evset_probe_answer(c->evs, s->probe_id, s->m == MRC_M_SKIP_ONCE, now_ns);
	if (!c->psn_known && !mrc_sack_start(c, s, now_ns))
		return;
	if (mrc_psn_diff(s->cack, c->psn_next) >= 0) {
		c->stats.rx_bad_ack++;
		return;
	}
	cc.now_ns = now_ns;
	cc.inflight_bytes = c->cc->inflight_bytes;
	cc.ecn = s->m == MRC_M_SKIP_ONCE;
	if (s->pr) {
		cc.rtt_ns = mrc_sack_probe(c, s, now_ns);
		answered = cc.rtt_ns;
	} else {
		cc.rtt_ns = mrc_sack_rtt(c, s, now_ns);
		mrc_sack_ev(c, s, now_ns);
	}
	if (cc.rtt_ns)
		mrc_loss_rtt(c, cc.rtt_ns);
	bytes = mrc_loss_deliver_upto(c, s->cack, now_ns) + mrc_sack_bitmap(c, s, now_ns);
	mrc_loss_advance_una(c);
	cc.acked_bytes = bytes;
	if (mrc_sack_bytes(c, s, before, &cc.acked_bytes))
		mrc_sack_levers(c, s, &cc);
	c->cc->ops->on_ack(c->cc, &cc);
	/* A hold that others' data renewed is not ours, as long as ours are probes only. */
	if (cc.acked_bytes || c->cc->hold_until_ns < c->hold_until_ns)
		mrc_tx_hold(c);
	if (c->tx.sleek && answered)
		mrc_sleek_recover(c, now_ns);
	else if (c->tx.sleek)
		mrc_sleek_ooo(c, s->ooo_count, now_ns);
	mrc_loss_detect(c, now_ns);
	/* An answer that says that all has arrived is a word of life: an ACK is still due. */
	all = answered && !mrc_psn_lag(c, s->cack);
	mrc_loss_rearm(c, now_ns, bytes || all, bytes);
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
	if (now_ns < c->rnr_until_ns)
		return;		/* one pause, one try */
	if (c->psn_una != c->rnr_psn)	/* got on since the last try */
		c->rnr_tries = 0;
	c->rnr_psn = c->psn_una;
	if (c->tx.rnr_retry != MRC_RNR_FOREVER && c->rnr_tries++ >= c->tx.rnr_retry) {
		mrc_conn_fail(c, MRC_ST_RNR_EXC, now_ns);
		return;
	}
	c->rnr_until_ns = now_ns + mrc_rnr_timer_ns(code);
	c->rto_at_ns = mrc_time_after(c->rnr_until_ns, mrc_loss_rto_ns(c));
}

/* What each reason of Table 7-3 asks for; @psn is in flight. */
static void mrc_nack_obey(struct mrc_conn *c, const struct mrc_nack_hdr *n, u64 now_ns)
{
	const struct mrc_rec *r = &c->rec[n->psn & c->rec_mask];

	switch (n->reason) {
	case MRC_NACK_NO_RESOURCE:
		if (!c->rx.mrc_only) {	/* ours: a receive is missing; MRC 1.0 has no RNR */
			mrc_nack_rnr(c, n->psn, n->vendor_info, now_ns);
			break;
		}
		mrc_loss_mark(c, n->psn, MRC_CAUSE_NACK, now_ns);
		mrc_loss_pace(c, now_ns);
		break;
	case MRC_NACK_TRIMMED:
		if (r->ev < c->evs->n)
			mrc_evset_sign(c->evs, r->ev, MRC_SIGN_TRIMMED, now_ns);
		mrc_loss_mark(c, n->psn, MRC_CAUSE_TRIM, now_ns);
		break;
	case MRC_NACK_TRIMMED_LASTHOP:	/* every path shares the last hop */
		mrc_loss_mark(c, n->psn, MRC_CAUSE_TRIM, now_ns);
		break;
	default:	/* NO_BITMAP, NO_PKT_BUFFER, PSN_OOR_WINDOW, or newer than we are */
		mrc_loss_mark(c, n->psn, MRC_CAUSE_NACK, now_ns);
		mrc_loss_pace(c, now_ns);
		break;
	}
}

void mrc_ack_nack(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns)
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
	if (!mrc_psn_out(c, n->psn) || r->state != MRC_REC_SENT ||
	    (r->ev < c->evs->n && c->evs->ev[r->ev].value != n->ev))
		return;
	cc.now_ns = now_ns;
	cc.inflight_bytes = c->cc->inflight_bytes;
	cc.lost_bytes = mrc_rec_bytes(r);
	cc.trimmed = n->reason == MRC_NACK_TRIMMED || n->reason == MRC_NACK_TRIMMED_LASTHOP;
	cc.last_hop = n->reason == MRC_NACK_TRIMMED_LASTHOP;
	/* Trimmed packets pass the queues by: the shortest round trip there is. */
	if (cc.trimmed && r->tries == 1)
		cc.rtt_ns = c->tx.timestamps ? mrc_stamp_rtt(r->sent, n->tx_ts, now_ns) :
					       mrc_tick_age_ns(now_ns, r->sent);
	mrc_nack_obey(c, n, now_ns);
	if (c->fail || n->reason == MRC_NACK_NO_RESOURCE)
		return;
	c->cc->ops->on_nack(c->cc, &cc);
	mrc_tx_hold(c);
}

/* ---- transport ACK and NAK (D1) ---- */

/*
 * An ACK may lag behind by more than half of the PSN space: a message has up to 2^23
 * packets, and a READ before it may take its time. So PSNs are compared here by how far
 * they lie behind the newest one; mrc_tx_choose_new() keeps that within the PSN space.
 */

/* Messages whose last packet the transport ACK covers. */
static bool mrc_ack_messages(struct mrc_conn *c, u32 psn)
{
	bool any = false;

	for (; c->sq_acked != c->sq_seg; c->sq_acked++) {
		struct mrc_msg *m = &c->sq[c->sq_acked & (c->cfg.sq_max - 1u)];

		if (m->op == MRC_OP_LOCAL)
			continue;
		if (mrc_psn_lag(c, m->psn + m->npkts - 1) < mrc_psn_lag(c, psn))
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
static void mrc_ack_nak(struct mrc_conn *c, u32 psn, u8 code, u64 now_ns)
{
	u32 i;

	mrc_loss_deliver_upto(c, mrc_psn_add(c->psn_next, -1), now_ns);
	mrc_loss_advance_una(c);
	c->tx_stopped = true;
	for (i = c->sq_head; i != c->sq_seg + mrc_sq_cutting(c); i++) {
		struct mrc_msg *m = &c->sq[i & (c->cfg.sq_max - 1u)];

		if (m->op == MRC_OP_LOCAL)
			continue;
		if (i != c->sq_seg &&
		    mrc_psn_lag(c, m->psn + m->npkts - 1) > mrc_psn_lag(c, psn))
			continue;
		m->error = (u8)mrc_nak_status(code);
		m->acked = false;
		return;
	}
	/* It was a response of ours that the peer could not take. */
	mrc_conn_fail(c, mrc_nak_status(code), now_ns);
}

/*
 * Does a NAK speak of a READ or ATOMIC that has been acknowledged and not answered? Its
 * execution may fail later than the ACK of what follows it was sent.
 */
static bool mrc_nak_old(const struct mrc_conn *c, u32 psn)
{
	u32 i;

	for (i = c->sq_head; c->rd_out && i != c->sq_acked; i++) {
		const struct mrc_msg *m = &c->sq[i & (c->cfg.sq_max - 1u)];

		if (m->started && m->resp_pkts && m->psn == psn)
			return true;
	}
	return false;
}

/*
 * A transport ACK may be the answer to this packet, or come long after (a hole
 * was filled, an earlier ACK was lost): believed unless it stands out.
 */
static u64 mrc_ack_rtt(struct mrc_conn *c, u32 psn, u64 now_ns)
{
	const struct mrc_rec *r = &c->rec[psn & c->rec_mask];
	u64 age = mrc_tick_age_ns(now_ns, r->sent);

	if (r->state != MRC_REC_SENT || r->tries != 1 ||
	    (c->srtt_ns && age > c->srtt_ns + 4ull * c->rttvar_ns))
		return 0;
	mrc_loss_rtt(c, age);
	return age;
}

/* AETH.msn counts messages of ours that are done: not more than were begun. Only told. */
static void mrc_ack_msn(struct mrc_conn *c, u32 msn)
{
	u32 begun = c->sq_seg + c->rs_seg + (c->cut != MRC_NONE16);

	c->stats.rx_bad_ack += (begun - msn) >> 23 & 1;
}

void mrc_ack_ack(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns)
{
	u8 syndrome = p->u.aeth.syndrome;
	bool nak = (syndrome & 0xe0) == MRC_AETH_NAK;
	u32 psn = nak ? mrc_psn_add(p->psn, -1) : p->psn;
	struct mrc_cc_sample cc = { 0 };
	bool progress;
	u32 known;

	c->stats.acks_rcvd++;
	if (!c->psn_known)	/* the answer to the probe that asks for it brings an ACK too */
		return;
	if (c->tx_stopped)
		return;
	known = mrc_psn_lag(c, c->psn_acked);
	if (nak && mrc_nak_old(c, p->psn)) {
		mrc_ack_nak(c, p->psn, syndrome & 0x1f, now_ns);
		return;
	}
	if (mrc_psn_lag(c, psn) > known || mrc_psn_lag(c, p->psn) > known ||
	    (!nak && syndrome & 0xe0)) {	/* long known, or nonsense */
		c->stats.rx_bad_ack += nak || syndrome & 0xe0 ||
				       mrc_psn_diff(p->psn, c->psn_next) >= 0;
		return;
	}
	mrc_ack_msn(c, p->u.aeth.msn);
	cc.now_ns = now_ns;
	cc.inflight_bytes = c->cc->inflight_bytes;
	if (mrc_psn_out(c, psn)) {
		cc.rtt_ns = mrc_ack_rtt(c, psn, now_ns);
		cc.acked_bytes = mrc_loss_deliver_upto(c, psn, now_ns);
		c->rcvd_credit -= c->rcvd_valid ? (s32)cc.acked_bytes : 0;
	}
	mrc_loss_advance_una(c);
	progress = mrc_ack_messages(c, psn) || cc.acked_bytes;
	c->psn_acked = psn;
	c->cc->ops->on_ack(c->cc, &cc);
	mrc_tx_hold(c);
	if (nak) {
		mrc_ack_nak(c, p->psn, syndrome & 0x1f, now_ns);
		return;
	}
	mrc_loss_detect(c, now_ns);
	mrc_loss_rearm(c, now_ns, progress, progress);
}
