// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_ctl.c - pending control packets: NACK, transport ACK or NAK, and probes. Also chooses which
 * control packet leaves next, SACKs (mrc_sack.c) included.
 *
 * MRC 1.0 sections 1.7-1.11, 3.5, 4 (7.5.2). A pending packet is kept as a small record and built
 * when it leaves, so it carries the latest state. Acknowledgements leave by EVs that delivered
 * recently. The peer does not acknowledge them, so while they flow, a probe verifies one EV every
 * few round trips.
 */
#include "conn/mrc_conn.h"
#include "paths/mrc_no_acks.h"

#define MRC_ACK_PROBES	4	/* the first 4 EV probes after a message, then every 4th, get an ACK */
#define MRC_ANSWERED_MAX 7	/* ACKs in a row that a response may replace */
#define MRC_NOT_PROBED	64	/* no hash of rcv.bytes: they have six bits */
#define MRC_COPIES	3	/* of the answer to a repeated tail probe */

enum mrc_undo_ctl { MRC_UNDO_ACK = 16, MRC_UNDO_SACK, MRC_UNDO_NACK, MRC_UNDO_PROBE };

void mrc_ctl_reset(struct mrc_conn *c)
{
	c->ctl.sack_n = 0;
	c->ctl.sack_first = 0;
	c->ctl.nack_n = 0;
	c->ctl.nack_at = 0;
	c->ctl.ack_owed = false;
	c->ctl.ack_again = false;
	c->ctl.answered = 0;
	c->ctl.sack_needed = false;
	c->ctl.sack_spared = true;
	c->ctl.probes = 0;
	c->ctl.verify_owed = 0;
	c->ctl.pen = 0;
	c->ctl.unanswered = 0;
	c->ctl.ack_plane = MRC_PLANES_MAX;
	c->ctl.restore = false;
	c->ctl.sack_turn = 0;
	c->ctl.copies = 0;
	c->rcv.probed = MRC_NOT_PROBED;
}

/* ---- what is pending ---- */

/*
 * A probe may also ask for an ACK that was lost. Tail probes of this implementation surely do. Other
 * implementations number their probes freely, so a probe that looks like an EV probe may also be meant
 * so. EV probes are frequent: only the first few after a message, then every fourth, get an ACK.
 */
static void mrc_ctl_probed(struct mrc_conn *c, u16 id, u8 plane)
{
	if (id == MRC_PROBE_ID_NO_ACKS) {
		if (c->evs)
			mrc_evset_acks_missing(c->evs, plane);
		return;
	}
	if (id >= MRC_PROBE_ID_EV_END) {
		c->ctl.ack_owed = true;
		if (!c->evs)
			return;
		mrc_evset_doubt(c->evs);
		if (plane != c->ctl.ack_plane)	/* else the answer tries that plane again */
			mrc_evset_acks_missing(c->evs, c->ctl.ack_plane);	/* the ACK may have been lost */
		return;
	}
	if (!c->rcv.done_msn && !mrc_nak_due(c))
		return;		/* nothing to acknowledge yet */
	c->ctl.probes = (u8)(c->ctl.probes < 2 * MRC_ACK_PROBES ? c->ctl.probes + 1 : MRC_ACK_PROBES + 1);
	if (c->ctl.probes > MRC_ACK_PROBES && c->ctl.probes < 2 * MRC_ACK_PROBES)
		return;
	c->ctl.ack_again = !c->ctl.ack_owed;
	c->ctl.ack_owed = true;
}

/* Does probe @id ask for what has arrived? A peer of another kind may number its probes freely. */
static bool mrc_ctl_is_tail(u16 id)
{
	return id >= MRC_PROBE_ID_EV_END && id != MRC_PROBE_ID_NO_ACKS;
}

/*
 * A tail probe came. If no data came since the one before, the peer still waits for an answer, so answers are
 * lost. Neither side can tell which of our paths are dead. So the answer leaves by several.
 */
