// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_post.c - see mrc_post.h.
 *
 * A kernel user's post does the same as a program's: it fills a slot, publishes prod, and kicks the
 * QP if the QP asked for that before it went idle (uapi/rdma/mrc-abi.h). A slot is free again when
 * the QP has taken the request. ib_core's users guarantee that their completion queues are large
 * enough.
 */
#include <rdma/ib_user_verbs.h>
#include "data/mrc_bh.h"
#include "data/mrc_qp.h"
#include "data/mrc_ud.h"
#include "verbs/mrc_ah.h"
#include "verbs/mrc_post.h"

#define POST_FLAGS	(IB_SEND_FENCE | IB_SEND_SIGNALED | IB_SEND_SOLICITED | IB_SEND_INLINE)

/* The parts of an RC or datagram QP that posting uses. */
struct post_qp {
	bool ud;
	struct mrc_ring *sq, *rq;
	const struct ib_qp_cap *cap;
	enum ib_qp_state state;
};

static void post_qp_of(const struct ib_qp *ibqp, struct post_qp *p)
{
	const struct mrc_ibqp *shell = container_of(ibqp, struct mrc_ibqp, ibqp);

	p->ud = ibqp->qp_type != IB_QPT_RC;
	if (p->ud) {
		p->sq = &shell->ud->sq;
		p->rq = &shell->ud->rq;
		p->cap = &shell->ud->init.cap;
		p->state = READ_ONCE(shell->ud->state);
	} else {
		p->sq = &shell->qp->sq;
		p->rq = &shell->qp->rq;
		p->cap = &shell->qp->init.cap;
		p->state = READ_ONCE(shell->qp->state);
	}
}

static void post_kick(const struct ib_qp *ibqp)
{
	const struct mrc_ibqp *shell = container_of(ibqp, struct mrc_ibqp, ibqp);

	if (ibqp->qp_type == IB_QPT_RC)
		mrc_bh_kick(shell->qp);
	else
		mrc_ud_kick(shell->ud);
}

/* ---- send requests ---- */

static void put_sges(struct mrc_sge *to, const struct ib_sge *from, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		to[i].addr = from[i].addr;
		to[i].length = from[i].length;
		to[i].lkey = from[i].lkey;
	}
}

static int put_inline(struct mrc_send_wqe *k, const struct ib_send_wr *wr, u32 max)
{
	u8 *to = (u8 *)(k + 1);
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		if (sge->length > max - k->inline_len)
			return -EINVAL;
		memcpy(to + k->inline_len, (const void *)(uintptr_t)sge->addr, sge->length);
		k->inline_len += sge->length;
	}
	return 0;
}

static void put_datagram(struct mrc_send_wqe *k, const struct ib_ud_wr *wr)
{
	k->ah = mrc_ah_number(wr->ah);
	k->remote_qpn = wr->remote_qpn;
	k->remote_qkey = wr->remote_qkey;
}

/*
 * Users may change the low byte of the key (ib_update_fast_reg_key()) and the upper half of
 * mr->iova.
 */
static int put_reg(struct mrc_send_wqe *k, const struct ib_reg_wr *reg)
{
	if ((reg->key ^ reg->mr->rkey) >> 8)
		return -EINVAL;
	k->rkey = reg->key;
	k->remote_addr = reg->mr->iova;
	k->compare_add = reg->mr->length;
	k->swap = (u32)reg->access;
	return 0;
}

/* Fills in the fields of the operation, except its SGEs. */
static int put_op(struct mrc_send_wqe *k, const struct ib_send_wr *wr, bool ud)
{
	switch (wr->opcode) {
	case IB_WR_SEND_WITH_INV:
	case IB_WR_LOCAL_INV:
		k->imm_data = wr->ex.invalidate_rkey;
		return ud ? -EINVAL : 0;
	case IB_WR_REG_MR:
		return ud ? -EINVAL : put_reg(k, reg_wr(wr));
	case IB_WR_SEND_WITH_IMM:
		k->imm_data = (__force u32)wr->ex.imm_data;
		fallthrough;
	case IB_WR_SEND:
		if (ud)
			put_datagram(k, ud_wr(wr));
		return 0;
	case IB_WR_RDMA_WRITE_WITH_IMM:
		k->imm_data = (__force u32)wr->ex.imm_data;
		fallthrough;
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_READ:
		k->remote_addr = rdma_wr(wr)->remote_addr;
		k->rkey = rdma_wr(wr)->rkey;
		return ud ? -EINVAL : 0;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		k->remote_addr = atomic_wr(wr)->remote_addr;
		k->rkey = atomic_wr(wr)->rkey;
		k->compare_add = atomic_wr(wr)->compare_add;
		k->swap = atomic_wr(wr)->swap;
		return ud ? -EINVAL : 0;
	default:
		return -EOPNOTSUPP;
	}
}

