// SPDX-License-Identifier: GPL-2.0
/* region.c - see region.h. */
#include <linux/slab.h>
#include "region.h"

#define KR_SIZE	min_t(u32, KU_LEN, KR_LEN)

int ku_region_make(struct ku_region *r, struct ku *k, struct ib_pd *pd)
{
	int i;

	memset(r, 0, sizeof(*r));
	r->k = k;
	r->owner = k->qp[1];
	r->peer = k->qp[0];
	r->mr = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, KR_PAGES);
	if (IS_ERR(r->mr))
		return PTR_ERR(r->mr);
	sg_init_table(r->sg, KR_PAGES);
	/* Backwards, so that no two pages are neighbours as they lie. */
	for (i = KR_PAGES - 1; i >= 0; i--) {
		struct page *page = alloc_page(GFP_KERNEL);

		if (!page)
			return -ENOMEM;
		sg_set_page(&r->sg[i], page, PAGE_SIZE, 0);
	}
	r->sg[0].offset = KR_SKIP;
	r->sg[0].length = PAGE_SIZE - KR_SKIP;
	r->sg[KR_PAGES - 1].length = PAGE_SIZE - 28;
	r->mapped = ib_dma_map_sg(k->ibdev, r->sg, KR_PAGES, DMA_BIDIRECTIONAL) == KR_PAGES;
	return r->mapped ? 0 : -EIO;
}

void ku_region_end(struct ku_region *r)
{
	int i;

	if (!IS_ERR_OR_NULL(r->mr))
		ib_dereg_mr(r->mr);
	if (r->mapped)
		ib_dma_unmap_sg(r->k->ibdev, r->sg, KR_PAGES, DMA_BIDIRECTIONAL);
	for (i = 0; i < KR_PAGES; i++)
		if (r->sg[i].length)
			__free_page(sg_page(&r->sg[i]));
}

/* ---- what it holds ---- */

void ku_region_fill(struct ku_region *r, u8 fill)
{
	int i;

	for (i = 0; i < KR_PAGES; i++)
		memset(sg_virt(&r->sg[i]), fill, r->sg[i].length);
}

bool ku_region_has(struct ku_region *r, u8 fill)
{
	int i;

	for (i = 0; i < KR_PAGES; i++)
		if (memchr_inv(sg_virt(&r->sg[i]), fill, r->sg[i].length))
			return false;
	return true;
}

bool ku_region_has_from(struct ku_region *r)
{
	u32 done = 0, n;
	int i;

	for (i = 0; i < KR_PAGES; i++) {
		n = min_t(u32, r->sg[i].length, KR_SIZE - done);
		if (memcmp(sg_virt(&r->sg[i]), r->k->from + done, n))
			return false;
		done += n;
	}
	return done == KR_SIZE;
}

/* ---- requests ---- */

bool ku_region_map(struct ku_region *r)
{
	ib_update_fast_reg_key(r->mr, ib_inc_rkey(r->mr->rkey) & 0xff);
	return ku_check(ib_map_mr_sg(r->mr, r->sg, KR_PAGES, NULL, PAGE_SIZE) == KR_PAGES) &&
	       ku_check(r->mr->length == KR_LEN);
}

bool ku_region_reg(struct ku_region *r, int access, enum ib_wc_status status)
{
	struct ib_reg_wr wr = {
		.wr = { .wr_cqe = &r->reg.cqe, .opcode = IB_WR_REG_MR,
			.send_flags = IB_SEND_SIGNALED },
		.mr = r->mr, .key = r->mr->rkey, .access = access,
	};

	ku_op_init(&r->reg);
	return ku_check(!ib_post_send(r->owner, &wr.wr, NULL)) &&
	       ku_check(ku_ended(r->k, &r->reg, status)) &&
	       ku_check(status || r->reg.wc.opcode == IB_WC_REG_MR);
}

bool ku_region_inv(struct ku_region *r, u32 key, enum ib_wc_status status)
{
	struct ib_send_wr wr = {
		.wr_cqe = &r->inv.cqe, .opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED, .ex.invalidate_rkey = key,
	};

	ku_op_init(&r->inv);
	return ku_check(!ib_post_send(r->owner, &wr, NULL)) &&
	       ku_check(ku_ended(r->k, &r->inv, status)) &&
	       ku_check(status || r->inv.wc.opcode == IB_WC_LOCAL_INV);
}

static bool rdma(struct ku_region *r, enum ib_wr_opcode op, u32 key, enum ib_wc_status status)
{
	struct ib_sge sge = { (u64)(uintptr_t)r->k->from, KR_SIZE, r->k->pd->local_dma_lkey };
	struct ib_rdma_wr wr = {
		.wr = { .wr_cqe = &r->op.cqe, .sg_list = &sge, .num_sge = 1, .opcode = op,
			.send_flags = IB_SEND_SIGNALED },
		.remote_addr = r->mr->iova, .rkey = key,
	};

	ku_op_init(&r->op);
	return ku_check(!ib_post_send(r->peer, &wr.wr, NULL)) &&
	       ku_check(ku_ended(r->k, &r->op, status));
}

bool ku_region_write(struct ku_region *r, u32 key, enum ib_wc_status status)
{
	return rdma(r, IB_WR_RDMA_WRITE, key, status);
}

bool ku_region_read(struct ku_region *r, u32 key, enum ib_wc_status status)
{
	return rdma(r, IB_WR_RDMA_READ, key, status);
}
