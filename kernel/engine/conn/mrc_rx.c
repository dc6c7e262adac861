// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_rx.c - received data packets: classifies each, and decides what it makes deliverable.
 *
 * MRC 1.0 sections 2.1-2.3 (6.3.1, 7.5). Called by mrc_conn.c. Nothing in the packet is trusted: a
 * packet that cannot belong to a valid message is refused for good (NAK). Payload is placed out of
 * order, except in strict mode (mrc_defer.c). Completions of receives, and READs and ATOMICs of the
 * peer, wait for the left edge of the receive window (mrc_rcv.c).
 */
#include "stream/mrc_rcv.h"

/* ---- classification ---- */

/* Does receive @idx lie beyond the table of receives, so that the message must wait? */
static bool mrc_rx_rq_beyond(const struct mrc_conn *c, u32 idx)
{
	return idx - c->rcv.rq_next >= c->cfg.rq_max;
}

/*
 * The receive index that METH.rqmsn names. False if the peer may not use it: it exceeds the peer's limit
 * (wimm), or @p is a second last packet of the same message.
 */
static bool mrc_rx_rq_index(const struct mrc_conn *c, const struct mrc_pkt *p, u32 *idx)
{
	u16 ahead = (u16)(p->rqmsn - (u16)c->rcv.rq_next);

	*idx = c->rcv.rq_next + ahead;
	return ahead < c->rx.wimm && !(mrc_opc_is_last(p->opcode) && !mrc_rx_rq_beyond(c, *idx) &&
				       c->rcv.rq[*idx & (c->cfg.rq_max - 1u)].used);
}

/*
 * NACK NO_PKT_BUFFER: no room for data that must wait for the left edge. Also for a request without a
 * slot: the peer respects rd_atomic, so a slot is free a round trip later, and NO_RESOURCE would
 * count against the peer's rnr_retry.
 */
static mrc_noinline enum mrc_verdict
mrc_rx_busy(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns)
{
	c->stats.rx_no_slot++;
	mrc_ctl_owe_nack(c, p, MRC_NACK_NO_PKT_BUFFER, now_ns);
	return MRC_V_DROP;
}

static mrc_noinline enum mrc_verdict
mrc_rx_deny(struct mrc_conn *c, const struct mrc_pkt *p, enum mrc_nak why)
{
	mrc_rcv_refuse(c, p->psn, why);
	return MRC_V_DROP;
}

/* No receive is posted for it. */
static mrc_noinline enum mrc_verdict
mrc_rx_rnr(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns)
{
	if (c->rx.mrc_only)	/* no RNR in MRC 1.0: an error (2.1) */
		return mrc_rx_deny(c, p, MRC_NAK_REM_OP);
	c->stats.rx_rnr++;
	mrc_ctl_owe_nack(c, p, MRC_NACK_NO_RESOURCE, now_ns);
	return MRC_V_DROP;
}

static enum mrc_verdict mrc_rx_invalid(struct mrc_conn *c, const struct mrc_pkt *p)
{
	return mrc_rx_deny(c, p, MRC_NAK_INV_REQ);
}

/* Does the range wrap around the end of the address space, as no memory region does? */
static bool mrc_rx_wraps(u64 va, u32 len)
{
	return unlikely(va >= ~(u64)len) && len && va + (len - 1) < va;
}

/*
 * The last or only packet of a WRITE. @is: MRC_OPF_* of its opcode. Its length must be exactly the rest of
 * dmalen: a shorter packet would leave stale bytes in a message that completes.
 */
static mrc_noinline enum mrc_verdict
mrc_rx_write_end(struct mrc_conn *c, const struct mrc_pkt *p, u32 is, u64 now_ns,
		 struct mrc_rxop *op)
{
	u32 mtu = c->rx.mtu, len = is & MRC_OPF_FIRST ? p->dmalen : (p->dmalen - 1) % mtu + 1;

