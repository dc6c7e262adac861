// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_wqe.c - work requests: copied from user-mapped rings, checked, and turned into payload.
 *
 * User space may write its rings at any time, so a request is copied first and only the copy is
 * read. A bad request is posted to the engine with its error, so it fails after earlier requests
 * have completed, as verbs demand. Memory of sends is looked up and referenced once per request.
 * Memory of receives is looked up per packet, because packets of one receive may arrive far apart.
 */
#include <rdma/ib_user_verbs.h>
#include "mem/mrc_mr_copy.h"
#include "data/mrc_wqe.h"
#include "data/mrc_wqe_local.h"

/* ---- send requests ---- */

static int wr_op(u8 opcode)
{
	switch (opcode) {
	case IB_UVERBS_WR_RDMA_WRITE:
		return MRC_OP_WRITE;
	case IB_UVERBS_WR_RDMA_WRITE_WITH_IMM:
		return MRC_OP_WRITE_IMM;
	case IB_UVERBS_WR_SEND:
		return MRC_OP_SEND;
	case IB_UVERBS_WR_SEND_WITH_IMM:
		return MRC_OP_SEND_IMM;
	case IB_UVERBS_WR_SEND_WITH_INV:
		return MRC_OP_SEND_INV;
	case IB_UVERBS_WR_BIND_MW:
	case IB_UVERBS_WR_LOCAL_INV:
	case IB_WR_REG_MR:
		return MRC_OP_LOCAL;
	case IB_UVERBS_WR_RDMA_READ:
		return MRC_OP_READ;
	case IB_UVERBS_WR_ATOMIC_CMP_AND_SWP:
		return MRC_OP_CMP_SWAP;
	case IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD:
		return MRC_OP_FETCH_ADD;
	default:
		return -EOPNOTSUPP;
	}
}

static bool op_writes_local(enum mrc_op op)
{
	return op == MRC_OP_READ || op == MRC_OP_CMP_SWAP || op == MRC_OP_FETCH_ADD;
}

/* An atomic returns 8 bytes. If its request names more memory, the rest is not written, as with adapters. */
static void swqe_cut(struct mrc_swqe *w)
{
	u32 left = sizeof(u64);
	u8 i;

	for (i = 0; i < w->num_sge; i++) {
		w->sge[i].length = min(w->sge[i].length, left);
		left -= w->sge[i].length;
	}
}

/* References the memory of each SGE, and sets w->len to the sum of their lengths. */
static enum mrc_status swqe_resolve(struct mrc_qp *qp, struct mrc_swqe *w, enum mrc_op op)
{
	int access = op_writes_local(op) ? IB_ACCESS_LOCAL_WRITE : 0;
	u64 sum = 0;
	u8 i;

	for (i = 0; i < w->num_sge; i++) {
		struct mrc_sge *sge = &w->sge[i];

		w->mr[i] = NULL;
		sum += sge->length;
		if (!sge->length)
			continue;
		w->mr[i] = mrc_mr_get(qp->dev, qp->pdn, sge->lkey);
		if (!w->mr[i] || !mrc_mr_covers(w->mr[i], sge->addr, sge->length, access))
			return MRC_ST_LOC_PROT;
	}
	if (sum > 0x80000000u)
		return MRC_ST_LOC_LEN;
	w->len = sum;
	return MRC_ST_OK;
}

/* Checks the copied request @k, without its memory. Sets wr->op, and the lengths in @w. */
static enum mrc_status swqe_check(struct mrc_qp *qp, struct mrc_swqe *w,
				  const struct mrc_send_wqe *k, struct mrc_wr *wr)
{
	int op = wr_op(k->opcode);

	wr->op = op < 0 ? MRC_OP_LOCAL : op;
	if (op < 0 || (k->opcode == IB_WR_REG_MR && qp->ibqp->uobject))
		return MRC_ST_LOC_QP_OP;
	if (mrc_qp_only_spec(qp) && op != MRC_OP_WRITE && op != MRC_OP_WRITE_IMM)
		return MRC_ST_LOC_QP_OP;
	if (op == MRC_OP_LOCAL)
		return MRC_ST_OK;
	if (k->send_flags & IB_SEND_INLINE) {
		if (k->inline_len > qp->init.cap.max_inline_data || op_writes_local(op))
			return MRC_ST_LOC_QP_OP;
		w->inline_len = k->inline_len;
		w->len = k->inline_len;
		return MRC_ST_OK;
	}
	if (k->num_sge > qp->init.cap.max_send_sge)
		return MRC_ST_LOC_QP_OP;
	w->num_sge = k->num_sge;
	return MRC_ST_OK;
}

