// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_ctl.c - control packets owed to the peer: NACK, transport ACK or NAK,
 * SACK, probes and their answers.
 *
 * MRC 1.0 sections 1.7-1.11, 3.5, 4 (7.5.2). What is owed is remembered as small
 * records and built when a packet may leave, so that one packet says the
 * latest. Acknowledgements leave by EVs that were proven lately; they teach nothing about
 * their path, so while they flow one EV every few round trips is verified by a probe.
 */
#include "mrc_conn.h"

#define MRC_ACK_PROBES	4	/* probes of EVs that bring an ACK, then one in so many */

#define MRC_SACK_STEPS	5u

enum mrc_undo_ctl { MRC_UNDO_ACK = 16, MRC_UNDO_SACK, MRC_UNDO_NACK, MRC_UNDO_PROBE };

void mrc_ctl_reset(struct mrc_conn *c)
{
	c->ctl.sack_n = 0;
	c->ctl.sack_first = 0;
	c->ctl.nack_n = 0;
	c->ctl.nack_at = 0;
	c->ctl.ack_owed = false;
	c->ctl.ack_again = false;
	c->ctl.probes = 0;
	c->ctl.verify_owed = false;
	c->ctl.pen = 0;
	c->ctl.restore = false;
	c->ctl.sack_turn = 0;
}

/* ---- owing ---- */

static struct mrc_owed_sack *mrc_ctl_sack_at(const struct mrc_conn *c, u8 i)
{
	return &c->ctl.sack_q[(c->ctl.sack_first + i) % MRC_OWED_SACKS];
}

/*
 * The queue is full: its caller lets nothing leave (mrc_conn_answers_full()). A mark is one
 * of many then, and given up. A probe is not asked again soon, so its answer takes the
 * place of the latest mark. No answer takes the place of another.
 */
static mrc_noinline struct mrc_owed_sack *mrc_ctl_sack_crowded(struct mrc_conn *c, bool answer)
{
	u8 i = c->ctl.sack_n;

	c->stats.owed_full++;
	while (answer && i--)
		if (!mrc_ctl_sack_at(c, i)->pr)
			return mrc_ctl_sack_at(c, i);
	return NULL;
}

enum mrc_sack_kind { MRC_SACK_PLAIN, MRC_SACK_MARK, MRC_SACK_ANSWER };

/* Where to note it, or NULL when an earlier one says enough, or no room is left. */
static struct mrc_owed_sack *mrc_ctl_sack_slot(struct mrc_conn *c, enum mrc_sack_kind kind, u32 psn)
{
	struct mrc_owed_sack *last = mrc_ctl_sack_at(c, (u8)(c->ctl.sack_n - 1u));

	/*
	 * A plain one replaces a plain one as long as one bitmap shows what either would: a batch
	 * of one plane may reach far. Marks (ECN) and probe answers each name an EV and stay.
	 */
	if (kind == MRC_SACK_PLAIN && c->ctl.sack_n && !last->pr && last->m == MRC_M_NONE) {
		s32 d = mrc_psn_diff(psn, last->psn);

		if (d <= 0 && d > -32)
			return NULL;
		if (d > 0 && mrc_psn_diff(psn, last->since) < 32)
			return last;
	}
	if (likely(c->ctl.sack_n < MRC_OWED_SACKS)) {
		last = mrc_ctl_sack_at(c, c->ctl.sack_n++);
		last->since = psn;
		return last;
	}
	if (kind == MRC_SACK_PLAIN)
		return NULL;	/* those owed say what has arrived, too */
	return mrc_ctl_sack_crowded(c, kind == MRC_SACK_ANSWER);
}

void mrc_ctl_owe_sack(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns)
{
	struct mrc_owed_sack *s = mrc_ctl_sack_slot(c, p->ecn_ce ? MRC_SACK_MARK : MRC_SACK_PLAIN,
						    p->psn);

	mrc_rcv_sacked(c);
	if (!s)
		return;
	s->psn = p->psn;
	s->ev = p->ev;
	s->came = mrc_tick(now_ns);
	s->tx_ts = p->tx_ts;
	s->probe_id = 0;
	s->m = p->ecn_ce ? MRC_M_SKIP_ONCE : MRC_M_NONE;
	s->pr = false;
	s->ts = p->has_ts;
}

