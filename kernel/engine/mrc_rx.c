// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_rx.c - the receive stream: what to do with a data packet, and what has
 * become deliverable.
 *
 * MRC 1.0 sections 2.1-2.3 (6.3.1, 7.5). A ring bitmap remembers which PSNs in
 * (cack, cack + window] were committed; the left edge cack moves over them.
 * Placement is out of order unless strict (mrc_defer.c); completions of receives,
 * READs and ATOMICs of the peer wait for the left edge. A packet that must be refused for good (NAK) stops the stream
 * at its PSN: what precedes it still completes, what follows is dropped.
 */
#include "mrc_conn.h"

u32 mrc_rx_slot(const struct mrc_conn *c, u32 psn)
{
	return psn & c->rec_mask;	/* both rings have the same size */
}

static bool mrc_bit_test(const u64 *bits, u32 i)
{
	return bits[i >> 6] >> (i & 63) & 1;
}

static void mrc_bit_set(u64 *bits, u32 i)
{
	bits[i >> 6] |= 1ull << (i & 63);
}

static void mrc_bit_clear(u64 *bits, u32 i)
{
	bits[i >> 6] &= ~(1ull << (i & 63));
}

void mrc_rx_reset(struct mrc_conn *c)
{
	size_t bytes = (c->rec_mask + 1) / 8;

	c->rx_ready = false;
	memset(c->rx_bits, 0, bytes);
	memset(c->rx_last, 0, bytes);
	memset(c->rq, 0, c->cfg.rq_max * sizeof(*c->rq));
	if (c->rx_hold)
		memset(c->rx_hold, 0, bytes);
	memset(&c->rx_note, 0, sizeof(c->rx_note));
	mrc_exec_reset(c);
	mrc_tail_reset(c);
	c->rx_held = 0;
	c->rx_rcvd = 0;
	c->rx_ar = false;
	c->rx_pen = 0;
	c->rx_restore = false;
	/* The very first packet is answered: it gives the peer a round trip. */
	c->sack_pkts = 0xffff;
	c->sack_bytes = 0;
	c->sack_turn = false;
	c->rq_next = 0;
	c->rq_used = 0;
	c->nak = MRC_NAK_NONE;
	c->nak_sent = false;
	c->done_msn = 0;
}

/* Stop the stream at @psn for good. The lowest PSN refused is the one told, once. */
void mrc_rx_refuse(struct mrc_conn *c, u32 psn, enum mrc_nak why)
{
	if (c->nak != MRC_NAK_NONE && (c->nak_sent || mrc_psn_diff(psn, c->nak_psn) >= 0))
		return;
	c->nak = (u16)why;
	c->nak_psn = psn;
	if (why == MRC_NAK_REM_ACCESS)
		c->stats.naks_access++;
	else
		c->stats.naks_invalid++;
	if (mrc_rx_nak_due(c))
		c->ack_owed = true;
}

/*
 * All before the refused packet has landed and is answered: the NAK may go.
 * It ends the QP, and what precedes it must complete.
 */
bool mrc_rx_nak_ripe(const struct mrc_conn *c)
{
	return mrc_psn_diff(c->nak_psn, mrc_psn_add(c->rx_cack, 1)) <= 0 &&
	       !mrc_exec_pending(c, c->nak_psn);
}

/* ---- classification ---- */

/*
 * Receive index that METH.rqmsn names, or false when it is not in flight by
 * right. The last packet of a message may come before the others, but only one.
 */
static bool mrc_rx_rq_index(const struct mrc_conn *c, const struct mrc_pkt *p, u32 *idx)
{
	u16 ahead = (u16)(p->rqmsn - (u16)c->rq_next);

	*idx = c->rq_next + ahead;
	return ahead < c->rx.wimm && !(mrc_opc_is_last(p->opcode) &&
				       c->rq[*idx & (c->cfg.rq_max - 1u)].used);
}

/*
 * NACK NO_PKT_BUFFER: nowhere to keep what must wait for the left edge. Also for a
 * request without a slot: the peer keeps to rd_atomic, a slot is free a round trip
 * later, and NO_RESOURCE would count against its rnr_retry.
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
	mrc_rx_refuse(c, p->psn, why);
	return MRC_V_DROP;
}

static enum mrc_verdict mrc_rx_invalid(struct mrc_conn *c, const struct mrc_pkt *p)
{
	return mrc_rx_deny(c, p, MRC_NAK_INV_REQ);
}

/* No region of memory goes around the end of the address space. */
static bool mrc_rx_wraps(u64 va, u32 len)
{
	return len && va + (len - 1) < va;
}

