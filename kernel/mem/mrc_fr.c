// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_fr.c - see mrc_fr.h.
 *
 * As with memory windows (mrc_mw.c), the slot in the table of keys remains, and each registration
 * is a region of its own that never changes. A user that keeps a reference to it, such as a READ
 * response, calls mrc_mr_alive() and sees the end of that registration.
 *
 * There are two arrays of pages. ib_map_mr_sg() fills one while the previous registration may still
 * be valid, because its invalidation is often posted together with the next registration.
 * Registering swaps the two.
 *
 * Any QP of the domain may use the key, so the lock of one QP does not stop the others.
 * Invalidation must not sleep. So an access to the memory of a fast registration holds base->lock
 * for that packet (mrc_mr_copy.c), and a registration ends under the same lock.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include "core/mrc_dev.h"
#include "core/mrc_random.h"
#include "mem/mrc_fr.h"
#include "mem/mrc_mr.h"
#include "mem/mrc_pd.h"

/* IB_ACCESS_MW_BIND has no effect: windows belong to programs, which have no fast registrations. */
#define FR_ACCESS	(MRC_MR_ACCESS | IB_ACCESS_OPTIONAL)

struct mrc_fr {
	struct mrc_window win;	/* first; bound: changed under lock */
	spinlock_t lock;	/* inside any QP's, outside base->lock */
	struct mrc_dev *dev;
	struct mrc_mr *base;	/* owns the pages; in no table, without access rights; referenced
				 * unless dead */
	u32 pdn;
	u32 index;		/* in the table of keys */
	u32 key;		/* the latest */
	u32 max_pages;
	bool dead;		/* under lock */
	/*
	 * Pages mapped and not yet registered. Only the user writes them, until it posts the
	 * registration.
	 */
	struct page **staged;
	u32 n_staged;
	u32 page_off;		/* of the first byte */
	bool fresh;		/* staged is newer than base's pages */
};

/* Under RCU. The region at @key's index, if it belongs to @dev and @pdn; else NULL. */
static struct mrc_fr *fr_find(struct mrc_dev *dev, u32 pdn, u32 key)
{
	struct mrc_window *w = mrc_mr_window(key);
	struct mrc_fr *fr;

	if (!w || !w->fast)
		return NULL;
	fr = container_of(w, struct mrc_fr, win);
	return fr->dev == dev && fr->pdn == pdn ? fr : NULL;
}

static struct mrc_mr *fr_bound(struct mrc_fr *fr)
{
	return rcu_dereference_protected(fr->win.bound, lockdep_is_held(&fr->lock));
}

/* ---- registered and invalidated ---- */

/* Under fr->lock. Are the parameters valid, and do the mapped pages cover all of the length? */
static bool fr_covers(const struct mrc_fr *fr, const struct mrc_fr_reg *r)
{
	u32 pages = fr->fresh ? fr->n_staged : fr->base->n_pages;
	u64 room = (u64)pages << PAGE_SHIFT;

	if (r->access & ~FR_ACCESS || !r->length || r->iova > U64_MAX - (r->length - 1))
		return false;
	/* An address that is aligned for the peer must be aligned in memory. */
	if (r->access & IB_ACCESS_REMOTE_ATOMIC && !IS_ALIGNED(r->iova ^ fr->page_off, sizeof(u64)))
		return false;
	return fr->page_off < room && r->length <= room - fr->page_off;
}

/* Under fr->lock: the staged pages become base's. */
static void fr_swap(struct mrc_fr *fr)
{
	struct mrc_mr *base = fr->base;

	spin_lock(&base->lock);
	swap(base->pages, fr->staged);
	base->n_pages = fr->n_staged;
	spin_unlock(&base->lock);
	fr->fresh = false;
}

/* Under fr->lock. */
static int fr_register(struct mrc_fr *fr, const struct mrc_fr_reg *r)
{
	struct mrc_mr *base = fr->base, *mr;

	if (fr->dead || fr_bound(fr) || !fr_covers(fr, r))
		return -EINVAL;
	mr = mrc_mr_alloc(base->dev, base->pdn, r->access, GFP_ATOMIC | __GFP_NOWARN);
	if (!mr)
		return -EAGAIN;
	if (fr->fresh)
		fr_swap(fr);
	kref_get(&base->ref);
	mr->of = base;
	mr->fast = true;
	mr->key = r->key;
	mr->iova = r->iova;
	mr->length = r->length;
	mr->page_off = fr->page_off;
	mr->n_pages = base->n_pages;
	mr->pages = base->pages;
	fr->key = r->key;
	rcu_assign_pointer(fr->win.bound, mr);
	return 0;
}

int mrc_fr_register(struct mrc_dev *dev, const struct mrc_fr_reg *r)
{
	struct mrc_fr *fr;
	int err = -EINVAL;

	rcu_read_lock();
	fr = fr_find(dev, r->pdn, r->key);
	if (fr) {
		spin_lock_bh(&fr->lock);
		err = fr_register(fr, r);
		spin_unlock_bh(&fr->lock);
	}
	rcu_read_unlock();
	return err;
}

/* Under fr->lock. Ends the registration: when this returns, nothing is written through its key. */
static void fr_end(struct mrc_fr *fr)
{
	struct mrc_mr *mr = fr_bound(fr);

	if (!mr)
		return;
	rcu_assign_pointer(fr->win.bound, NULL);
	spin_lock(&fr->base->lock);
	WRITE_ONCE(mr->dead, true);
	spin_unlock(&fr->base->lock);
	mrc_mr_put(mr);
}