	op->plain = false;
	if (p->payload_len != len || len > mtu || (!(is & MRC_OPF_FIRST) && p->dmalen <= mtu))
		return mrc_rx_invalid(c, p);
	if (mrc_rx_wraps(p->va, p->payload_len))
		return mrc_rx_deny(c, p, MRC_NAK_REM_ACCESS);
	if (is & MRC_OPF_IMM) {
		if (!mrc_rx_rq_index(c, p, &op->rq_idx))
			return mrc_rx_invalid(c, p);
		if (mrc_rx_rq_beyond(c, op->rq_idx))
			return mrc_rx_rnr(c, p, now_ns);
		op->needs_rq = true;
	}
	/*
	 * The last bytes of a WRITE must become visible last, because verbs programs poll them. A message of
	 * one packet needs no slot. QPs of the mrc.h API promise no order of bytes, and their peers may have
	 * more WRITEs in flight than there are slots.
	 */
	if (!(is & MRC_OPF_FIRST) && !c->rx.strict && !c->rx.mrc_only && p->payload_len &&
	    mrc_psn_diff(p->psn, c->rcv.cack) != 1) {
		op->tail = mrc_tail_slot(c);
		if (op->tail < 0)
			return mrc_rx_busy(c, p, now_ns);
	}
	return MRC_V_PLACE;
}

/*
 * A packet of a WRITE. va cannot be checked against the message, since the packet does not carry the
 * message's start; the memory region limits the access.
 */
static mrc_inline enum mrc_verdict
mrc_rx_write(struct mrc_conn *c, const struct mrc_pkt *p, u32 is, u64 now_ns, struct mrc_rxop *op)
{
	u32 mtu = c->rx.mtu;

	op->place = MRC_PLACE_WRITE;
	if (unlikely(is & MRC_OPF_LAST))
		return mrc_rx_write_end(c, p, is, now_ns, op);
	if (unlikely(p->payload_len != mtu || p->dmalen <= (is & MRC_OPF_FIRST ? mtu : 2 * mtu)))
		return mrc_rx_invalid(c, p);
	if (mrc_rx_wraps(p->va, p->payload_len))
		return mrc_rx_deny(c, p, MRC_NAK_REM_ACCESS);
	return MRC_V_PLACE;
}

/* The packets of a SEND must cover all of it, or the receive buffer would keep stale bytes. */
static bool mrc_rx_send_fits(const struct mrc_conn *c, const struct mrc_pkt *p)
{
	if (p->va > p->dmalen || p->payload_len > p->dmalen - p->va)
		return false;
	if (mrc_opc_is_first(p->opcode) != !p->va || (u32)p->va % c->rx.mtu)
		return false;
	if (!mrc_opc_is_last(p->opcode))
		return p->payload_len == c->rx.mtu && p->dmalen - p->va > c->rx.mtu;
	return p->va + p->payload_len == p->dmalen && (p->payload_len || !p->va);
}

static struct mrc_rq_rec *mrc_rx_rq(struct mrc_conn *c, u32 idx)
{
	return &c->rcv.rq[idx & (c->cfg.rq_max - 1u)];
}

/* PSN of the last packet of this SEND. All packets except the last have MTU size. */
static u32 mrc_rx_send_end(const struct mrc_conn *c, const struct mrc_pkt *p)
{
	u32 left = p->dmalen - (u32)p->va - p->payload_len;

	return mrc_psn_add(p->psn, (s32)((left + c->rx.mtu - 1) / c->rx.mtu));
}

/* All packets of a SEND must agree on its end and length, so no part has two PSNs. */
static bool mrc_rx_send_agrees(struct mrc_conn *c, const struct mrc_pkt *p, u32 idx)
{
	const struct mrc_rq_rec *q = mrc_rx_rq(c, idx);

	return !(q->pieces || q->used) ||
	       (q->len == p->dmalen && q->psn_last == mrc_rx_send_end(c, p));
}

static enum mrc_verdict mrc_rx_send(struct mrc_conn *c, const struct mrc_pkt *p,
				    u64 now_ns, struct mrc_rxop *op)
{
	op->place = MRC_PLACE_RECV;
	if (!mrc_rx_send_fits(c, p) || !mrc_rx_rq_index(c, p, &op->rq_idx))
		return mrc_rx_invalid(c, p);
	if (mrc_rx_rq_beyond(c, op->rq_idx))
		return mrc_rx_rnr(c, p, now_ns);
	if (!mrc_rx_send_agrees(c, p, op->rq_idx))
		return mrc_rx_invalid(c, p);
	op->off = (u32)p->va;
	op->needs_rq = true;
	return MRC_V_PLACE;
}

/*
 * A response without a matching request. Its PSN can never be accepted, so the peer's stream is stuck.
 * NACK UNEXP_EVENT fails the peer's QP at once.
 */
static enum mrc_verdict mrc_rx_bad_resp(struct mrc_conn *c, const struct mrc_pkt *p,
					u64 now_ns)
{
	c->stats.rx_bad_resp++;
	mrc_ctl_owe_nack(c, p, MRC_NACK_UNEXP_EVENT, now_ns);
	return MRC_V_DROP;
}