/*
 * As long as its place in a message of dmalen bytes makes it: what is shorter would
 * leave stale bytes in a message that completes whole. Its va cannot be judged, the
 * message's begin is not in the packet.
 */
static bool mrc_rx_write_fits(const struct mrc_conn *c, const struct mrc_pkt *p, u32 is)
{
	u32 mtu = c->rx.mtu;

	if (is & MRC_OPF_LAST) {
		if (is & MRC_OPF_FIRST)
			return p->payload_len == p->dmalen;
		return p->dmalen > mtu && p->payload_len == (p->dmalen - 1) % mtu + 1;
	}
	return p->payload_len == mtu && p->dmalen > (is & MRC_OPF_FIRST ? mtu : 2 * mtu);
}

/* @is: what its opcode is and carries. */
static enum mrc_verdict mrc_rx_write(struct mrc_conn *c, const struct mrc_pkt *p, u32 is,
				     u64 now_ns, struct mrc_rxop *op)
{
	op->place = MRC_PLACE_WRITE;
	if (!mrc_rx_write_fits(c, p, is))
		return mrc_rx_invalid(c, p);
	if (mrc_rx_wraps(p->va, p->payload_len))
		return mrc_rx_deny(c, p, MRC_NAK_REM_ACCESS);
	if (is & MRC_OPF_IMM) {
		if (!mrc_rx_rq_index(c, p, &op->rq_idx))
			return mrc_rx_invalid(c, p);
		op->needs_rq = true;
	}
	/*
	 * The last bytes of a WRITE become visible last: programs poll them.
	 * A message of one packet is its own guard.
	 */
	if (is & MRC_OPF_LAST && !(is & MRC_OPF_FIRST) && !c->rx.strict &&
	    p->payload_len && mrc_psn_diff(p->psn, c->rx_cack) != 1) {
		op->tail = mrc_tail_slot(c);
		if (op->tail < 0)
			return mrc_rx_busy(c, p, now_ns);
	}
	return MRC_V_PLACE;
}

/* The packets of a SEND must cover it whole, or bytes of the receive would be stale. */
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
	return &c->rq[idx & (c->cfg.rq_max - 1u)];
}

/* Where the SEND of this piece ends. Pieces but the last are full. */
static u32 mrc_rx_send_end(const struct mrc_conn *c, const struct mrc_pkt *p)
{
	u32 left = p->dmalen - (u32)p->va - p->payload_len;

	return mrc_psn_add(p->psn, (s32)((left + c->rx.mtu - 1) / c->rx.mtu));
}

/* All pieces of one SEND agree on its end and length, so none comes under two PSNs. */
static bool mrc_rx_send_agrees(struct mrc_conn *c, const struct mrc_pkt *p, u32 idx)
{
	const struct mrc_rq_rec *q = mrc_rx_rq(c, idx);

	return !(q->pieces || q->used) ||
	       (q->len == p->dmalen && q->psn_last == mrc_rx_send_end(c, p));
}

static enum mrc_verdict mrc_rx_send(struct mrc_conn *c, const struct mrc_pkt *p,
				    struct mrc_rxop *op)
{
	op->place = MRC_PLACE_RECV;
	if (!mrc_rx_send_fits(c, p) || !mrc_rx_rq_index(c, p, &op->rq_idx) ||
	    !mrc_rx_send_agrees(c, p, op->rq_idx))
		return mrc_rx_invalid(c, p);
	op->off = (u32)p->va;
	op->needs_rq = true;
	return MRC_V_PLACE;
}

/*
 * An answer to nothing that was asked. Its PSN can never be taken in, so the peer's
 * stream is stuck for good: NACK UNEXP_EVENT, fatal to its QP, says so at once.
 */
static enum mrc_verdict mrc_rx_bad_resp(struct mrc_conn *c, const struct mrc_pkt *p,
					u64 now_ns)
{
	c->stats.rx_bad_resp++;
	mrc_ctl_owe_nack(c, p, MRC_NACK_UNEXP_EVENT, now_ns);
	return MRC_V_DROP;
}

/*
 * READ RESPONSE or ATOMIC ACK: METH.msn names our request. Never held: the buffer
 * is the engine's until the request completes.
 */
