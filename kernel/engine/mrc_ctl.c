// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_ctl.c - control packets owed to the peer: NACK, transport ACK or NAK,
 * SACK, probes and their answers.
 *
 * MRC 1.0 sections 1.7-1.11, 3.5, 4 (7.5.2). What is owed is remembered as small
 * records and built when a packet may leave, so that one packet says the
 * latest. Each leaves by an EV of the rotation; acknowledgements teach nothing about
 * their path, so while they flow one EV per round trip is verified by a probe.
 */
#include "mrc_conn.h"

enum mrc_undo_ctl { MRC_UNDO_ACK = 16, MRC_UNDO_SACK, MRC_UNDO_NACK, MRC_UNDO_PROBE,
		    MRC_UNDO_EV_PROBE };

void mrc_ctl_reset(struct mrc_conn *c)
{
	c->sack_n = 0;
	c->nack_n = 0;
	c->ack_owed = false;
	c->verify_owed = false;
}

/* ---- owing ---- */

static void mrc_ctl_push_sack(struct mrc_conn *c, const struct mrc_owed_sack *s)
{
	struct mrc_owed_sack *last = c->sack_n ? &c->sack_q[c->sack_n - 1] : NULL;

	/*
	 * A plain one replaces a plain one whose bitmap reaches nearly as far;
	 * marks (ECN) and probe answers each name an EV and stay.
	 */
	if (last && !last->pr && last->m == MRC_M_NONE && !s->pr && s->m == MRC_M_NONE) {
		s32 d = mrc_psn_diff(s->psn, last->psn);

		if (d > -32 && d < 32) {
			if (d > 0)
				*last = *s;
			return;
		}
	}
	if (c->sack_n < MRC_OWED_SACKS)
		c->sack_q[c->sack_n++] = *s;
	else if (s->pr || s->m != MRC_M_NONE)
		*last = *s;	/* a flood: the latest word counts */
}

void mrc_ctl_owe_sack(struct mrc_conn *c, const struct mrc_pkt *p)
{
	struct mrc_owed_sack s = { 0 };

	s.psn = p->psn;
	s.ev = p->ev;
	s.tx_ts = p->tx_ts;
	s.m = p->ecn_ce ? MRC_M_SKIP_ONCE : MRC_M_NONE;
	mrc_ctl_push_sack(c, &s);
}

void mrc_ctl_owe_probe_answer(struct mrc_conn *c, const struct mrc_pkt *p)
{
	struct mrc_owed_sack s = { 0 };

	s.pr = true;
	s.probe_id = p->u.probe.probe_id;
	s.ev = p->ev;
	s.tx_ts = p->u.probe.tx_ts;
	s.m = p->ecn_ce ? MRC_M_SKIP_ONCE : MRC_M_NONE;
	mrc_ctl_push_sack(c, &s);
	/* A probe also asks for the transport's word: an ACK may have been lost. */
	if (p->u.probe.probe_id >= MRC_PROBE_ID_EV_END)
		c->ack_owed = true;
	c->stats.probes_answered++;
}

void mrc_ctl_owe_nack(struct mrc_conn *c, const struct mrc_pkt *p, enum mrc_nack reason)
{
	struct mrc_owed_nack *n;

	if (c->nack_n == MRC_OWED_NACKS)
		return;		/* the packet is resent for lack of a SACK, later */
	n = &c->nack_q[c->nack_n++];
	n->psn = p->psn;
	n->ev = p->ev;
	n->tx_ts = p->tx_ts;
	n->reason = (u8)reason;
	n->vendor_info = reason == MRC_NACK_NO_RESOURCE ? c->rx.min_rnr_timer : 0;
}

/* ---- building ---- */

static void mrc_ctl_head(const struct mrc_conn *c, struct mrc_txop *op, u8 opcode, u32 psn)
{
	op->hdr.opcode = opcode;
	op->hdr.pkey = 0xffff;
	op->hdr.dqpn = c->rx.dqpn;
	op->hdr.psn = psn;
	op->tclass = MRC_TC_CONTROL;
	op->src = MRC_SRC_NONE;
}

static void mrc_ctl_nack(struct mrc_conn *c, struct mrc_txop *op)
{
	const struct mrc_owed_nack *o = &c->nack_q[--c->nack_n];
	struct mrc_nack_hdr *n = &op->hdr.u.nack;

	mrc_ctl_head(c, op, MRC_OPC_NACK, o->psn);
	op->undo.kind = MRC_UNDO_NACK;
	n->reason = o->reason;
	n->vendor_info = o->vendor_info;
	n->ev = o->ev;
	n->spdcid = (u16)c->rx.sqpn;
	n->dpdcid = (u16)c->rx.dqpn;
	n->psn = o->psn;
	n->cc_type = MRC_CC_TYPE_NACK;
	n->tx_ts = o->tx_ts;
	c->stats.nacks_sent++;
}

static void mrc_ctl_ack(struct mrc_conn *c, struct mrc_txop *op)
{
	c->ack_owed = false;
	op->undo.kind = MRC_UNDO_ACK;
	if (mrc_rx_nak_due(c)) {
		mrc_ctl_head(c, op, MRC_OPC_ACK, c->nak_psn);
		op->hdr.u.aeth.syndrome = (u8)(MRC_AETH_NAK | c->nak);
		c->nak_sent = true;
	} else {
		mrc_ctl_head(c, op, MRC_OPC_ACK, mrc_rx_ack_edge(c));
		op->hdr.u.aeth.syndrome = MRC_AETH_CREDIT_NONE;
	}
	op->hdr.u.aeth.msn = c->done_msn;
	c->stats.acks_sent++;
}

