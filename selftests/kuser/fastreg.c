// SPDX-License-Identifier: GPL-2.0
/*
 * fastreg.c - fast registration: what is registered is reached by the peer, through this key, for
 * this access, until it is invalidated, by whom ever; all else is refused and touches nothing.
 */
#include <linux/delay.h>
#include <linux/slab.h>
#include "region.h"

#define REFUSED	IB_WC_REM_ACCESS_ERR
#define NOBODYS	0x80000000	/* of a key: by this its index is none's. The next index is a neighbour's, the rest a byte of chance. */

static void change_from(struct ku *k)
{
	static u8 salt;
	int i;

	salt++;
	for (i = 0; i < KU_LEN; i++)
		k->from[i] = (u8)(i * 13 + (i >> 8) + salt);
}

/* After an error of either end. */
static bool again(struct ku_region *r)
{
	return ku_check(!ku_reconnect(r->k, 0));
}

static bool registered(struct ku_region *r, int access)
{
	return ku_region_map(r) && ku_region_reg(r, access, IB_WC_SUCCESS);
}

static bool reaches(struct ku_region *r)
{
	change_from(r->k);
	ku_region_fill(r, 0xee);
	return ku_region_write(r, r->mr->rkey, IB_WC_SUCCESS) && ku_check(ku_region_has_from(r));
}

/* The peer's WRITE through @key is refused, and nothing of it is there. */
static bool refused(struct ku_region *r, u32 key)
{
	ku_region_fill(r, 0xee);
	return ku_region_write(r, key, REFUSED) && ku_check(ku_region_has(r, 0xee)) && again(r);
}

static bool read_back(struct ku_region *r)
{
	u8 *was = kmemdup(r->k->from, KU_LEN, GFP_KERNEL);
	bool ok;

	if (!ku_check(was))
		return false;
	memset(r->k->from, 0, KU_LEN);
	ok = ku_region_read(r, r->mr->rkey, IB_WC_SUCCESS) &&
	     ku_check(!memcmp(was, r->k->from, min_t(u32, KU_LEN, KR_LEN)));
	memcpy(r->k->from, was, KU_LEN);
	kfree(was);
	return ok;
}

static bool test_life(struct ku_region *r)
{
	u32 old;

	if (!registered(r, KR_ALL) || !reaches(r) || !read_back(r))
		return false;
	old = r->mr->rkey;
	return ku_region_inv(r, old, IB_WC_SUCCESS) && refused(r, old) &&
	       ku_region_inv(r, old, IB_WC_SUCCESS) &&		/* is invalid, and stays so */
	       registered(r, KR_ALL) && ku_check(r->mr->rkey != old) && refused(r, old) &&
	       reaches(r) && ku_region_inv(r, old, IB_WC_MW_BIND_ERR) && again(r) &&
	       reaches(r) && ku_region_inv(r, r->mr->rkey, IB_WC_SUCCESS);
}

static bool test_access(struct ku_region *r)
{
	return registered(r, IB_ACCESS_REMOTE_READ) && refused(r, r->mr->rkey) &&
	       ku_region_read(r, r->mr->rkey, IB_WC_SUCCESS) &&
	       ku_region_inv(r, r->mr->rkey, IB_WC_SUCCESS) &&
	       registered(r, IB_ACCESS_LOCAL_WRITE) && refused(r, r->mr->rkey) &&
	       ku_region_inv(r, r->mr->rkey, IB_WC_SUCCESS);
}

/* What is valid is not registered once more, and what has no pages is not at all. */
static bool test_order(struct ku_region *r, struct ku_region *empty)
{
	u32 key;

	if (!registered(r, KR_ALL))
		return false;
	key = r->mr->rkey;
	return ku_region_map(r) && ku_region_reg(r, KR_ALL, IB_WC_MW_BIND_ERR) && again(r) &&
	       ku_region_inv(r, key, IB_WC_SUCCESS) &&
	       ku_region_reg(empty, KR_ALL, IB_WC_MW_BIND_ERR) && again(r);
}