static void mrc_ctl_tail(struct mrc_conn *c)
{
	u32 now = c->rcv.bytes * 0x9e3779b1u >> 26;	/* a hash: golden ratio */

	if (c->rcv.probed == now)
		c->ctl.copies = MRC_COPIES;
	c->rcv.probed = now & 127u;
}

void mrc_ctl_owe_probe_answer(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns)
{
	u16 id = p->u.probe.probe_id;
	bool tail = mrc_ctl_is_tail(id);

	mrc_ctl_probed(c, id, p->plane);
	if (tail)
		mrc_ctl_tail(c);
	if (c->evs)
		mrc_evset_guess(c->evs, p->plane, p->ev, now_ns);
	mrc_sack_owe_answer(c, p, tail ? p->plane : MRC_PLANES_MAX, now_ns);
}

static struct mrc_owed_nack *mrc_ctl_nack_at(struct mrc_conn *c, u8 i)
{
	return &c->ctl.nack_q[(c->ctl.nack_at + i) % MRC_OWED_NACKS];
}

/*
 * Reasons of Table 7-3 and their origin:
 *	TRIMMED, TRIMMED_LASTHOP	mrc_rx_trimmed()
 *	NO_BITMAP, PSN_OOR_WINDOW	mrc_rx_beyond()
 *	NO_PKT_BUFFER			mrc_rx_busy(): no tail, no slot, cannot be held
 *	NO_RESOURCE			mrc_rx_rnr(): no receive posted
 *	UNEXP_EVENT			mrc_rx_bad_resp(): response without a request
 *
 * One NACK per PSN, for its latest copy. All packets of a batch may be trimmed, so the caller must send
 * when mrc_conn_answers_full(). A NACK that does not fit is dropped; the peer then retransmits for
 * lack of a SACK and blames the path. A fatal NACK replaces the last one.
 */
void mrc_ctl_owe_nack(struct mrc_conn *c, const struct mrc_pkt *p, enum mrc_nack reason,
		      u64 now_ns)
{
	struct mrc_owed_nack *n;
	u8 i = 0;

	while (i < c->ctl.nack_n && mrc_ctl_nack_at(c, i)->psn != p->psn)
		i++;
	if (i == MRC_OWED_NACKS) {
		c->stats.owed_full++;
		if (reason != MRC_NACK_UNEXP_EVENT)
			return;
		i--;
	}
	if (i == c->ctl.nack_n)
		c->ctl.nack_n++;
	n = mrc_ctl_nack_at(c, i);
	n->psn = p->psn;
	n->ev = p->ev;
	n->came = mrc_tick(now_ns);
	n->tx_ts = p->tx_ts;
	n->ts = p->has_ts;
	n->reason = (u8)reason;
	n->vendor_info = reason == MRC_NACK_NO_RESOURCE ? c->rx.min_rnr_timer : 0;
}

/*
 * The PSN for a transport ACK: the left edge, but before a READ or ATOMIC that has not been executed or
 * was refused.
 */
u32 mrc_ctl_ack_edge(const struct mrc_conn *c)
{
	const struct mrc_exec_rec *x = &c->execs.rec[c->execs.first];
	u32 edge = c->rcv.cack;

	if (c->execs.waiting && mrc_psn_diff(x->psn, edge) <= 0)
		edge = mrc_psn_add(x->psn, -1);
	if (c->rcv.nak != MRC_NAK_NONE && mrc_psn_diff(c->rcv.nak_psn, edge) <= 0)
		edge = mrc_psn_add(c->rcv.nak_psn, -1);
	return edge;
}

/* ---- building ---- */

