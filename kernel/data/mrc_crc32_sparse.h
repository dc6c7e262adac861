/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_crc32_sparse.h - CRC-32 by shifts and XORs of whole words.
 *
 * For processors without carry-less multiplication, and for contexts in which vector registers must
 * not be used. It is faster than the library's slicing by 8 tables.
 */
#ifndef MRC_CRC32_SPARSE_H
#define MRC_CRC32_SPARSE_H

#include <linux/types.h>

#define MRC_CRC32_SPARSE_BLOCK	16u	/* bytes per step */

/* Process context, once: tests the results against the library, which is used in its place if they differ. */
void mrc_crc32_sparse_init(void);
/* False: the functions below call the kernel's library. */
bool mrc_crc32_sparse_used(void);
/* Any context. The same result as crc32_le(). */
u32 mrc_crc32_sparse(u32 crc, const u8 *p, u32 len);
/* Any context. The CRC, starting with 0, of @first_len bytes at @first (whole blocks) followed by @len bytes at @p. */
u32 mrc_crc32_sparse_two(const u8 *first, u32 first_len, const u8 *p, u32 len);

#endif