/*
 * READ RESPONSE or ATOMIC ACK: METH.msn names our request. Placed at once even in strict mode, because
 * the program may not use the buffer before the request completes.
 */
static enum mrc_verdict mrc_rx_response(struct mrc_conn *c, const struct mrc_pkt *p,
					u64 now_ns, struct mrc_rxop *op)
{
	struct mrc_msg *m = mrc_msg_find_request(c, p->msn);
	bool atomic = p->opcode == MRC_OPC_ATOMIC_ACK;
	u32 first;

	if (!m || atomic != (m->op != MRC_OP_READ))
		return mrc_rx_bad_resp(c, p, now_ns);
	op->place = MRC_PLACE_RESP;
	op->hold = false;
	op->cookie = m->cookie;
	if (atomic) {
		op->atomic_orig = p->swap_add;
		return MRC_V_PLACE;
	}
	/* Only a whole response may be empty: beyond its end, an empty packet would count as a missing one. */
	if (p->va > m->len || (p->va && p->va == m->len) || (u32)p->va % c->rx.mtu ||
	    p->payload_len != min_t(u64, c->rx.mtu, m->len - p->va))
		return mrc_rx_bad_resp(c, p, now_ns);
	/* One PSN per part of the response: a part with two PSNs would count twice. */
	first = mrc_psn_add(p->psn, -(s32)((u32)p->va / c->rx.mtu));
	if (m->resp_seen && m->resp_psn != first)
		return mrc_rx_bad_resp(c, p, now_ns);
	op->off = (u32)p->va;
	return MRC_V_PLACE;
}

static enum mrc_verdict mrc_rx_request(struct mrc_conn *c, const struct mrc_pkt *p,
				       u64 now_ns, struct mrc_rxop *op)
{
	op->place = MRC_PLACE_NONE;
	op->hold = false;
	if (!c->rx.rd_atomic || p->dmalen > 0x80000000u ||
	    (p->opcode != MRC_OPC_READ_REQ && (p->va & 7 || p->dmalen != 8)))
		return mrc_rx_invalid(c, p);
	if (mrc_rx_wraps(p->va, p->dmalen))
		return mrc_rx_deny(c, p, MRC_NAK_REM_ACCESS);
	if (!mrc_exec_admit(c, &op->slot, now_ns))
		return mrc_rx_busy(c, p, now_ns);
	return MRC_V_PLACE;
}

/* Operations beyond MRC 1.0: SEND, READ, ATOMIC and responses. */
static mrc_noinline enum mrc_verdict
mrc_rx_extension(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns, struct mrc_rxop *op)
{
	op->plain = false;
	op->cookie = 0;
	op->slot = 0;
	if (c->rx.mrc_only || p->payload_len > c->rx.mtu)
		return mrc_rx_invalid(c, p);
	if (mrc_opc_is_send(p->opcode))
		return mrc_rx_send(c, p, now_ns, op);
	if (mrc_opc_is_read_resp(p->opcode) || p->opcode == MRC_OPC_ATOMIC_ACK)
		return mrc_rx_response(c, p, now_ns, op);
	return mrc_rx_request(c, p, now_ns, op);
}

/* ---- the acceptance rules of section 2.3 ---- */

/*
 * Beyond the window. Within the window of RTR, which may exceed the bitmap, the peer does nothing wrong:
 * NACK NO_BITMAP makes it retransmit later. Beyond that the packet is stray or the peer violates the
 * window: drop it, or answer with PSN_OOR_WINDOW if rx.oor_nack is set.
 */
static mrc_noinline enum mrc_verdict
mrc_rx_beyond(struct mrc_conn *c, const struct mrc_pkt *p, s32 ahead, u64 now_ns)
{
	if (ahead >= 0 && ahead < (s32)c->rcv.agreed) {
		c->stats.rx_no_bitmap++;
		mrc_ctl_owe_nack(c, p, MRC_NACK_NO_BITMAP, now_ns);
		return MRC_V_DROP;
	}
	c->stats.rx_oor++;
	if (c->rx.oor_nack)
		mrc_ctl_owe_nack(c, p, MRC_NACK_PSN_OOR_WINDOW, now_ns);
	return MRC_V_DROP;
}

