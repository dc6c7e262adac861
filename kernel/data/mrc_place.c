// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_place.c - a packet of a QP arrives: engine's verdict, memory access check,
 * one copy, commit. Softirq, under qp->lock.
 *
 * Also what the engine hands out once the left edge moved: deferred tails, READs and
 * ATOMICs to execute. Every access is checked against the MR and the QP's own
 * access flags at the moment it happens.
 */
#include "mrc_hold.h"
#include "mrc_place.h"
#include "mrc_wqe.h"

static const struct mrc_reject mrc_deny_access = { .nak = MRC_NAK_REM_ACCESS };
static const struct mrc_reject mrc_deny_invalid = { .nak = MRC_NAK_INV_REQ };
static const struct mrc_reject mrc_deny_op = { .nak = MRC_NAK_REM_OP };
static const struct mrc_reject mrc_deny_rnr = {
	.nack = MRC_NACK_NO_RESOURCE, .nak = MRC_NAK_NONE,
};
static const struct mrc_reject mrc_deny_full = {
	.nack = MRC_NACK_NO_PKT_BUFFER, .nak = MRC_NAK_NONE,
};

/* The MR behind a remote key, if it and the QP allow @access; referenced. */
static struct mrc_mr *mrc_remote_mr(struct mrc_qp *qp, u32 rkey, u64 va, u64 len, int access)
{
	struct mrc_mr *mr;

	if (!(qp->access & access))
		return NULL;
	mr = mrc_mr_get(qp->dev, qp->pdn, rkey);
	if (mr && !mrc_mr_covers(mr, va, len, access)) {
		mrc_mr_put(mr);
		mr = NULL;
	}
	return mr;
}

static const struct mrc_reject *mrc_place_write(struct mrc_qp *qp, const struct mrc_rxop *op,
						const struct sk_buff *skb, int off)
{
	u32 tail = op->tail >= 0 ? min_t(u32, op->len, MRC_TAIL_LEN) : 0;
	struct mrc_mr *mr;

	if (op->needs_rq && !mrc_rwqe_get(qp, qp->rq_base + op->rq_idx))
		return &mrc_deny_rnr;
	if (!op->len)
		return NULL;
	mr = mrc_remote_mr(qp, op->rkey, op->va, op->len, IB_ACCESS_REMOTE_WRITE);
	if (!mr)
		return &mrc_deny_access;
	mrc_mr_copy_from_skb(mr, op->va, skb, off, op->len - tail);
	if (tail)
		skb_copy_bits(skb, off + op->len - tail, qp->tail[op->tail], tail);
	mrc_mr_put(mr);
	return NULL;
}

static const struct mrc_reject *mrc_place_recv(struct mrc_qp *qp, const struct mrc_rxop *op,
					       const struct sk_buff *skb, int off)
{
	struct mrc_rwqe *w = mrc_rwqe_get(qp, qp->rq_base + op->rq_idx);

	if (!w)
		return &mrc_deny_rnr;
	/* Invalidation on receive needs memory windows or fast registration: not offered. */
	if (op->pkt->opcode == MRC_OPC_SEND_LAST_INV || op->pkt->opcode == MRC_OPC_SEND_ONLY_INV)
		return &mrc_deny_invalid;
	if (op->msg_len > w->len) {
		w->fail = IB_WC_LOC_LEN_ERR;
		return &mrc_deny_invalid;
	}
	if (!mrc_sge_scatter_skb(qp, w->sge, w->num_sge, op->off, skb, off, op->len)) {
		w->fail = IB_WC_LOC_PROT_ERR;
		return &mrc_deny_op;
	}
	return NULL;
}

static const struct mrc_reject *mrc_place_resp(struct mrc_qp *qp, const struct mrc_rxop *op,
					       const struct sk_buff *skb, int off)
{
	struct mrc_swqe *w = mrc_swqe_at(qp, op->cookie);
	bool ok;

	if (op->pkt->opcode == MRC_OPC_ATOMIC_ACK)
		ok = mrc_sge_scatter(qp, w->sge, w->num_sge, &op->atomic_orig, 8);
	else
		ok = mrc_sge_scatter_skb(qp, w->sge, w->num_sge, op->off, skb, off, op->len);
	return ok ? NULL : &mrc_deny_op;
}

const struct mrc_reject *mrc_place(struct mrc_qp *qp, const struct mrc_rxop *op,
				   const struct sk_buff *skb, int off)
{
	switch (op->place) {
	case MRC_PLACE_WRITE:
		return mrc_place_write(qp, op, skb, off);
	case MRC_PLACE_RECV:
		return mrc_place_recv(qp, op, skb, off);
	case MRC_PLACE_RESP:
		return mrc_place_resp(qp, op, skb, off);
	case MRC_PLACE_NONE:
		break;
	}
	return NULL;
}