/* Sets every field that is read later, as for data. The caller fills the header of @opcode. */
static void mrc_ctl_head(const struct mrc_conn *c, struct mrc_txop *op, u8 opcode, u32 psn)
{
	struct mrc_pkt *h = &op->hdr;

	h->opcode = opcode;
	h->pad = 0;
	h->se = false;
	h->has_ts = false;
	h->pkey = 0xffff;
	h->dqpn = c->rx.dqpn;
	h->psn = psn;
	h->hdr_len = 0;
	h->payload_len = 0;
	h->udp_len = 0;
	h->notable = 0;
	op->tclass = MRC_TC_CONTROL;
	op->src = MRC_SRC_NONE;
	op->cookie = 0;
	op->off = 0;
	op->len = 0;
}

/* The oldest NACK leaves first, because the left edge waits for its packet. */
static void mrc_ctl_nack(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op)
{
	struct mrc_owed_nack o = c->ctl.nack_q[c->ctl.nack_at];

	c->ctl.nack_n--;
	c->ctl.nack_at = (u8)((c->ctl.nack_at + 1u) % MRC_OWED_NACKS);
	mrc_ctl_head(c, op, MRC_OPC_NACK, o.psn);
	op->undo.kind = MRC_UNDO_NACK;
	op->hdr.u.nack = (struct mrc_nack_hdr) {
		.reason = o.reason,
		.vendor_info = o.vendor_info,
		.ev = o.ev,
		.spdcid = (u16)c->rx.sqpn,
		.dpdcid = (u16)c->rx.dqpn,
		.psn = o.psn,
		.cc_type = MRC_CC_TYPE_NACK,
		.tx_ts = mrc_ts_reflect(c, o.tx_ts, o.ts, o.came, now_ns),
	};
	c->stats.nacks_sent++;
}

static void mrc_ctl_ack(struct mrc_conn *c, struct mrc_txop *op)
{
	c->ctl.ack_owed = false;
	c->ctl.ack_again = false;
	c->ctl.answered = 0;
	op->undo.kind = MRC_UNDO_ACK;
	if (mrc_nak_due(c)) {
		mrc_ctl_head(c, op, MRC_OPC_ACK, c->rcv.nak_psn);
		op->hdr.u.aeth.syndrome = (u8)(MRC_AETH_NAK | c->rcv.nak);
		c->rcv.nak_sent = true;
	} else {
		mrc_ctl_head(c, op, MRC_OPC_ACK, mrc_ctl_ack_edge(c));
		op->hdr.u.aeth.syndrome = MRC_AETH_CREDIT_NONE;
		if (op->hdr.psn == c->rcv.cack)
			mrc_sack_spare(c);
	}
	op->hdr.u.aeth.msn = c->rcv.done_msn;
	c->stats.acks_sent++;
}

/*
 * Does the pending ACK acknowledge the request whose response may leave next? The response's first packet
 * acknowledges it, too (mrc_ack_answered()). Every eighth ACK leaves anyway, for round-trip samples.
 */
bool mrc_ctl_answer_acks(const struct mrc_conn *c)
{
	const struct mrc_msg *m = mrc_rs_at(c, c->msgs.rs_seg);

	return c->msgs.rs_tail - c->msgs.rs_seg == 1 && c->msgs.cut == MRC_NONE16 && c->ctl.ack_owed && !c->ctl.nack_n &&
	       !c->snd.lost.count && c->rcv.nak == MRC_NAK_NONE && c->ctl.answered < MRC_ANSWERED_MAX &&
	       c->execs.rec[m->cookie].psn == mrc_ctl_ack_edge(c);
}

/* If @op is the first transmission of a response, it replaces the pending ACK. */
void mrc_ctl_answered(struct mrc_conn *c, const struct mrc_txop *op)
{
	if (!mrc_opc_has(op->hdr.opcode, MRC_OPF_READ_RESP | MRC_OPF_ATOMACK) || op->hdr.rtx)
		return;
	c->ctl.ack_owed = false;
	c->ctl.ack_again = false;
	c->ctl.answered++;
	if (mrc_ctl_ack_edge(c) == c->rcv.cack)
		mrc_sack_spare(c);
}