static enum mrc_verdict mrc_rx_response(struct mrc_conn *c, const struct mrc_pkt *p,
					u64 now_ns, struct mrc_rxop *op)
{
	struct mrc_msg *m = mrc_tx_find_request(c, p->msn);
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
	if (p->va > m->len || (u32)p->va % c->rx.mtu ||
	    p->payload_len != min_t(u64, c->rx.mtu, m->len - p->va))
		return mrc_rx_bad_resp(c, p, now_ns);
	/* One PSN per piece: the same piece under two PSNs would count twice. */
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
	if (!mrc_exec_admit(c, p->psn, now_ns, &op->slot))
		return mrc_rx_busy(c, p, now_ns);
	return MRC_V_PLACE;
}

/* What MRC 1.0 does not have. */
static mrc_noinline enum mrc_verdict
mrc_rx_extension(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns, struct mrc_rxop *op)
{
	if (c->rx.mrc_only)
		return mrc_rx_invalid(c, p);
	if (mrc_opc_is_send(p->opcode))
		return mrc_rx_send(c, p, op);
	if (mrc_opc_is_read_resp(p->opcode) || p->opcode == MRC_OPC_ATOMIC_ACK)
		return mrc_rx_response(c, p, now_ns, op);
	return mrc_rx_request(c, p, now_ns, op);
}

static enum mrc_verdict mrc_rx_by_opcode(struct mrc_conn *c, const struct mrc_pkt *p,
					 u64 now_ns, struct mrc_rxop *op)
{
	u32 is = mrc_opc_table[p->opcode].flags;

	if (p->payload_len > c->rx.mtu)
		return mrc_rx_invalid(c, p);
	if (likely(is & MRC_OPF_WRITE))
		return mrc_rx_write(c, p, is, now_ns, op);
	return mrc_rx_extension(c, p, now_ns, op);
}

/* ---- the acceptance rules of section 2.3 ---- */

/*
 * Not in the window. NACK NO_BITMAP: the peer keeps to what was agreed at RTR, which
 * is more than our bitmap; it must try again later. Beyond that it breaks its word,
 * or the packet is a stray: dropped, or PSN_OOR_WINDOW where that is wanted.
 */
static mrc_noinline enum mrc_verdict
mrc_rx_beyond(struct mrc_conn *c, const struct mrc_pkt *p, s32 ahead, u64 now_ns)
{
	if (ahead >= 0 && ahead < (s32)c->rx_agreed) {
		c->stats.rx_no_bitmap++;
		mrc_ctl_owe_nack(c, p, MRC_NACK_NO_BITMAP, now_ns);
		return MRC_V_DROP;
	}
	c->stats.rx_oor++;
	if (c->rx.oor_nack)
		mrc_ctl_owe_nack(c, p, MRC_NACK_PSN_OOR_WINDOW, now_ns);
	return MRC_V_DROP;
}

/* Already here, even when this copy was trimmed: SACK; below the left edge also ACK. */
static mrc_noinline enum mrc_verdict
mrc_rx_again(struct mrc_conn *c, const struct mrc_pkt *p, s32 ahead, u64 now_ns)
{
	if (ahead < 1 - (1 << 23))	/* half of all PSNs away: neither before nor after */
		return mrc_rx_beyond(c, p, ahead, now_ns);
	c->stats.rx_dup++;
	if (p->rtx && c->evs)
		mrc_evset_doubt(c->evs);
	if (ahead < 0 || mrc_rx_nak_due(c))
		c->ack_owed = true;
	mrc_ctl_owe_sack(c, p, now_ns);
	return MRC_V_DONE;
}

/* Trimmed by a switch; only BTH, METH and TSETH are there. */
static mrc_noinline enum mrc_verdict
mrc_rx_trimmed(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns)
{
	c->stats.rx_trimmed++;
	if (p->trimmed == MRC_NACK_TRIMMED_LASTHOP && c->rx_note.trims != 0xffff)
		c->rx_note.trims++;
	if (c->rx.no_trim_nack) {
		c->stats.rx_trim_dropped++;
		return MRC_V_DROP;
	}
	mrc_ctl_owe_nack(c, p, (enum mrc_nack)p->trimmed, now_ns);
	return MRC_V_DONE;
}

enum mrc_verdict mrc_rx_data(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns,
			     struct mrc_rxop *op)
{
	s32 ahead = mrc_psn_diff(p->psn, mrc_psn_add(c->rx_cack, 1));

