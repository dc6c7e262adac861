// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_mr.c - memory regions: pinned user pages behind a key.
 *
 * The table is global and indexed by the upper 24 bits of the key; the lower
 * 8 are random, so that a stale key of a reused index is refused. Lookups run in
 * softirq under RCU and take a reference, which pins the pages for as long as
 * a work request or packet in flight needs them: deregistration removes the
 * key and leaves the rest to the last holder. Releasing pages sleeps, so the
 * last put hands over to a work item, except in deregistration itself, where
 * a program that registers again at once should find its memlock limit free.
 *
 * The memory is the program's own again when deregistration returns. Whoever keeps a
 * reference for longer than one packet asks mrc_mr_alive() for each; who holds one for a
 * packet runs with BH off, and is waited for.
 *
 * Ranges are checked by the caller (mrc_mr_covers(), by subtraction); the copy
 * functions only assert. An empty region has no pages and covers nothing.
 */
#include <linux/highmem.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/xarray.h>
#include "core/mrc_dev.h"
#include "core/mrc_seed.h"
#include "mem/mrc_mr.h"
#include "mem/mrc_payload.h"
#include "mem/mrc_pd.h"
#include "mem/mrc_ucontext.h"

#define MRC_MR_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_MW_BIND)
/* Taken and without effect: hints, and "iova starts at zero". */
#define MRC_MR_IGNORED	(IB_ACCESS_OPTIONAL | IB_ZERO_BASED | IB_ACCESS_HUGETLB)
#define MRC_MR_TAIL	64	/* bytes placed after all others */

#define MR_WINDOW	1	/* tag of an entry that is a struct mrc_window */

