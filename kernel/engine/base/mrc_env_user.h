/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_env_user.h - the engine's environment in tests, fuzzers and simulators (C11 and C++20): the
 * kernel's types, byte orders and helpers, made of libc.
 *
 * mrc_env.h includes it outside the kernel and lists what the engine may use. No engine file
 * includes it directly.
 */
#ifndef MRC_ENV_USER_H
#define MRC_ENV_USER_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/types.h>	/* __be16, __be32, __be64 */

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#define mrc_trace(event, ...)	do { } while (0)	/* no tracepoints in user space */
#define mrc_noinline	__attribute__((noinline))
#define mrc_inline	inline __attribute__((always_inline))
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define READ_ONCE(x)	(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))

#ifdef __cplusplus
#define BUILD_BUG_ON(cond) static_assert(!(cond), #cond)
#else
#define BUILD_BUG_ON(cond) _Static_assert(!(cond), #cond)
#define min(a, b)	((a) < (b) ? (a) : (b))
#define max(a, b)	((a) > (b) ? (a) : (b))
#endif
#define min_t(t, a, b)	((t)(a) < (t)(b) ? (t)(a) : (t)(b))
#define max_t(t, a, b)	((t)(a) > (t)(b) ? (t)(a) : (t)(b))
#define clamp_t(t, v, lo, hi) min_t(t, max_t(t, v, lo), hi)

static inline u64 div_u64(u64 a, u32 b) { return a / b; }
static inline u32 mrc_ffs64(u64 x) { return (u32)__builtin_ctzll(x); }

/* Not __builtin_popcountll(): without an instruction for it that is a libgcc call. */
static inline u32 hweight64(u64 x)
{
	x -= (x >> 1) & 0x5555555555555555ull;
	x = (x & 0x3333333333333333ull) + ((x >> 2) & 0x3333333333333333ull);
	x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0full;
	return (u32)((x * 0x0101010101010101ull) >> 56);
}


static inline u16 get_unaligned_be16(const void *p)
{
	const u8 *b = (const u8 *)p;

	return (u16)(b[0] << 8 | b[1]);
}

static inline u32 get_unaligned_be32(const void *p)
{
	const u8 *b = (const u8 *)p;

	return (u32)b[0] << 24 | (u32)b[1] << 16 | (u32)b[2] << 8 | b[3];
}

static inline u64 get_unaligned_be64(const void *p)
{
	return (u64)get_unaligned_be32(p) << 32 |
	       get_unaligned_be32((const u8 *)p + 4);
}

static inline void put_unaligned_be16(u16 v, void *p)
{
	u8 *b = (u8 *)p;

	b[0] = (u8)(v >> 8);
	b[1] = (u8)v;
}

static inline void put_unaligned_be32(u32 v, void *p)
{
	u8 *b = (u8 *)p;

	put_unaligned_be16((u16)(v >> 16), b);
	put_unaligned_be16((u16)v, b + 2);
}

static inline void put_unaligned_be64(u64 v, void *p)
{
	u8 *b = (u8 *)p;

	put_unaligned_be32((u32)(v >> 32), b);
	put_unaligned_be32((u32)v, b + 4);
}

/* A failed engine assertion is a bug: stop, so that a seed points at it. */
static inline bool mrc_assert_failed(const char *what, const char *file, int line)
{
	fprintf(stderr, "engine assertion failed: %s (%s:%d)\n", what, file, line);
	abort();
	return true;
}
#define mrc_assert(cond) \
	(unlikely(!(cond)) ? mrc_assert_failed(#cond, __FILE__, __LINE__) : false)

#endif