/*
 * A SACK that no packet asked for. Its trigger is so far behind that it names none:
 * the sender must not take its age for a round trip.
 */
static void mrc_ctl_owe_word(struct mrc_conn *c)
{
	if (c->ctl.sack_n)
		return;		/* says it too */
	memset(mrc_ctl_sack_at(c, 0), 0, sizeof(*c->ctl.sack_q));
	mrc_ctl_sack_at(c, 0)->psn = mrc_psn_add(c->rcv.cack, -32768);
	c->ctl.sack_n = 1;
}

/*
 * Said in every SACK until something else is: single ones may be lost. The first one
 * leaves at once: a sender in an incast may be far from the SACK threshold.
 */
void mrc_conn_set_penalty(struct mrc_conn *c, u8 rcv_cwnd_pen, bool restore)
{
	if (rcv_cwnd_pen && !c->ctl.pen && c->rx_ready)
		mrc_ctl_owe_word(c);
	c->ctl.pen = min_t(u8, rcv_cwnd_pen, 127);
	c->ctl.restore = restore;
}

/*
 * A probe also asks for the transport's word: an ACK may have been lost. Only a tail probe of
 * our own kind surely does; but who else numbers its probes as he likes waits for his ACK
 * in vain, if those that look like questions about an EV bring none. They come often and
 * mostly know: the first few after a message ended bring an ACK, then one in as many.
 */
static void mrc_ctl_probed(struct mrc_conn *c, u16 id)
{
	if (id >= MRC_PROBE_ID_EV_END) {
		c->ctl.ack_owed = true;
		if (c->evs)
			mrc_evset_doubt(c->evs);
		return;
	}
	if (!c->rcv.done_msn && !mrc_nak_due(c))
		return;		/* there is nothing to acknowledge yet */
	c->ctl.probes = (u8)(c->ctl.probes < 2 * MRC_ACK_PROBES ? c->ctl.probes + 1 : MRC_ACK_PROBES + 1);
	if (c->ctl.probes > MRC_ACK_PROBES && c->ctl.probes < 2 * MRC_ACK_PROBES)
		return;
	c->ctl.ack_again = !c->ctl.ack_owed;
	c->ctl.ack_owed = true;
}

void mrc_ctl_owe_probe_answer(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns)
{
	struct mrc_owed_sack *s;

	mrc_ctl_probed(c, p->u.probe.probe_id);
	s = mrc_ctl_sack_slot(c, MRC_SACK_ANSWER, 0);
	if (!s)
		return;
	s->psn = 0;
	s->ev = p->ev;
	s->came = mrc_tick(now_ns);
	s->tx_ts = p->u.probe.tx_ts;
	s->probe_id = p->u.probe.probe_id;
	s->m = p->ecn_ce ? MRC_M_SKIP_ONCE : MRC_M_NONE;
	s->pr = true;
	s->ts = true;
}

static struct mrc_owed_nack *mrc_ctl_nack_at(struct mrc_conn *c, u8 i)
{
	return &c->ctl.nack_q[(c->ctl.nack_at + i) % MRC_OWED_NACKS];
}

/*
 * Reasons of Table 7-3 and who gives them:
 *	TRIMMED, TRIMMED_LASTHOP	mrc_rx_trimmed()
 *	NO_BITMAP, PSN_OOR_WINDOW	mrc_rx_beyond()
 *	NO_PKT_BUFFER			mrc_rx_busy(): no tail, no slot, cannot be held
 *	NO_RESOURCE			mrc_rx_reject(): no receive posted
 *	UNEXP_EVENT			mrc_rx_bad_resp(): an answer to nothing
 *
 * One NACK speaks of one PSN: of its latest copy. A batch may be trimmed whole, so whoever
 * hands one in sends when mrc_conn_answers_full(). What does not fit is given up:
 * resent for lack of a SACK, and blamed on its path. A fatal one always finds room.
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

/* ---- what the receive stream has to say ---- */

/*
 * Up to where operations are done: the left edge, short of a READ or ATOMIC
 * that has not been executed, or was refused when it was.
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

/*
 * 64 bits from @base on, which is ahead of the left edge; what lies beyond the window
 * reads as zero, though the ring has bits of its beginning there.
 */
