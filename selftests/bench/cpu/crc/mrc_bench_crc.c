// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_bench_crc.c - "crc32" of the crypto API by carry-less multiplication, for User-Mode Linux.
 *
 * On x86 a module of the kernel's is there for that (crc32-pclmul); User-Mode Linux has none, though
 * it runs on the same processor. With this one rdma_rxe finds what it finds on a host, and mrc what it
 * does without kernel/data/mrc_crc32_fold.c. It stands for the kernel's, so it is not made of ours. Only for measuring.
 *
 * Four lanes of 128 bits are folded over 64 bytes each, the last lane to 32 bits by Barrett's reduction, as there;
 * what remains is shorter than 16 bytes and goes through the library's tables. The constants are computed when the
 * module is loaded, and the whole is compared with the library before it is offered.
 *
 * User-Mode Linux is a process, and a signal (its interrupt) keeps the vector registers: no
 * kernel_fpu_begin().
 */
#include <crypto/internal/hash.h>
#include <linux/crc32.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/unaligned.h>

#define CRC_POLY	0xedb88320u	/* Ethernet's, reflected */
#define CRC_FOLD_MIN	64u		/* bytes: four lanes */
#define CRC_TEST_LEN	600u

typedef long long v2di __attribute__((vector_size(16)));

static v2di fold_far, fold_near;	/* over 64 bytes, over 16 */
static v2di fold_last;	/* 128 bits to 96, 64 to 32 */
static v2di barrett;	/* the polynomial, and x^64 divided by it */

/* x to the power of @n, as the multiplication of reflected numbers wants it. */
static u64 crc_power(u32 n)
{
	u32 v = 0x80000000u;

	while (n--)
		v = v >> 1 ^ (v & 1 ? CRC_POLY : 0);
	return (u64)v << 1;
}

/* x^64 divided by the polynomial, 33 bits, reflected. */
static u64 crc_quotient(void)
{
	u64 rest = 0, q = 0;	/* rest: 33 bits, reflected */
	int i;

	for (i = 0; i <= 64; i++) {	/* a digit of x^64 comes in, from the highest */
		rest = rest >> 1 | (i ? 0 : 1ull << 32);
		q >>= 1;
		if (rest & 1) {
			rest ^= (u64)CRC_POLY << 1 | 1;
			q |= 1ull << 32;
		}
	}
	return q;
}

static v2di crc_load(const u8 *p)
{
	v2di v;

	__builtin_memcpy(&v, p, sizeof(v));
	return v;
}

static v2di crc_fold(v2di a, v2di k, v2di next)
{
	return __builtin_ia32_pclmulqdq128(a, k, 0x00) ^ __builtin_ia32_pclmulqdq128(a, k, 0x11) ^ next;
}

static u32 crc_reduce(v2di a)
{
	const v2di low = { 0xffffffff, 0 };
	v2di q;

	a = (v2di){ a[1], 0 } ^ __builtin_ia32_pclmulqdq128(a, fold_last, 0x00);
	a = (v2di){ (u64)a[0] >> 32 | (u64)a[1] << 32, (u64)a[1] >> 32 } ^
	    __builtin_ia32_pclmulqdq128(a & low, fold_last, 0x10);
	q = __builtin_ia32_pclmulqdq128(a & low, barrett, 0x10);
	a ^= __builtin_ia32_pclmulqdq128(q & low, barrett, 0x00);
	return (u64)a[0] >> 32;
}

/* @len: at least CRC_FOLD_MIN. Leaves less than 16 bytes, from *@p. */
static u32 crc_folded(u32 crc, const u8 **p, u32 *len)
{
	v2di a = crc_load(*p) ^ (v2di){ crc, 0 };
	v2di b = crc_load(*p + 16), c = crc_load(*p + 32), d = crc_load(*p + 48);

	for (*p += 64, *len -= 64; *len >= 64; *p += 64, *len -= 64) {
		a = crc_fold(a, fold_far, crc_load(*p));
		b = crc_fold(b, fold_far, crc_load(*p + 16));
		c = crc_fold(c, fold_far, crc_load(*p + 32));
		d = crc_fold(d, fold_far, crc_load(*p + 48));
	}
	a = crc_fold(a, fold_near, b);
	a = crc_fold(a, fold_near, c);
	a = crc_fold(a, fold_near, d);
	for (; *len >= 16; *p += 16, *len -= 16)
		a = crc_fold(a, fold_near, crc_load(*p));
	return crc_reduce(a);
}

static u32 crc_bytes(u32 crc, const u8 *p, u32 len)
{
	if (len >= CRC_FOLD_MIN)
		crc = crc_folded(crc, &p, &len);
	return crc32_le(crc, p, len);
}

/* ---- the crypto API's side; its key is the first value ---- */

static int crc_setkey(struct crypto_shash *tfm, const u8 *key, unsigned int len)
{
	u32 *seed = crypto_shash_ctx(tfm);

	if (len != sizeof(*seed))
		return -EINVAL;
	*seed = get_unaligned_le32(key);
	return 0;
}

static int crc_init(struct shash_desc *desc)
{
	u32 *seed = crypto_shash_ctx(desc->tfm), *crc = shash_desc_ctx(desc);

	*crc = *seed;
	return 0;
}

static int crc_update(struct shash_desc *desc, const u8 *p, unsigned int len)
{
	u32 *crc = shash_desc_ctx(desc);

	*crc = crc_bytes(*crc, p, len);
	return 0;
}

static int crc_final(struct shash_desc *desc, u8 *out)
{
	u32 *crc = shash_desc_ctx(desc);

	put_unaligned_le32(*crc, out);
	return 0;
}

static struct shash_alg crc_alg = {
	.setkey = crc_setkey,
	.init = crc_init,
	.update = crc_update,
	.final = crc_final,
	.descsize = sizeof(u32),
	.digestsize = sizeof(u32),
	.base = {
		.cra_name = "crc32",
		.cra_driver_name = "crc32-bench-clmul",
		.cra_priority = 200,
		.cra_flags = CRYPTO_ALG_OPTIONAL_KEY,
		.cra_blocksize = 1,
		.cra_ctxsize = sizeof(u32),
		.cra_module = THIS_MODULE,
	},
};

static int __init crc_same(void)
{
	static u8 bytes[CRC_TEST_LEN] __initdata;
	u32 len;

	get_random_bytes(bytes, sizeof(bytes));
	for (len = 0; len < CRC_TEST_LEN; len++)
		if (crc_bytes(len, bytes + len % 7, len - min(len, 7u)) !=
		    crc32_le(len, bytes + len % 7, len - min(len, 7u)))
			return -EINVAL;
	return 0;
}

static int __init crc_module_init(void)
{
	fold_far = (v2di){ crc_power(4 * 128 + 32), crc_power(4 * 128 - 32) };
	fold_near = (v2di){ crc_power(128 + 32), crc_power(128 - 32) };
	fold_last = (v2di){ crc_power(96), crc_power(64) };
	barrett = (v2di){ (u64)CRC_POLY << 1 | 1, crc_quotient() };
	return crc_same() ?: crypto_register_shash(&crc_alg);
}

static void __exit crc_module_exit(void)
{
	crypto_unregister_shash(&crc_alg);
}

module_init(crc_module_init);
module_exit(crc_module_exit);
MODULE_DESCRIPTION("crc32 by carry-less multiplication, for measuring in User-Mode Linux");
MODULE_LICENSE("GPL");
