// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_tx.c - the send stream: chooses the next data packet.
 *
 * MRC 1.0 sections 2.1, 2.4, 4 (6.3, 7.4). Called by mrc_conn.c when the caller may send. The
 * packets of all messages (mrc_msg.c) share one PSN space. Each PSN in the window has a record: in
 * flight (sent list, oldest first), waiting for retransmission (lost list), or delivered (free);
 * see mrc_snd.c. mrc_rack.c decides what is lost.
 */
#include "conn/mrc_conn.h"

#define MRC_CWND_DEFAULT	(512u << 10)
#define MRC_LOST_LOOK		16
#define MRC_LAG_PART		4	/* an EV lags if a packet is late by RTT / 4 */

enum mrc_undo_kind { MRC_UNDO_NEW = 1, MRC_UNDO_RTX, MRC_UNDO_AGAIN };

void mrc_tx_reset(struct mrc_conn *c)
{
	c->tx_ready = false;
	mrc_snd_reset(c);
	c->msgs.stopped = false;
	c->msgs.cut = MRC_NONE16;
	c->cc = NULL;
	memset(&c->tx, 0, sizeof(c->tx));
	c->report.valid = false;
	c->report.seen = 0;
	c->report.credit = 0;
	c->sleek.on = false;
	c->msgs.sq_head = c->msgs.sq_acked = c->msgs.sq_seg = c->msgs.sq_tail = 0;
	c->msgs.sq_rd = 0;
	c->msgs.rs_head = c->msgs.rs_seg = c->msgs.rs_tail = 0;
	c->msgs.next_rqmsn = 0;
	c->msgs.rd_out = 0;
	c->msgs.rqm_out = 0;
}

/* Forget all state of loss and delay, and its timers. */
void mrc_tx_reset_loss(struct mrc_conn *c)
{
	mrc_rtt_reset(c);
	mrc_last_delivered_reset(c);
	mrc_rack_reset(c);
	mrc_pto_reset(c);
	mrc_budget_reset(c);
	mrc_rnr_reset(c);
	mrc_resent_reset(c);
}

/* Switch to the controller of c->tx. Bytes in flight are moved to it. */
static void mrc_tx_set_cc(struct mrc_conn *c, u64 now_ns)
{
	struct mrc_cc_cfg cc = { 0 };
	u32 inflight = c->snd.inflight;

	if (inflight)
		mrc_tx_inflight(c, -(s32)inflight);
	c->cc = c->tx.cc;
	if (!c->cc) {
		cc.window_bytes = c->tx.cwnd_bytes ? c->tx.cwnd_bytes : MRC_CWND_DEFAULT;
		cc.mtu = c->rx.mtu + MRC_PKT_OVERHEAD;
		mrc_cc_init(&c->own_cc->cc, &mrc_cc_fixed, &cc, now_ns);
		c->cc = &c->own_cc->cc;
	}
	if (inflight)
		mrc_tx_inflight(c, (s32)inflight);
}

/*
 * Stop using the shared controller, which may end before us. Packets in flight count as lost.
 */
void mrc_tx_withdraw(struct mrc_conn *c)
{
	struct mrc_cc_cfg cc = { 0 };

	mrc_snd_withdraw(c);
	if (!c->cc || c->cc == &c->own_cc->cc)
		return;
	cc.window_bytes = MRC_CWND_DEFAULT;
	mrc_cc_init(&c->own_cc->cc, &mrc_cc_fixed, &cc, 0);
	c->cc = &c->own_cc->cc;
}

/* The stream begins at @psn. */
void mrc_tx_start(struct mrc_conn *c, u32 psn, u64 now_ns)
{
	c->snd.known = true;
	c->snd.first = psn;
	c->snd.next = psn;
	c->snd.una = psn;
	c->snd.acked = mrc_psn_add(psn, -1);
	c->snd.ar_psn = c->snd.acked;
	mrc_report_start(c);
	if (!c->tx_ready) {	/* RTR: responses only, with safe defaults */
		memset(&c->tx, 0, sizeof(c->tx));
		c->snd.window = MRC_MPR_UNIT;
		mrc_snd_allow(c, MRC_MPR_UNIT);
		mrc_tx_set_cc(c, now_ns);
	}
}

