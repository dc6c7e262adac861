// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_crc32_sparse.c - see mrc_crc32_sparse.h.
 *
 * The CRC of a message does not change when a multiple of the polynomial is added. x^300 + x^155 +
 * x^117 + x^89 + 1 is such a multiple of Ethernet's polynomial: the smallest with five terms whose
 * first two exponents differ by 64 or more (found by exhaustive search; mrc_crc32_sparse_init()
 * compares with the tables). Adding it once per bit of a word clears the word and adds copies 145,
 * 183, 211 and 300 bits later. So each word is read once, five words ahead are kept in registers,
 * and no table is read. The library computes the last bytes, with the pending words added.
 *
 * The idea is S. Russell's: "Chorba: A novel CRC32 implementation", arXiv 2412.16398.
 */
#include <linux/crc32.h>
#include <linux/module.h>
#include <linux/unaligned.h>
#include "data/mrc_crc32_sparse.h"

/* Only on x86: there the library of 6.1 and 6.12 uses tables. On other processors it uses CRC instructions. */
#if defined(__x86_64__) && !defined(CONFIG_CRC32_ARCH)

#define SPARSE_AHEAD	5u		/* pending words */
#define SPARSE_KEPT	(SPARSE_AHEAD * 8u)	/* bytes at the end to which they are added */
#define SPARSE_LEAST	(SPARSE_KEPT + MRC_CRC32_SPARSE_BLOCK)	/* shorter data goes to the library */
#define SPARSE_TEST_LEN	640u

static bool sparse_ok __ro_after_init;

/* Processes whole blocks as long as at least @keep bytes follow. Returns the number of bytes left. */
static u32 sparse_loop(u64 ahead[SPARSE_AHEAD], const u8 *p, u32 left, u32 keep)
{
	u64 w0 = ahead[0], w1 = ahead[1], w2 = ahead[2], w3 = ahead[3], w4 = ahead[4];
	u64 a, b;

	for (; left >= keep + MRC_CRC32_SPARSE_BLOCK; p += MRC_CRC32_SPARSE_BLOCK, left -= MRC_CRC32_SPARSE_BLOCK) {
		a = w0 ^ get_unaligned_le64(p);
		b = w1 ^ get_unaligned_le64(p + 8);
		w0 = w2 ^ a << 17 ^ a << 55;
		w1 = w3 ^ a >> 47 ^ a >> 9 ^ a << 19 ^ b << 17 ^ b << 55;
		w2 = w4 ^ a >> 45 ^ a << 44 ^ b >> 47 ^ b >> 9 ^ b << 19;
		w3 = a >> 20 ^ b >> 45 ^ b << 44;
		w4 = b >> 20;
	}
	ahead[0] = w0;
	ahead[1] = w1;
	ahead[2] = w2;
	ahead[3] = w3;
	ahead[4] = w4;
	return left;
}

/* The CRC over the last @left bytes before @end (SPARSE_KEPT <= @left < SPARSE_LEAST) with the pending words. */
static u32 sparse_end(const u64 ahead[SPARSE_AHEAD], const u8 *end, u32 left)
{
	__le64 last[SPARSE_LEAST / 8];
	u32 i;

	memcpy(last, end - left, left);
	for (i = 0; i < SPARSE_AHEAD; i++)
		last[i] ^= cpu_to_le64(ahead[i]);
	return crc32_le(0, (const u8 *)last, left);
}

static u32 sparse_sum(u32 crc, const u8 *p, u32 len)
{
	u64 ahead[SPARSE_AHEAD] = { crc };

	if (len < SPARSE_LEAST)
		return crc32_le(crc, p, len);
	return sparse_end(ahead, p + len, sparse_loop(ahead, p, len, SPARSE_KEPT));
}

static u32 sparse_sum_two(const u8 *first, u32 first_len, const u8 *p, u32 len)
{
	u64 ahead[SPARSE_AHEAD] = { 0 };

	if (len < SPARSE_LEAST)
		return crc32_le(sparse_sum(0, first, first_len), p, len);
	sparse_loop(ahead, first, first_len, 0);
	return sparse_end(ahead, p + len, sparse_loop(ahead, p, len, SPARSE_KEPT));
}

bool mrc_crc32_sparse_used(void)
{
	return sparse_ok;
}

u32 mrc_crc32_sparse(u32 crc, const u8 *p, u32 len)
{
	return likely(sparse_ok) ? sparse_sum(crc, p, len) : crc32_le(crc, p, len);
}

u32 mrc_crc32_sparse_two(const u8 *first, u32 first_len, const u8 *p, u32 len)
{
	return likely(sparse_ok) ? sparse_sum_two(first, first_len, p, len) :
				   crc32_le(crc32_le(0, first, first_len), p, len);
}

static bool __init sparse_selftest_at(u32 crc, const u8 *p, u32 len)
{
	u32 first = len / 2 & ~(MRC_CRC32_SPARSE_BLOCK - 1);

	return sparse_sum(crc, p, len) == crc32_le(crc, p, len) &&
	       sparse_sum_two(p, first, p + first, len - first) == crc32_le(0, p, len);
}

/* Compares with the library for each length, at unaligned addresses and after different values. */
void __init mrc_crc32_sparse_init(void)
{
	static u8 bytes[SPARSE_TEST_LEN] __initdata;
	u32 len, skip, crc = 0;

	for (len = 0; len < SPARSE_TEST_LEN; len++)
		bytes[len] = (u8)(crc = (crc * 1664525u + 1013904223u) >> 3);
	for (len = 0; len < SPARSE_TEST_LEN; len++) {
		skip = min(len, len % 7);
		crc = crc * 69069u + 1u;
		if (WARN_ON_ONCE(!sparse_selftest_at(crc, bytes + skip, len - skip)))
			return;
	}
	sparse_ok = true;
}

#else /* the library is faster */

void __init mrc_crc32_sparse_init(void)
{
}

bool mrc_crc32_sparse_used(void)
{
	return false;
}

u32 mrc_crc32_sparse(u32 crc, const u8 *p, u32 len)
{
	return crc32_le(crc, p, len);
}

u32 mrc_crc32_sparse_two(const u8 *first, u32 first_len, const u8 *p, u32 len)
{
	return crc32_le(crc32_le(0, first, first_len), p, len);
}

#endif