static void mrc_ctl_sack(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op)
{
	mrc_ctl_head(c, op, MRC_OPC_SACK, c->rcv.cack);
	op->undo.kind = MRC_UNDO_SACK;
	mrc_sack_build(c, &op->hdr.u.sack, now_ns);
}

/* A probe uses the data queue, so that it cannot overtake data; it is not trimmable (section 8). */
static void mrc_ctl_probe(struct mrc_conn *c, struct mrc_txop *op, u16 id, u64 now_ns)
{
	mrc_ctl_head(c, op, MRC_OPC_PROBE, 0);
	op->tclass = MRC_TC_NO_TRIM;
	op->hdr.u.probe = (struct mrc_probe_hdr) {
		.probe_id = id,
		.spdcid = (u16)c->rx.sqpn,
		.dpdcid = (u16)c->rx.dqpn,
		.tx_ts = mrc_ts16(now_ns),
	};
	op->undo.kind = MRC_UNDO_PROBE;
	c->stats.probes_sent++;
}

static inline void mrc_ctl_leave_by(struct mrc_conn *c, struct mrc_txop *op, u16 idx)
{
	op->ev_idx = idx;
	op->hdr.ev = c->evs->ev[idx].value;
	op->hdr.plane = c->evs->ev[idx].plane;
	mrc_evset_count_tx(c->evs, idx, 1);
	c->evs->verify_pkts++;	/* control packets are what the verification probes are for */
	c->stats.tx_ctrl_pkts++;
}

/* Own data in flight already verifies paths, except on planes that carry none (MRC_VERIFY_LONG). */
static bool mrc_ctl_may_verify(const struct mrc_conn *c, u8 owed)
{
	return owed & MRC_VERIFY_LONG || (owed && !mrc_tx_waiting(c));
}

/* Is it time to look for a path to probe or to verify? */
static mrc_inline bool mrc_ctl_ev_probe_due(struct mrc_conn *c, u64 now_ns)
{
	u8 owed = c->ctl.verify_owed;

	if (unlikely(now_ns >= c->evs->next_probe_ns) && now_ns >= mrc_ctl_ask_ns(c))
		return true;
	if (owed && mrc_evset_verify_due(c->evs, now_ns) && mrc_ctl_may_verify(c, owed))
		return true;
	c->ctl.verify_owed = owed & MRC_VERIFY_LONG;
	return false;
}

/*
 * One QP per path set runs the timer for EV probes (evs->asker): the one that probed last, or one with an
 * earlier deadline. That QP has armed its timer; when it expires, it continues or gives up the role.
 */
u64 mrc_ctl_ask_timer_ns(const struct mrc_conn *c)
{
	u64 at = mrc_ctl_ask_ns(c);
	struct mrc_evset *s = c->evs;
	bool mine = s->asker == c;

	if (at == MRC_TIME_NEVER) {
		if (mine)
			WRITE_ONCE(s->asker, NULL);
		return at;
	}
	if (s->asker && !mine && at >= s->asker_ns)
		return MRC_TIME_NEVER;
	WRITE_ONCE(s->asker, c);
	s->asker_ns = at;
	return at;
}

void mrc_ctl_ask_resign(const struct mrc_conn *c)
{
	struct mrc_evset *s = c->evs;

	if (!s || (s->asker && s->asker != c))
		return;
	WRITE_ONCE(s->asker, NULL);
	if (mrc_evset_probes_pending(s))
		WRITE_ONCE(s->wake, true);
}

