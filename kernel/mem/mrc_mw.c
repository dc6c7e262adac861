// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_mw.c - memory windows.
 *
 * A window keeps its slot in the table of keys for its whole life. Its binding is a region of its
 * own (mrc_mr_subregion()) that never changes: another bind creates another region, and softirqs that
 * found the old one finish with it. So packets need no lock of the window, and a stale key finds
 * nothing.
 *
 * A window ends with its region: deregistered memory cannot be reached through it, although the
 * window itself remains until it is deallocated. Invalidation runs under the lock of the window's
 * QP, which also places its payload. When the program is notified, nothing is written any more.
 */
#include <linux/slab.h>
#include "core/mrc_dev.h"
#include "core/mrc_random.h"
#include "mem/mrc_mr.h"
#include "mem/mrc_mr_copy.h"
#include "mem/mrc_mw.h"
#include "mem/mrc_pd.h"
#include "mem/mrc_ucontext.h"

#define MRC_MW_ACCESS	(IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC)
/* Accepted, because programs pass the flags of a region; without effect on a window. */
#define MRC_MW_IGNORED	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_OPTIONAL)

struct mrc_mw {
	struct mrc_window win;	/* first; bound: changed under lock */
	spinlock_t lock;	/* inside any QP's */
	struct mrc_dev *dev;
	u32 index;		/* in the table of keys */
	u32 key;		/* the latest */
	u32 pdn;
	enum ib_mw_type type;
	bool dead;		/* under lock */
};

/* Under RCU. The window at @rkey's index, if it belongs to @dev and @pdn; else NULL. */
static struct mrc_mw *mw_find(struct mrc_dev *dev, u32 pdn, u32 rkey)
{
	struct mrc_window *w = mrc_mr_window(rkey);
	struct mrc_mw *mw = w && !w->fast ? container_of(w, struct mrc_mw, win) : NULL;

	return mw && mw->dev == dev && mw->pdn == pdn ? mw : NULL;
}

static struct mrc_mr *mw_bound(struct mrc_mw *mw)
{
	return rcu_dereference_protected(mw->win.bound, lockdep_is_held(&mw->lock));
}

/* Under mw->lock. Binds the window to @to, or to nothing (NULL). The old binding ends. */
static void mw_set(struct mrc_mw *mw, struct mrc_mr *to)
{
	struct mrc_mr *old = mw_bound(mw);

	rcu_assign_pointer(mw->win.bound, to);
	if (!old)
		return;
	WRITE_ONCE(old->dead, true);
	mrc_mr_put(old);
}

/* Under mw->lock. */
static bool mw_may_bind(struct mrc_mw *mw, const struct mrc_mw_bind *b)
{
	if (mw->dead || b->rkey == mw->key)
		return false;
	if (b->access & ~(MRC_MW_ACCESS | IB_ZERO_BASED | MRC_MW_IGNORED))
		return false;
	if (mw->type == IB_MW_TYPE_1)
		return !(b->access & IB_ZERO_BASED);
	return b->length && !mw_bound(mw);
}

static struct mrc_mr *mw_cut(const struct mrc_mw *mw, struct mrc_mr *mr,
			     const struct mrc_mw_bind *b)
{
	const int writes = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC;
	struct mrc_mr *part;

	if (!(mr->access & IB_ACCESS_MW_BIND) || !mrc_mr_covers(mr, b->addr, b->length, 0))
		return NULL;
	if (b->access & writes && !(mr->access & IB_ACCESS_LOCAL_WRITE))
		return NULL;
	/* An address that is aligned for the peer must be aligned in memory. */
	if (b->access & IB_ACCESS_REMOTE_ATOMIC && b->access & IB_ZERO_BASED &&
	    !IS_ALIGNED(b->addr, sizeof(u64)))
		return NULL;
	part = mrc_mr_subregion(mr, b->addr, b->length, b->access & IB_ZERO_BASED ? 0 : b->addr,
				b->access & MRC_MW_ACCESS);
	if (part) {
		part->key = b->rkey;
		part->qpn = mw->type == IB_MW_TYPE_1 ? 0 : b->qpn;
	}
	return part;
}

