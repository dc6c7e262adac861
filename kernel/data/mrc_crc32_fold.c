// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_crc32_fold.c - see mrc_crc32_fold.h.
 *
 * The data is folded over lanes (two of 512 bits, or four of 256 or 128), then into one lane of 128
 * bits, then the remaining blocks of 16 bytes, and Barrett reduction gives 32 bits. Source: Intel,
 * "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", 2009, for reflected
 * bits. The library's tables compute the last bytes below 16. All multipliers are computed here.
 *
 * In the kernel the compiler uses no vector registers, so they keep their values between asm
 * statements.
 */
#include <linux/crc32.h>
#include <linux/module.h>
#include "data/mrc_crc32_fold.h"

#ifdef __x86_64__

#include <asm/cpufeature.h>
#include <asm/fpu/api.h>

#define FOLD_POLY	0xedb88320u	/* Ethernet's, reflected */
#define FOLD_BLOCK	16u
#define FOLD_WIDE	(2 * 64u)	/* bytes of all lanes, of 512 or 256 bits */
#define FOLD_NARROW	(4 * 16u)	/* of 128 bits */
#define FOLD_TEST_LEN	640u

static_assert(FOLD_WIDE == 4 * 32u && MRC_CRC32_FOLD_LANES == FOLD_WIDE && MRC_CRC32_FOLD_LANES % FOLD_NARROW == 0);

enum fold_method { FOLD_NOT, FOLD_BY_128, FOLD_BY_256, FOLD_BY_512 };

struct fold_key {
	u64 k[2];
} __aligned(16);

static enum fold_method fold_method __ro_after_init;
/* Multipliers that move a lane over a number of bytes. */
static struct fold_key fold_wide __ro_after_init;	/* FOLD_WIDE */
static struct fold_key fold_narrow __ro_after_init;	/* FOLD_NARROW */
static struct fold_key fold_64 __ro_after_init, fold_32 __ro_after_init, fold_16 __ro_after_init;
static struct fold_key fold_last __ro_after_init;	/* reduces 128 bits to 96, and 96 to 64 */
static struct fold_key fold_barrett __ro_after_init;	/* the polynomial, and x^64 divided by it */
static const struct fold_key fold_low = {{ 0xffffffff, 0 }};

/* x to the power of @n modulo the polynomial, in the form that a multiplication of reflected numbers needs. */
static u64 __init fold_power(u32 n)
{
	u32 v = 0x80000000u;

	while (n--)
		v = v >> 1 ^ (v & 1 ? FOLD_POLY : 0);
	return (u64)v << 1;
}

static struct fold_key __init fold_over(u32 bytes)
{
	return (struct fold_key){{ fold_power(bytes * 8 + 32), fold_power(bytes * 8 - 32) }};
}

/* x^64 divided by the polynomial, 33 bits, reflected. */
static u64 __init fold_quotient(void)
{
	u64 rest = 0, q = 0;	/* rest: 33 bits, reflected */
	int i;

	for (i = 0; i <= 64; i++) {	/* long division: the next digit of x^64, from the highest */
		rest = rest >> 1 | (i ? 0 : 1ull << 32);
		q >>= 1;
		if (rest & 1) {
			rest ^= (u64)FOLD_POLY << 1 | 1;
			q |= 1ull << 32;
		}
	}
	return q;
}

/*
 * Registers: 0 to 3 are lanes, 4 is the multiplier, 5 to 8 are temporary. TAKE folds @lane (@w: "x" for 128 bits, "y"
 * for 256) into the later data @next.
 */
#define TAKE(w, lane, tmp, next)					\
	"vpclmulqdq $0x00, %%" w "mm4, %%" w "mm" lane ", %%" w "mm" tmp "\n\t"	\
	"vpclmulqdq $0x11, %%" w "mm4, %%" w "mm" lane ", %%" w "mm" lane "\n\t"	\
	"vpxor " next ", %%" w "mm" tmp ", %%" w "mm" tmp "\n\t"		\
	"vpxor %%" w "mm" tmp ", %%" w "mm" lane ", %%" w "mm" lane "\n\t"

/* The same for 512 bits, where one instruction adds three values. */
#define TAKE_512(lane, tmp, next)					\
	"vpclmulqdq $0x00, %%zmm4, %%zmm" lane ", %%zmm" tmp "\n\t"	\
	"vpclmulqdq $0x11, %%zmm4, %%zmm" lane ", %%zmm" lane "\n\t"	\
	"vpternlogq $0x96, " next ", %%zmm" tmp ", %%zmm" lane "\n\t"