/*
 * The first PSN that was learnt from the peer differs from the one that the program now sets. The
 * program is right: a peer QP of an earlier connection had answered. Packets sent so far are
 * forgotten, and responses are cut into packets again from their start.
 */
static mrc_noinline void mrc_tx_forget_start(struct mrc_conn *c)
{
	struct mrc_msg *m;
	u32 i;

	mrc_snd_reset(c);
	mrc_tx_reset_loss(c);
	c->report.valid = false;
	c->report.seen = 0;
	c->report.credit = 0;
	c->msgs.cut = MRC_NONE16;
	c->msgs.rs_seg = c->msgs.rs_head;
	for (i = c->msgs.rs_head; i != c->msgs.rs_tail; i++) {
		m = mrc_rs_at(c, i);
		m->started = false;
		m->resp_pkts = mrc_msg_pkts_of(c, m->len);
	}
}

int mrc_conn_set_tx(struct mrc_conn *c, const struct mrc_tx_cfg *cfg, u64 now_ns)
{
	u8 mpr = cfg->mpr ? cfg->mpr : c->cfg.mpr_max;

	if (!c->rx_ready || mpr > c->cfg.mpr_max || cfg->psn & ~MRC_PSN_MASK ||
	    cfg->rd_atomic > c->cfg.rd_max || cfg->wimm > MRC_WIMM_MAX ||
	    cfg->burst > MRC_BURST_MAX ||
	    (c->tx_ready && cfg->psn != c->snd.first))
		return -EINVAL;
	if (c->snd.known && cfg->psn != c->snd.first)
		mrc_tx_forget_start(c);
	c->tx = *cfg;
	mrc_spray_set_burst(&c->spray, cfg->burst);
	c->snd.window = mpr * MRC_MPR_UNIT;
	mrc_snd_allow(c, c->snd.window);
	if (!c->tx.wimm)
		c->tx.wimm = c->cfg.rq_max;
	mrc_tx_set_cc(c, now_ns);
	c->tx_ready = true;
	if (!c->snd.known)
		mrc_tx_start(c, cfg->psn, now_ns);
	return 0;
}

/* ---- packets ---- */

static const u8 mrc_opc_of[][4] = {	/* MIDDLE, FIRST, LAST, ONLY */
	[MRC_OP_WRITE] = { MRC_OPC_WRITE_MIDDLE, MRC_OPC_WRITE_FIRST,
			   MRC_OPC_WRITE_LAST, MRC_OPC_WRITE_ONLY },
	[MRC_OP_WRITE_IMM] = { MRC_OPC_WRITE_MIDDLE, MRC_OPC_WRITE_FIRST,
			       MRC_OPC_WRITE_LAST_IMM, MRC_OPC_WRITE_ONLY_IMM },
	[MRC_OP_SEND] = { MRC_OPC_SEND_MIDDLE, MRC_OPC_SEND_FIRST,
			  MRC_OPC_SEND_LAST, MRC_OPC_SEND_ONLY },
	[MRC_OP_SEND_IMM] = { MRC_OPC_SEND_MIDDLE, MRC_OPC_SEND_FIRST,
			      MRC_OPC_SEND_LAST_IMM, MRC_OPC_SEND_ONLY_IMM },
	[MRC_OP_SEND_INV] = { MRC_OPC_SEND_MIDDLE, MRC_OPC_SEND_FIRST,
			      MRC_OPC_SEND_LAST_INV, MRC_OPC_SEND_ONLY_INV },
	[MRC_OP_READ] = { 0, 0, 0, MRC_OPC_READ_REQ },
	[MRC_OP_CMP_SWAP] = { 0, 0, 0, MRC_OPC_CMP_SWAP },
	[MRC_OP_FETCH_ADD] = { 0, 0, 0, MRC_OPC_FETCH_ADD },
	[MRC_OP_READ_RESP] = { MRC_OPC_READ_RESP_MIDDLE, MRC_OPC_READ_RESP_FIRST,
			       MRC_OPC_READ_RESP_LAST, MRC_OPC_READ_RESP_ONLY },
	[MRC_OP_ATOMIC_RESP] = { 0, 0, 0, MRC_OPC_ATOMIC_ACK },
};

