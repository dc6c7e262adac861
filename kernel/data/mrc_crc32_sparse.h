/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_crc32_sparse.h - CRC-32 by shifts and XORs of whole words, for processors that cannot multiply without carry, and
 * for when their vectors may not be touched: a third of what slicing by 8 tables takes.
 */
#ifndef MRC_CRC32_SPARSE_H
#define MRC_CRC32_SPARSE_H

#include <linux/types.h>

#define MRC_CRC32_SPARSE_BLOCK	16u	/* bytes that are taken at a time */

/* Process context, once: whether what it computes is right. */
void mrc_crc32_sparse_init(void);
/* Does it compute, and not the kernel's library in its place? */
bool mrc_crc32_sparse_used(void);
/* Any context. As crc32_le(). */
u32 mrc_crc32_sparse(u32 crc, const u8 *p, u32 len);
/* Of @first_len bytes at @first, whole blocks, and @len behind them at @p, begun with 0. */
u32 mrc_crc32_sparse_two(const u8 *first, u32 first_len, const u8 *p, u32 len);

#endif
