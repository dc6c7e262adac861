// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_hold.c - see mrc_hold.h.
 */
#include "mrc_hold.h"
#include "mrc_place.h"

struct mrc_hold_cb {		/* in skb->cb: of struct mrc_rxop what placing needs */
	u64 va;
	u64 atomic_orig;
	u32 rkey, off, len, msg_len;
	u32 index;		/* RESP: cookie; else rq_idx */
	u16 skb_off;
	u8 opcode;
	u8 place : 4;		/* enum mrc_place */
	u8 needs_rq : 1;
};

static u32 hold_slot(const struct mrc_qp *qp, u32 psn)
{
	return psn & (qp->conn.cfg.mpr_max * MRC_MPR_UNIT - 1);
}

/* The skb outlives the function that the stack called: what it borrowed goes now. */
static void hold_detach(struct sk_buff *skb)
{
	skb_orphan(skb);
	skb_dst_drop(skb);
	nf_reset_ct(skb);
	skb_ext_reset(skb);
	skb->dev = NULL;
}

bool mrc_hold_keep_skb(struct mrc_qp *qp, const struct mrc_rxop *op, struct sk_buff *skb,
		       int off)
{
	struct mrc_hold_cb *cb = (struct mrc_hold_cb *)skb->cb;
	u32 slot = hold_slot(qp, op->psn);

	BUILD_BUG_ON(sizeof(*cb) > sizeof(skb->cb));
	if (WARN_ON_ONCE(!qp->hold || qp->hold[slot] || off > U16_MAX))
		return false;
	if (atomic_inc_return(&qp->dev->held_pkts) > MRC_HOLD_MAX) {
		atomic_dec(&qp->dev->held_pkts);
		mrc_dev_count(qp->dev, hold_full);
		return false;
	}
	*cb = (struct mrc_hold_cb) {
		.va = op->va,
		.atomic_orig = op->atomic_orig,
		.rkey = op->rkey,
		.off = op->off,
		.len = op->len,
		.msg_len = op->msg_len,
		.index = op->place == MRC_PLACE_RESP ? op->cookie : op->rq_idx,
		.skb_off = (u16)off,
		.opcode = op->pkt->opcode,
		.place = op->place,
		.needs_rq = op->needs_rq,
	};
	hold_detach(skb);
	qp->hold[slot] = skb_get(skb);
	qp->n_hold++;
	return true;
}

static struct sk_buff *hold_take(struct mrc_qp *qp, u32 slot)
{
	struct sk_buff *skb = qp->hold[slot];

	if (!skb)
		return NULL;
	qp->hold[slot] = NULL;
	qp->n_hold--;
	atomic_dec(&qp->dev->held_pkts);
	return skb;
}

static enum mrc_nak hold_place_one(struct mrc_qp *qp, const struct sk_buff *skb)
{
	const struct mrc_hold_cb *cb = (const struct mrc_hold_cb *)skb->cb;
	const struct mrc_pkt pkt = { .opcode = cb->opcode };
	const struct mrc_rxop op = {
		.place = (enum mrc_place)cb->place,
		.va = cb->va,
		.rkey = cb->rkey,
		.off = cb->off,
		.len = cb->len,
		.msg_len = cb->msg_len,
		.rq_idx = cb->index,
		.needs_rq = cb->needs_rq,
		.cookie = cb->index,
		.tail = -1,
		.atomic_orig = cb->atomic_orig,
		.pkt = &pkt,
	};
	const struct mrc_reject *why = mrc_place(qp, &op, skb, cb->skb_off);

	if (!why)
		return MRC_NAK_NONE;
	/* It was acknowledged: the peer cannot be asked for it again. */
	return why->nak == MRC_NAK_NONE ? MRC_NAK_REM_OP : why->nak;
}

void mrc_hold_place_slot(struct mrc_qp *qp, u32 slot, u64 now)
{
	struct sk_buff *skb = hold_take(qp, slot);
	enum mrc_nak nak = MRC_NAK_REM_OP;

	if (!WARN_ON_ONCE(!skb))
		nak = hold_place_one(qp, skb);
	consume_skb(skb);
	mrc_conn_hold_done(&qp->conn, nak, now);
}

void mrc_hold_take_all(struct mrc_qp *qp, struct sk_buff_head *out)
{
	struct sk_buff *skb;
	u32 i, n = qp->conn.cfg.mpr_max * MRC_MPR_UNIT;

	for (i = 0; qp->n_hold && i < n; i++) {
		skb = hold_take(qp, i);
		if (skb)
			__skb_queue_tail(out, skb);
	}
}