/* A duplicate, trimmed or not: answer with a SACK; below the left edge also with an ACK. */
static mrc_noinline enum mrc_verdict
mrc_rx_again(struct mrc_conn *c, const struct mrc_pkt *p, s32 ahead, u64 now_ns)
{
	if (ahead < 1 - (1 << 23))	/* exactly half of the PSN space away: neither old nor new */
		return mrc_rx_beyond(c, p, ahead, now_ns);
	c->stats.rx_dup++;
	c->arrivals.doubt |= p->rtx && c->evs;
	if (ahead < 0 || mrc_nak_due(c))
		c->ctl.ack_owed = true;
	mrc_sack_owe(c, p, true, now_ns);
	return MRC_V_DONE;
}

/* A switch has trimmed it; only BTH, METH and TSETH are left. */
static mrc_noinline enum mrc_verdict
mrc_rx_trimmed(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns)
{
	c->stats.rx_trimmed++;
	if (p->trimmed == MRC_NACK_TRIMMED_LASTHOP && c->rcv.note.trims != 0xffff)
		c->rcv.note.trims++;
	if (c->rx.no_trim_nack) {
		c->stats.rx_trim_dropped++;
		return MRC_V_DROP;
	}
	mrc_ctl_owe_nack(c, p, (enum mrc_nack)p->trimmed, now_ns);
	return MRC_V_DONE;
}

/* A packet at or after the PSN that was refused with a NAK. */
static mrc_noinline enum mrc_verdict mrc_rx_after_nak(struct mrc_conn *c)
{
	c->stats.rx_after_nak++;
	if (mrc_nak_due(c))
		c->ctl.ack_owed = true;	/* the NAK was lost: repeat it */
	return MRC_V_DROP;
}

/* Rare cases are tail calls, so that no registers need to be saved for them. */
enum mrc_verdict mrc_rx_data(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns,
			     struct mrc_rxop *op)
{
	s32 ahead = mrc_psn_diff(p->psn, c->rcv.cack + 1);
	u32 is = mrc_opc_table[p->opcode].flags;

	if (unlikely((u32)ahead >= c->rcv.window))
		return ahead < 0 ? mrc_rx_again(c, p, ahead, now_ns) :
				   mrc_rx_beyond(c, p, ahead, now_ns);
	if (c->rcv.held && mrc_rcv_has(c, p->psn))
		return mrc_rx_again(c, p, ahead, now_ns);
	if (unlikely(c->rcv.nak != MRC_NAK_NONE) && mrc_psn_diff(p->psn, c->rcv.nak_psn) >= 0)
		return mrc_rx_after_nak(c);
	if (unlikely(p->trimmed))
		return mrc_rx_trimmed(c, p, now_ns);
	op->pkt = p;
	op->psn = p->psn;
	op->va = p->va;
	op->rkey = p->rkey;
	op->off = 0;
	op->len = p->payload_len;
	op->msg_len = p->dmalen;
	op->rq_idx = 0;
	op->needs_rq = false;
	op->tail = -1;
	op->atomic_orig = 0;
	op->hold = unlikely(c->rx.strict) && ahead > 0;
	op->plain = !ahead && !c->rcv.held && c->rcv.nak == MRC_NAK_NONE;
	if (likely(is & MRC_OPF_WRITE))
		return mrc_rx_write(c, p, is, now_ns, op);
	return mrc_rx_extension(c, p, now_ns, op);
}

/* ---- commit ---- */

static u8 mrc_rx_rq_op(u8 opcode)
{
	switch (opcode) {
	case MRC_OPC_WRITE_LAST_IMM:
	case MRC_OPC_WRITE_ONLY_IMM:
		return MRC_OP_WRITE_IMM;
	case MRC_OPC_SEND_LAST_IMM:
	case MRC_OPC_SEND_ONLY_IMM:
		return MRC_OP_SEND_IMM;
	case MRC_OPC_SEND_LAST_INV:
	case MRC_OPC_SEND_ONLY_INV:
		return MRC_OP_SEND_INV;
	default:
		return MRC_OP_SEND;
	}
}

static void mrc_rx_commit_rq(struct mrc_conn *c, const struct mrc_rxop *op)
{
	struct mrc_rq_rec *q = mrc_rx_rq(c, op->rq_idx);

	q->len = op->msg_len;
	if (op->place == MRC_PLACE_RECV) {
		q->psn_last = mrc_rx_send_end(c, op->pkt);
		q->pieces++;
	}
	if (!mrc_opc_is_last(op->pkt->opcode))
		return;
	q->used = true;
	c->rcv.rq_used++;
	q->op = mrc_rx_rq_op(op->pkt->opcode) & 31u;
	q->solicited = op->pkt->se || c->rx.mrc_only;	/* MRC 1.0 packets have no SE bit */
	q->psn_last = op->psn;
	q->imm = op->pkt->imm;
}