/* Fills the slot at @idx. -ENOMEM: the ring is full. */
static int put_send(const struct post_qp *p, u32 idx, const struct ib_send_wr *wr)
{
	struct mrc_send_wqe *k = mrc_ring_slot(p->sq, idx);
	int err;

	if (wr->num_sge < 0 || (u32)wr->num_sge > p->cap->max_send_sge)
		return -EINVAL;
	if (idx - smp_load_acquire(&p->sq->hdr->cons) >= p->sq->entries)
		return -ENOMEM;
	memset(k, 0, sizeof(*k));
	k->wr_id = wr->wr_id;
	k->opcode = (u8)wr->opcode;
	k->send_flags = wr->send_flags & POST_FLAGS;
	err = put_op(k, wr, p->ud);
	if (err)
		return err;
	if (wr->send_flags & IB_SEND_INLINE)
		return put_inline(k, wr, p->cap->max_inline_data);
	k->num_sge = (u8)wr->num_sge;
	put_sges((struct mrc_sge *)(k + 1), wr->sg_list, wr->num_sge);
	return 0;
}

/* True: the QP is idle and must be kicked. */
static bool post_publish(struct mrc_ring *r, u32 prod)
{
	smp_store_release(&r->hdr->prod, prod);
	smp_mb();	/* pairs with the barrier after need_kick was set */
	return READ_ONCE(r->hdr->need_kick) && xchg(&r->hdr->need_kick, 0);
}

int mrc_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr, const struct ib_send_wr **bad)
{
	unsigned long flags;
	struct post_qp p;
	int err = 0;
	bool kick;
	u32 prod;

	if (ibqp->uobject || !wr) {
		if (!wr)
			post_kick(ibqp);
		*bad = wr;
		return wr ? -EOPNOTSUPP : 0;
	}
	post_qp_of(ibqp, &p);
	if (p.state < IB_QPS_RTS) {
		*bad = wr;
		return -EINVAL;
	}
	spin_lock_irqsave(&p.sq->fill_lock, flags);
	prod = p.sq->hdr->prod;
	for (; wr && !err; wr = err ? wr : wr->next) {
		err = put_send(&p, prod, wr);
		prod += !err;
	}
	kick = post_publish(p.sq, prod);
	spin_unlock_irqrestore(&p.sq->fill_lock, flags);
	if (err)
		*bad = wr;
	if (kick)
		post_kick(ibqp);
	return err;
}

/* ---- receive requests ---- */

static int put_recv(const struct mrc_ring *r, u32 max_sge, u32 idx, const struct ib_recv_wr *wr)
{
	struct mrc_recv_wqe *k = mrc_ring_slot(r, idx);

	if (wr->num_sge < 0 || (u32)wr->num_sge > max_sge)
		return -EINVAL;
	if (idx - smp_load_acquire(&r->hdr->cons) >= r->entries)
		return -ENOMEM;
	k->wr_id = wr->wr_id;
	k->num_sge = (u32)wr->num_sge;
	k->reserved0 = 0;
	put_sges((struct mrc_sge *)(k + 1), wr->sg_list, wr->num_sge);
	return 0;
}

/* Posts all requests of the list, or those before *@bad. */
static int post_recvs(struct mrc_ring *r, u32 max_sge, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad)
{
	unsigned long flags;
	int err = 0;
	u32 prod;

	spin_lock_irqsave(&r->fill_lock, flags);
	prod = r->hdr->prod;
	for (; wr && !err; wr = err ? wr : wr->next) {
		err = put_recv(r, max_sge, prod, wr);
		prod += !err;
	}
	smp_store_release(&r->hdr->prod, prod);
	spin_unlock_irqrestore(&r->fill_lock, flags);
	if (err)
		*bad = wr;
	return err;
}

/*
 * A QP reads a receive from the ring when a message needs it, so posting needs no kick. In state
 * ERR the QP flushes receives, and must be kicked.
 */
int mrc_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad)
{
	struct post_qp p;
	int err = 0;

	if (wr && ibqp->uobject) {
		*bad = wr;
		return -EOPNOTSUPP;
	}
	post_qp_of(ibqp, &p);
	if (wr && (p.state == IB_QPS_RESET || ibqp->srq)) {	/* they go to the SRQ */
		*bad = wr;
		return -EINVAL;
	}
	if (wr) {
		err = post_recvs(p.rq, p.cap->max_recv_sge, wr, bad);
		smp_mb();	/* pairs with the barrier after need_kick was set in error */
	}
	post_qp_of(ibqp, &p);
	if (p.state == IB_QPS_ERR)
		post_kick(ibqp);
	return err;
}

int mrc_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad)
{
	struct mrc_srq *srq = mrc_srq_of(ibsrq);

	if (ibsrq->uobject) {
		*bad = wr;
		return -EOPNOTSUPP;
	}
	return wr ? post_recvs(&srq->ring, srq->max_sge, wr, bad) : 0;
}