/* 512 bits. Loads the lanes with the first FOLD_WIDE bytes, to which @crc is added. */
static void fold_load_512(u32 crc, const u8 *p)
{
	asm volatile("vmovd %1, %%xmm4\n\t"
		     "vpxorq (%0), %%zmm4, %%zmm0\n\t"
		     "vmovdqu64 64(%0), %%zmm1\n\t"
		     "vbroadcasti32x4 %2, %%zmm4"
		     : : "r" (p), "r" (crc), "m" (fold_wide) : "memory");
}

/* Folds the lanes over further bytes. Returns the number of bytes left, less than FOLD_WIDE. */
static u32 fold_loop_512(const u8 *p, u32 left)
{
	for (; left >= FOLD_WIDE; p += FOLD_WIDE, left -= FOLD_WIDE)
		asm volatile(TAKE_512("0", "5", "(%0)") TAKE_512("1", "6", "64(%0)")
			     : : "r" (p) : "memory");
	return left;
}

/* Folds ymm0 into xmm0. */
static void fold_halve(void)
{
	asm volatile("vextracti128 $1, %%ymm0, %%xmm1\n\t"
		     "vmovdqa %0, %%xmm4\n\t"
		     TAKE("x", "0", "5", "%%xmm1")
		     : : "m" (fold_16) : "memory");
}

/* Folds all lanes into xmm0. */
static void fold_join_512(void)
{
	asm volatile("vbroadcasti32x4 %0, %%zmm4\n\t"
		     TAKE_512("0", "5", "%%zmm1")
		     "vextracti64x4 $1, %%zmm0, %%ymm1\n\t"
		     "vbroadcasti128 %1, %%ymm4\n\t"
		     TAKE("y", "0", "5", "%%ymm1")
		     : : "m" (fold_64), "m" (fold_32) : "memory");
	fold_halve();
}

/* The same with 256 bits. */
static void fold_load_256(u32 crc, const u8 *p)
{
	asm volatile("vmovd %1, %%xmm4\n\t"
		     "vpxor (%0), %%ymm4, %%ymm0\n\t"
		     "vmovdqu 32(%0), %%ymm1\n\t"
		     "vmovdqu 64(%0), %%ymm2\n\t"
		     "vmovdqu 96(%0), %%ymm3\n\t"
		     "vbroadcasti128 %2, %%ymm4"
		     : : "r" (p), "r" (crc), "m" (fold_wide) : "memory");
}

static u32 fold_loop_256(const u8 *p, u32 left)
{
	for (; left >= FOLD_WIDE; p += FOLD_WIDE, left -= FOLD_WIDE)
		asm volatile(TAKE("y", "0", "5", "(%0)") TAKE("y", "1", "6", "32(%0)")
			     TAKE("y", "2", "7", "64(%0)") TAKE("y", "3", "8", "96(%0)")
			     : : "r" (p) : "memory");
	return left;
}

static void fold_join_256(void)
{
	asm volatile("vbroadcasti128 %0, %%ymm4\n\t"
		     TAKE("y", "0", "5", "%%ymm1") TAKE("y", "0", "5", "%%ymm2") TAKE("y", "0", "5", "%%ymm3")
		     : : "m" (fold_32) : "memory");
	fold_halve();
}

/* The same with 128 bits, and FOLD_NARROW. */
static void fold_load_128(u32 crc, const u8 *p)
{
	asm volatile("vmovd %1, %%xmm4\n\t"
		     "vpxor (%0), %%xmm4, %%xmm0\n\t"
		     "vmovdqu 16(%0), %%xmm1\n\t"
		     "vmovdqu 32(%0), %%xmm2\n\t"
		     "vmovdqu 48(%0), %%xmm3\n\t"
		     "vmovdqa %2, %%xmm4"
		     : : "r" (p), "r" (crc), "m" (fold_narrow) : "memory");
}

static u32 fold_loop_128(const u8 *p, u32 left)
{
	for (; left >= FOLD_NARROW; p += FOLD_NARROW, left -= FOLD_NARROW)
		asm volatile(TAKE("x", "0", "5", "(%0)") TAKE("x", "1", "6", "16(%0)")
			     TAKE("x", "2", "7", "32(%0)") TAKE("x", "3", "8", "48(%0)")
			     : : "r" (p) : "memory");
	return left;
}

static void fold_join_128(void)
{
	asm volatile("vmovdqa %0, %%xmm4\n\t"
		     TAKE("x", "0", "5", "%%xmm1") TAKE("x", "0", "5", "%%xmm2") TAKE("x", "0", "5", "%%xmm3")
		     : : "m" (fold_16) : "memory");
}

