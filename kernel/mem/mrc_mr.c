// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_mr.c - memory regions: pinned user pages behind a key.
 *
 * The table is global. The upper 24 bits of a key are its index; the lower 8 are random, so a stale
 * key of a reused index is refused. Lookups run in softirq under RCU and take a reference, which
 * keeps the pages while a work request or packet needs them. Deregistration removes the key; the
 * last reference frees the region. Releasing pages sleeps, so the last put queues a work item.
 * Deregistration itself releases directly, because a program that registers again needs its memlock
 * limit at once.
 *
 * When deregistration returns, the memory belongs to the program again. A user that keeps a
 * reference longer than one packet calls mrc_mr_alive() for each packet. A user that holds one for
 * a packet runs with BH off, and deregistration waits for it.
 *
 * Registration is in mrc_mr_reg.c, copying in mrc_mr_copy.c.
 */
#include <linux/slab.h>
#include <linux/xarray.h>
#include "core/mrc_dev.h"
#include "core/mrc_xa_cache.h"
#include "core/mrc_random.h"
#include "mem/mrc_dmabuf.h"
#include "mem/mrc_mr.h"

#define MR_WINDOW	1	/* tag of an entry that is a struct mrc_window */

static DEFINE_XARRAY_FLAGS(mrc_mrs, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
static struct mrc_xa_cache mrc_mrs_cache;	/* regions only, no windows */
static u32 mrc_mr_next;		/* cyclic: a freed index is not reused soon */

/* Releases the pages at once, also those of the region that owns them: until then they count in the memlock limit. */
void mrc_mr_unpin(struct mrc_mr *mr)
{
	if (mr->of) {
		kref_put(&mr->of->ref, mrc_mr_release_now);
		return;
	}
	if (mr->dmabuf)
		mrc_dmabuf_unmap(mr->dmabuf);
	ib_umem_release(mr->umem);
	kvfree(mr->pages);
}

static void mr_free(struct mrc_mr *mr)
{
	struct ib_device *ibdev = &mr->dev->ibdev;

	mrc_mr_unpin(mr);
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

	if (mr->fast) {		/* one per I/O; releasing it does not sleep */
		mrc_mr_put(mr->of);
		kfree_rcu(mr, rcu);
	} else {
		queue_work(mrc_wq, &mr->free_work);
	}
}

void mrc_mr_release_now(struct kref *ref)
{
	mr_free(container_of(ref, struct mrc_mr, ref));
}

void mrc_mr_put(struct mrc_mr *mr)
{
	kref_put(&mr->ref, mr_release);
}

/*
 * Under RCU. The region at a key's index, or the region that a window there is bound to; or NULL.
 */
static struct mrc_mr *mr_at(u32 key)
{
	struct mrc_mr *mr = mrc_xa_cache_lookup(&mrc_mrs_cache, key >> 8);
	struct mrc_window *w;
	void *entry;

	if (likely(mr && mr->key == key))
		return mr;
	entry = xa_load(&mrc_mrs, key >> 8);
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
	smp_mb__after_atomic();	/* reference before dead; in mrc_mr_wait() vice versa */
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

/* Waits for copies under way. Most regions have no other reference, and need no wait. */
void mrc_mr_wait(const struct mrc_mr *mr)
{
	smp_mb();	/* dead is set, then read the references */
	if (kref_read(&mr->ref) > 1)
		synchronize_rcu();
	else
		smp_acquire__after_ctrl_dep();
}

/* ---- new ones ---- */

/* Publishes the region: from here on packets find it. */
int mrc_mr_hash(struct mrc_mr *mr)
{
	u32 index;
	int err;

	/* Reserve an index first: the key must be complete before anyone can see it. */
	err = xa_alloc_cyclic(&mrc_mrs, &index, NULL, XA_LIMIT(1, 0xffffff), &mrc_mr_next,
			      GFP_KERNEL_ACCOUNT);
	if (err < 0)
		return err;
	mr->key = index << 8 | (mrc_random_u32() & 0xff);
	err = xa_err(xa_store(&mrc_mrs, index, mr, GFP_KERNEL_ACCOUNT));
	if (!err)
		mrc_xa_cache_set(&mrc_mrs_cache, index, mr);
	return err;
}

void mrc_mr_rehash(struct mrc_mr *mr)
{
	xa_store(&mrc_mrs, mr->key >> 8, mr, GFP_KERNEL);	/* replaces: needs no memory */
	mrc_xa_cache_set(&mrc_mrs_cache, mr->key >> 8, mr);
}

void mrc_mr_unhash(struct mrc_mr *mr)
{
	xa_erase(&mrc_mrs, mr->key >> 8);
	mrc_xa_cache_drop(&mrc_mrs_cache, mr->key >> 8, mr);
}

struct mrc_mr *mrc_mr_alloc(struct mrc_dev *dev, u32 pdn, int access, gfp_t gfp)
{
	struct mrc_mr *mr = kzalloc(sizeof(*mr), gfp);

	if (!mr)
		return NULL;
	kref_init(&mr->ref);
	spin_lock_init(&mr->lock);
	INIT_WORK(&mr->free_work, mr_free_work);
	mr->dev = dev;
	mr->pdn = pdn;
	mr->access = access & MRC_MR_ACCESS;
	return mr;
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

struct mrc_mr *mrc_mr_subregion(struct mrc_mr *mr, u64 addr, u64 length, u64 iova, int access)
{
	struct mrc_mr *part;

	if (!ib_device_try_get(&mr->dev->ibdev))
		return NULL;
	part = mrc_mr_alloc(mr->dev, mr->pdn, access, GFP_ATOMIC);
	if (!part) {
		ib_device_put(&mr->dev->ibdev);
		return NULL;
	}
	kref_get(&mr->ref);
	part->of = mr;
	part->window = true;
	part->iova = iova;
	part->length = length;
	part->page_off = mrc_mr_off(mr, addr);
	part->n_pages = mr->n_pages;
	part->pages = mr->pages;
	part->lent = mr->lent;
	return part;
}

int mrc_mr_init(void)
{
	mrc_mr_next = 1 + mrc_random_u32() % 0xffff;
	return 0;
}

void mrc_mr_exit(void)
{
	WARN_ON(!xa_empty(&mrc_mrs));
	xa_destroy(&mrc_mrs);
}
