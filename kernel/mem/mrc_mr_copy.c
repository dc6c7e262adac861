// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_mr_copy.c - copies bytes to and from memory regions.
 *
 * The caller checks the range (mrc_mr_covers(), by subtraction); the copy functions only assert. An
 * empty region has no pages and covers nothing.
 */
#include <linux/highmem.h>
#include <linux/net.h>
#include <linux/skbuff.h>
#include <linux/vmalloc.h>
#include "mem/mrc_mr.h"
#include "mem/mrc_mr_copy.h"
#include "mem/mrc_payload.h"

#define MRC_MR_TAIL	64	/* last bytes of a copy, placed after all others */

/* Bytes to be placed: at @buf, or @off in @skb. */
struct mrc_src {
	const u8 *buf;
	const struct sk_buff *skb;
	int off;
};

static void src_read(const struct mrc_src *s, u32 pos, void *to, u32 n)
{
	if (likely(s->buf))
		memcpy(to, s->buf + pos, n);
	else
		WARN_ON_ONCE(skb_copy_bits(s->skb, s->off + (int)pos, to, (int)n));
}

/*
 * The payload, if it lies in one mapped fragment; else NULL. Saves a walk over the packet for each
 * page of the region.
 */
static const u8 *src_in_frag(const struct sk_buff *skb, u32 off, u32 len)
{
	u32 i, size;

	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++, off -= size) {
		const skb_frag_t *frag = &skb_shinfo(skb)->frags[i];
		struct page *page = skb_frag_page(frag);

		size = skb_frag_size(frag);
		if (off >= size)
			continue;
		if (len > size - off || !page || PageHighMem(page))
			break;
		return (const u8 *)page_address(page) + skb_frag_off(frag) + off;
	}
	return NULL;
}

static struct mrc_src src_of_skb(const struct sk_buff *skb, int off, u32 len)
{
	u32 head = skb_headlen(skb), at = (u32)off;
	struct mrc_src s = { .skb = skb, .off = off };

	if (at >= head)
		s.buf = src_in_frag(skb, at - head, len);
	else if (len <= head - at)
		s.buf = skb->data + at;
	return s;
}

/* ---- all of the kernel's memory ---- */

static struct page *mr_kernel_page(u64 va)
{
	const void *p = (const void *)(uintptr_t)va;

	if (is_vmalloc_addr(p))
		return vmalloc_to_page(p);
	return virt_addr_valid(p) ? virt_to_page(p) : NULL;
}

/*
 * Kernel users are trusted, but may make mistakes: an address without memory is an error of the
 * request.
 */
static bool mr_kernel_covers(u64 va, u64 len)
{
	u64 last = va + len - 1;

	if (last < va)
		return false;
	if (!is_vmalloc_addr((const void *)(uintptr_t)va))
		return mr_kernel_page(va) && mr_kernel_page(last) &&
		       !is_vmalloc_addr((const void *)(uintptr_t)last);
	for (va &= PAGE_MASK; va <= last; va += PAGE_SIZE)
		if (!is_vmalloc_addr((const void *)(uintptr_t)va) || !mr_kernel_page(va))
			return false;
	return true;
}

bool mrc_mr_covers(const struct mrc_mr *mr, u64 va, u64 len, int access)
{
	if (!len)
		return true;
	if ((mr->access & access) != access || va < mr->iova)
		return false;
	va -= mr->iova;
	if (unlikely(mr->dma))
		return mr_kernel_covers(va, len);
	return va <= mr->length && len <= mr->length - va;
}

/* The page at @off from the start of the first one. mrc_mr_covers() has checked the range. */
static inline struct page *mr_page(const struct mrc_mr *mr, u64 off)
{
	return likely(mr->pages) ? mr->pages[off >> PAGE_SHIFT] : mr_kernel_page(off);
}

/* The byte at @off, mapped until the end of its page. */
static inline u8 *mr_map(const struct mrc_mr *mr, u64 off)
{
	if (unlikely(mr->lent))
		return mr->lent + off;
	return (u8 *)kmap_local_page(mr_page(mr, off)) + offset_in_page(off);
}