static void swqe_fill_wr(struct mrc_wr *wr, const struct mrc_send_wqe *k, u32 len)
{
	wr->len = len;
	wr->rkey = k->rkey;
	wr->va = k->remote_addr;
	wr->imm = wr->op == MRC_OP_SEND_INV ? k->imm_data :
					      be32_to_cpu((__force __be32)k->imm_data);
	if (wr->op == MRC_OP_CMP_SWAP) {
		wr->swap_add = k->swap;
		wr->compare = k->compare_add;
	} else {
		wr->swap_add = k->compare_add;
	}
	if (k->send_flags & IB_SEND_FENCE)
		wr->flags |= MRC_WR_FENCE;
	if (k->send_flags & IB_SEND_SOLICITED)
		wr->flags |= MRC_WR_SOLICITED;
}

/* Processes the rest of a request: memory to reference, bytes to copy, or a local operation. -EAGAIN: not yet. */
static int swqe_take(struct mrc_qp *qp, struct mrc_swqe *w, const struct mrc_send_wqe *k,
		     const u8 *rest, enum mrc_op op)
{
	if (op == MRC_OP_LOCAL)
		return mrc_wqe_local(qp, k);
	if (w->inline_len)
		memcpy(w->inl, rest, w->inline_len);
	if (!w->num_sge)
		return MRC_ST_OK;
	memcpy(w->sge, rest, w->num_sge * sizeof(*w->sge));
	if (op == MRC_OP_CMP_SWAP || op == MRC_OP_FETCH_ADD)
		swqe_cut(w);
	return swqe_resolve(qp, w, op);
}

bool mrc_wqe_load(struct mrc_qp *qp, u32 idx, struct mrc_wr *wr)
{
	const u8 *slot = mrc_ring_slot(&qp->sq, idx);
	struct mrc_swqe *w = mrc_wqe_send(qp, qp->sq_posted);
	struct mrc_send_wqe k;
	int status;

	memcpy(&k, slot, sizeof(k));
	memset(wr, 0, sizeof(*wr));
	w->wr_id = k.wr_id;
	w->slot = idx;
	w->opcode = k.opcode;
	w->flags = k.send_flags;
	w->num_sge = 0;
	w->len = 0;
	w->inline_len = 0;
	w->gone = false;
	status = swqe_check(qp, w, &k, wr);
	if (status == MRC_ST_OK)
		status = swqe_take(qp, w, &k, slot + sizeof(k), wr->op);
	if (status < 0)
		return false;
	wr->cookie = qp->sq_posted;
	wr->error = status;
	swqe_fill_wr(wr, &k, w->len);
	return true;
}

void mrc_wqe_release(struct mrc_swqe *w)
{
	u8 i;

	for (i = 0; i < w->num_sge; i++) {
		if (w->mr[i])
			mrc_mr_put(w->mr[i]);
		w->mr[i] = NULL;
	}
	w->num_sge = 0;
}

/* ---- scatter ---- */

struct scatter {
	u32 pdn;
	const struct sk_buff *skb;	/* source: skb at pos, or ... */
	int pos;
	const u8 *src;			/* ... plain memory */
	bool more;			/* more packets of the message follow, so its last bytes are not among these */
};

static bool scatter_piece(struct mrc_qp *qp, const struct mrc_sge *sge, u32 skip, u32 n,
			  struct scatter *s)
{
	struct mrc_mr *mr = mrc_mr_get(qp->dev, s->pdn, sge->lkey);
	bool ok;

	if (!mr)
		return false;
	ok = mrc_mr_covers(mr, sge->addr, sge->length, IB_ACCESS_LOCAL_WRITE);
	if (ok && s->skb) {
		if (s->more)
			mrc_mr_fill_from_skb(mr, sge->addr + skip, s->skb, s->pos, n);
		else
			mrc_mr_copy_from_skb(mr, sge->addr + skip, s->skb, s->pos, n);
		s->pos += n;
	} else if (ok) {
		mrc_mr_write(mr, sge->addr + skip, s->src, n);
		s->src += n;
	}
	mrc_mr_put(mr);
	return ok;
}