	if (ahead >= (s32)c->rx_window)
		return mrc_rx_beyond(c, p, ahead, now_ns);
	if (ahead < 0 || mrc_bit_test(c->rx_bits, mrc_rx_slot(c, p->psn)))
		return mrc_rx_again(c, p, ahead, now_ns);
	if (c->nak != MRC_NAK_NONE && mrc_psn_diff(p->psn, c->nak_psn) >= 0) {
		c->stats.rx_after_nak++;
		if (mrc_rx_nak_due(c))
			c->ack_owed = true;	/* the NAK was lost: again */
		return MRC_V_DROP;
	}
	if (p->trimmed)
		return mrc_rx_trimmed(c, p, now_ns);
	memset(op, 0, sizeof(*op));
	op->pkt = p;
	op->psn = p->psn;
	op->va = p->va;
	op->rkey = p->rkey;
	op->len = p->payload_len;
	op->msg_len = p->dmalen;
	op->tail = -1;
	op->hold = c->rx.strict && ahead > 0;
	return mrc_rx_by_opcode(c, p, now_ns, op);
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
	c->rq_used++;
	q->op = mrc_rx_rq_op(op->pkt->opcode) & 31u;
	q->solicited = op->pkt->se;
	q->psn_last = op->psn;
	q->imm = op->pkt->imm;
}

static void mrc_rx_commit_resp(struct mrc_conn *c, const struct mrc_rxop *op, u64 now_ns)
{
	struct mrc_msg *m = mrc_tx_find_request(c, op->pkt->msn);

	if (mrc_assert(m))
		return;
	m->resp_seen = true;
	m->resp_psn = mrc_psn_add(op->psn, -(s32)(op->off / c->rx.mtu));
	mrc_tx_resp_arrived(c, m, now_ns);
}

/* The left edge moves over the next packet; a message's end owes a transport ACK. */
static void mrc_rx_pass(struct mrc_conn *c, bool last)
{
	c->rx_cack = mrc_psn_add(c->rx_cack, 1);
	if (last) {
		c->done_msn = (c->done_msn + 1) & MRC_PSN_MASK;
		c->ack_owed = true;
	}
}

/* Move the left edge over what is there (strict: and placed). */
void mrc_rx_advance(struct mrc_conn *c)
{
	u32 slot = mrc_rx_slot(c, c->rx_cack + 1);

	while (c->rx_held && mrc_bit_test(c->rx_bits, slot) &&
	       !(c->rx.strict && mrc_bit_test(c->rx_hold, slot))) {
		mrc_bit_clear(c->rx_bits, slot);
		c->rx_held--;
		mrc_rx_pass(c, mrc_bit_test(c->rx_last, slot));
		mrc_bit_clear(c->rx_last, slot);
		slot = (slot + 1) & c->rec_mask;
	}
	if (mrc_rx_nak_due(c) && !c->nak_sent)
		c->ack_owed = true;
}

/* The packet op->psn is here: what comes next passes, the others are marked. */
static void mrc_rx_mark(struct mrc_conn *c, const struct mrc_rxop *op)
{
	bool last = mrc_opc_is_last(op->pkt->opcode);
	u32 slot = mrc_rx_slot(c, op->psn);

	if (mrc_psn_diff(op->psn, c->rx_max) > 0)
		c->rx_max = op->psn;
	if (op->psn == mrc_psn_add(c->rx_cack, 1)) {
		mrc_rx_pass(c, last);
		if (c->rx_held || c->nak != MRC_NAK_NONE)
			mrc_rx_advance(c);
		return;
	}
	if (mrc_assert(!mrc_bit_test(c->rx_bits, slot)))
		return;
	c->stats.rx_ooo++;
	mrc_bit_set(c->rx_bits, slot);
	if (last)
		mrc_bit_set(c->rx_last, slot);
	c->rx_held++;
}

/* An acknowledgement was asked for while packets were missing: once more when none is. */
static bool mrc_rx_filled(struct mrc_conn *c, const struct mrc_pkt *p)
{
	bool whole = (u32)mrc_psn_diff(c->rx_max, c->rx_cack) == c->rx_held;
	bool filled = whole && c->rx_ar;

	c->rx_ar = !whole && (c->rx_ar || p->ackreq);
	return filled;
}

/*
 * The triggers of 7.5.2; a packet counts 1 KiB at least. A sender that was asked to
 * slow down has few packets out: each is answered.
 */
