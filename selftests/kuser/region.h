/* SPDX-License-Identifier: GPL-2.0 */
/*
 * region.h - a fast registration region of five scattered pages, which QP @owner registers and
 * invalidates, and the QP @peer reads, writes and invalidates.
 */
#ifndef KU_REGION_H
#define KU_REGION_H

#include <linux/scatterlist.h>
#include "pair.h"

#define KR_PAGES	5
#define KR_SKIP		100		/* of the first page */
#define KR_LEN		(KR_PAGES * PAGE_SIZE - KR_SKIP - 28)
#define KR_ALL		(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ)

struct ku_region {
	struct ku *k;
	struct ib_mr *mr;
	struct ib_qp *owner, *peer;
	struct scatterlist sg[KR_PAGES];
	struct ku_op reg, inv, op;
	bool mapped;
};

int ku_region_make(struct ku_region *r, struct ku *k, struct ib_pd *pd);
void ku_region_end(struct ku_region *r);
/* Another key, the pages mapped, and registered for @access; as it should be. */
bool ku_region_map(struct ku_region *r);
bool ku_region_reg(struct ku_region *r, int access, enum ib_wc_status status);
bool ku_region_inv(struct ku_region *r, u32 key, enum ib_wc_status status);
/* The peer writes all of k->from, as far as it fits, or reads it to k->from, through @key. */
bool ku_region_write(struct ku_region *r, u32 key, enum ib_wc_status status);
bool ku_region_read(struct ku_region *r, u32 key, enum ib_wc_status status);
/* All of its memory, and what it holds: k->from, or @fill everywhere. */
void ku_region_fill(struct ku_region *r, u8 fill);
bool ku_region_has_from(struct ku_region *r);
bool ku_region_has(struct ku_region *r, u8 fill);

#endif
