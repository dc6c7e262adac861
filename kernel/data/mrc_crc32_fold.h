/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_crc32_fold.h - CRC-32 by carry-less multiplication (folding) with AVX vectors.
 *
 * The kernels that we support use SSE only, at half the speed, and save the vector registers for
 * each piece of a packet.
 */
#ifndef MRC_CRC32_FOLD_H
#define MRC_CRC32_FOLD_H

#include <linux/types.h>

/* Process context, once: looks at the processor, and whether what it computes is right. */
void mrc_crc32_fold_init(void);
/* The method of mrc_crc32_fold(), for display. NULL: it must not be called. */
const char *mrc_crc32_fold_by(void);
/*
 * Any context up to softirq. False: not now. True: between here and mrc_crc32_fold_end() this CPU may call mrc_crc32_fold(), and
 * must not sleep.
 */
bool mrc_crc32_fold_begin(void);
void mrc_crc32_fold_end(void);
/* As crc32_le(). */
u32 mrc_crc32_fold(u32 crc, const u8 *p, u32 len);

#define MRC_CRC32_FOLD_LANES	128u

/*
 * The CRC, starting with 0, of @first_len bytes at @first (a multiple of MRC_CRC32_FOLD_LANES, not 0) followed by @len
 * bytes at @p. One call, because start and end cost time too. Bytes at the end that fill no MRC_CRC32_FOLD_LANES are
 * computed block by block.
 */
u32 mrc_crc32_fold_two(const u8 *first, u32 first_len, const u8 *p, u32 len);

#endif