static inline void mr_unmap(const struct mrc_mr *mr, const u8 *p)
{
	if (likely(!mr->lent))
		kunmap_local(p);
}

/*
 * For a fast registration or a dma-buf, which may end on another CPU at any time. False: it has ended; the payload is
 * not placed, as if it had arrived earlier and been overwritten. Code that ends a dma-buf waits for this CPU.
 */
static bool mr_access_begin(const struct mrc_mr *mr)
{
	if (likely(!mrc_mr_may_end(mr)))
		return true;
	if (mr->lent)
		return mrc_mr_alive(mr);
	spin_lock_bh(&mr->of->lock);
	if (likely(!mr->dead))
		return true;
	spin_unlock_bh(&mr->of->lock);
	return false;
}

static void mr_access_end(const struct mrc_mr *mr)
{
	if (unlikely(mr->fast))
		spin_unlock_bh(&mr->of->lock);
}

static bool mr_in_range(const struct mrc_mr *mr, u64 va, u64 len)
{
	return !WARN_ON_ONCE(!mrc_mr_covers(mr, va, len, 0));
}

/* Bytes [@from, @to) of the source to @va + @from. */
static void mr_fill(struct mrc_mr *mr, u64 va, const struct mrc_src *s, u32 from, u32 to)
{
	u64 off = mrc_mr_off(mr, va) + from;

	while (from < to) {
		u32 in_page = offset_in_page(off);
		u32 n = min_t(u32, to - from, PAGE_SIZE - in_page);
		u8 *p = mr_map(mr, off);

		src_read(s, from, p, n);
		mr_unmap(mr, p);
		from += n;
		off += n;
	}
}

/* One store if @va is aligned: a polled 64-bit flag is never seen half written. */
static void mr_fill_word(struct mrc_mr *mr, u64 va, const struct mrc_src *s, u32 from)
{
	u64 off = mrc_mr_off(mr, va) + from;
	u64 word;
	u8 *p;

	if (!IS_ALIGNED(off, sizeof(word))) {
		mr_fill(mr, va, s, from, from + sizeof(word) - 1);
		smp_wmb();	/* the last byte after all others */
		mr_fill(mr, va, s, from + sizeof(word) - 1, from + sizeof(word));
		return;
	}
	src_read(s, from, &word, sizeof(word));
	p = mr_map(mr, off);
	WRITE_ONCE(*(u64 *)p, word);
	mr_unmap(mr, p);
}

/*
 * Programs poll memory for the last byte of a message, or for a flag at the end of a small record.
 * memcpy() promises no order, so bytes are placed in three steps: all but the last 64, all but the
 * last 8, the rest.
 */
static void mr_place(struct mrc_mr *mr, u64 va, const struct mrc_src *s, u32 len)
{
	u32 body = len - min_t(u32, len, MRC_MR_TAIL);
	u32 word = len - min_t(u32, len, sizeof(u64));

	if (!len || !mr_in_range(mr, va, len))
		return;
	mr_fill(mr, va, s, 0, body);
	smp_wmb();	/* the tail after the body */
	if (len < sizeof(u64)) {
		mr_fill(mr, va, s, 0, len - 1);
		smp_wmb();	/* the last byte after all others */
		mr_fill(mr, va, s, len - 1, len);
		return;
	}
	mr_fill(mr, va, s, body, word);
	smp_wmb();	/* the last word after the tail */
	mr_fill_word(mr, va, s, word);
}

static void mr_place_held(struct mrc_mr *mr, u64 va, const struct mrc_src *s, u32 len)
{
	if (!mr_access_begin(mr))
		return;
	mr_place(mr, va, s, len);
	mr_access_end(mr);
}

void mrc_mr_copy_from_skb(struct mrc_mr *mr, u64 va, const struct sk_buff *skb, int off, u32 len)
{
	const struct mrc_src s = src_of_skb(skb, off, len);

	mr_place_held(mr, va, &s, len);
}