/* Of the host's pages, as many as it was made for, of no others: page_size_cap says so. */
static bool test_pages(struct ku_region *r)
{
	struct ib_mr *one = ib_alloc_mr(r->k->pd, IB_MR_TYPE_MEM_REG, 1);
	bool ok;

	if (!ku_check(!IS_ERR(one)))
		return false;
	ok = ku_check(r->k->ibdev->attrs.page_size_cap == PAGE_SIZE) &&
	     ku_check(ib_map_mr_sg(one, r->sg, 1, NULL, 32 * PAGE_SIZE) == -EINVAL) &&
	     ku_check(ib_map_mr_sg(one, r->sg, KR_PAGES, NULL, PAGE_SIZE) == 1);
	ib_dereg_mr(one);
	return ok;
}

/* ---- the peer invalidates ---- */

static bool send_inv(struct ku_region *r, u32 key, enum ib_wc_status status)
{
	struct ku *k = r->k;
	struct ib_sge sge = { (u64)(uintptr_t)k->to, KU_LEN, k->pd->local_dma_lkey };
	struct ib_recv_wr recv = { .wr_cqe = &k->r.cqe, .sg_list = &sge, .num_sge = 1 };
	struct ib_send_wr send = {
		.wr_cqe = &k->s.cqe, .opcode = IB_WR_SEND_WITH_INV,
		.send_flags = IB_SEND_SIGNALED, .ex.invalidate_rkey = key,
	};

	ku_op_init(&k->s);
	ku_op_init(&k->r);
	return ku_check(!ib_post_recv(r->owner, &recv, NULL)) &&
	       ku_check(!ib_post_send(r->peer, &send, NULL)) &&
	       ku_check(ku_ended(k, &k->s, status)) &&
	       ku_check(ku_ended(k, &k->r, status ? IB_WC_WR_FLUSH_ERR : IB_WC_SUCCESS)) &&
	       ku_check(status || (k->r.wc.wc_flags & IB_WC_WITH_INVALIDATE &&
				   k->r.wc.ex.invalidate_rkey == key));
}

static bool test_send_inv(struct ku_region *r)
{
	u32 old;

	if (!registered(r, KR_ALL) || !reaches(r))
		return false;
	old = r->mr->rkey;
	return send_inv(r, old, IB_WC_SUCCESS) && refused(r, old) &&
	       registered(r, KR_ALL) && send_inv(r, old, REFUSED) && again(r) &&
	       send_inv(r, old ^ NOBODYS, REFUSED) && again(r) &&
	       reaches(r) && send_inv(r, r->mr->rkey, IB_WC_SUCCESS);
}

/* ---- of another domain ---- */

static bool test_domain(struct ku_region *r)
{
	struct ib_pd *pd = ib_alloc_pd(r->k->ibdev, 0);
	struct ku_region other;
	bool ok;

	if (!ku_check(!IS_ERR(pd)))
		return false;
	ok = ku_check(!ku_region_make(&other, r->k, pd)) && ku_region_map(&other) &&
	     ku_region_reg(&other, KR_ALL, IB_WC_MW_BIND_ERR) && again(r) &&
	     ku_region_inv(&other, other.mr->rkey, IB_WC_MW_BIND_ERR) && again(r) &&
	     refused(&other, other.mr->rkey);
	ku_region_end(&other);
	ib_dealloc_pd(pd);
	return ok;
}

/* ---- as a local key ---- */