/*
 * Writes [off, off + len) of the list of SGEs from @s. False: memory is not covered. Earlier pieces may be written
 * already, which is allowed, because the message fails.
 */
static bool scatter(struct mrc_qp *qp, const struct mrc_sge *sge, u32 num_sge, u32 off,
		    u32 len, struct scatter *s)
{
	u32 i;

	for (i = 0; len && i < num_sge; i++) {
		u32 n;

		if (off >= sge[i].length) {
			off -= sge[i].length;
			continue;
		}
		n = min(len, sge[i].length - off);
		if (!scatter_piece(qp, &sge[i], off, n, s))
			return false;
		len -= n;
		off = 0;
	}
	return !len;
}

static bool scatter_skb(struct mrc_qp *qp, const struct mrc_sge *sge, u32 num_sge,
			const struct mrc_rxop *op, struct scatter *s)
{
	s->more = !mrc_opc_is_last(op->pkt->opcode);
	return scatter(qp, sge, num_sge, op->off, op->len, s);
}

bool mrc_wqe_scatter_recv(struct mrc_qp *qp, const struct mrc_rwqe *w, const struct mrc_rxop *op,
			  const struct sk_buff *skb, int off)
{
	struct scatter s = { .pdn = qp->recv_pdn, .skb = skb, .pos = off };

	return scatter_skb(qp, w->sge, w->num_sge, op, &s);
}

bool mrc_wqe_scatter_resp(struct mrc_qp *qp, const struct mrc_swqe *w, const struct mrc_rxop *op,
			  const struct sk_buff *skb, int off)
{
	struct scatter s = { .pdn = qp->pdn, .skb = skb, .pos = off };

	return scatter_skb(qp, w->sge, w->num_sge, op, &s);
}

bool mrc_wqe_scatter(struct mrc_qp *qp, const struct mrc_sge *sge, u32 num_sge,
		     const void *src, u32 len)
{
	struct scatter s = { .pdn = qp->pdn, .src = src };

	return scatter(qp, sge, num_sge, 0, len, &s);
}

/* ---- payload of packets ---- */

/* Adds the pages of [off, off + len) of the request's SGEs to @pl. */
static int gather(const struct mrc_swqe *w, u32 off, u32 len, struct mrc_payload *pl)
{
	u8 i;
	int rc;

	for (i = 0; len && i < w->num_sge; i++) {
		const struct mrc_sge *sge = &w->sge[i];
		u32 n;

		if (off >= sge->length) {
			off -= sge->length;
			continue;
		}
		n = min(len, sge->length - off);
		rc = mrc_mr_frags(w->mr[i], sge->addr + off, n, pl);
		if (rc)
			return rc;
		len -= n;
		off = 0;
	}
	return len ? -EFAULT : 0;
}

bool mrc_wqe_resp_ok(const struct mrc_qp *qp, u32 slot)
{
	const struct mrc_mr *mr = qp->resp[slot].mr;

	return mr && mrc_mr_alive(mr) && qp->access & IB_ACCESS_REMOTE_READ;
}

bool mrc_wqe_invalidated(struct mrc_qp *qp, const struct mrc_txop *op)
{
	struct mrc_swqe *w;
	u8 i;

	if (op->src == MRC_SRC_NONE || op->src == MRC_SRC_RESP)
		return false;
	w = mrc_wqe_send(qp, op->cookie);
	for (i = 0; i < w->num_sge; i++)
		w->gone |= w->mr[i] && mrc_mr_may_end(w->mr[i]) && !mrc_mr_alive(w->mr[i]);
	return w->gone;
}

bool mrc_wqe_payload(struct mrc_qp *qp, const struct mrc_txop *op, struct mrc_payload *pl)
{
	const struct mrc_swqe *w;

	pl->n = 0;
	pl->len = 0;
	pl->copy = false;
	pl->linear = NULL;
	if (op->src == MRC_SRC_NONE)
		return true;
	if (op->src == MRC_SRC_RESP) {
		const struct mrc_resp *r = &qp->resp[op->cookie];

		return mrc_wqe_resp_ok(qp, op->cookie) &&
		       !mrc_mr_frags(r->mr, r->va + op->off, op->len, pl);
	}
	w = mrc_wqe_send(qp, op->cookie);
	if (w->inline_len) {
		pl->linear = w->inl + op->off;
		pl->len = op->len;
		return true;
	}
	return !gather(w, op->off, op->len, pl);
}
