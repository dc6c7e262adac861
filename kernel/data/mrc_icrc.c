// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_icrc.c - the invariant CRC of RoCEv2 (IBTA A17.3.3), which MRC keeps.
 *
 * CRC-32 (Ethernet's polynomial) over eight bytes of 0xff in place of the LRH, then the innermost
 * IP header, UDP, BTH and all up to the CRC itself. Fields that routers may change count as all
 * ones: DS field, TTL and checksum of IPv4; traffic class, flow label and hop limit of IPv6; the
 * UDP checksum; BTH byte 4. The result is little-endian on the wire.
 *
 * There are three methods. The first choice is mrc_crc32_fold.h, if the processor supports it. The
 * second is the crypto API's "crc32", if it has an accelerated version; its generic version is the
 * library's code behind an indirect call. The third is mrc_crc32_sparse.h, or the library itself.
 */
#include <crypto/hash.h>
#include <linux/crc32.h>
#include <linux/highmem.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/udp.h>
#include <net/checksum.h>
#include "compat/mrc_compat_crc32.h"
#include "engine/wire/mrc_wire.h"
#include "data/mrc_crc32_fold.h"
#include "data/mrc_icrc.h"
#include "data/mrc_crc32_sparse.h"

#define ICRC_SEED	0xdebb20e3u	/* crc32_le(~0, eight bytes of 0xff) */
#define ICRC_LANE	16u	/* bytes per step of a driver's carry-less multiplication */
#define ICRC_FIRST	(2 * MRC_CRC32_FOLD_LANES)	/* bytes: zeros, headers, and payload to complete lanes */
#define ICRC_MASKED_MAX	(60u + sizeof(struct udphdr) + MRC_BTH_LEN)

static_assert(MRC_CRC32_FOLD_LANES % ICRC_LANE == 0 && ICRC_LANE % MRC_CRC32_SPARSE_BLOCK == 0 &&
	      ICRC_FIRST >= MRC_CRC32_FOLD_LANES - 1 + ICRC_MASKED_MAX &&
	      MRC_CRC32_FOLD_LANES >= ICRC_LANE - 1 + ICRC_MASKED_MAX);

static struct crypto_shash *icrc_tfm;	/* NULL: use mrc_crc32_sparse() */

/* Bytes of IP, UDP and BTH. */
static u32 icrc_masked_len(const u8 *l3)
{
	u32 l3_len = l3[0] >> 4 == 4 ? (l3[0] & 0xf) * 4u : sizeof(struct ipv6hdr);

	return l3_len + (u32)sizeof(struct udphdr) + MRC_BTH_LEN;
}

/* Sets the variable fields of @buf, a copy of IP, UDP and BTH with @len bytes, to all ones. */
static void icrc_mask(u8 *buf, u32 len)
{
	u8 *bth = buf + len - MRC_BTH_LEN;
	struct udphdr *udp = (struct udphdr *)(bth - sizeof(*udp));

	if (buf[0] >> 4 == 4) {
		struct iphdr *ip = (struct iphdr *)buf;

		ip->tos = 0xff;
		ip->ttl = 0xff;
		ip->check = CSUM_MANGLED_0;
	} else {
		struct ipv6hdr *ip6 = (struct ipv6hdr *)buf;

		memset(ip6->flow_lbl, 0xff, sizeof(ip6->flow_lbl));
		ip6->priority = 0xf;
		ip6->hop_limit = 0xff;
	}
	udp->check = CSUM_MANGLED_0;
	bth[4] = 0xff;
}

/* A CRC in progress: in desc, or else in crc. */
struct icrc_sum {
	struct shash_desc *desc;	/* of the driver, or NULL */
	const u8 *first;		/* whole lanes or blocks that are not in crc yet, or NULL */
	u32 first_len;
	bool folds;			/* mrc_crc32_fold() may be used */
	u32 crc;
};

static void icrc_add(struct icrc_sum *s, const u8 *p, u32 len)
{
	if (s->desc)
		crypto_shash_update(s->desc, p, len);
	else if (s->first)
		s->crc = (s->folds ? mrc_crc32_fold_two : mrc_crc32_sparse_two)(s->first, s->first_len, p, len);
	else
		s->crc = (s->folds ? mrc_crc32_fold : mrc_crc32_sparse)(s->crc, p, len);
	s->first = NULL;
}

/* Bytes [@from, @to) of any @skb. Rare; a function of its own, because its state on the stack is large. */
static noinline void icrc_add_any(struct icrc_sum *s, const struct sk_buff *skb, u32 from, u32 to)
{
	struct skb_seq_state st;
	u32 done = 0, len;
	const u8 *data;

	/* The cast is safe: skb_seq_read() only reads. */
	skb_prepare_seq_read((struct sk_buff *)skb, from, to, &st);
	while ((len = skb_seq_read(done, &data, &st))) {
		len = min(len, to - from - done);
		icrc_add(s, data, len);
		done += len;
	}
}

/*
 * Bytes [@from, @to) of one fragment. Pages of a compound page are mapped one by one. Memory of a device has no page
 * and cannot be read. Such a packet is never accepted, because its ICRC is read as 0 (mrc_rx_icrc()).
 */
static void icrc_add_frag(struct icrc_sum *s, const skb_frag_t *frag, u32 from, u32 to)
{
	u32 off = skb_frag_off(frag) + from, left = to - from;
	struct page *page = skb_frag_page(frag);

	while (likely(page) && left) {
		u32 in_page = offset_in_page(off), n = min_t(u32, left, PAGE_SIZE - in_page);
		u8 *p = kmap_local_page(page + (off >> PAGE_SHIFT));

		icrc_add(s, p + in_page, n);
		kunmap_local(p);
		off += n;
		left -= n;
	}
}

/* Bytes [@from, @to) of @skb: usually the rest of the head and one or two fragments. */
static void icrc_add_skb(struct icrc_sum *s, const struct sk_buff *skb, u32 from, u32 to)
{
	u32 begin = 0, end = skb_headlen(skb);
	u32 i;

	if (unlikely(skb_has_frag_list(skb) || to > skb->len)) {
		icrc_add_any(s, skb, from, to);
		return;
	}
	if (from < end)
		icrc_add(s, skb->data + from, min(to, end) - from);
	for (i = 0; i < skb_shinfo(skb)->nr_frags && end < to; i++) {
		const skb_frag_t *frag = &skb_shinfo(skb)->frags[i];

		begin = end;
		end += skb_frag_size(frag);
		if (from < end)
			icrc_add_frag(s, frag, max(from, begin) - begin, min(to, end) - begin);
	}
}

static u32 icrc_own(const struct sk_buff *skb, const u8 *first, u32 first_len, u32 from, u32 to, bool folds)
{
	struct icrc_sum s = { .folds = folds };

	if (from >= to) {
		icrc_add(&s, first, first_len);
		return ~s.crc;
	}
	s.first = first;	/* whole lanes: icrc_first() */
	s.first_len = first_len;
	icrc_add_skb(&s, skb, from, to);
	return ~s.crc;
}

static u32 icrc_shash(const struct sk_buff *skb, const u8 *first, u32 first_len, u32 from, u32 to)
{
	SHASH_DESC_ON_STACK(desc, icrc_tfm);
	struct icrc_sum s = { .desc = desc };
	__le32 out;

	desc->tfm = icrc_tfm;
	crypto_shash_init(desc);	/* starts with 0, because no key is set */
	crypto_shash_update(desc, first, first_len);
	if (from < to)
		icrc_add_skb(&s, skb, from, to);
	crypto_shash_final(desc, (u8 *)&out);
	return ~le32_to_cpu(out);
}

/*
 * Fills @first with @zeros zero bytes and the start of the packet, its variable fields masked: up to its end, or until
 * lanes are complete. Returns the number of bytes in @first; 0: the packet is unreadable.
 */
static u32 icrc_first(u8 *first, const struct sk_buff *skb, u32 from, u32 to, u32 zeros)
{
	u32 masked = icrc_masked_len(skb->data + from), i;
	u32 room = (zeros + masked <= MRC_CRC32_FOLD_LANES ? MRC_CRC32_FOLD_LANES : ICRC_FIRST) - zeros;
	/* At least the headers, even if a received packet ends before its BTH does. */
	u32 n = min(room, max(to - from, masked));

	for (i = 0; i < zeros; i += sizeof(u64))	/* WRITE_ONCE: the compiler must not make it a memset() call */
		WRITE_ONCE(*(u64 *)(first + i), 0);
	if (likely(from + n <= skb_headlen(skb)))
		memcpy(first + zeros, skb->data + from, n);
	else if (WARN_ON_ONCE(skb_copy_bits(skb, (int)from, first + zeros, (int)n)))
		return 0;
	icrc_mask(first + zeros, masked);
	put_unaligned_le32(get_unaligned_le32(first + zeros) ^ ICRC_SEED, first + zeros);
	return zeros + n;
}

/*
 * Bytes that do not fill lanes are slow. So the headers are copied behind as many zeros as fill up the lanes of the
 * whole packet. Zeros do not change a CRC that starts with 0; the seed is added to the first four bytes after them.
 * Then payload of a multiple of MRC_CRC32_FOLD_LANES bytes is not copied.
 */
u32 mrc_icrc_skb(const struct sk_buff *skb, int l3_off, int end_off)
{
	u8 first[ICRC_FIRST] __aligned(32) __uninitialized;	/* written before it is read */
	u32 from = (u32)l3_off, to = (u32)end_off, zeros, len, crc;
	bool folds = mrc_crc32_fold_begin();

	zeros = (from - to) % (folds ? MRC_CRC32_FOLD_LANES : ICRC_LANE);
	len = icrc_first(first, skb, from, to, zeros);
	from += len - zeros;
	if (unlikely(!len))
		crc = 1;	/* mrc_rx_icrc() returns 0 for an unreadable packet, and the two must differ */
	else if (!folds && icrc_tfm)
		crc = icrc_shash(skb, first, len, from, to);
	else
		crc = icrc_own(skb, first, len, from, to, folds);
	if (folds)
		mrc_crc32_fold_end();
	return crc;
}

const char *mrc_icrc_by(void)
{
	if (mrc_crc32_fold_by())
		return mrc_crc32_fold_by();
	if (icrc_tfm)
		return crypto_tfm_alg_driver_name(crypto_shash_tfm(icrc_tfm));
	return mrc_crc32_sparse_used() ? "sparse" : mrc_crc32_le_by();
}

int __init mrc_icrc_init(void)
{
	struct crypto_shash *tfm = crypto_alloc_shash("crc32", 0, 0);
	const char *name;

	mrc_crc32_fold_init();
	mrc_crc32_sparse_init();
	if (IS_ERR(tfm))
		return 0;
	name = crypto_tfm_alg_driver_name(crypto_shash_tfm(tfm));
	if (strstr(name, "generic")) {
		crypto_free_shash(tfm);
		return 0;
	}
	icrc_tfm = tfm;
	return 0;
}

void mrc_icrc_exit(void)
{
	if (icrc_tfm)
		crypto_free_shash(icrc_tfm);
	icrc_tfm = NULL;
}

MODULE_SOFTDEP("pre: crc32-pclmul");