static void mrc_rx_commit_resp(struct mrc_conn *c, const struct mrc_rxop *op, u64 now_ns)
{
	struct mrc_msg *m = mrc_msg_find_request(c, op->pkt->msn);

	if (mrc_assert(m))
		return;
	if (!m->resp_seen)
		mrc_ack_answered(c, m->psn, now_ns);
	m->resp_seen = true;
	m->resp_psn = mrc_psn_add(op->psn, -(s32)(op->off / c->rx.mtu));
	mrc_msg_resp_arrived(c, m, now_ns);
}

/*
 * Fast path: the packet is in order, none is held, and no NAK is pending. If the packet needs no special
 * treatment either (mrc_rcv_notable()), only the left edge moves.
 */
void mrc_rx_commit_plain(struct mrc_conn *c, const struct mrc_rxop *op, u64 now_ns)
{
	if (unlikely(c->rx.dyn_mpr || mrc_rcv_notable(c, op->pkt))) {
		mrc_rx_commit(c, op, now_ns);
		return;
	}
	mrc_rcv_count(c, op);
	c->rcv.cack = op->psn;
	c->rcv.max = op->psn;
	if (mrc_rcv_sack_due(c, op->pkt))
		mrc_sack_owe(c, op->pkt, false, now_ns);
}

void mrc_rx_commit(struct mrc_conn *c, const struct mrc_rxop *op, u64 now_ns)
{
	const struct mrc_pkt *p = op->pkt;
	bool asks;

	mrc_rcv_count(c, op);
	if (op->needs_rq)
		mrc_rx_commit_rq(c, op);
	if (op->hold)
		mrc_hold_keep(c, op->psn);
	if (op->tail >= 0)
		mrc_tail_keep(c, op);
	if (op->place == MRC_PLACE_NONE)
		mrc_exec_store(c, op->slot, p);
	else if (op->place == MRC_PLACE_RESP)
		mrc_rx_commit_resp(c, op, now_ns);
	mrc_rcv_mark(c, op);
	if (c->rx.dyn_mpr)
		mrc_mpr_update(c);
	asks = mrc_rcv_notable(c, p) && mrc_rcv_asks(c, p);
	if (mrc_rcv_sack_due(c, p) || asks)	/* in this order: mrc_rcv_sack_due() counts the packet */
		mrc_sack_owe(c, p, false, now_ns);
}

void mrc_rx_reject(struct mrc_conn *c, const struct mrc_rxop *op, const struct mrc_reject *why,
		   u64 now_ns)
{
	if (why->nak != MRC_NAK_NONE) {
		mrc_rcv_refuse(c, op->psn, why->nak);
	} else if (why->nack != MRC_NACK_NO_RESOURCE) {
		mrc_rx_busy(c, op->pkt, now_ns);
	} else {
		mrc_rx_rnr(c, op->pkt, now_ns);
	}
}

/* ---- completions of receives ---- */

/* Has every packet of a SEND arrived? A receive of a WRITE with immediate counts no packets of a SEND. */
static bool mrc_rx_is_whole(const struct mrc_conn *c, const struct mrc_rq_rec *q)
{
	return q->pieces == (q->op == MRC_OP_WRITE_IMM ? 0 : mrc_msg_pkts_of(c, q->len));
}

bool mrc_rx_complete_next(struct mrc_conn *c, struct mrc_cpl *cpl)
{
	struct mrc_rq_rec *q = mrc_rx_rq(c, c->rcv.rq_next);

	if (!q->used || mrc_psn_diff(q->psn_last, c->rcv.cack) > 0)
		return false;
	if (c->rcv.nak != MRC_NAK_NONE && mrc_psn_diff(q->psn_last, c->rcv.nak_psn) >= 0)
		return false;
	if (!mrc_rx_is_whole(c, q)) {
		mrc_rcv_refuse(c, q->psn_last, MRC_NAK_INV_REQ);
		return false;
	}
	memset(cpl, 0, sizeof(*cpl));
	cpl->kind = MRC_CPL_RECV;
	cpl->op = (enum mrc_op)q->op;
	cpl->rq_idx = c->rcv.rq_next++;
	cpl->len = q->len;
	cpl->imm = q->imm;
	cpl->solicited = q->solicited;
	q->used = false;
	q->pieces = 0;
	c->rcv.rq_used--;
	return true;
}