/* A packet that may leave now: number @i of message @m. */
struct mrc_tx_cut {
	const struct mrc_msg *m;
	u32 psn, i;
	u32 off;		/* of its payload in the message */
	u32 len;
	bool last;
};

static mrc_inline void mrc_tx_measure(const struct mrc_conn *c, struct mrc_tx_cut *cut)
{
	cut->off = cut->i * c->rx.mtu;
	cut->last = cut->i + 1 == cut->m->npkts;
	if (cut->m->src == MRC_SRC_NONE)
		cut->len = 0;
	else
		cut->len = cut->last ? cut->m->len - cut->off : c->rx.mtu;
}

/*
 * MRC 1.0 data packets: byte 1 of BTH is zero except PadCnt. Implementations disagree on the bit of
 * SE, and one ignores PadCnt.
 */
static void mrc_tx_plain_bth(const struct mrc_conn *c, struct mrc_pkt *h)
{
	h->se = false;
	if (c->tx.unpadded)
		h->pad = 0;
}

/* Most packets are neither the first nor the last of their message. */
static mrc_inline void mrc_tx_opcode(const struct mrc_tx_cut *cut, struct mrc_pkt *h)
{
	const u8 *opc = mrc_opc_of[cut->m->op];

	h->opcode = opc[0];
	h->se = false;
	if (unlikely(cut->last)) {
		h->opcode = opc[cut->i ? 2 : 3];
		h->se = cut->m->flags & MRC_WR_SOLICITED;
	} else if (unlikely(!cut->i)) {
		h->opcode = opc[1];
	}
}

/*
 * Describe packet @cut, to leave by EV @idx. Sets every field that mrc_wire_build() reads; clearing the
 * whole op first would cost more. Adjacent constants are set together so that the compiler merges
 * the stores.
 */
static mrc_inline void mrc_tx_describe(const struct mrc_conn *c, const struct mrc_tx_cut *cut,
				       u16 idx, u64 now_ns, struct mrc_txop *op)
{
	const struct mrc_ev *ev = &c->evs->ev[idx];
	const struct mrc_msg *m = cut->m;
	struct mrc_pkt *h = &op->hdr;

	h->hdr_len = 0;
	h->udp_len = 0;
	h->notable = 0;
	h->tsr = 0;
	h->ev = ev->value;
	h->plane = ev->plane;
	mrc_tx_opcode(cut, h);
	h->pad = -cut->len & 3u;
	if (unlikely(c->rx.mrc_only))
		mrc_tx_plain_bth(c, h);
	h->has_ts = c->tx.timestamps;
	h->pkey = 0xffff;
	h->dqpn = c->rx.dqpn;
	h->psn = cut->psn;
	h->meth = m->meth;
	h->tx_ts = mrc_ts16(now_ns);
	h->payload_len = (u16)cut->len;
	h->va = m->va + cut->off;
	h->rkey = m->rkey;
	h->dmalen = m->len;
	h->imm = m->imm;
	if (unlikely(m->op >= MRC_OP_READ)) {	/* ATOMICs and their responses */
		h->swap_add = m->swap_add;
		h->compare = m->compare;
	}
	op->off = cut->off;
	op->len = cut->len;
	op->src = (enum mrc_tx_src)m->src;
	op->cookie = m->cookie;
	op->ev_idx = idx;
}

/* The packet of record @r, in @slot, leaves now by EV @idx. */
static mrc_inline void mrc_tx_record(struct mrc_conn *c, struct mrc_rec *r, u16 slot, u32 len,
				     u16 idx, u8 plane, u64 now_ns)
{
	mrc_snd_sent(c, r, slot, len, idx, plane, now_ns);
	mrc_evset_count_tx(c->evs, idx, 1);
	mrc_evset_earn(c->evs, 1);
	c->stats.tx_pkts++;
	c->stats.tx_bytes += len;
	if (unlikely(c->rnr.on))
		mrc_rnr_sent(c);
	mrc_pto_sent(c, now_ns);
}

