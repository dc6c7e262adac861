// SPDX-License-Identifier: GPL-2.0
/*
 * shared.c - an SRQ of a user in the kernel: two QPs take their receives from it; its limit is
 * told; what does not fit is refused.
 */
#include "pair.h"

#define SHARED_MSG	1000
#define SHARED_N	16

static struct ku_op got[SHARED_N];

static int post_one(struct ku *k, int i)
{
	struct ib_sge sge = { (u64)(uintptr_t)k->to + i * SHARED_MSG, SHARED_MSG,
			      k->pd->local_dma_lkey };
	struct ib_recv_wr wr = { .wr_cqe = &got[i].cqe, .sg_list = &sge, .num_sge = 1 };

	ku_op_init(&got[i]);
	return ib_post_srq_recv(k->srq, &wr, NULL);
}

static int send_one(struct ku *k, struct ib_qp *qp, int i)
{
	struct ib_sge sge = { (u64)(uintptr_t)k->from + i * SHARED_MSG, SHARED_MSG,
			      k->pd->local_dma_lkey };
	struct ib_send_wr wr = {
		.wr_cqe = &k->s.cqe, .sg_list = &sge, .num_sge = 1,
		.opcode = IB_WR_SEND_WITH_IMM, .ex.imm_data = cpu_to_be32(i),
	};

	return ib_post_send(qp, &wr, NULL);
}

/* Which receive has which message is the queue's affair, but each message has one. */
static bool all_arrived(struct ku *k)
{
	u32 seen = 0;
	int i, m;

	for (i = 0; i < SHARED_N; i++) {
		if (!ku_check(ku_ended(k, &got[i], IB_WC_SUCCESS)))
			return false;
		m = be32_to_cpu(got[i].wc.ex.imm_data);
		if (!ku_check(m >= 0 && m < SHARED_N && !(seen & BIT(m))) ||
		    !ku_check(got[i].wc.qp == k->qp[m % 2 ? 3 : 1]) ||
		    !ku_check(!memcmp(k->to + i * SHARED_MSG, k->from + m * SHARED_MSG, SHARED_MSG)))
			return false;
		seen |= BIT(m);
	}
	return true;
}

static bool test_two(struct ku *k)
{
	int i;

	memset(k->to, 0xee, KU_LEN);
	for (i = 0; i < SHARED_N; i++)
		if (!ku_check(!post_one(k, i)))
			return false;
	for (i = 0; i < SHARED_N; i++)
		if (!ku_check(!send_one(k, k->qp[i % 2 ? 2 : 0], i)))
			return false;
	return all_arrived(k);
}

static bool test_limit(struct ku *k)
{
	struct ib_srq_attr attr = { .srq_limit = SHARED_N / 2 };
	int i;

	for (i = 0; i < SHARED_N; i++)
		if (!ku_check(!post_one(k, i)))
			return false;
	if (!ku_check(!ib_modify_srq(k->srq, &attr, IB_SRQ_LIMIT)))
		return false;
	for (i = 0; i < SHARED_N; i++) {
		if (!ku_check(completion_done(&k->limit) == false || i > SHARED_N / 2) ||
		    !ku_check(!send_one(k, k->qp[i % 2 ? 2 : 0], i)))
			return false;
		if (!ku_check(ku_wait(k, &got[i])))
			return false;
	}
	return ku_check(wait_for_completion_timeout(&k->limit, KU_WAIT));
}

static bool test_refused(struct ku *k)
{
	struct ib_sge sge[2] = { };
	struct ib_recv_wr one = { .wr_cqe = &got[0].cqe };	/* for a QP that has the SRQ's */
	const struct ib_recv_wr *bad = NULL;
	struct ib_recv_wr two = { .wr_cqe = &got[0].cqe, .sg_list = sge, .num_sge = 2 };
	int i, n = 0;

	if (!ku_check(ib_post_srq_recv(k->srq, &two, NULL) == -EINVAL) ||
	    !ku_check(ib_post_recv(k->qp[1], &one, &bad) == -EINVAL && bad == &one))
		return false;
	for (i = 0; i < 2 * KU_DEPTH && !post_one(k, i % SHARED_N); i++)
		n++;
	return ku_check(n == KU_DEPTH) && ku_check(post_one(k, 0) == -ENOMEM);
}

bool ku_srq(struct ku *k)
{
	return test_two(k) && test_limit(k) && test_refused(k);
}