/* Refuse before it is held what could not be refused later. */
static const struct mrc_reject *mrc_hold(struct mrc_qp *qp, const struct mrc_rxop *op,
					 struct sk_buff *skb, int off)
{
	bool needs_rq = op->needs_rq || op->place == MRC_PLACE_RECV;

	if (needs_rq && !mrc_rwqe_get(qp, qp->rq_base + op->rq_idx))
		return &mrc_deny_rnr;
	return mrc_hold_keep_skb(qp, op, skb, off) ? NULL : &mrc_deny_full;
}

/* A response acknowledges its request: that is the controller's and the EVs' business. */
static void mrc_rx_done(struct mrc_qp *qp, const struct mrc_rxop *op,
			const struct mrc_reject *why, u64 now)
{
	if (why) {
		mrc_conn_rx_reject(&qp->conn, op, why, now);
		return;
	}
	spin_lock(&qp->peer->path_lock);
	mrc_conn_rx_commit(&qp->conn, op, now);
	spin_unlock(&qp->peer->path_lock);
}

void mrc_qp_rx(struct mrc_qp *qp, const struct mrc_pkt *pkt, struct sk_buff *skb, int off,
	       u16 port)
{
	const struct mrc_reject *why;
	enum mrc_verdict v;
	struct mrc_rxop op;
	bool full;
	u64 now;

	spin_lock(&qp->lock);
	if (!qp->peer || !qp->ibqp) {
		qp->conn.stats.rx_not_ready++;
		spin_unlock(&qp->lock);
		return;
	}
	if (likely(!pkt->trimmed))	/* those have no ICRC */
		mrc_peer_heard(qp->peer, port);
	now = ktime_get_ns();
	spin_lock(&qp->peer->path_lock);
	v = mrc_conn_rx_begin(&qp->conn, pkt, now, &op);
	spin_unlock(&qp->peer->path_lock);
	if (v == MRC_V_PLACE) {
		if (unlikely(op.hold))
			why = mrc_hold(qp, &op, skb, off);
		else
			why = mrc_place(qp, &op, skb, off);
		mrc_rx_done(qp, &op, why, now);
	}
	full = mrc_conn_answers_full(&qp->conn);
	spin_unlock(&qp->lock);
	if (unlikely(full))		/* a softirq may bring hundreds of packets, all trimmed or marked */
		mrc_qp_run(qp);
	mrc_bh_kick(qp);
}

/* ---- what the left edge has passed ---- */

void mrc_place_tail(struct mrc_qp *qp, const struct mrc_tail *t)
{
	/* Checked when the packet came; deregistered since: nothing to write to. */
	struct mrc_mr *mr = mrc_remote_mr(qp, t->rkey, t->va, t->len, IB_ACCESS_REMOTE_WRITE);

	if (!mr) {
		mrc_dev_count(qp->dev, tails_dropped);
		return;
	}
	mrc_mr_write(mr, t->va, qp->tail[t->slot], t->len);
	mrc_mr_put(mr);
}

static void mrc_exec_read(struct mrc_qp *qp, const struct mrc_exec *x, u64 now)
{
	struct mrc_resp *r = &qp->resp[x->slot];

	r->mr = NULL;
	r->va = x->va;
	r->len = x->len;
	if (x->len) {
		r->mr = mrc_remote_mr(qp, x->rkey, x->va, x->len, IB_ACCESS_REMOTE_READ);
		if (!r->mr) {
			mrc_conn_exec_fail(&qp->conn, x->slot, MRC_NAK_REM_ACCESS, now);
			return;
		}
	}
	mrc_conn_exec_done(&qp->conn, x->slot, 0, now);
}

static void mrc_exec_atomic(struct mrc_qp *qp, const struct mrc_exec *x, u64 now)
{
	struct mrc_mr *mr;
	u64 orig;

	mr = mrc_remote_mr(qp, x->rkey, x->va, 8, IB_ACCESS_REMOTE_ATOMIC);
	if (!mr) {
		mrc_conn_exec_fail(&qp->conn, x->slot, MRC_NAK_REM_ACCESS, now);
		return;
	}
	orig = mrc_mr_atomic(mr, x->va, x->op == MRC_OP_CMP_SWAP, x->swap_add, x->compare);
	mrc_mr_put(mr);
	mrc_conn_exec_done(&qp->conn, x->slot, orig, now);
}

void mrc_place_exec(struct mrc_qp *qp, const struct mrc_exec *x, u64 now)
{
	if (x->op == MRC_OP_READ)
		mrc_exec_read(qp, x, now);
	else
		mrc_exec_atomic(qp, x, now);
}

void mrc_place_exec_free(struct mrc_qp *qp, u16 slot)
{
	if (qp->resp[slot].mr)
		mrc_mr_put(qp->resp[slot].mr);
	qp->resp[slot].mr = NULL;
}