void mrc_mr_fill_from_skb(struct mrc_mr *mr, u64 va, const struct sk_buff *skb, int off, u32 len)
{
	const struct mrc_src s = src_of_skb(skb, off, len);

	if (!len || !mr_in_range(mr, va, len) || !mr_access_begin(mr))
		return;
	mr_fill(mr, va, &s, 0, len);
	mr_access_end(mr);
}

void mrc_mr_write(struct mrc_mr *mr, u64 va, const void *src, u32 len)
{
	const struct mrc_src s = { .buf = src };

	mr_place_held(mr, va, &s, len);
}

void mrc_mr_read(const struct mrc_mr *mr, u64 va, void *to, u32 len)
{
	u64 off = mrc_mr_off(mr, va);
	u8 *dst = to;

	if (!len || !mr_in_range(mr, va, len))
		return;
	if (!mr_access_begin(mr)) {
		memset(to, 0, len);
		return;
	}
	while (len) {
		u32 in_page = offset_in_page(off);
		u32 n = min_t(u32, len, PAGE_SIZE - in_page);
		const u8 *p = mr_map(mr, off);

		memcpy(dst, p, n);
		mr_unmap(mr, p);
		dst += n;
		off += n;
		len -= n;
	}
	mr_access_end(mr);
}

/* A dma-buf has no pages that a packet may refer to: its bytes are copied. */
static int mr_frag_lent(const struct mrc_mr *mr, u64 off, u32 len, struct mrc_payload *pl)
{
	if (WARN_ON_ONCE(pl->n >= ARRAY_SIZE(pl->frag)))
		return -EMSGSIZE;
	pl->frag[pl->n].at = mr->lent + off;
	pl->frag[pl->n].off = MRC_PAYLOAD_AT;
	pl->frag[pl->n].len = len;
	pl->n++;
	pl->len += len;
	return 0;
}

static int mr_frags(const struct mrc_mr *mr, u64 off, u32 len, struct mrc_payload *pl)
{
	if (unlikely(mr->lent) && len)
		return mr_frag_lent(mr, off, len, pl);
	while (len) {
		u32 in_page = offset_in_page(off);
		u32 n = min_t(u32, len, PAGE_SIZE - in_page);
		struct page *page = mr_page(mr, off);

		if (WARN_ON_ONCE(pl->n >= ARRAY_SIZE(pl->frag)))
			return -EMSGSIZE;
		/* A packet must not refer to slab pages. */
		pl->copy |= mr->dma && !sendpage_ok(page);
		pl->frag[pl->n].page = page;
		pl->frag[pl->n].off = in_page;
		pl->frag[pl->n].len = n;
		pl->n++;
		pl->len += n;
		off += n;
		len -= n;
	}
	return 0;
}

int mrc_mr_frags(const struct mrc_mr *mr, u64 va, u32 len, struct mrc_payload *pl)
{
	int err;

	if (len && !mr_in_range(mr, va, len))
		return -EFAULT;
	if (!mr_access_begin(mr))
		return -EFAULT;
	/*
	 * When the registration has ended, no byte of it may be sent, not even from a queued
	 * packet. So copy.
	 */
	pl->copy |= mrc_mr_may_end(mr);
	err = mr_frags(mr, mrc_mr_off(mr, va), len, pl);
	mr_access_end(mr);
	return err;
}

/*
 * An atomic operation of the CPU. IB_ATOMIC_HCA promises less; this way programs on this host that
 * share the word have the guarantee of IB_ATOMIC_GLOB.
 */
u64 mrc_mr_atomic(struct mrc_mr *mr, u64 va, bool cmp_swap, u64 swap_add, u64 compare)
{
	u64 off = mrc_mr_off(mr, va);
	atomic64_t *word;
	u64 old;
	u8 *p;

	if (!mr_in_range(mr, va, sizeof(u64)) || WARN_ON_ONCE(!IS_ALIGNED(off, sizeof(u64))))
		return 0;
	if (!mr_access_begin(mr))
		return 0;
	p = mr_map(mr, off);
	word = (atomic64_t *)p;
	if (cmp_swap)
		old = atomic64_cmpxchg(word, compare, swap_add);
	else
		old = atomic64_fetch_add(swap_add, word);
	mr_unmap(mr, p);
	mr_access_end(mr);
	return old;
}
