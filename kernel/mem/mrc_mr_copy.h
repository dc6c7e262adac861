/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_mr_copy.h - copies bytes to and from a memory region. Any context, BH off from lookup to
 * copy.
 */
#ifndef MRC_MR_COPY_H
#define MRC_MR_COPY_H

#include <linux/types.h>

struct mrc_mr;
struct mrc_payload;
struct sk_buff;

/* Does [va, va + len) lie inside with all of @access. Zero length: true. */
bool mrc_mr_covers(const struct mrc_mr *mr, u64 va, u64 len, int access);

/* Copy skb bytes in. Last byte last: the final min(len, 64) bytes are written
 * after a write barrier. Range must have been checked. */
void mrc_mr_copy_from_skb(struct mrc_mr *mr, u64 va, const struct sk_buff *skb, int off, u32 len);
/* Likewise, in any order: what follows it in its message is yet to come. */
void mrc_mr_fill_from_skb(struct mrc_mr *mr, u64 va, const struct sk_buff *skb, int off, u32 len);
void mrc_mr_write(struct mrc_mr *mr, u64 va, const void *src, u32 len);
/* Bytes out. Range must have been checked. */
void mrc_mr_read(const struct mrc_mr *mr, u64 va, void *to, u32 len);
/* Append the pages of the range to @pl as fragments (no copy, no reference taken).
 * -EMSGSIZE when they do not fit, which is a bug: those of one packet do. */
int mrc_mr_frags(const struct mrc_mr *mr, u64 va, u32 len, struct mrc_payload *pl);
/* 8-byte atomic on naturally aligned va; returns the old value, native order. */
u64 mrc_mr_atomic(struct mrc_mr *mr, u64 va, bool cmp_swap, u64 swap_add, u64 compare);

#endif
