// SPDX-License-Identifier: GPL-2.0
/*
 * messages.c - messages by SEND, inline, from several pieces, from pages and slabs, into vmalloc'ed memory; completions with
 * wr_cqe and wc->qp; a bad key; what is posted with interrupts off; ib_drain_qp().
 */
#include "pair.h"

static int post_recv(struct ku *k, struct ku_op *op)
{
	struct ib_sge sge = { (u64)(uintptr_t)k->to, KU_LEN, k->pd->local_dma_lkey };
	struct ib_recv_wr wr = { .wr_cqe = &op->cqe, .sg_list = &sge, .num_sge = 1 };

	ku_op_init(op);
	memset(k->to, 0xee, KU_LEN);
	return k->shared ? ib_post_srq_recv(k->srq, &wr, NULL) : ib_post_recv(k->qp[1], &wr, NULL);
}

/* All of it in three pieces, or @len of it inline; with interrupts off, as ib_mad does. */
static int post_send(struct ku *k, struct ku_op *op, u32 len, u32 lkey)
{
	struct ib_sge sge[3] = {
		{ (u64)(uintptr_t)k->from, len / 3, lkey },
		{ (u64)(uintptr_t)k->from + len / 3, len / 3, lkey },
		{ (u64)(uintptr_t)k->from + len / 3 * 2, len - len / 3 * 2, lkey },
	};
	struct ib_send_wr wr = {
		.wr_cqe = &op->cqe, .sg_list = sge, .num_sge = 3, .opcode = IB_WR_SEND_WITH_IMM,
		.ex.imm_data = cpu_to_be32(len),
		.send_flags = IB_SEND_SIGNALED | (len <= 64 ? IB_SEND_INLINE : 0),
	};
	unsigned long flags;
	int err;

	ku_op_init(op);
	local_irq_save(flags);
	err = ib_post_send(k->qp[0], &wr, NULL);
	local_irq_restore(flags);
	return err;
}

static bool message(struct ku *k, u32 len)
{
	return ku_check(!post_recv(k, &k->r)) &&
	       ku_check(!post_send(k, &k->s, len, k->pd->local_dma_lkey)) &&
	       ku_check(ku_ended(k, &k->s, IB_WC_SUCCESS)) &&
	       ku_check(ku_ended(k, &k->r, IB_WC_SUCCESS)) &&
	       ku_check(k->s.wc.qp == k->qp[0] && k->r.wc.qp == k->qp[1]) &&
	       ku_check(k->r.wc.byte_len == len && k->r.wc.wc_flags & IB_WC_WITH_IMM) &&
	       ku_check(k->r.wc.ex.imm_data == cpu_to_be32(len)) &&
	       ku_check(!memcmp(k->to, k->from, len)) &&
	       ku_check(len == KU_LEN || k->to[len] == 0xee);
}

/* KU_LEN is more than slabs have: a packet refers to these pages. To those of a slab, which is freed next, it must not. */
static bool from_slab(struct ku *k)
{
	u8 *pages = k->from;
	bool ok;

	k->from = kmemdup(pages, 4000, GFP_KERNEL);
	ok = ku_check(k->from) && message(k, 4000);
	kfree(k->from);
	k->from = pages;
	return ok;
}

/* What is refused ends the QP; what was posted is flushed, and drained. An SRQ's stays there. */
static bool bad_key(struct ku *k)
{
	if (!ku_check(!post_recv(k, &k->r)) ||
	    !ku_check(!post_send(k, &k->s, KU_LEN, k->pd->local_dma_lkey ^ 0x100)) ||
	    !ku_check(ku_ended(k, &k->s, IB_WC_LOC_PROT_ERR)))
		return false;
	ib_drain_qp(k->qp[0]);
	ib_drain_qp(k->qp[1]);
	return k->shared || (ku_check(completion_done(&k->r.done)) &&
			     ku_check(k->r.wc.status == IB_WC_WR_FLUSH_ERR));
}

bool ku_messages(struct ku *k)
{
	static const u32 lens[] = { 0, 1, 3, 64, 65, 1000, 4096, 4097, KU_LEN };
	int i, more = k->poll == IB_POLL_WORKQUEUE && !k->shared ? 500 : 50;

	for (i = 0; i < ARRAY_SIZE(lens); i++)
		if (!message(k, lens[i]))
			return false;
	for (i = 0; i < more; i++)
		if (!message(k, (u32)i * 17 % KU_LEN))
			return false;
	return from_slab(k) && bad_key(k);
}