static u64 mrc_ctl_bitmap(const struct mrc_conn *c, u32 base)
{
	u32 i = mrc_rcv_slot(c, base), w = i >> 6, sh = i & 63;
	u32 words = (c->rec_mask + 1) >> 6;
	s32 left = (s32)c->rec_mask + 2 - mrc_psn_diff(base, c->rcv.cack);
	u64 bits = c->rcv.bits[w] >> sh;

	if (sh)
		bits |= c->rcv.bits[(w + 1) & (words - 1)] << (64 - sh);
	return left < 64 ? bits & ((1ull << left) - 1) : bits;
}

/* ---- building ---- */

/* As for data: every field that is looked at is set, and @opcode's header by its maker. */
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

/*
 * A timestamp to reflect. Moved on by the time since its packet came, so that the
 * sender's round trip is the network's alone, where both ends agreed on that.
 */
static u16 mrc_ctl_reflect(const struct mrc_conn *c, u16 ts, bool is_ts, u32 came, u64 now_ns)
{
	if (!c->rx.svc_time || !is_ts)
		return ts;
	return (u16)(ts + (mrc_tick_age_ns(now_ns, came) >> MRC_TS_SHIFT));
}

/* The oldest first: the left edge waits for it. */
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
		.tx_ts = mrc_ctl_reflect(c, o.tx_ts, o.ts, o.came, now_ns),
	};
	c->stats.nacks_sent++;
}

static void mrc_ctl_ack(struct mrc_conn *c, struct mrc_txop *op)
{
	c->ctl.ack_owed = false;
	c->ctl.ack_again = false;
	op->undo.kind = MRC_UNDO_ACK;
	if (mrc_nak_due(c)) {
		mrc_ctl_head(c, op, MRC_OPC_ACK, c->rcv.nak_psn);
		op->hdr.u.aeth.syndrome = (u8)(MRC_AETH_NAK | c->rcv.nak);
		c->rcv.nak_sent = true;
	} else {
		mrc_ctl_head(c, op, MRC_OPC_ACK, mrc_ctl_ack_edge(c));
		op->hdr.u.aeth.syndrome = MRC_AETH_CREDIT_NONE;
	}
	op->hdr.u.aeth.msn = c->rcv.done_msn;
	c->stats.acks_sent++;
}

/*
 * Moves *at on to the next 64 PSNs, from @first on again behind the last, in which something
 * came that no SACK has shown, if there are any.
 */
static void mrc_ctl_sack_news(struct mrc_conn *c, u32 first, u32 *at)
{
	u64 *news = mrc_rcv_news(c);
	u32 word = *at >> 6 & 63, base, low, n;

	while (*news) {
		n = mrc_ffs64(*news >> word | (word ? *news << (64 - word) : 0));
		base = mrc_psn_add(*at & ~63u, (s32)(n * 64));
		low = mrc_psn_add(base, -64 * 64);	/* has the same bit */
		if (mrc_psn_diff(low, first) <= -64 || mrc_psn_diff(base, c->rcv.max) > 0)
			*news &= ~(1ull << ((word + n) & 63));
		if (mrc_psn_diff(base, c->rcv.max) > 0)
			base = low;
		if (mrc_psn_diff(base, first) <= -64)
			continue;	/* the left edge has passed it */
		*at = mrc_psn_diff(base, first) < 0 ? first : base;
		if (mrc_ctl_bitmap(c, *at))
			return;
		*news &= ~(1ull << ((word + n) & 63));
	}
}

/*
 * What came last. Planes differ: a long one triggers far behind what the others brought
 * since, and may trigger many in a row. So both edges are shown in turns.
 */
static u32 mrc_ctl_sack_edge(const struct mrc_conn *c, const struct mrc_owed_sack *o, bool top)
{
	/* Not beyond: half of all PSNs behind looks like ahead once the left edge has moved. */
	bool shown = !o->pr && mrc_psn_diff(o->psn, c->rcv.cack) > 64 &&
		     mrc_psn_diff(o->psn, c->rcv.max) <= 0;

	if (top && mrc_psn_diff(c->rcv.max, o->psn) >= 64)
		shown = false;
	return mrc_psn_add(shown ? o->psn : c->rcv.max, -63);
}

/*
 * Where the 64 bits begin. A window may hold many times more packets out of order
 * than one SACK can show. Of ten SACKs four show what came last, five what none has shown
 * so far; and one, or more where nothing is new, walks over all that is out of order, 64 at a
 * time and empty stretches left out. So each packet is reported soon, and again, for SACKs may
 * be lost. Steps of five, because SACKs take planes in turns, too: where one plane of two is
 * long, it must not be the one by which all edges leave.
 */