/* An EV probe was sent. After several probes without a SACK, another QP of the set should probe. */
static void mrc_ctl_requested(struct mrc_conn *c, u64 now_ns)
{
	WRITE_ONCE(c->evs->asker, c);	/* this QP can send; the previous one perhaps cannot */
	c->ctl.unanswered = (u8)(c->ctl.unanswered < 255 ? c->ctl.unanswered + 1 : 256 - MRC_UNANSWERED);
	if (c->ctl.unanswered % MRC_UNANSWERED == 0)
		WRITE_ONCE(c->evs->wake, true);
	if (c->ctl.unanswered >= MRC_UNANSWERED)	/* QPs with answered probes have earlier deadlines */
		mrc_evset_reschedule(c->evs, now_ns);
}

/* An EV probe: of a bad EV if one is due, else to verify a path. Its id is the index of the EV. */
static mrc_noinline bool mrc_ctl_ev_probe(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op)
{
	bool due = now_ns >= mrc_ctl_ask_ns(c);
	u8 owed = c->ctl.verify_owed;
	u16 idx;

	if (!due || !mrc_evset_probe_next(c->evs, now_ns, &idx)) {
		c->ctl.verify_owed = 0;
		if (!mrc_ctl_may_verify(c, owed) ||
		    !mrc_evset_verify_next(c->evs, &c->spray, now_ns, &idx))
			return false;
	}
	mrc_ctl_requested(c, now_ns);
	mrc_ctl_probe(c, op, idx, now_ns);
	mrc_ctl_leave_by(c, op, idx);
	return true;
}

/*
 * The EV of a tail probe. Either data or its ACK was lost. Odd attempts take the plane of the latest
 * acknowledgement that arrived, unless the oldest data left by it. The others take the next EV of the
 * rotation, but not the plane of the previous tail probe, nor that of the data if there is a third plane.
 */
static u16 mrc_ctl_tail_ev(struct mrc_conn *c, u64 now_ns)
{
	u16 slot = mrc_snd_oldest(c), idx = MRC_NONE16;
	u32 data = slot == MRC_NONE16 ? 0 : 1u << c->snd.rec[slot].plane;
	u32 off = c->pto.backoff > 1 ? 1u << c->pto.plane : 0;

	if ((c->pto.backoff & 1) && !(data >> c->evs->ack_by & 1))
		idx = mrc_spray_pick_by(&c->spray, c->evs, c->evs->ack_by, now_ns);
	if (idx != MRC_NONE16)
		return idx;
	return mrc_spray_pick_off(&c->spray, c->evs, MRC_NONE16, c->evs->in_use & ~(off | data) ? off | data : off);
}

/*
 * The peer does not answer, and all paths in use may be dead. So every other probe takes an EV of the whole
 * set in turn, bad ones included. All probes of a small burst share a turn, and larger ones begin elsewhere each
 * time, so that none is skipped.
 */
static u16 mrc_ctl_tail_any(const struct mrc_conn *c)
{
	u32 turn = c->pto.id >> MRC_PTO_BURST_SHIFT;
	u16 idx;

	if (mrc_pto_many(c))
		turn = (c->pto.id >> 1) + (c->pto.id >> MRC_PTO_MANY_SHIFT);
	idx = (u16)(turn % c->evs->n);
	return c->evs->ev[idx].state != MRC_EV_DENIED && mrc_evset_plane_live(c->evs, (u8)c->evs->ev[idx].plane) ? idx :
														 MRC_NONE16;
}