static void mrc_tx_count_rtx(struct mrc_conn *c, u8 cause, s32 by)
{
	u64 *n;

	switch ((enum mrc_cause)cause) {
	case MRC_CAUSE_RACK:
		n = &c->stats.rtx_rack;
		break;
	case MRC_CAUSE_NACK:
		n = &c->stats.rtx_nack;
		break;
	case MRC_CAUSE_TRIM:
		n = &c->stats.rtx_trim;
		break;
	case MRC_CAUSE_PLANE:
		n = &c->stats.rtx_plane;
		break;
	case MRC_CAUSE_RNR:
		n = &c->stats.rtx_rnr;
		break;
	case MRC_CAUSE_SLEEK:
		n = &c->stats.rtx_sleek;
		break;
	case MRC_CAUSE_RTO:
	default:
		n = &c->stats.rtx_rto;
		break;
	}
	*n += (u64)(s64)by;
}

static mrc_inline bool mrc_tx_room(const struct mrc_conn *c, u32 bytes)
{
	return mrc_cc_room(c->cc, c->snd.inflight, bytes);
}

/*
 * The lost packet to retransmit now, within the peer's live window, or MRC_NONE16. The oldest PSN, for
 * which the window and the peer's next receive wait, goes first. Others follow in the order of loss,
 * or in PSN order while the peer lacks receives.
 */
static u16 mrc_tx_first_lost(struct mrc_conn *c)
{
	u16 slot = c->snd.lost.head, una = (u16)(c->snd.una & c->snd.mask);
	u32 n;

	if (slot != MRC_NONE16 && c->snd.rec[una].state == MRC_REC_LOST)
		return una;
	if (unlikely(c->rnr.on))
		return mrc_rnr_next(c, false);
	/*
	 * Packets beyond the live window move to the end of the list. Bounded work: the oldest PSN
	 * is in flight, so a later event continues.
	 */
	for (n = 0; n < MRC_LOST_LOOK && slot != MRC_NONE16; n++, slot = c->snd.lost.head) {
		if (((slot - c->snd.una) & c->snd.mask) < c->snd.range)
			return slot;
		mrc_list_del(c->snd.rec, &c->snd.lost, slot);
		mrc_list_add_tail(c->snd.rec, &c->snd.lost, slot);
	}
	return MRC_NONE16;
}

/*
 * Bytes that the shorter planes hold at a time. After two windows of a message (@done packets), the
 * packets in flight on them are the measure. Before that it is this QP's part of the shared window.
 */
static u32 mrc_tx_short_bytes(const struct mrc_conn *c, u32 done)
{
	u32 out = c->snd.out, left;

	if (done <= 2 * out)
		return c->cc->cwnd_bytes / max_t(u32, c->cc->n_active, 1);
	for (left = c->evs->longer; left; left &= left - 1)
		out -= c->snd.sent[mrc_ffs64(left)].count;
	return out * (c->rx.mtu + MRC_PKT_OVERHEAD);
}

/* Planes that are too long for packet @cut: shorter ones would deliver it earlier (mrc_ecf.c). */
static mrc_noinline u32 mrc_tx_too_long(struct mrc_conn *c, const struct mrc_tx_cut *cut, u64 now_ns)
{
	u32 room = c->snd.range - ((c->snd.next - c->snd.una) & MRC_PSN_MASK), off;

	off = mrc_ecf_off(c->evs, min_t(u32, cut->m->npkts - cut->i - 1, room) * (c->rx.mtu + MRC_PKT_OVERHEAD),
			  mrc_tx_short_bytes(c, cut->i), !mrc_snd_tight(c));
	if (mrc_ecf_left_out(c->evs, off, now_ns))
		c->ctl.verify_owed |= MRC_VERIFY_LONG;
	return off;
}

