/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_mr.h - memory regions: pinned user pages behind a key.
 *
 * lkey == rkey: index << 8 | random byte. Looked up under RCU with a
 * reference; pages are a flat array. Bounds are checked by subtraction.
 */
#ifndef MRC_MR_H
#define MRC_MR_H

#include <linux/kref.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>

struct mrc_dev;
struct mrc_payload;
struct sk_buff;

struct mrc_ibmr {
	struct ib_mr ibmr;	/* first; a shell */
	struct mrc_mr *mr;
};

struct mrc_mr {
	struct kref ref;
	struct rcu_head rcu;
	struct work_struct free_work;
	struct mrc_dev *dev;
	u32 key;
	u32 pdn;
	int access;		/* enum ib_access_flags */
	u64 iova;
	u64 length;
	u32 page_off;		/* of iova in the first page */
	u32 n_pages;
	struct page **pages;
	struct ib_umem *umem;
	bool dma;		/* all memory of the kernel, by its addresses; pages is NULL */
	bool dead;		/* deregistered: nothing is read or written any more */
};

/* Softirq-safe. NULL unless the key exists, belongs to @dev and @pdn and is alive. */
struct mrc_mr *mrc_mr_get(struct mrc_dev *dev, u32 pdn, u32 key);
void mrc_mr_put(struct mrc_mr *mr);	/* any context */
/* May its memory still be touched: until the end of this BH-disabled section. */
static inline bool mrc_mr_alive(const struct mrc_mr *mr) { return !READ_ONCE(mr->dead); }
/* Does [va, va + len) lie inside with all of @access. Zero length: true. */
bool mrc_mr_covers(const struct mrc_mr *mr, u64 va, u64 len, int access);

/* Copy skb bytes in. Last byte last: the final min(len, 64) bytes are written
 * after a write barrier. Range must have been checked. */
void mrc_mr_copy_from_skb(struct mrc_mr *mr, u64 va, const struct sk_buff *skb, int off, u32 len);
void mrc_mr_write(struct mrc_mr *mr, u64 va, const void *src, u32 len);
/* Bytes out. Range must have been checked. */
void mrc_mr_read(const struct mrc_mr *mr, u64 va, void *to, u32 len);
/* Append the pages of the range to @pl as fragments (no copy, no reference taken).
 * -EMSGSIZE when they do not fit. */
int mrc_mr_frags(const struct mrc_mr *mr, u64 va, u32 len, struct mrc_payload *pl);
/* 8-byte atomic on naturally aligned va; returns the old value, native order. */
u64 mrc_mr_atomic(struct mrc_mr *mr, u64 va, bool cmp_swap, u64 swap_add, u64 compare);

struct ib_mr *mrc_mr_reg(struct ib_pd *ibpd, u64 start, u64 length, u64 iova, int access,
			 struct ib_udata *udata);
/* For users in the kernel: every address of theirs, local access only. */
struct ib_mr *mrc_mr_get_dma(struct ib_pd *ibpd, int access);
int mrc_mr_dereg(struct ib_mr *ibmr, struct ib_udata *udata);
int mrc_mr_init(void);
void mrc_mr_exit(void);

#endif