static void mrc_rx_trigger(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns)
{
	bool filled = unlikely(c->rx_ar || p->ackreq) && mrc_rx_filled(c, p);

	c->sack_pkts++;
	c->sack_bytes += max_t(u32, p->payload_len, 1024);
	if (c->sack_pkts >= c->rx.sack_pkts || c->sack_bytes >= c->rx.sack_bytes ||
	    p->ackreq || p->rtx || p->ecn_ce || c->rx_pen || filled)
		mrc_ctl_owe_sack(c, p, now_ns);
}

static void mrc_rx_count(struct mrc_conn *c, const struct mrc_rxop *op)
{
	const struct mrc_pkt *p = op->pkt;
	u32 bytes = (p->udp_len ? p->udp_len : op->len) + MRC_NOMINAL_HDR;

	c->rx_rcvd += bytes;
	c->rx_note.bytes += bytes;
	c->stats.rx_pkts++;
	c->stats.rx_bytes += op->len;
	if (unlikely(p->ecn_ce)) {
		c->stats.rx_ecn++;
		if (c->rx_note.marks != 0xffff)
			c->rx_note.marks++;
	}
}

void mrc_conn_rx_commit(struct mrc_conn *c, const struct mrc_rxop *op, u64 now_ns)
{
	mrc_rx_count(c, op);
	if (op->needs_rq)
		mrc_rx_commit_rq(c, op);
	if (op->hold)
		mrc_hold_keep(c, op->psn);
	if (op->tail >= 0)
		mrc_tail_keep(c, op);
	if (op->place == MRC_PLACE_NONE)
		mrc_exec_store(c, op->slot, op->pkt);
	else if (op->place == MRC_PLACE_RESP)
		mrc_rx_commit_resp(c, op, now_ns);
	mrc_rx_mark(c, op);
	if (c->rx.dyn_mpr)
		mrc_mpr_update(c);
	mrc_rx_trigger(c, op->pkt, now_ns);
	if (op->place == MRC_PLACE_RESP)
		mrc_loss_alive(c, now_ns);
}

void mrc_conn_rx_reject(struct mrc_conn *c, const struct mrc_rxop *op,
			const struct mrc_reject *why, u64 now_ns)
{
	if (why->nak != MRC_NAK_NONE) {
		mrc_rx_refuse(c, op->psn, why->nak);
	} else if (why->nack != MRC_NACK_NO_RESOURCE) {
		mrc_rx_busy(c, op->pkt, now_ns);
	} else if (c->rx.mrc_only) {	/* no RNR in MRC 1.0: an error (2.1) */
		mrc_rx_refuse(c, op->psn, MRC_NAK_REM_OP);
	} else {
		c->stats.rx_rnr++;
		mrc_ctl_owe_nack(c, op->pkt, why->nack, now_ns);
	}
}

void mrc_conn_rx_drop(struct mrc_conn *c, const struct mrc_rxop *op)
{
	(void)op;
	c->stats.rx_place_failed++;
}

/* ---- what became deliverable ---- */

/* A SEND came in all its pieces, and a WRITE in none. */
static bool mrc_rx_is_whole(const struct mrc_conn *c, const struct mrc_rq_rec *q)
{
	return q->pieces == (q->op == MRC_OP_WRITE_IMM ? 0 : mrc_tx_pkts(c, q->len));
}

bool mrc_rx_complete_next(struct mrc_conn *c, struct mrc_cpl *cpl)
{
	struct mrc_rq_rec *q = mrc_rx_rq(c, c->rq_next);

	if (!q->used || mrc_psn_diff(q->psn_last, c->rx_cack) > 0)
		return false;
	if (c->nak != MRC_NAK_NONE && mrc_psn_diff(q->psn_last, c->nak_psn) >= 0)
		return false;
	if (!mrc_rx_is_whole(c, q)) {
		mrc_rx_refuse(c, q->psn_last, MRC_NAK_INV_REQ);
		return false;
	}
	memset(cpl, 0, sizeof(*cpl));
	cpl->kind = MRC_CPL_RECV;
	cpl->op = (enum mrc_op)q->op;
	cpl->rq_idx = c->rq_next++;
	cpl->len = q->len;
	cpl->imm = q->imm;
	cpl->solicited = q->solicited;
	q->used = false;
	q->pieces = 0;
	c->rq_used--;
	return true;
}