/*
 * Does EV @idx lag? It carries the plane's oldest packet in flight, sent more than a round trip ago, and
 * later packets of the plane have arrived. So the EV has a queue, which an ECN mark reports only after
 * it is passed. REPS has the same idea: reuse entropies that were acknowledged.
 */
static bool mrc_tx_lags(const struct mrc_conn *c, u16 idx, u64 now_ns)
{
	const struct mrc_evplane *pl = &c->evs->plane[c->evs->ev[idx].plane];
	u16 head = c->snd.sent[c->evs->ev[idx].plane].head;
	const struct mrc_rec *r = &c->snd.rec[head & c->snd.mask];

	return head != MRC_NONE16 && r->ev == idx && pl->ok && (s32)(pl->ok_tick - r->sent) > 0 &&
	       mrc_tick_age_ns(now_ns, r->sent) > (u64)pl->srtt_ns + pl->srtt_ns / MRC_LAG_PART;
}

/* A path for a new packet, except on planes that hold too many packets or are too long for it. */
static mrc_inline u16 mrc_tx_path(struct mrc_conn *c, const struct mrc_tx_cut *cut, u64 now_ns)
{
	u32 off = unlikely(c->snd.full) ? mrc_snd_full(c) : 0;
	u16 idx;

	if (unlikely(c->evs->longer))
		off |= mrc_tx_too_long(c, cut, now_ns);
	idx = likely(!off) ? mrc_spray_next(&c->spray, c->evs) :
			     mrc_spray_pick_off(&c->spray, c->evs, MRC_NONE16, off);
	if (likely(idx == MRC_NONE16 || !mrc_tx_lags(c, idx, now_ns)))
		return idx;
	return mrc_spray_pick_off(&c->spray, c->evs, idx, off);
}

/*
 * The path of a retransmission: not the plane that lost the packet. After repeated losses without a NACK
 * it is the plane of the latest acknowledgement: a random choice may hit the next dead plane.
 */
static u16 mrc_tx_path_lost(struct mrc_conn *c, const struct mrc_rec *r, u64 now_ns)
{
	u32 off = (c->snd.full ? mrc_snd_full(c) : 0) | c->evs->longer;
	u16 idx = MRC_NONE16;

	if (r->ev >= c->evs->n)
		return mrc_spray_pick_off(&c->spray, c->evs, MRC_NONE16, off);
	off |= 1u << r->plane;
	if (r->tries > 1 && mrc_cause_silent(r->cause) &&
	    (!(off >> c->evs->ack_by & 1) || !(c->evs->in_use & ~off)))
		idx = mrc_spray_pick_by(&c->spray, c->evs, c->evs->ack_by, now_ns);
	return idx != MRC_NONE16 && idx != r->ev ? idx : mrc_spray_pick_off(&c->spray, c->evs, r->ev, off);
}

/* No usable EV: wait for one until the retry budget runs out. */
static mrc_noinline bool mrc_tx_no_path(struct mrc_conn *c, u64 now_ns)
{
	c->stats.no_path++;
	if (c->budget.rto_at_ns == MRC_TIME_NEVER)
		c->budget.rto_at_ns = mrc_time_after(now_ns, mrc_budget_rto_ns(c));
	return false;
}

/* ---- retransmission ---- */

static void mrc_tx_take_lost(struct mrc_conn *c, struct mrc_rec *r, u16 slot, u16 ev, u64 now_ns,
			     struct mrc_txop *op)
{
	op->tclass = c->tx.trim_nack ? MRC_TC_RTX : MRC_TC_NO_TRIM;
	op->undo.kind = MRC_UNDO_RTX;
	op->undo.sent = r->sent;
	op->undo.ev = r->ev;
	op->undo.plane = r->plane;
	op->undo.tries = r->tries;
	mrc_resent_note(c, r, mrc_rec_psn(c, slot), ev, now_ns);
	mrc_list_del(c->snd.rec, &c->snd.lost, slot);
	mrc_tx_count_rtx(c, r->cause, 1);
	if (r->tries < MRC_TRIES_MAX)
		r->tries = (r->tries + 1u) & MRC_TRIES_MAX;
}