static u32 mrc_ctl_sack_base(struct mrc_conn *c, const struct mrc_owed_sack *o)
{
	u32 first = mrc_psn_add(c->rcv.cack, 1), at = c->ctl.sack_at;
	u8 turn = c->ctl.sack_turn, step = turn % MRC_SACK_STEPS;

	if (mrc_psn_diff(c->rcv.max, c->rcv.cack) <= 64) {
		*mrc_rcv_news(c) = 0;
		return first;
	}
	c->ctl.sack_turn = (u8)((turn + 1u) % (2 * MRC_SACK_STEPS));
	if (step == 0 || step == 2)
		return mrc_ctl_sack_edge(c, o, (step == 2) != (turn >= MRC_SACK_STEPS));
	if (mrc_psn_diff(at, first) < 0 || mrc_psn_diff(at, c->rcv.max) > 0)
		at = first;
	if (turn != MRC_SACK_STEPS - 1)
		mrc_ctl_sack_news(c, first, &at);
	while (!mrc_ctl_bitmap(c, at)) {		/* ends: rx_max is there */
		at = mrc_psn_add(at, 64);
		if (mrc_psn_diff(at, c->rcv.max) > 0)
			at = first;
	}
	c->ctl.sack_at = mrc_psn_add(at, 64);
	return at;
}

static void mrc_ctl_sack(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op)
{
	const struct mrc_owed_sack *o = mrc_ctl_sack_at(c, 0);
	u32 base = mrc_ctl_sack_base(c, o), cack = c->rcv.cack;
	struct mrc_sack *s = &op->hdr.u.sack;

	mrc_ctl_head(c, op, MRC_OPC_SACK, cack);
	op->undo.kind = MRC_UNDO_SACK;
	s->m = o->m;
	s->pr = o->pr;
	s->ack_psn_offset = o->pr ? 0 : (s16)clamp_t(s32, mrc_psn_diff(o->psn, cack), -32768, 32767);
	s->probe_id = o->probe_id;
	s->ev = o->ev;
	s->spdcid = (u16)c->rx.sqpn;
	s->dpdcid = (u16)c->rx.dqpn;
	s->cack = cack;
	s->cc_type = MRC_CC_TYPE_SACK;
	s->cc_fl = 0;
	s->mpr = c->rx.dyn_mpr ? c->mpr.live : 0;
	s->sack_offset = (s16)mrc_psn_diff(base, cack);
	s->bitmap = c->rcv.held ? mrc_ctl_bitmap(c, base) : 0;
	s->tx_ts = mrc_ctl_reflect(c, o->tx_ts, o->ts, o->came, now_ns);
	s->ooo_count = (u16)min_t(u32, c->rcv.held, 0x7fff);
	s->restore_cwnd = c->ctl.restore;
	s->rcv_cwnd_pen = c->ctl.pen;
	s->rcvd_bytes = ((c->rcv.bytes + 255ull) >> 8) & 0xffffff;
	mrc_rcv_sacked(c);
	c->stats.sacks_sent++;
	c->stats.pens_sent += c->ctl.pen != 0;
	c->stats.probes_answered += o->pr;
	c->ctl.sack_n--;
	c->ctl.sack_first = (u8)((c->ctl.sack_first + 1u) % MRC_OWED_SACKS);
}

/* In the data queue, lest it overtake what it asks about, but not to be trimmed (8). */
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
	c->evs->verify_pkts++;	/* pays for no probe, but is what they are sent for */
	c->stats.tx_ctrl_pkts++;
}

/* Is it time to look for a path to probe or to verify? Data of ours tests the paths. */
static mrc_inline bool mrc_ctl_ev_probe_due(struct mrc_conn *c, u64 now_ns)
{
	bool verify = c->ctl.verify_owed;

	if (unlikely(now_ns >= c->evs->next_probe_ns))
		return true;
	c->ctl.verify_owed = false;
	return verify && now_ns >= c->evs->verify_ns && !mrc_tx_waiting(c);
}