static DEFINE_XARRAY_FLAGS(mrc_mrs, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
static u32 mrc_mr_next;		/* cyclic: an index rests before it is reused */

static void mr_release_now(struct kref *ref);

/* At once, and so is the region whose they are: the memlock limit counts them until then. */
static void mr_unpin(struct mrc_mr *mr)
{
	if (mr->of) {
		kref_put(&mr->of->ref, mr_release_now);
		return;
	}
	ib_umem_release(mr->umem);
	kvfree(mr->pages);
}

static void mr_free(struct mrc_mr *mr)
{
	struct ib_device *ibdev = &mr->dev->ibdev;

	mr_unpin(mr);
	kfree_rcu(mr, rcu);
	ib_device_put(ibdev);
}

static void mr_free_work(struct work_struct *work)
{
	mr_free(container_of(work, struct mrc_mr, free_work));
}

static void mr_release(struct kref *ref)
{
	struct mrc_mr *mr = container_of(ref, struct mrc_mr, ref);

	queue_work(mrc_wq, &mr->free_work);
}

static void mr_release_now(struct kref *ref)
{
	mr_free(container_of(ref, struct mrc_mr, ref));
}

void mrc_mr_put(struct mrc_mr *mr)
{
	kref_put(&mr->ref, mr_release);
}

/* Under RCU. What is behind a key's index now, a window's included; or NULL. */
static struct mrc_mr *mr_at(u32 key)
{
	void *entry = xa_load(&mrc_mrs, key >> 8);
	struct mrc_window *w;

	if (likely(!xa_pointer_tag(entry)))
		return entry;
	w = xa_untag_pointer(entry);
	return rcu_dereference(w->bound);
}

struct mrc_mr *mrc_mr_get_remote(struct mrc_dev *dev, u32 pdn, u32 qpn, u32 key)
{
	struct mrc_mr *mr;

	rcu_read_lock();
	mr = mr_at(key);
	if (mr && (mr->key != key || mr->dev != dev || mr->pdn != pdn ||
		   (mr->qpn && mr->qpn != qpn) || !kref_get_unless_zero(&mr->ref)))
		mr = NULL;
	rcu_read_unlock();
	if (!mr)
		return NULL;
	smp_mb__after_atomic();	/* the reference, then dead; mrc_mr_wait() the other way round */
	if (likely(mrc_mr_alive(mr)))
		return mr;
	mrc_mr_put(mr);
	return NULL;
}

struct mrc_mr *mrc_mr_get(struct mrc_dev *dev, u32 pdn, u32 key)
{
	struct mrc_mr *mr = mrc_mr_get_remote(dev, pdn, 0, key);

	if (likely(!mr || !mr->window))
		return mr;
	mrc_mr_put(mr);
	return NULL;
}

/* Copies under way end. Most regions have no user then, and nobody waits. */
void mrc_mr_wait(const struct mrc_mr *mr)
{
	smp_mb();	/* dead, then the references */
	if (kref_read(&mr->ref) > 1)
		synchronize_rcu();
	else
		smp_acquire__after_ctrl_dep();
}

/* ---- copying ---- */

/* Bytes to be placed: @off in @skb, or at @buf. */
struct mrc_src {
	const struct sk_buff *skb;
	int off;
	const u8 *buf;
};

static void src_read(const struct mrc_src *s, u32 pos, void *to, u32 n)
{
	if (!s->skb)
		memcpy(to, s->buf + pos, n);
	else
		WARN_ON_ONCE(skb_copy_bits(s->skb, s->off + (int)pos, to, (int)n));
}

/* ---- all of the kernel's memory ---- */

static struct page *mr_kernel_page(u64 va)
{
	const void *p = (const void *)(uintptr_t)va;

	if (is_vmalloc_addr(p))
		return vmalloc_to_page(p);
	return virt_addr_valid(p) ? virt_to_page(p) : NULL;
}

/* A user in the kernel is trusted, not infallible: what is no memory is an error of its request. */
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

/* The page at @off from the start of the first one; of a range that mrc_mr_covers(). */
static inline struct page *mr_page(const struct mrc_mr *mr, u64 off)
{
	return likely(mr->pages) ? mr->pages[off >> PAGE_SHIFT] : mr_kernel_page(off);
}

/* Where @va lies: offset from the start of the first page. */
static u64 mr_off(const struct mrc_mr *mr, u64 va)
{
	return va - mr->iova + mr->page_off;
}

static bool mr_in_range(const struct mrc_mr *mr, u64 va, u64 len)
{
	return !WARN_ON_ONCE(!mrc_mr_covers(mr, va, len, 0));
}

/* Bytes [@from, @to) of the source to @va + @from. */
static void mr_fill(struct mrc_mr *mr, u64 va, const struct mrc_src *s, u32 from, u32 to)
{
	u64 off = mr_off(mr, va) + from;

	while (from < to) {
		u32 in_page = offset_in_page(off);
		u32 n = min_t(u32, to - from, PAGE_SIZE - in_page);
		u8 *p = kmap_local_page(mr_page(mr, off));

		src_read(s, from, p + in_page, n);
		kunmap_local(p);
		from += n;
		off += n;
	}
}

/* One store if @va is aligned: a polled 64-bit flag is never seen half written. */
static void mr_fill_word(struct mrc_mr *mr, u64 va, const struct mrc_src *s, u32 from)
{
	u64 off = mr_off(mr, va) + from;
	u64 word;
	u8 *p;

	if (!IS_ALIGNED(off, sizeof(word))) {
		mr_fill(mr, va, s, from, from + sizeof(word) - 1);
		smp_wmb();	/* the last byte after all others */
		mr_fill(mr, va, s, from + sizeof(word) - 1, from + sizeof(word));
		return;
	}
	src_read(s, from, &word, sizeof(word));
	p = kmap_local_page(mr_page(mr, off));
	WRITE_ONCE(*(u64 *)(p + offset_in_page(off)), word);
	kunmap_local(p);
}

/*
 * Programs poll memory for the end of what they wait for: a last byte, or a
 * flag at the end of a small record. memcpy() promises no order inside, so the
 * end goes in steps: all but the last 64 bytes, all but the last 8, the rest.
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

void mrc_mr_copy_from_skb(struct mrc_mr *mr, u64 va, const struct sk_buff *skb, int off, u32 len)
{
	const struct mrc_src s = { .skb = skb, .off = off };

	mr_place(mr, va, &s, len);
}

void mrc_mr_write(struct mrc_mr *mr, u64 va, const void *src, u32 len)
{
	const struct mrc_src s = { .buf = src };

	mr_place(mr, va, &s, len);
}

void mrc_mr_read(const struct mrc_mr *mr, u64 va, void *to, u32 len)
{
	u64 off = mr_off(mr, va);
	u8 *dst = to;

	if (!len || !mr_in_range(mr, va, len))
		return;
	while (len) {
		u32 in_page = offset_in_page(off);
		u32 n = min_t(u32, len, PAGE_SIZE - in_page);
		const u8 *p = kmap_local_page(mr_page(mr, off));

		memcpy(dst, p + in_page, n);
		kunmap_local(p);
		dst += n;
		off += n;
		len -= n;
	}
}

int mrc_mr_frags(const struct mrc_mr *mr, u64 va, u32 len, struct mrc_payload *pl)
{
	u64 off = mr_off(mr, va);

	if (len && !mr_in_range(mr, va, len))
		return -EFAULT;
	pl->copy |= mr->dma;
	while (len) {
		u32 in_page = offset_in_page(off);
		u32 n = min_t(u32, len, PAGE_SIZE - in_page);

		if (pl->n >= ARRAY_SIZE(pl->frag))
			return -EMSGSIZE;
		pl->frag[pl->n].page = mr_page(mr, off);
		pl->frag[pl->n].off = in_page;
		pl->frag[pl->n].len = n;
		pl->n++;
		pl->len += n;
		off += n;
		len -= n;
	}
	return 0;
}

/*
 * A true CPU atomic: IB_ATOMIC_HCA promises less, but programs on this host
 * that share the word then get what IB_ATOMIC_GLOB would have promised them.
 */
u64 mrc_mr_atomic(struct mrc_mr *mr, u64 va, bool cmp_swap, u64 swap_add, u64 compare)
{
	u64 off = mr_off(mr, va);
	atomic64_t *word;
	u64 old;
	u8 *p;

	if (!mr_in_range(mr, va, sizeof(u64)) || WARN_ON_ONCE(!IS_ALIGNED(off, sizeof(u64))))
		return 0;
	p = kmap_local_page(mr_page(mr, off));
	word = (atomic64_t *)(p + offset_in_page(off));
	if (cmp_swap)
		old = atomic64_cmpxchg(word, compare, swap_add);
	else
		old = atomic64_fetch_add(swap_add, word);
	kunmap_local(p);
	return old;
}

/* ---- verbs ---- */

/* Pin, and note the pages in an array. */
static int mr_pin(struct mrc_mr *mr, struct ib_device *ibdev, u64 start, int access)
{
	struct sg_page_iter it;
	u32 i = 0;

	if (!mr->length)
		return 0;
	mr->umem = ib_umem_get(ibdev, start, mr->length, access);
	if (IS_ERR(mr->umem))
		return PTR_ERR(mr->umem);
	mr->n_pages = ib_umem_num_pages(mr->umem);
	mr->page_off = ib_umem_offset(mr->umem);
	mr->pages = kvmalloc_array(mr->n_pages, sizeof(*mr->pages), GFP_KERNEL_ACCOUNT);
	if (!mr->pages)
		goto err_umem;
	for_each_sgtable_page(&mr->umem->sgt_append.sgt, &it, 0) {
		if (i == mr->n_pages)
			break;
		mr->pages[i++] = sg_page_iter_page(&it);
	}
	if (!WARN_ON_ONCE(i != mr->n_pages))
		return 0;
	kvfree(mr->pages);
err_umem:
	ib_umem_release(mr->umem);
	return -ENOMEM;
}

/* Publish: from here on packets find it. */
static int mr_hash(struct mrc_mr *mr)
{
	u32 index;
	int err;

	/* Reserved first: the key must be whole before anyone can see it. */
	err = xa_alloc_cyclic(&mrc_mrs, &index, NULL, XA_LIMIT(1, 0xffffff), &mrc_mr_next,
			      GFP_KERNEL_ACCOUNT);
	if (err < 0)
		return err;
	mr->key = index << 8 | (mrc_seed_u32() & 0xff);
	return xa_err(xa_store(&mrc_mrs, index, mr, GFP_KERNEL_ACCOUNT));
}

static struct mrc_mr *mr_alloc(struct mrc_dev *dev, u32 pdn, int access, gfp_t gfp)
{
	struct mrc_mr *mr = kzalloc(sizeof(*mr), gfp);

	if (!mr)
		return NULL;
	kref_init(&mr->ref);
	INIT_WORK(&mr->free_work, mr_free_work);
	mr->dev = dev;
	mr->pdn = pdn;
	mr->access = access & MRC_MR_ACCESS;
	return mr;
}

/* Not of @from itself, if it has them of another, but of that one. */
static void mr_share(struct mrc_mr *mr, struct mrc_mr *from)
{
	mr->of = from->of ?: from;
	kref_get(&mr->of->ref);
	mr->iova = from->iova;
	mr->length = from->length;
	mr->page_off = from->page_off;
	mr->n_pages = from->n_pages;
	mr->pages = from->pages;
}

/* What a new region is to be: of @from's pages, or of these addresses. In no table yet. */
struct mr_want {
	u64 start, length, iova;
	int access;
	struct mrc_mr *from;
};

static struct mrc_mr *mr_create(struct ib_pd *ibpd, const struct mr_want *w)
{
	struct mrc_mr *mr = mr_alloc(to_mrc_dev(ibpd->device), to_mrc_pd(ibpd)->pdn, w->access,
				     GFP_KERNEL_ACCOUNT);
	int err = 0;

	if (!mr)
		return ERR_PTR(-ENOMEM);
	if (w->from) {
		mr_share(mr, w->from);
	} else {
		mr->iova = w->iova;
		mr->length = w->length;
		err = mr_pin(mr, ibpd->device, w->start, w->access);
	}
	if (!err)
		return mr;
	kfree(mr);
	return ERR_PTR(err);
}

static struct ib_mr *mr_reg(struct ib_pd *ibpd, const struct mr_want *want)
{
	struct mrc_dev *dev = to_mrc_dev(ibpd->device);
	struct mrc_ibmr *shell;
	struct mrc_mr *mr;
	int err = -ENODEV;

	if (!atomic_add_unless(&dev->n_mrs, 1, MRC_MAX_MR))
		return ERR_PTR(-ENOSPC);
	shell = kzalloc(sizeof(*shell), GFP_KERNEL_ACCOUNT);
	if (!shell) {
		err = -ENOMEM;
		goto err_count;
	}
	/* Keeps the device registered until the last holder let go of the pages. */
	if (!ib_device_try_get(ibpd->device))
		goto err_shell;
	mr = mr_create(ibpd, want);
	if (IS_ERR(mr)) {
		err = PTR_ERR(mr);
		goto err_dev;
	}
	err = mr_hash(mr);
	if (err) {
		mr_unpin(mr);
		kfree(mr);
		goto err_dev;
	}
	shell->mr = mr;
	shell->ibmr.lkey = mr->key;
	shell->ibmr.rkey = mr->key;
	shell->ibmr.iova = mr->iova;
	shell->ibmr.length = mr->length;
	return &shell->ibmr;

err_dev:
	ib_device_put(ibpd->device);
err_shell:
	kfree(shell);
err_count:
	atomic_dec(&dev->n_mrs);
	return ERR_PTR(err);
}

/* Addresses are the kernel's own: ib_dma_map_*() of a device without a DMA device. */
static struct mrc_mr *mr_create_dma(struct ib_pd *ibpd)
{
	struct mrc_mr *mr = mr_alloc(to_mrc_dev(ibpd->device), to_mrc_pd(ibpd)->pdn,
				     IB_ACCESS_LOCAL_WRITE, GFP_KERNEL_ACCOUNT);
	int err;

	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->length = U64_MAX;
	mr->dma = true;
	err = mr_hash(mr);
	if (!err)
		return mr;
	kfree(mr);
	return ERR_PTR(err);
}

struct ib_mr *mrc_mr_get_dma(struct ib_pd *ibpd, int access)
{
	struct mrc_ibmr *shell;
	struct mrc_mr *mr;

	/* Local keys only: a peer that may write anywhere is what nobody should ask for. */
	if (access & ~IB_ACCESS_LOCAL_WRITE)
		return ERR_PTR(-EOPNOTSUPP);
	shell = kzalloc(sizeof(*shell), GFP_KERNEL_ACCOUNT);
	if (!shell)
		return ERR_PTR(-ENOMEM);
	if (!ib_device_try_get(ibpd->device)) {
		kfree(shell);
		return ERR_PTR(-ENODEV);
	}
	mr = mr_create_dma(ibpd);
	if (IS_ERR(mr)) {
		ib_device_put(ibpd->device);
		kfree(shell);
		return ERR_CAST(mr);
	}
	shell->mr = mr;
	shell->ibmr.lkey = mr->key;
	shell->ibmr.rkey = mr->key;
	return &shell->ibmr;
}

static int mr_check(u64 length, u64 iova, int access)
{
	if (access & ~(MRC_MR_ACCESS | MRC_MR_IGNORED))
		return -EOPNOTSUPP;
	if (length > MRC_MAX_MR_SIZE || (length && iova > U64_MAX - (length - 1)))
		return -EINVAL;
	return 0;
}

struct ib_mr *mrc_mr_reg(struct ib_pd *ibpd, u64 start, u64 length, u64 iova, int access,
			 struct ib_udata *udata)
{
	const struct mr_want want = {
		.start = start, .length = length, .iova = iova, .access = access,
	};
	int err = mr_check(length, iova, access);

	return err ? ERR_PTR(err) : mr_reg(ibpd, &want);
}

/* What a region becomes. The pages stay pinned unless others are wanted, or writable ones. */
static struct mr_want mr_want_of(struct mrc_mr *old, int flags, const struct mr_want *asked)
{
	const struct ib_umem *umem = old->of ? old->of->umem : old->umem;
	struct mr_want w = { .access = old->access, .from = old };

	if (flags & IB_MR_REREG_ACCESS)
		w.access = asked->access;
	if (flags & IB_MR_REREG_TRANS) {
		w.start = asked->start;
		w.length = asked->length;
		w.iova = asked->iova;
		w.from = NULL;
	} else if (umem && !umem->writable && ib_access_writable(w.access)) {
		w.start = umem->address;
		w.length = old->length;
		w.iova = old->iova;
		w.from = NULL;
	}
	return w;
}

/*
 * Another region takes the old one's place behind the same key: what softirqs have found stays
 * as they found it, and ends as if it had been deregistered. The key stays because programs
 * go on using it, though verbs would let it change. uverbs lets nobody else use @ibmr meanwhile.
 */
struct ib_mr *mrc_mr_rereg(struct ib_mr *ibmr, int flags, u64 start, u64 length, u64 iova,
			   int access, struct ib_pd *ibpd, struct ib_udata *udata)
{
	const struct mr_want asked = {
		.start = start, .length = length, .iova = iova, .access = access,
	};
	struct mrc_ibmr *shell = container_of(ibmr, struct mrc_ibmr, ibmr);
	struct mrc_mr *old = shell->mr, *mr;
	struct mr_want want;
	int err;

	if (flags & ~IB_MR_REREG_SUPPORTED)
		return ERR_PTR(-EOPNOTSUPP);
	want = mr_want_of(old, flags, &asked);
	err = mr_check(want.length, want.iova, want.access);
	if (err)
		return ERR_PTR(err);
	if (!ib_device_try_get(ibmr->device))
		return ERR_PTR(-ENODEV);
	mr = mr_create(flags & IB_MR_REREG_PD ? ibpd : ibmr->pd, &want);
	if (IS_ERR(mr)) {
		ib_device_put(ibmr->device);
		return ERR_CAST(mr);
	}
	mr->key = old->key;
	WRITE_ONCE(shell->mr, mr);
	xa_store(&mrc_mrs, mr->key >> 8, mr, GFP_KERNEL);	/* in its place: needs no memory */
	WRITE_ONCE(old->dead, true);
	mrc_mr_wait(old);
	kref_put(&old->ref, mr_release_now);
	return NULL;
}

int mrc_mr_dereg(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct mrc_ibmr *shell = container_of(ibmr, struct mrc_ibmr, ibmr);
	struct mrc_mr *mr = shell->mr;

	WRITE_ONCE(mr->dead, true);
	xa_erase(&mrc_mrs, mr->key >> 8);
	mrc_mr_wait(mr);
	if (!mr->dma)	/* as kernel users' CQs: in no program's limit */
		atomic_dec(&mr->dev->n_mrs);
	kref_put(&mr->ref, mr_release_now);
	kfree(shell);
	return 0;
}

/* ---- windows ---- */

int mrc_mr_window_add(struct mrc_window *w, u32 *index)
{
	int err = xa_alloc_cyclic(&mrc_mrs, index, xa_tag_pointer(w, MR_WINDOW),
				  XA_LIMIT(1, 0xffffff), &mrc_mr_next, GFP_KERNEL_ACCOUNT);

	return err < 0 ? err : 0;
}

void mrc_mr_window_del(u32 index)
{
	xa_erase(&mrc_mrs, index);
}

struct mrc_window *mrc_mr_window(u32 key)
{
	void *entry = xa_load(&mrc_mrs, key >> 8);

	return xa_pointer_tag(entry) == MR_WINDOW ? xa_untag_pointer(entry) : NULL;
}

struct mrc_mr *mrc_mr_cut(struct mrc_mr *mr, u64 addr, u64 length, u64 iova, int access)
{
	struct mrc_mr *part;

	if (!ib_device_try_get(&mr->dev->ibdev))
		return NULL;
	part = mr_alloc(mr->dev, mr->pdn, access, GFP_ATOMIC);
	if (!part) {
		ib_device_put(&mr->dev->ibdev);
		return NULL;
	}
	kref_get(&mr->ref);
	part->of = mr;
	part->window = true;
	part->iova = iova;
	part->length = length;
	part->page_off = mr_off(mr, addr);
	part->n_pages = mr->n_pages;
	part->pages = mr->pages;
	return part;
}

int mrc_mr_init(void)
{
	mrc_mr_next = 1 + mrc_seed_u32() % 0xffff;
	return 0;
}

void mrc_mr_exit(void)
{
	WARN_ON(!xa_empty(&mrc_mrs));
	xa_destroy(&mrc_mrs);
}