static void mrc_ctl_sack(struct mrc_conn *c, struct mrc_txop *op)
{
	struct mrc_owed_sack o = c->sack_q[0];
	struct mrc_sack *s = &op->hdr.u.sack;
	u32 first = mrc_psn_add(c->rx_cack, 1), base = first;

	c->sack_n--;
	memmove(&c->sack_q[0], &c->sack_q[1], c->sack_n * sizeof(o));
	mrc_ctl_head(c, op, MRC_OPC_SACK, c->rx_cack);
	op->undo.kind = MRC_UNDO_SACK;
	if (!o.pr && mrc_psn_diff(o.psn, c->rx_cack) > 64)
		base = mrc_psn_add(o.psn, -63);
	s->m = o.m;
	s->pr = o.pr;
	if (o.pr)
		s->probe_id = o.probe_id;
	else
		s->ack_psn_offset = (s16)clamp_t(s32, mrc_psn_diff(o.psn, c->rx_cack),
						 -32768, 32767);
	s->ev = o.ev;
	s->spdcid = (u16)c->rx.sqpn;
	s->dpdcid = (u16)c->rx.dqpn;
	s->cack = c->rx_cack;
	s->cc_type = MRC_CC_TYPE_SACK;
	s->sack_offset = (s16)mrc_psn_diff(base, c->rx_cack);
	s->bitmap = mrc_rx_bitmap(c, base);
	s->tx_ts = o.tx_ts;
	s->ooo_count = (u16)min_t(u32, c->rx_held, 0x7fff);
	s->rcvd_bytes = ((c->rx_rcvd >> 8) + ((c->rx_rcvd & 255) != 0)) & 0xffffff;
	c->sack_pkts = 0;
	c->sack_bytes = 0;
	c->stats.sacks_sent++;
}

static void mrc_ctl_probe(struct mrc_conn *c, struct mrc_txop *op, u16 id)
{
	mrc_ctl_head(c, op, MRC_OPC_PROBE, 0);
	op->tclass = MRC_TC_DATA;	/* it must not overtake what it asks about (8) */
	op->hdr.u.probe.probe_id = id;
	op->hdr.u.probe.spdcid = (u16)c->rx.sqpn;
	op->hdr.u.probe.dpdcid = (u16)c->rx.dqpn;
	op->undo.kind = MRC_UNDO_PROBE;
	c->stats.probes_sent++;
}

static void mrc_ctl_tail_probe(struct mrc_conn *c, struct mrc_txop *op, u64 now_ns)
{
	c->probe_id = (u16)(MRC_PROBE_ID_TAIL | ((c->probe_id + 1) & 0xfff));
	c->probe_sent[c->probe_id % MRC_TAIL_PROBES] = mrc_tick(now_ns);
	c->probe_out |= (u16)(1u << c->probe_id % MRC_TAIL_PROBES);
	c->probe_owed = false;
	mrc_ctl_probe(c, op, c->probe_id);
}

static void mrc_ctl_leave_by(struct mrc_conn *c, struct mrc_txop *op, u16 idx)
{
	op->ev_idx = idx;
	op->hdr.ev = c->evs->ev[idx].value;
	op->hdr.plane = c->evs->ev[idx].plane;
	c->evs->ev[idx].tx_pkts++;
	c->stats.tx_ctrl_pkts++;
}

/* Probes that name their EV. */
static bool mrc_ctl_ev_probe(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op)
{
	u16 idx;

	if (mrc_evset_probe_next(c->evs, now_ns, &idx)) {
		mrc_ctl_probe(c, op, idx);
		mrc_ctl_leave_by(c, op, idx);
		return true;
	}
	if (!c->verify_owed)
		return false;
	c->verify_owed = false;
	if (mrc_tx_waiting(c))
		return false;	/* data of ours tests the paths */
	if (!mrc_evset_verify_next(c->evs, &c->rot, now_ns, &idx))
		return false;
	mrc_ctl_probe(c, op, idx);
	mrc_ctl_leave_by(c, op, idx);
	return true;
}

bool mrc_ctl_next(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op)
{
	bool nak = c->ack_owed && mrc_rx_nak_due(c);
	u16 idx;

	/* A failed QP says one thing only: why it refused. */
	if (!c->rx_ready || (c->fail && !nak))
		return false;
	if (!c->fail && mrc_ctl_ev_probe(c, now_ns, op))
		return true;
	if (!c->nack_n && !c->ack_owed && !c->sack_n && !c->probe_owed)
		return false;
	idx = mrc_rot_pick(&c->rot, c->evs, MRC_NONE16);
	if (idx == MRC_NONE16) {
		c->stats.no_path++;
		return false;
	}
	if (c->fail || nak)
		mrc_ctl_ack(c, op);
	else if (c->nack_n)
		mrc_ctl_nack(c, op);
	else if (c->ack_owed)
		mrc_ctl_ack(c, op);
	else if (c->sack_n)
		mrc_ctl_sack(c, op);
	else
		mrc_ctl_tail_probe(c, op, now_ns);
	c->verify_owed |= op->undo.kind != MRC_UNDO_PROBE;
	mrc_ctl_leave_by(c, op, idx);
	return true;
}

/*
 * A control packet that could not leave is as good as lost, and the protocol
 * copes with lost ones; only the transport ACK is cheap to owe again.
 */
void mrc_ctl_undo(struct mrc_conn *c, const struct mrc_txop *op)
{
	if (op->undo.kind == MRC_UNDO_ACK)
		c->ack_owed = true;
}