/* Under mw->lock. */
static bool mw_bind(struct mrc_mw *mw, const struct mrc_mw_bind *b)
{
	struct mrc_mr *mr, *part = NULL;

	if (!mw_may_bind(mw, b))
		return false;
	if (b->length) {
		mr = mrc_mr_get(mw->dev, b->pdn, b->lkey);
		if (!mr)
			return false;
		part = mw_cut(mw, mr, b);
		mrc_mr_put(mr);
		if (!part)
			return false;
	}
	mw->key = b->rkey;
	mw_set(mw, part);
	return true;
}

bool mrc_mw_bind(struct mrc_dev *dev, const struct mrc_mw_bind *b)
{
	struct mrc_mw *mw;
	bool ok = false;

	rcu_read_lock();
	mw = mw_find(dev, b->pdn, b->rkey);
	if (mw) {
		spin_lock_bh(&mw->lock);
		ok = mw_bind(mw, b);
		spin_unlock_bh(&mw->lock);
	}
	rcu_read_unlock();
	return ok;
}

/* Under mw->lock. */
static bool mw_is_of(struct mrc_mw *mw, u32 qpn, u32 rkey)
{
	const struct mrc_mr *bound = mw_bound(mw);

	return mw->type != IB_MW_TYPE_1 && bound && bound->key == rkey && bound->qpn == qpn;
}

/* Is @rkey a bound type 2 window of QP @qpn? If so and @really, unbinds it. */
static bool mw_invalidate(struct mrc_dev *dev, u32 pdn, u32 qpn, u32 rkey, bool really)
{
	struct mrc_mw *mw;
	bool ok = false;

	rcu_read_lock();
	mw = mw_find(dev, pdn, rkey);
	if (mw) {
		spin_lock_bh(&mw->lock);
		ok = mw_is_of(mw, qpn, rkey);
		if (ok && really)
			mw_set(mw, NULL);
		spin_unlock_bh(&mw->lock);
	}
	rcu_read_unlock();
	return ok;
}

bool mrc_mw_may_invalidate(struct mrc_dev *dev, u32 pdn, u32 qpn, u32 rkey)
{
	return mw_invalidate(dev, pdn, qpn, rkey, false);
}

bool mrc_mw_invalidate(struct mrc_dev *dev, u32 pdn, u32 qpn, u32 rkey)
{
	return mw_invalidate(dev, pdn, qpn, rkey, true);
}

/* ---- verbs ---- */

int mrc_mw_alloc(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct mrc_dev *dev = to_mrc_dev(ibmw->device);
	struct mrc_mw *mw;
	int err;

	if (ibmw->type != IB_MW_TYPE_1 && ibmw->type != IB_MW_TYPE_2)
		return -EINVAL;
	err = mrc_ucontext_check(udata, 0, 0);
	if (err)
		return err;
	if (!atomic_add_unless(&dev->n_mws, 1, MRC_MAX_MW))
		return -ENOSPC;
	err = -ENOMEM;
	mw = kzalloc(sizeof(*mw), GFP_KERNEL_ACCOUNT);
	if (!mw)
		goto err_count;
	spin_lock_init(&mw->lock);
	mw->dev = dev;
	mw->pdn = to_mrc_pd(ibmw->pd)->pdn;
	mw->type = ibmw->type;
	err = mrc_mr_window_add(&mw->win, &mw->index);
	if (err)
		goto err_free;
	mw->key = mw->index << 8 | (mrc_random_u32() & 0xff);
	ibmw->rkey = mw->key;
	container_of(ibmw, struct mrc_ibmw, ibmw)->mw = mw;
	return 0;

err_free:
	kfree(mw);
err_count:
	atomic_dec(&dev->n_mws);
	return err;
}

int mrc_mw_dealloc(struct ib_mw *ibmw)
{
	struct mrc_mw *mw = container_of(ibmw, struct mrc_ibmw, ibmw)->mw;
	struct mrc_mr *bound;

	mrc_mr_window_del(mw->index);
	spin_lock_bh(&mw->lock);
	mw->dead = true;
	bound = mw_bound(mw);
	if (bound)
		kref_get(&bound->ref);
	mw_set(mw, NULL);
	spin_unlock_bh(&mw->lock);
	if (bound) {		/* the memory is the program's alone when this returns */
		mrc_mr_wait(bound);
		mrc_mr_put(bound);
	}
	atomic_dec(&mw->dev->n_mws);
	kfree_rcu(mw, win.rcu);
	return 0;
}