/*
 * Is @slot the hole at the left edge, of a peer whose bitmaps show only PSNs right after the hole? It must
 * not wait for room: the packets that fill the window may have arrived without being reported.
 */
static bool mrc_tx_edge(const struct mrc_conn *c, u16 slot)
{
	return slot == (c->snd.una & c->snd.mask) && !mrc_report_shows(c, mrc_psn_add(c->snd.next, -1));
}

/* May the lost packet in @slot leave now? Either there is room, or it needs none. */
static bool mrc_tx_may_resend(const struct mrc_conn *c, u16 slot, const struct mrc_rec *r)
{
	return c->sleek.on || c->budget.beyond || mrc_tx_edge(c, slot) || mrc_tx_room(c, mrc_rec_bytes(r));
}

static mrc_noinline bool mrc_tx_lost_next(struct mrc_conn *c, u16 slot, u64 now_ns,
					  struct mrc_txop *op)
{
	struct mrc_rec *r = &c->snd.rec[slot & c->snd.mask];
	struct mrc_tx_cut cut;
	u16 idx;

	if (slot == MRC_NONE16 || !mrc_tx_may_resend(c, slot, r))
		return false;
	idx = mrc_tx_path_lost(c, r, now_ns);
	if (idx == MRC_NONE16)
		return mrc_tx_no_path(c, now_ns);
	cut.m = mrc_msg_at(c, r->msg);
	cut.psn = mrc_rec_psn(c, slot);
	cut.i = (cut.psn - cut.m->psn) & MRC_PSN_MASK;
	mrc_tx_measure(c, &cut);
	op->undo.beyond = c->budget.beyond;
	c->budget.beyond = false;
	mrc_tx_take_lost(c, r, slot, idx, now_ns, op);
	mrc_tx_describe(c, &cut, idx, now_ns, op);
	op->hdr.rtx = true;
	r->state = MRC_REC_SENT;
	mrc_tx_record(c, r, slot, r->len, idx, op->hdr.plane, now_ns);
	return true;
}

/* ---- the next new packet: described first, and committed once there is a path for it ---- */

/* The next packet of the current message, or of a message that may start now. */
static mrc_inline bool mrc_tx_cut_next(struct mrc_conn *c, struct mrc_tx_cut *cut)
{
	if (c->msgs.stopped || ((c->snd.next - c->snd.una) & MRC_PSN_MASK) >= c->snd.range)
		return false;
	/* All PSNs that a transport ACK may name must stay unambiguous in the PSN space. */
	if (mrc_psn_lag(c, c->snd.acked) >= MRC_PSN_MASK - 2 * MRC_WINDOW_MAX)
		return false;
	if (c->msgs.cut == MRC_NONE16 && !mrc_msg_next(c))
		return false;
	cut->m = mrc_msg_at(c, c->msgs.cut);
	cut->psn = c->snd.next;
	cut->i = c->msgs.cut_off;
	mrc_tx_measure(c, cut);
	return mrc_tx_room(c, cut->len + MRC_PKT_OVERHEAD);
}

/* Packet @cut is taken from the current message. */
static mrc_inline void mrc_tx_cut_off(struct mrc_conn *c, const struct mrc_tx_cut *cut)
{
	c->snd.next = mrc_psn_add(cut->psn, 1);
	c->msgs.cut_off = cut->i + 1;
	if (likely(!cut->last))
		return;
	c->msgs.cut = MRC_NONE16;
	if (c->msgs.cut_rs)
		c->msgs.rs_seg++;
	else
		c->msgs.sq_seg++;
}

static mrc_inline void mrc_tx_take_new(struct mrc_conn *c, struct mrc_rec *r,
				       const struct mrc_tx_cut *cut, struct mrc_txop *op)
{
	op->tclass = c->tx.trim_nack ? MRC_TC_DATA : MRC_TC_NO_TRIM;
	op->undo.kind = MRC_UNDO_NEW;
	op->undo.cut_rs = c->msgs.cut_rs;
	if (cut->psn == c->snd.una)	/* it is the only packet in flight */
		c->last_delivered.valid = false;
	r->msg = c->msgs.cut;
	r->len = (u16)cut->len;
	r->state = MRC_REC_SENT;	/* bit fields of one byte: the compiler makes one store */
	r->cause = 0;
	r->charged = 0;
	r->tries = 1;
}

