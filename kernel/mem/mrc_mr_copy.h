/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_mr_copy.h - copies bytes to and from a memory region. Any context, with BH off from lookup to
 * copy.
 *
 * The caller holds a reference and has checked the range by mrc_mr_covers(). If a fast registration
 * or a dma-buf ends meanwhile, nothing is written, and reads return zeros.
 */
#ifndef MRC_MR_COPY_H
#define MRC_MR_COPY_H

#include <linux/types.h>

struct mrc_mr;
struct mrc_payload;
struct sk_buff;

/*
 * Does [va, va + len) lie inside the region, and does it have all rights of @access? True for
 * length 0.
 */
bool mrc_mr_covers(const struct mrc_mr *mr, u64 va, u64 len, int access);

/*
 * Copies bytes of @skb from @off on into the region. Write barriers separate the last 64 bytes from
 * those before, and the last 8 from these: a program that polls the end sees all of the message.
 */
void mrc_mr_copy_from_skb(struct mrc_mr *mr, u64 va, const struct sk_buff *skb, int off, u32 len);
/* Likewise, in any order: for a packet that later ones of its message follow. */
void mrc_mr_fill_from_skb(struct mrc_mr *mr, u64 va, const struct sk_buff *skb, int off, u32 len);
/* Copies bytes of @src into the region, in the order of mrc_mr_copy_from_skb(). */
void mrc_mr_write(struct mrc_mr *mr, u64 va, const void *src, u32 len);
/* Copies bytes out of the region. */
void mrc_mr_read(const struct mrc_mr *mr, u64 va, void *to, u32 len);
/*
 * Adds the pages of the range to @pl as fragments, without a copy or a reference. -EFAULT: the
 * region has ended; -EMSGSIZE: they do not fit, which is a bug, because those of one packet do.
 */
int mrc_mr_frags(const struct mrc_mr *mr, u64 va, u32 len, struct mrc_payload *pl);
/*
 * Atomic compare-and-swap, or fetch-and-add, of the 8 bytes at @va, which is aligned. Returns the
 * old value in the CPU's byte order.
 */
u64 mrc_mr_atomic(struct mrc_mr *mr, u64 va, bool cmp_swap, u64 swap_add, u64 compare);

#endif