/* Loads the first block into xmm0, and the multiplier for the following blocks into xmm4. */
static void fold_first(u32 crc, const u8 *p)
{
	asm volatile("vmovd %1, %%xmm4\n\t"
		     "vpxor (%0), %%xmm4, %%xmm0\n\t"
		     "vmovdqa %2, %%xmm4"
		     : : "r" (p), "r" (crc), "m" (fold_16) : "memory");
}

/* Reduces xmm0 to 32 bits. */
static u32 fold_reduce(void)
{
	u32 crc;

	asm volatile("vmovdqa %1, %%xmm4\n\t"
		     "vpclmulqdq $0x00, %%xmm4, %%xmm0, %%xmm1\n\t"	/* the first 64 bits */
		     "vpsrldq $8, %%xmm0, %%xmm0\n\t"
		     "vpxor %%xmm1, %%xmm0, %%xmm0\n\t"
		     "vpand %3, %%xmm0, %%xmm1\n\t"			/* the next 32 */
		     "vpsrldq $4, %%xmm0, %%xmm0\n\t"
		     "vpclmulqdq $0x10, %%xmm4, %%xmm1, %%xmm1\n\t"
		     "vpxor %%xmm1, %%xmm0, %%xmm0\n\t"
		     "vmovdqa %2, %%xmm4\n\t"
		     "vpand %3, %%xmm0, %%xmm1\n\t"
		     "vpclmulqdq $0x10, %%xmm4, %%xmm1, %%xmm1\n\t"	/* Barrett: the quotient */
		     "vpand %3, %%xmm1, %%xmm1\n\t"
		     "vpclmulqdq $0x00, %%xmm4, %%xmm1, %%xmm1\n\t"
		     "vpxor %%xmm1, %%xmm0, %%xmm0\n\t"
		     "vpextrd $1, %%xmm0, %0"
		     : "=r" (crc) : "m" (fold_last), "m" (fold_barrett), "m" (fold_low) : "memory");
	return crc;
}

/* The CRC of the data in xmm0, followed by the last @left bytes before @end. */
static u32 fold_end(const u8 *end, u32 left)
{
	const u8 *p = end - left;

	for (; left >= FOLD_BLOCK; p += FOLD_BLOCK, left -= FOLD_BLOCK)
		asm volatile(TAKE("x", "0", "5", "(%0)") : : "r" (p) : "memory");
	return crc32_le(fold_reduce(), p, left);
}

/*
 * Folds @first_len bytes (whole lanes, not 0), followed by @len bytes at @p, into xmm0. Returns the number of bytes
 * left at the end.
 */
static u32 fold_lanes(u32 crc, const u8 *first, u32 first_len, const u8 *p, u32 len)
{
	u32 left;

	switch (fold_method) {
	case FOLD_BY_512:
		fold_load_512(crc, first);
		fold_loop_512(first + FOLD_WIDE, first_len - FOLD_WIDE);
		left = fold_loop_512(p, len);
		fold_join_512();
		return left;
	case FOLD_BY_256:
		fold_load_256(crc, first);
		fold_loop_256(first + FOLD_WIDE, first_len - FOLD_WIDE);
		left = fold_loop_256(p, len);
		fold_join_256();
		return left;
	default:
		fold_load_128(crc, first);
		fold_loop_128(first + FOLD_NARROW, first_len - FOLD_NARROW);
		left = fold_loop_128(p, len);
		fold_join_128();
		return left;
	}
}

u32 mrc_crc32_fold(u32 crc, const u8 *p, u32 len)
{
	const u8 *end = p + len;
	u32 left;

	if (len < FOLD_BLOCK)
		return crc32_le(crc, p, len);
	if (len >= FOLD_WIDE) {
		left = fold_lanes(crc, p, FOLD_WIDE, p + FOLD_WIDE, len - FOLD_WIDE);
	} else if (len >= FOLD_NARROW) {
		fold_load_128(crc, p);
		left = fold_loop_128(p + FOLD_NARROW, len - FOLD_NARROW);
		fold_join_128();
	} else {
		fold_first(crc, p);
		left = len - FOLD_BLOCK;
	}
	return fold_end(end, left);
}

u32 mrc_crc32_fold_two(const u8 *first, u32 first_len, const u8 *p, u32 len)
{
	return fold_end(p + len, fold_lanes(0, first, first_len, p, len));
}

/* A softirq must not use vector registers if it interrupted kernel code that uses them: irq_fpu_usable(). */
bool mrc_crc32_fold_begin(void)
{
	if (!fold_method || !irq_fpu_usable())
		return false;
	kernel_fpu_begin();
	return true;
}