static bool mrc_ctl_tail_probe(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op)
{
	u16 idx = c->pto.more && (c->pto.id & 1) ? mrc_ctl_tail_any(c) : MRC_NONE16;

	if (idx == MRC_NONE16)
		idx = mrc_ctl_tail_ev(c, now_ns);
	if (idx == MRC_NONE16) {
		c->stats.no_path++;
		return false;
	}
	c->pto.id = (u16)(MRC_PROBE_ID_TAIL | ((c->pto.id + 1) & 0xfff));
	c->pto.sent[c->pto.id % MRC_TAIL_PROBES] = (struct mrc_tail_sent){ mrc_tick(now_ns), idx };
	c->pto.out |= (u16)(1u << c->pto.id % MRC_TAIL_PROBES);
	if (!c->pto.more || !mrc_pto_many(c))	/* such a burst costs one: EVs need the others */
		mrc_credit_spend(c->evs);
	if (c->pto.more && (mrc_pto_many(c) || mrc_credit_has(c->evs, MRC_PROBE_SPARE, now_ns))) {
		c->pto.more = (c->pto.more - 1u) & 7;
	} else {
		c->pto.more = 0;
		c->pto.owed &= (u8)~MRC_OWED_TAIL;
	}
	mrc_ctl_probe(c, op, c->pto.id, now_ns);
	mrc_ctl_leave_by(c, op, idx);
	c->pto.plane = op->hdr.plane & (MRC_PLANES_MAX - 1);
	return true;
}

/* No acknowledgements arrive by a plane: report it to the peer, by that plane. */
static mrc_noinline bool mrc_ctl_no_acks_probe(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op)
{
	u16 idx = mrc_evset_no_acks_reported(c->evs, &c->spray, c->pto.miss, now_ns);

	c->pto.owed &= (u8)~MRC_OWED_NO_ACKS;
	if (idx == MRC_NONE16)
		return false;
	mrc_ctl_probe(c, op, MRC_PROBE_ID_NO_ACKS, now_ns);
	mrc_ctl_leave_by(c, op, idx);
	return true;
}

static mrc_noinline bool mrc_ctl_ask(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op)
{
	return c->pto.owed & MRC_OWED_TAIL ? mrc_ctl_tail_probe(c, now_ns, op) :
					     mrc_ctl_no_acks_probe(c, now_ns, op);
}

/*
 * The EV of an answer. Only ACKs complete messages, and the next ACK makes up for a lost one. So two ACKs
 * in a row take different planes, whatever SACKs leave in between. An answer to a tail probe returns by
 * the plane of the probe, which has just worked: other planes may be the reason for the probe.
 */
static u16 mrc_ctl_answer_ev(struct mrc_conn *c, u64 now_ns, bool nak)
{
	u8 back = mrc_sack_back(c);
	u16 idx = MRC_NONE16;

	if (unlikely(back < MRC_PLANES_MAX) && !(c->ctl.ack_owed && back == c->ctl.ack_plane))
		idx = mrc_spray_pick_by(&c->spray, c->evs, back, now_ns);
	if (idx != MRC_NONE16)
		return idx;
	idx = mrc_spray_pick_ack(&c->spray, c->evs, now_ns, c->ctl.nack_n || nak);
	if (!c->ctl.ack_owed || idx == MRC_NONE16 || c->evs->ev[idx].plane != c->ctl.ack_plane)
		return idx;
	return mrc_spray_pick_ack(&c->spray, c->evs, now_ns, c->ctl.nack_n || nak);
}

/* A NACK, an ACK or a SACK, in this order; a NAK before all of them. */
static mrc_noinline bool mrc_ctl_answer(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op, bool nak)
{
	u16 idx = mrc_ctl_answer_ev(c, now_ns, nak);

	if (idx == MRC_NONE16) {
		c->stats.no_path++;
		/* No EV is good enough for a NACK: a probe may find one. */
		return !nak && c->ctl.nack_n && mrc_ctl_ev_probe(c, now_ns, op);
	}
	/* An answer to a verification probe triggers no verification: else they would never end. */
	if (c->ctl.nack_n && !nak) {
		mrc_ctl_nack(c, now_ns, op);
		c->ctl.verify_owed |= MRC_VERIFY_ACKS;
	} else if (c->ctl.ack_owed) {
		if (!c->ctl.ack_again)
			c->ctl.verify_owed |= MRC_VERIFY_ACKS;
		mrc_ctl_ack(c, op);
		c->ctl.ack_plane = c->evs->ev[idx].plane & (MRC_PLANES_MAX - 1);
	} else {
		mrc_ctl_sack(c, now_ns, op);
		if (!op->hdr.u.sack.pr || op->hdr.u.sack.probe_id >= MRC_PROBE_ID_EV_END)
			c->ctl.verify_owed |= MRC_VERIFY_ACKS;
		if (unlikely(c->ctl.copies) && op->hdr.u.sack.pr && mrc_ctl_is_tail(op->hdr.u.sack.probe_id)) {
			c->ctl.copies = (c->ctl.copies - 1u) & 3u;
			mrc_sack_owe_again(c);
		}
	}
	mrc_ctl_leave_by(c, op, idx);
	return true;
}

