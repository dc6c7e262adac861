// SPDX-License-Identifier: GPL-2.0
/*
 * race.c - a key is invalidated by one QP while the peer of another writes through it: when the
 * invalidation has completed, not one byte is written any more.
 */
#include <linux/delay.h>
#include <linux/sched.h>
#include "region.h"

#define RACE_WRITES	8
#define RACE_ROUNDS	60

static struct ku_op writes[RACE_WRITES];

static bool post_writes(struct ku_region *r)
{
	struct ib_sge sge = { (u64)(uintptr_t)r->k->from, min_t(u32, KU_LEN, KR_LEN),
			      r->k->pd->local_dma_lkey };
	struct ib_rdma_wr wr = {
		.wr = { .sg_list = &sge, .num_sge = 1, .opcode = IB_WR_RDMA_WRITE,
			.send_flags = IB_SEND_SIGNALED },
		.remote_addr = r->mr->iova, .rkey = r->mr->rkey,
	};
	int i;

	for (i = 0; i < RACE_WRITES; i++) {
		ku_op_init(&writes[i]);
		wr.wr.wr_cqe = &writes[i].cqe;
		if (ib_post_send(r->peer, &wr.wr, NULL))
			return false;
	}
	return true;
}

/* The first that failed says why, those after it are flushed. */
static bool ended(struct ku_region *r, int *late)
{
	enum ib_wc_status want = IB_WC_SUCCESS, status;
	int i;

	for (i = 0; i < RACE_WRITES; i++) {
		if (!ku_wait(r->k, &writes[i]))
			return false;
		status = writes[i].wc.status;
		if (want == IB_WC_SUCCESS && status == IB_WC_REM_ACCESS_ERR)
			want = IB_WC_WR_FLUSH_ERR;
		else if (status != want)
			return false;
	}
	if (want == IB_WC_SUCCESS)
		return true;
	++*late;
	return !ku_reconnect(r->k, 0);
}

static bool race_round(struct ku_region *r, int round, int *late)
{
	if (!ku_region_map(r) || !ku_region_reg(r, KR_ALL, IB_WC_SUCCESS) ||
	    !ku_check(post_writes(r)))
		return false;
	set_cpus_allowed_ptr(current, cpumask_of(cpumask_last(cpu_online_mask)));
	udelay(round * 20);
	if (!ku_region_inv(r, r->mr->rkey, IB_WC_SUCCESS))
		return false;
	ku_region_fill(r, 0x55);
	set_cpus_allowed_ptr(current, cpumask_of(cpumask_first(cpu_online_mask)));
	return ku_check(ended(r, late)) && ku_check(ku_region_has(r, 0x55));
}

bool ku_race(struct ku *k)
{
	struct ku_region r;
	int i, late = 0;
	bool ok = ku_check(!ku_region_make(&r, k, k->pd));

	r.owner = k->qp[2];
	for (i = 0; i < RACE_ROUNDS && ok; i++)
		ok = race_round(&r, i, &late);
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	ku_region_end(&r);
	pr_info("mrc_kuser: %d of %d rounds were too late for some WRITEs\n", late, i);
	return ok;
}