/*
 * The new packet asks for an acknowledgement (AckReq) if it fills the window and no packet in flight
 * asks already: a window smaller than the peer's SACK threshold would stall until a probe. So does a
 * packet of a message that is sent slowly. It also asks after a part of the window without any SACK,
 * which some peers send only on request (mrc_report.c).
 */
static mrc_inline void mrc_tx_ask(struct mrc_conn *c, struct mrc_txop *op, const struct mrc_tx_cut *cut, u64 now_ns)
{
	u32 out = (c->snd.next - c->snd.una) & MRC_PSN_MASK;

	if (likely(c->report.ask_in)) {
		c->report.ask_in--;
		if (likely(out < c->snd.range && !c->rnr.on && mrc_tx_room(c, c->rx.mtu + MRC_PKT_OVERHEAD) &&
			   !mrc_cc_beyond_part(c->cc, c->snd.inflight, c->rx.mtu + MRC_PKT_OVERHEAD)) &&
		    !(out <= MRC_REPORT_FEW && cut->i && !cut->last && mrc_report_slow(c, cut->psn, now_ns)))
			return;
		if (mrc_psn_out(c, c->snd.ar_psn) &&
		    c->snd.rec[c->snd.ar_psn & c->snd.mask].state == MRC_REC_SENT)
			return;
	}
	mrc_report_requested(c);
	c->snd.ar_psn = op->hdr.psn;
	op->hdr.ackreq = true;
}

static mrc_inline bool mrc_tx_new_next(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op)
{
	struct mrc_tx_cut cut;
	struct mrc_rec *r;
	u16 slot, idx;

	if (!mrc_tx_cut_next(c, &cut))
		return false;
	idx = mrc_tx_path(c, &cut, now_ns);
	if (unlikely(idx == MRC_NONE16))
		return mrc_tx_no_path(c, now_ns);
	slot = (u16)(cut.psn & c->snd.mask);
	r = &c->snd.rec[slot];
	mrc_tx_describe(c, &cut, idx, now_ns, op);
	mrc_tx_take_new(c, r, &cut, op);
	mrc_tx_cut_off(c, &cut);
	mrc_tx_record(c, r, slot, cut.len, idx, op->hdr.plane, now_ns);
	mrc_tx_ask(c, op, &cut, now_ns);
	return true;
}

/*
 * During an RNR pause only responses leave, and lost packets before the refused one. A partly cut message
 * is first cut to its end, because the packets of a message have consecutive PSNs.
 */
static mrc_noinline bool mrc_tx_pause_next(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op)
{
	u16 slot = mrc_rnr_next(c, true);

	if (slot != MRC_NONE16)
		return mrc_tx_lost_next(c, slot, now_ns, op);
	if (c->msgs.rs_seg == c->msgs.rs_tail)
		return false;
	if (c->msgs.cut == MRC_NONE16)
		c->msgs.cut_rs = false;		/* so mrc_msg_next() takes a response next */
	return mrc_tx_new_next(c, now_ns, op);
}

bool mrc_tx_data_next(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op)
{
	if (!c->snd.known || c->fail || now_ns < c->hold_until_ns)
		return false;
	if (unlikely(c->snd.paced.count) && now_ns >= c->budget.nack_until_ns)
		mrc_snd_unpace(c);
	if (unlikely(c->rnr.on || c->rnr_until_ns) && mrc_rnr_pauses(c, now_ns))
		return mrc_tx_pause_next(c, now_ns, op);
	if (unlikely(c->snd.lost.count))
		return mrc_tx_lost_next(c, mrc_tx_first_lost(c), now_ns, op);
	return mrc_tx_new_next(c, now_ns, op);
}

