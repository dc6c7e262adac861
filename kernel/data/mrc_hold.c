// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_hold.c - see mrc_hold.h.
 */
#include <linux/mm.h>
#include "data/mrc_hold.h"
#include "data/mrc_place.h"
#include "data/mrc_wqe_recv.h"

static const struct mrc_reject hold_deny_rnr = {
	.nack = MRC_NACK_NO_RESOURCE, .nak = MRC_NAK_NONE,
};

static const struct mrc_reject hold_deny_full = {
	.nack = MRC_NACK_NO_PKT_BUFFER, .nak = MRC_NAK_NONE,
};

struct mrc_hold_cb {		/* in skb->cb: the fields of struct mrc_rxop that placement needs */
	u64 va;
	u64 atomic_orig;
	u32 rkey, off, len, msg_len;
	u32 index;		/* RESP: cookie; else rq_idx */
	u32 imm;		/* the key that a SEND invalidates */
	u16 skb_off;
	u8 opcode;
	u8 place : 4;		/* enum mrc_place */
	u8 needs_rq : 1;
};

/* The skb is held after the stack's call has returned: drop references that are valid only during the call. */
static void hold_detach(struct sk_buff *skb)
{
	skb_orphan(skb);
	skb_dst_drop(skb);
	nf_reset_ct(skb);
	skb_ext_reset(skb);
	skb->dev = NULL;
}

/* Bytes: at most a sixteenth of the host's memory. */
static long hold_max(void)
{
	return (long)min_t(u64, MRC_HOLD_MAX, (u64)totalram_pages() << PAGE_SHIFT >> 4);
}

/* Counts the memory of packets, not their payload: a small packet may be in a large buffer. */
static bool hold_account(struct mrc_dev *dev, const struct sk_buff *skb)
{
	if (atomic_long_add_return(skb->truesize, &dev->held_bytes) > hold_max()) {
		atomic_long_sub(skb->truesize, &dev->held_bytes);
		mrc_dev_count(dev, hold_full);
		return false;
	}
	atomic_inc(&dev->held_pkts);
	return true;
}

static void hold_unaccount(struct mrc_dev *dev, const struct sk_buff *skb)
{
	atomic_long_sub(skb->truesize, &dev->held_bytes);
	atomic_dec(&dev->held_pkts);
}

static bool hold_skb(struct mrc_qp *qp, const struct mrc_rxop *op, struct sk_buff *skb, int off)
{
	struct mrc_hold_cb *cb = (struct mrc_hold_cb *)skb->cb;
	u32 slot = mrc_conn_hold_slot(&qp->conn, op);

	BUILD_BUG_ON(sizeof(*cb) > sizeof(skb->cb));
	if (WARN_ON_ONCE(!qp->hold || qp->hold[slot] || off > U16_MAX))
		return false;
	if (!hold_account(qp->dev, skb))
		return false;
	*cb = (struct mrc_hold_cb) {
		.va = op->va,
		.atomic_orig = op->atomic_orig,
		.rkey = op->rkey,
		.off = op->off,
		.len = op->len,
		.msg_len = op->msg_len,
		.index = op->place == MRC_PLACE_RESP ? op->cookie : op->rq_idx,
		.imm = op->pkt->imm,
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

/* A held packet is acknowledged and can no longer be refused, so its receive request is checked now. */
const struct mrc_reject *mrc_hold_store(struct mrc_qp *qp, const struct mrc_rxop *op,
					struct sk_buff *skb, int off)
{
	bool needs_rq = op->needs_rq || op->place == MRC_PLACE_RECV;

	if (needs_rq && !mrc_wqe_recv(qp, qp->rq_base + op->rq_idx))
		return &hold_deny_rnr;
	return hold_skb(qp, op, skb, off) ? NULL : &hold_deny_full;
}

static struct sk_buff *hold_take(struct mrc_qp *qp, u32 slot)
{
	struct sk_buff *skb = qp->hold[slot];

	if (!skb)
		return NULL;
	qp->hold[slot] = NULL;
	qp->n_hold--;
	hold_unaccount(qp->dev, skb);
	return skb;
}

static const struct mrc_reject *hold_place_one(struct mrc_qp *qp, const struct sk_buff *skb)
{
	const struct mrc_hold_cb *cb = (const struct mrc_hold_cb *)skb->cb;
	const struct mrc_pkt pkt = { .opcode = cb->opcode, .imm = cb->imm };
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

	return mrc_place(qp, &op, skb, cb->skb_off);
}

void mrc_hold_place(struct mrc_qp *qp, u32 slot, u64 now)
{
	struct sk_buff *skb = hold_take(qp, slot);
	const struct mrc_reject *why = NULL;

	if (!WARN_ON_ONCE(!skb))
		why = hold_place_one(qp, skb);
	if (!skb || why)
		mrc_conn_hold_reject(&qp->conn, why, now);
	else
		mrc_conn_hold_done(&qp->conn, MRC_NAK_NONE, now);
	consume_skb(skb);
}

void mrc_hold_take_all(struct mrc_qp *qp, struct sk_buff_head *out)
{
	struct sk_buff *skb;
	u32 i, n = mrc_conn_hold_slots(&qp->conn);

	for (i = 0; qp->n_hold && i < n; i++) {
		skb = hold_take(qp, i);
		if (skb)
			__skb_queue_tail(out, skb);
	}
}
