// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_place.c - placement: access check and one copy of the payload into memory. Softirq, under
 * qp->lock.
 *
 * Also executes the work that the engine returns when the left edge moves: deferred tails, READs
 * and ATOMICs. Every access is checked against the MR and the QP's access flags at the moment of
 * the copy.
 */
#include "mem/mrc_inval.h"
#include "mem/mrc_mr_copy.h"
#include "data/mrc_place.h"
#include "data/mrc_wqe.h"
#include "data/mrc_wqe_recv.h"

static const struct mrc_reject mrc_deny_access = { .nak = MRC_NAK_REM_ACCESS };
static const struct mrc_reject mrc_deny_invalid = { .nak = MRC_NAK_INV_REQ };
static const struct mrc_reject mrc_deny_op = { .nak = MRC_NAK_REM_OP };
static const struct mrc_reject mrc_deny_rnr = {
	.nack = MRC_NACK_NO_RESOURCE, .nak = MRC_NAK_NONE,
};

/* The MR of remote key @rkey, referenced; NULL if the key, its range or the QP does not allow @access. */
static struct mrc_mr *remote_mr(struct mrc_qp *qp, u32 rkey, u64 va, u64 len, int access)
{
	struct mrc_mr *mr;

	if (!(qp->access & access))
		return NULL;
	mr = mrc_mr_get_remote(qp->dev, qp->pdn, qp->qpn, rkey);
	if (mr && !mrc_mr_covers(mr, va, len, access)) {
		mrc_mr_put(mr);
		mr = NULL;
	}
	return mr;
}

static const struct mrc_reject *place_write(struct mrc_qp *qp, const struct mrc_rxop *op,
					    const struct sk_buff *skb, int off)
{
	u32 tail = op->tail >= 0 ? min_t(u32, op->len, MRC_TAIL_LEN) : 0;
	struct mrc_mr *mr;

	if (op->needs_rq && !mrc_wqe_recv(qp, qp->rq_base + op->rq_idx))
		return &mrc_deny_rnr;
	if (!op->len)
		return NULL;
	mr = remote_mr(qp, op->rkey, op->va, op->len, IB_ACCESS_REMOTE_WRITE);
	if (!mr)
		return &mrc_deny_access;
	/* Programs poll the last bytes of a WRITE, so these are written last. The order of all others is free. */
	if (likely(tail || !mrc_opc_is_last(op->pkt->opcode)))
		mrc_mr_fill_from_skb(mr, op->va, skb, off, op->len - tail);
	else
		mrc_mr_copy_from_skb(mr, op->va, skb, off, op->len);
	if (tail)
		skb_copy_bits(skb, off + op->len - tail, qp->tail[op->tail], tail);
	mrc_mr_put(mr);
	return NULL;
}

/*
 * Does the packet carry a key to invalidate? That is done when the message completes, because earlier packets may
 * follow.
 */
static bool invalidates(const struct mrc_pkt *pkt)
{
	return pkt->opcode == MRC_OPC_SEND_LAST_INV || pkt->opcode == MRC_OPC_SEND_ONLY_INV;
}

static const struct mrc_reject *place_recv(struct mrc_qp *qp, const struct mrc_rxop *op,
					   const struct sk_buff *skb, int off)
{
	struct mrc_rwqe *w = mrc_wqe_recv(qp, qp->rq_base + op->rq_idx);

	if (!w)
		return &mrc_deny_rnr;
	if (invalidates(op->pkt) &&
	    !mrc_inval_allowed(qp->dev, qp->pdn, qp->qpn, op->pkt->imm))
		return &mrc_deny_access;
	if (op->msg_len > w->len) {
		w->fail = IB_WC_LOC_LEN_ERR;
		return &mrc_deny_invalid;
	}
	if (!mrc_wqe_scatter_recv(qp, w, op, skb, off)) {
		w->fail = IB_WC_LOC_PROT_ERR;
		return &mrc_deny_op;
	}
	return NULL;
}

static const struct mrc_reject *place_resp(struct mrc_qp *qp, const struct mrc_rxop *op,
					   const struct sk_buff *skb, int off)
{
	struct mrc_swqe *w = mrc_wqe_send(qp, op->cookie);
	bool ok;

	if (op->pkt->opcode == MRC_OPC_ATOMIC_ACK)
		ok = mrc_wqe_scatter(qp, w->sge, w->num_sge, &op->atomic_orig, 8);
	else
		ok = mrc_wqe_scatter_resp(qp, w, op, skb, off);
	return ok ? NULL : &mrc_deny_op;
}

const struct mrc_reject *mrc_place(struct mrc_qp *qp, const struct mrc_rxop *op,
				   const struct sk_buff *skb, int off)
{
	switch (op->place) {
	case MRC_PLACE_WRITE:
		return place_write(qp, op, skb, off);
	case MRC_PLACE_RECV:
		return place_recv(qp, op, skb, off);
	case MRC_PLACE_RESP:
		return place_resp(qp, op, skb, off);
	case MRC_PLACE_NONE:
		break;
	}
	return NULL;
}

/* ---- work that becomes possible when all earlier packets have arrived ---- */

void mrc_place_tail(struct mrc_qp *qp, const struct mrc_tail *t)
{
	/* The region was checked when the packet arrived. If it was deregistered since, the bytes are dropped. */
	struct mrc_mr *mr = remote_mr(qp, t->rkey, t->va, t->len, IB_ACCESS_REMOTE_WRITE);

	if (!mr) {
		mrc_dev_count(qp->dev, tails_dropped);
		return;
	}
	mrc_mr_write(mr, t->va, qp->tail[t->slot], t->len);
	mrc_mr_put(mr);
}

static void exec_read(struct mrc_qp *qp, const struct mrc_exec *x, u64 now)
{
	struct mrc_resp *r = &qp->resp[x->slot];

	r->mr = NULL;
	r->va = x->va;
	r->len = x->len;
	if (x->len) {
		r->mr = remote_mr(qp, x->rkey, x->va, x->len, IB_ACCESS_REMOTE_READ);
		if (!r->mr) {
			mrc_conn_exec_fail(&qp->conn, x->slot, MRC_NAK_REM_ACCESS, now);
			return;
		}
	}
	mrc_conn_exec_done(&qp->conn, x->slot, 0, now);
}

static void exec_atomic(struct mrc_qp *qp, const struct mrc_exec *x, u64 now)
{
	struct mrc_mr *mr;
	u64 orig;

	mr = remote_mr(qp, x->rkey, x->va, 8, IB_ACCESS_REMOTE_ATOMIC);
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
	if (x->op == MRC_OP_READ) {
		mrc_qp_count(qp, rx_read_requests);
		exec_read(qp, x, now);
	} else {
		mrc_qp_count(qp, rx_atomic_requests);
		exec_atomic(qp, x, now);
	}
}

void mrc_place_exec_free(struct mrc_qp *qp, u16 slot)
{
	if (qp->resp[slot].mr)
		mrc_mr_put(qp->resp[slot].mr);
	qp->resp[slot].mr = NULL;
}

void mrc_place_drop_responses(struct mrc_qp *qp)
{
	u16 slot;

	for (slot = 0; slot < MRC_QP_RD; slot++)
		mrc_place_exec_free(qp, slot);
}