/* Probes that name their EV. */
static mrc_noinline bool mrc_ctl_ev_probe(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op)
{
	bool verify = c->ctl.verify_owed || now_ns < c->evs->next_probe_ns;
	u16 idx;

	if (now_ns < c->evs->next_probe_ns || !mrc_evset_probe_next(c->evs, now_ns, &idx)) {
		c->ctl.verify_owed = false;
		if (!verify || mrc_tx_waiting(c) ||
		    !mrc_evset_verify_next(c->evs, &c->rot, now_ns, &idx))
			return false;
	}
	mrc_ctl_probe(c, op, idx, now_ns);
	mrc_ctl_leave_by(c, op, idx);
	return true;
}

/* It asks about data, so it takes a path of data. */
static mrc_noinline bool mrc_ctl_tail_probe(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op)
{
	u16 idx = mrc_rot_pick(&c->rot, c->evs, MRC_NONE16);

	if (idx == MRC_NONE16) {
		c->stats.no_path++;
		return false;
	}
	c->pto.id = (u16)(MRC_PROBE_ID_TAIL | ((c->pto.id + 1) & 0xfff));
	c->pto.sent[c->pto.id % MRC_TAIL_PROBES] = mrc_tick(now_ns);
	c->pto.out |= (u16)(1u << c->pto.id % MRC_TAIL_PROBES);
	c->pto.owed = false;
	mrc_credit_spend(c->evs);
	mrc_ctl_probe(c, op, c->pto.id, now_ns);
	mrc_ctl_leave_by(c, op, idx);
	return true;
}

/* A NACK, an ACK or a SACK, in this order; a NAK before all of them. */
static mrc_noinline bool mrc_ctl_answer(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op, bool nak)
{
	u16 idx = mrc_rot_pick_ack(&c->rot, c->evs, now_ns, c->ctl.nack_n || nak);

	if (idx == MRC_NONE16) {
		c->stats.no_path++;
		/* No path for a NACK: a probe may find one. */
		return !nak && c->ctl.nack_n && mrc_ctl_ev_probe(c, now_ns, op);
	}
	/* An answer to the peer's verification asks for none of ours: that would never end. */
	if (c->ctl.nack_n && !nak) {
		mrc_ctl_nack(c, now_ns, op);
		c->ctl.verify_owed = true;
	} else if (c->ctl.ack_owed) {
		c->ctl.verify_owed |= !c->ctl.ack_again;
		mrc_ctl_ack(c, op);
	} else {
		mrc_ctl_sack(c, now_ns, op);
		c->ctl.verify_owed |= !op->hdr.u.sack.pr ||
				      op->hdr.u.sack.probe_id >= MRC_PROBE_ID_EV_END;
	}
	mrc_ctl_leave_by(c, op, idx);
	return true;
}

static mrc_inline bool mrc_ctl_rest(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op, bool nak)
{
	if (c->ctl.nack_n || c->ctl.ack_owed || c->ctl.sack_n)
		return mrc_ctl_answer(c, now_ns, op, nak);
	return c->pto.owed && mrc_ctl_tail_probe(c, now_ns, op);
}

static mrc_noinline bool mrc_ctl_probe_or_rest(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op)
{
	return mrc_ctl_ev_probe(c, now_ns, op) || mrc_ctl_rest(c, now_ns, op, false);
}

/* Something is refused, or the QP failed: then it says one thing only, why it refused. */
static mrc_noinline bool mrc_ctl_next_refused(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op)
{
	bool nak = c->ctl.ack_owed && mrc_nak_due(c);

	if (!c->rx_ready || (c->fail && !nak))
		return false;
	if (!nak && !c->ctl.nack_n && mrc_ctl_ev_probe_due(c, now_ns))
		return mrc_ctl_probe_or_rest(c, now_ns, op);
	return mrc_ctl_rest(c, now_ns, op, nak);
}

bool mrc_ctl_next(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op)
{
	if (unlikely(!c->rx_ready || c->fail || c->rcv.nak != MRC_NAK_NONE))
		return mrc_ctl_next_refused(c, now_ns, op);
	if (!c->ctl.nack_n && unlikely(mrc_ctl_ev_probe_due(c, now_ns)))
		return mrc_ctl_probe_or_rest(c, now_ns, op);
	return mrc_ctl_rest(c, now_ns, op, false);
}

/* A NACK goes back to the head of the queue, as it was but for its age. */
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
 * A control packet that could not leave is as good as lost, and the protocol copes with
 * lost ones. Those without which the peer would blame a path or wait are owed again.
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