/* All posted at once: registered, the peer's memory read into it, invalidated, unsignaled but the last. */
static bool chain(struct ku_region *r, struct ku_region *far)
{
	struct ib_sge sge = { r->mr->iova, KR_LEN, r->mr->lkey };
	struct ib_send_wr inv = {
		.wr_cqe = &r->inv.cqe, .opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED, .ex.invalidate_rkey = r->mr->rkey,
	};
	struct ib_rdma_wr read = {
		.wr = { .next = &inv, .wr_cqe = &r->op.cqe, .opcode = IB_WR_RDMA_READ,
			.sg_list = &sge, .num_sge = 1 },
		.remote_addr = far->mr->iova, .rkey = far->mr->rkey,
	};
	struct ib_reg_wr reg = {
		.wr = { .next = &read.wr, .wr_cqe = &r->reg.cqe, .opcode = IB_WR_REG_MR },
		.mr = r->mr, .key = r->mr->rkey, .access = IB_ACCESS_LOCAL_WRITE,
	};

	ku_op_init(&r->reg);
	ku_op_init(&r->op);
	ku_op_init(&r->inv);
	return ku_check(!ib_post_send(r->owner, &reg.wr, NULL)) &&
	       ku_check(ku_ended(r->k, &r->inv, IB_WC_SUCCESS));
}

static bool test_local(struct ku_region *r)
{
	struct ku_region far;
	bool ok = ku_check(!ku_region_make(&far, r->k, r->k->pd));
	int i;

	far.owner = r->peer;
	far.peer = r->owner;
	ok = ok && registered(&far, KR_ALL) && reaches(&far);
	for (i = 0; i < 300 && ok; i++) {
		ku_region_fill(r, 0xee);
		ok = ku_region_map(r) && chain(r, &far) && ku_check(ku_region_has_from(r));
	}
	ku_region_end(&far);
	return ok;
}

/* Nobody receives it, so it is to be sent again; by then its memory is gone. */
static bool test_gone(struct ku_region *r)
{
	struct ib_sge sge;
	struct ib_send_wr wr = {
		.wr_cqe = &r->op.cqe, .opcode = IB_WR_SEND, .sg_list = &sge, .num_sge = 1,
		.send_flags = IB_SEND_SIGNALED,
	};

	if (!registered(r, KR_ALL))
		return false;
	sge = (struct ib_sge){ r->mr->iova, KR_LEN, r->mr->lkey };
	ku_op_init(&r->op);
	if (!ku_check(!ib_post_send(r->owner, &wr, NULL)))
		return false;
	msleep(20);
	ib_dereg_mr(r->mr);
	r->mr = ib_alloc_mr(r->k->pd, IB_MR_TYPE_MEM_REG, KR_PAGES);
	return ku_check(!IS_ERR(r->mr)) && ku_check(ku_ended(r->k, &r->op, IB_WC_LOC_PROT_ERR)) &&
	       again(r);
}

/* Registered still, and gone: nobody gets at it. And what is posted then is drained. */
static bool test_dereg(struct ku_region *r)
{
	u32 key;
	bool ok;

	ok = registered(r, KR_ALL) && reaches(r);
	key = r->mr->rkey;
	ib_dereg_mr(r->mr);
	r->mr = ib_alloc_mr(r->k->pd, IB_MR_TYPE_MEM_REG, KR_PAGES);
	ok = ok && ku_check(!IS_ERR(r->mr)) && ku_region_map(r) && refused(r, key);
	if (!ok)
		return false;
	if (!ku_region_reg(r, KR_ALL, IB_WC_SUCCESS))
		return false;
	ib_drain_qp(r->owner);
	ib_drain_qp(r->peer);
	return again(r) && reaches(r);		/* the region is its own, not the QP's */
}

bool ku_fastreg(struct ku *k)
{
	struct ku_region r, empty;
	bool ok = ku_check(k->ibdev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS) &&
		  ku_check(IS_ERR(ib_alloc_mr(k->pd, IB_MR_TYPE_MEM_REG, 1 << 20))) &&
		  ku_check(IS_ERR(ib_alloc_mr(k->pd, IB_MR_TYPE_SG_GAPS, 1)));

	if (!ok || !ku_check(!ku_region_make(&r, k, k->pd)))
		return false;
	ok = ku_check(!ku_region_make(&empty, k, k->pd));
	ok = ok && test_pages(&r) && test_life(&r) && test_access(&r) && test_send_inv(&r) && test_domain(&r) &&
	     test_local(&r) && test_order(&r, &empty) && test_gone(&r) && test_dereg(&r);
	ku_region_end(&empty);
	ku_region_end(&r);
	return ok;
}