/* Counts a repeated packet, or with @by = -1 its undo. */
static void mrc_tx_again_count(struct mrc_conn *c, const struct mrc_txop *op, s32 by)
{
	mrc_evset_count_tx(c->evs, op->ev_idx, by);
	mrc_tx_count_rtx(c, MRC_CAUSE_RTO, by);
	c->stats.tx_pkts += (u64)(s64)by;
	c->stats.tx_bytes += (u64)((s64)by * (s64)op->len);
}

/* All packets are delivered: the oldest message without an ACK, or NULL. Responses need no ACK. */
static const struct mrc_msg *mrc_tx_unacked(const struct mrc_conn *c)
{
	u32 i = c->msgs.sq_acked;

	if (!c->snd.known || c->snd.una != c->snd.next)
		return NULL;
	while (i != c->msgs.sq_seg && mrc_sq_at(c, i)->op == MRC_OP_LOCAL)
		i++;
	return i == c->msgs.sq_seg || mrc_op_is_rd(mrc_sq_at(c, i)->op) ? NULL : mrc_sq_at(c, i);
}

/*
 * All packets are delivered, but the ACK was lost. Some peers answer a probe without an ACK or not at all, but
 * each acknowledges a duplicate (MRC 1.0 section 4): send one with every other probe.
 */
bool mrc_tx_again_next(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op)
{
	struct mrc_tx_cut cut;
	u16 idx;

	if (likely(!(c->pto.owed & MRC_OWED_AGAIN)))
		return false;
	c->pto.owed &= (u8)~MRC_OWED_AGAIN;
	cut.m = mrc_tx_unacked(c);
	if (!cut.m || c->fail)
		return false;
	idx = mrc_spray_next(&c->spray, c->evs);
	if (idx == MRC_NONE16)
		return false;
	cut.i = cut.m->npkts - 1;
	cut.psn = mrc_psn_add(cut.m->psn, (s32)cut.i);
	mrc_tx_measure(c, &cut);
	mrc_tx_describe(c, &cut, idx, now_ns, op);
	op->tclass = MRC_TC_NO_TRIM;
	op->undo.kind = MRC_UNDO_AGAIN;
	op->hdr.rtx = true;
	op->hdr.ackreq = true;
	mrc_tx_again_count(c, op, 1);
	return true;
}

void mrc_tx_data_undo(struct mrc_conn *c, const struct mrc_txop *op)
{
	u16 slot = (u16)(op->hdr.psn & c->snd.mask);
	struct mrc_rec *r = &c->snd.rec[slot];

	if (op->undo.kind == MRC_UNDO_AGAIN) {
		mrc_tx_again_count(c, op, -1);
		return;
	}
	if (mrc_assert(r->state == MRC_REC_SENT))
		return;
	mrc_snd_take_back(c, slot);
	if (c->evs) {
		mrc_evset_count_tx(c->evs, op->ev_idx, -1);
		mrc_evset_earn(c->evs, -1);
	}
	c->stats.tx_pkts--;
	c->stats.tx_bytes -= op->len;
	c->rnr.room += c->rnr.on;
	if (op->undo.kind == MRC_UNDO_RTX) {
		c->budget.beyond |= op->undo.beyond;
		r->tries = op->undo.tries & MRC_TRIES_MAX;
		r->sent = op->undo.sent;
		r->ev = op->undo.ev;
		r->plane = op->undo.plane & (MRC_PLANES_MAX - 1u);
		mrc_resent_take_back(c, op->hdr.psn);
		mrc_snd_queue(c, slot, true);
		mrc_tx_count_rtx(c, r->cause, -1);
		return;
	}
	r->state = MRC_REC_FREE;
	c->snd.next = op->hdr.psn;
	if (op->hdr.ackreq)	/* the next packet must ask instead */
		c->report.ask_in = 0;
	if (c->msgs.cut == MRC_NONE16) {	/* it was the last of its message */
		c->msgs.cut = r->msg;
		c->msgs.cut_rs = op->undo.cut_rs;
		if (c->msgs.cut_rs)
			c->msgs.rs_seg--;
		else
			c->msgs.sq_seg--;
		c->msgs.cut_off = mrc_msg_at(c, c->msgs.cut)->npkts;
	}
	c->msgs.cut_off--;
}