static mrc_inline bool mrc_ctl_rest(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op, bool nak)
{
	if (mrc_ctl_owes(c) && !mrc_confirm_mute(c))
		return mrc_ctl_answer(c, now_ns, op, nak);
	return c->pto.owed && mrc_ctl_ask(c, now_ns, op);
}

static mrc_noinline bool mrc_ctl_probe_or_rest(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op)
{
	return mrc_ctl_ev_probe(c, now_ns, op) || mrc_ctl_rest(c, now_ns, op, false);
}

/* May a NACK leave? It has precedence over an EV probe. */
static mrc_inline bool mrc_ctl_nacks(const struct mrc_conn *c)
{
	return c->ctl.nack_n && !mrc_confirm_mute(c);
}

/* Not ready, a packet was refused, or the QP failed. A failed QP sends only its NAK. */
static mrc_noinline bool mrc_ctl_next_refused(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op)
{
	bool nak = c->ctl.ack_owed && mrc_nak_due(c) && !mrc_confirm_mute(c);

	if (!c->rx_ready || (c->fail && !nak))
		return false;
	if (!nak && !mrc_ctl_nacks(c) && mrc_ctl_ev_probe_due(c, now_ns))
		return mrc_ctl_probe_or_rest(c, now_ns, op);
	return mrc_ctl_rest(c, now_ns, op, nak);
}

bool mrc_ctl_next(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op)
{
	if (unlikely(!c->rx_ready || c->fail || c->rcv.nak != MRC_NAK_NONE))
		return mrc_ctl_next_refused(c, now_ns, op);
	if (!mrc_ctl_nacks(c) && unlikely(mrc_ctl_ev_probe_due(c, now_ns)))
		return mrc_ctl_probe_or_rest(c, now_ns, op);
	return mrc_ctl_rest(c, now_ns, op, false);
}

/* A NACK goes back to the head of the queue. Its arrival time is lost. */
static void mrc_ctl_undo_nack(struct mrc_conn *c, const struct mrc_nack_hdr *n)
{
	struct mrc_owed_nack *o;

	c->stats.nacks_sent--;
	c->ctl.nack_at = (u8)((c->ctl.nack_at + MRC_OWED_NACKS - 1u) % MRC_OWED_NACKS);
	c->ctl.nack_n++;
	o = mrc_ctl_nack_at(c, 0);
	memset(o, 0, sizeof(*o));
	o->psn = n->psn;
	o->ev = n->ev;
	o->tx_ts = n->tx_ts;
	o->reason = n->reason;
	o->vendor_info = n->vendor_info;
}

/*
 * A control packet that could not be sent counts as lost, which the protocol tolerates. ACKs and NACKs
 * become pending again: without them the peer would wait or blame a path.
 */
void mrc_ctl_undo(struct mrc_conn *c, const struct mrc_txop *op)
{
	mrc_evset_count_tx(c->evs, op->ev_idx, -1);
	c->stats.tx_ctrl_pkts--;
	if (op->undo.kind == MRC_UNDO_ACK)
		c->ctl.ack_owed = true;
	else if (op->undo.kind == MRC_UNDO_NACK && c->ctl.nack_n < MRC_OWED_NACKS)
		mrc_ctl_undo_nack(c, &op->hdr.u.nack);
}