/* Is @key the latest key of a region? If so and @really, ends its registration. */
static bool fr_invalidate(struct mrc_dev *dev, u32 pdn, u32 key, bool really)
{
	struct mrc_fr *fr;
	bool ok = false;

	rcu_read_lock();
	fr = fr_find(dev, pdn, key);
	if (fr) {
		spin_lock_bh(&fr->lock);
		ok = !fr->dead && fr->key == key;
		if (ok && really)
			fr_end(fr);
		spin_unlock_bh(&fr->lock);
	}
	rcu_read_unlock();
	return ok;
}

bool mrc_fr_may_invalidate(struct mrc_dev *dev, u32 pdn, u32 key)
{
	return fr_invalidate(dev, pdn, key, false);
}

bool mrc_fr_invalidate(struct mrc_dev *dev, u32 pdn, u32 key)
{
	return fr_invalidate(dev, pdn, key, true);
}

/* ---- verbs ---- */

static struct mrc_mr *fr_base(struct ib_pd *ibpd, u32 max_pages)
{
	struct mrc_mr *base;

	if (!ib_device_try_get(ibpd->device))
		return ERR_PTR(-ENODEV);
	base = mrc_mr_alloc(to_mrc_dev(ibpd->device), to_mrc_pd(ibpd)->pdn, 0,
			    GFP_KERNEL_ACCOUNT);
	if (!base)
		goto err;
	base->pages = kvcalloc(max_pages, sizeof(*base->pages), GFP_KERNEL_ACCOUNT);
	if (base->pages)
		return base;
	kfree(base);
err:
	ib_device_put(ibpd->device);
	return ERR_PTR(-ENOMEM);
}

static struct mrc_fr *fr_new(struct ib_pd *ibpd, u32 max_pages)
{
	struct mrc_fr *fr = kzalloc(sizeof(*fr), GFP_KERNEL_ACCOUNT);
	int err = -ENOMEM;

	if (!fr)
		return ERR_PTR(-ENOMEM);
	spin_lock_init(&fr->lock);
	fr->win.fast = true;
	fr->max_pages = max_pages;
	fr->staged = kvcalloc(max_pages, sizeof(*fr->staged), GFP_KERNEL_ACCOUNT);
	if (!fr->staged)
		goto err_free;
	fr->base = fr_base(ibpd, max_pages);
	if (IS_ERR(fr->base)) {
		err = PTR_ERR(fr->base);
		goto err_free;
	}
	fr->dev = fr->base->dev;
	fr->pdn = fr->base->pdn;
	err = mrc_mr_window_add(&fr->win, &fr->index);
	if (err)
		goto err_base;
	fr->key = fr->index << 8 | (mrc_random_u32() & 0xff);
	return fr;

err_base:
	mrc_mr_put(fr->base);
err_free:
	kvfree(fr->staged);
	kfree(fr);
	return ERR_PTR(err);
}

/*
 * Counts against no limit, as all objects of kernel users. Lists with gaps (IB_MR_TYPE_SG_GAPS) are
 * not supported.
 */
struct ib_mr *mrc_fr_alloc(struct ib_pd *ibpd, enum ib_mr_type type, u32 max_pages)
{
	struct mrc_ibmr *shell;
	struct mrc_fr *fr;

	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_pages || max_pages > MRC_MAX_FR_PAGES)
		return ERR_PTR(-EINVAL);
	shell = kzalloc(sizeof(*shell), GFP_KERNEL_ACCOUNT);
	if (!shell)
		return ERR_PTR(-ENOMEM);
	fr = fr_new(ibpd, max_pages);
	if (IS_ERR(fr)) {
		kfree(shell);
		return ERR_CAST(fr);
	}
	shell->mr = fr->base;
	shell->fr = fr;
	shell->ibmr.lkey = fr->key;
	shell->ibmr.rkey = fr->key;
	return &shell->ibmr;
}

int mrc_fr_dereg(struct ib_mr *ibmr)
{
	struct mrc_ibmr *shell = container_of(ibmr, struct mrc_ibmr, ibmr);
	struct mrc_fr *fr = shell->fr;
	struct mrc_mr *bound;

	mrc_mr_window_del(fr->index);
	spin_lock_bh(&fr->lock);
	fr->dead = true;
	bound = fr_bound(fr);
	if (bound)
		kref_get(&bound->ref);
	fr_end(fr);
	spin_unlock_bh(&fr->lock);
	if (bound) {		/* wait until packets that read it are built */
		mrc_mr_wait(bound);
		mrc_mr_put(bound);
	}
	mrc_mr_put(fr->base);
	kvfree(fr->staged);
	kfree_rcu(fr, win.rcu);
	kfree(shell);
	return 0;
}

static int fr_set_page(struct ib_mr *ibmr, u64 addr)
{
	struct mrc_fr *fr = container_of(ibmr, struct mrc_ibmr, ibmr)->fr;
	const void *p = (const void *)(uintptr_t)addr;

	if (fr->n_staged == fr->max_pages)
		return -ENOMEM;
	if (!virt_addr_valid(p))
		return -EINVAL;
	fr->staged[fr->n_staged++] = virt_to_page(p);
	return 0;
}

/*
 * Only pages of PAGE_SIZE: with larger ones a region would map more memory than its user reserved
 * pages for. page_size_cap offers no others.
 */
int mrc_fr_map(struct ib_mr *ibmr, struct scatterlist *sg, int n, unsigned int *offset)
{
	struct mrc_fr *fr = container_of(ibmr, struct mrc_ibmr, ibmr)->fr;
	int fit;

	if (!fr || ibmr->page_size != PAGE_SIZE)
		return -EINVAL;
	fr->n_staged = 0;
	fit = ib_sg_to_pages(ibmr, sg, n, offset, fr_set_page);
	fr->page_off = offset_in_page(ibmr->iova);
	fr->fresh = true;
	return fit;
}