void mrc_crc32_fold_end(void)
{
	if (fold_method >= FOLD_BY_256)
		asm volatile("vzeroupper" : : : "memory");
	kernel_fpu_end();
}

const char *mrc_crc32_fold_by(void)
{
	static const char *const by[] = { NULL, "pclmulqdq-avx", "vpclmulqdq-avx2", "vpclmulqdq-avx512" };

	return by[fold_method];
}

/* Does the kernel save these registers for programs? User-Mode Linux is a process, so its host saves them. */
static bool __init fold_kept(bool zmm)
{
#ifdef CONFIG_UML
	return true;
#else
	return cpu_has_xfeatures(XFEATURE_MASK_SSE | XFEATURE_MASK_YMM | (zmm ? XFEATURE_MASK_AVX512 : 0), NULL);
#endif
}

/*
 * Older Intel processors lower their clock for instructions of 512 bits, so 256 are used there. AVX512_BF16 marks newer
 * ones: Intel since Sapphire Rapids (and Cooper Lake), AMD since Zen 4.
 */
static enum fold_method __init fold_best(void)
{
	if (!fold_kept(false))
		return FOLD_NOT;
	if (!boot_cpu_has(X86_FEATURE_AVX) || !boot_cpu_has(X86_FEATURE_PCLMULQDQ))
		return FOLD_NOT;
	if (!boot_cpu_has(X86_FEATURE_AVX2) || !boot_cpu_has(X86_FEATURE_VPCLMULQDQ))
		return FOLD_BY_128;
	if (!boot_cpu_has(X86_FEATURE_AVX512F) || !boot_cpu_has(X86_FEATURE_AVX512_BF16) || !fold_kept(true))
		return FOLD_BY_256;
	return FOLD_BY_512;
}

static bool __init fold_selftest_at(u32 crc, const u8 *p, u32 len)
{
	u32 first;

	if (mrc_crc32_fold(crc, p, len) != crc32_le(crc, p, len))
		return false;
	for (first = MRC_CRC32_FOLD_LANES; first <= min(len, 2 * MRC_CRC32_FOLD_LANES); first += MRC_CRC32_FOLD_LANES)
		if (mrc_crc32_fold_two(p, first, p + first, len - first) != crc32_le(0, p, len))
			return false;
	return true;
}

/* Compares with the library for each length, at unaligned addresses and after different values. */
static bool __init fold_selftest(void)
{
	static u8 bytes[FOLD_TEST_LEN] __initdata;
	u32 len, skip, crc = 0, bad = 0;

	for (len = 0; len < FOLD_TEST_LEN; len++)
		bytes[len] = (u8)(crc = (crc * 1664525u + 1013904223u) >> 3);
	if (!mrc_crc32_fold_begin())
		return false;
	for (len = 0; len < FOLD_TEST_LEN; len++) {
		skip = min(len, len % 7);
		crc = crc * 69069u + 1u;
		bad += !fold_selftest_at(crc, bytes + skip, len - skip);
	}
	mrc_crc32_fold_end();
	return !bad;
}

void __init mrc_crc32_fold_init(void)
{
	enum fold_method best = fold_best();

	fold_wide = fold_over(FOLD_WIDE);
	fold_narrow = fold_over(FOLD_NARROW);
	fold_64 = fold_over(64);
	fold_32 = fold_over(32);
	fold_16 = fold_over(FOLD_BLOCK);
	fold_last = (struct fold_key){{ fold_power(96), fold_power(64) }};
	fold_barrett = (struct fold_key){{ (u64)FOLD_POLY << 1 | 1, fold_quotient() }};
	/*
	 * Test each method that the processor supports, the slowest first. A wrong one disables the faster ones, too.
	 */
	for (fold_method = FOLD_BY_128; fold_method <= best; fold_method++)
		if (WARN_ON_ONCE(!fold_selftest()))
			break;
	fold_method--;
}

#else /* not x86_64 */

void __init mrc_crc32_fold_init(void)
{
}

const char *mrc_crc32_fold_by(void)
{
	return NULL;
}

bool mrc_crc32_fold_begin(void)
{
	return false;
}

void mrc_crc32_fold_end(void)
{
}

u32 mrc_crc32_fold(u32 crc, const u8 *p, u32 len)
{
	return crc32_le(crc, p, len);
}

u32 mrc_crc32_fold_two(const u8 *first, u32 first_len, const u8 *p, u32 len)
{
	return crc32_le(crc32_le(0, first, first_len), p, len);
}

#endif
