/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_crc32_fold.h - CRC-32 by carry-less multiplication (folding) with AVX vectors.
 *
 * The library of the supported kernels is slower: it uses SSE only, and saves the vector registers
 * for each piece of a packet. Here they are saved once per packet.
 */
#ifndef MRC_CRC32_FOLD_H
#define MRC_CRC32_FOLD_H

#include <linux/types.h>

/* Process context, once: chooses the method for this processor, and tests it against the library. */
void mrc_crc32_fold_init(void);
/* The name of the method, for display. NULL: mrc_crc32_fold() must not be called. */
const char *mrc_crc32_fold_by(void);
/*
 * Any context up to softirq. True: the caller may call mrc_crc32_fold() and mrc_crc32_fold_two(), and must not sleep,
 * until mrc_crc32_fold_end(). False: vector registers cannot be used now.
 */
bool mrc_crc32_fold_begin(void);
void mrc_crc32_fold_end(void);
/* The same result as crc32_le(). */
u32 mrc_crc32_fold(u32 crc, const u8 *p, u32 len);

#define MRC_CRC32_FOLD_LANES	128u

/*
 * The CRC, starting with 0, of @first_len bytes at @first (a multiple of MRC_CRC32_FOLD_LANES, not 0) followed by @len
 * bytes at @p. One call for both, because start and end of a computation cost time, too. The last @len %
 * MRC_CRC32_FOLD_LANES bytes are slower.
 */
u32 mrc_crc32_fold_two(const u8 *first, u32 first_len, const u8 *p, u32 len);

#endif
