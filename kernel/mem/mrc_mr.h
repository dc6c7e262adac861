/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_mr.h - memory regions: pinned user pages behind a key.
 *
 * lkey == rkey: index << 8 | random byte. Looked up under RCU, with a reference. Pages are a flat
 * array. Bounds are checked by subtraction.
 *
 * A key may also belong to a memory window (mrc_mw.h). Then the table holds the window, and its
 * current binding is a struct mrc_mr that borrows the pages of another region. The registrations of
 * a fast registration region (mrc_fr.h) work in the same way.
 *
 * A region of a dma-buf has an address instead of pages (mrc_dmabuf.h), and ends when the exporter
 * revokes the buffer.
 */
#ifndef MRC_MR_H
#define MRC_MR_H

#include <linux/kref.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>

struct mrc_dev;
struct mrc_dmabuf;
struct mrc_fr;

/* Access rights that a region may have, and hints. */
#define MRC_MR_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_MW_BIND)

struct mrc_ibmr {
	struct ib_mr ibmr;	/* first; a shell */
	struct mrc_mr *mr;	/* another one when it is registered again; fr: its pages */
	struct mrc_fr *fr;	/* fast registration; NULL: an ordinary region */
};

struct mrc_mr {
	struct kref ref;
	struct rcu_head rcu;
	struct work_struct free_work;
	struct mrc_dev *dev;
	u32 key;
	u32 pdn;
	int access;		/* enum ib_access_flags */
	u64 iova;
	u64 length;
	u64 page_off;		/* of iova, from the start of the first page */
	u32 n_pages;
	struct page **pages;
	struct ib_umem *umem;
	struct mrc_dmabuf *dmabuf;	/* its own; NULL: none, or of's */
	u8 *lent;		/* memory of a dma-buf, from its first page; pages is NULL */
	bool dma;		/* all memory of the kernel, by its addresses; pages is NULL */
	struct mrc_mr *of;	/* whose pages these are, referenced; NULL: its own */
	bool window;		/* a window's: ends with @of */
	bool fast;		/* a fast registration: its memory is touched under of->lock */
	u32 qpn;		/* not 0: usable through that QP only */
	bool dead;		/* deregistered, or taken back: nothing is read or written any more */
	spinlock_t lock;	/* of what others have its pages for; inside all others */
};

/* An entry of the table that may be bound to one region after another: mrc_mw.c, mrc_fr.c. */
struct mrc_window {
	struct mrc_mr __rcu *bound;
	struct rcu_head rcu;
	bool fast;		/* mrc_fr.c's */
};

/* The offset of @va from the start of the first page. */
static inline u64 mrc_mr_off(const struct mrc_mr *mr, u64 va)
{
	return va - mr->iova + mr->page_off;
}

/*
 * Softirq-safe. NULL unless the key exists, belongs to @dev and @pdn and is alive. As an lkey no
 * window will do; as a remote key of @qpn one that is bound.
 */
struct mrc_mr *mrc_mr_get(struct mrc_dev *dev, u32 pdn, u32 key);
struct mrc_mr *mrc_mr_get_remote(struct mrc_dev *dev, u32 pdn, u32 qpn, u32 key);
void mrc_mr_put(struct mrc_mr *mr);	/* any context */
/* May its memory still be touched: until the end of this BH-disabled section. */
static inline bool mrc_mr_alive(const struct mrc_mr *mr)
{
	return !READ_ONCE(mr->dead) && !(mr->window && READ_ONCE(mr->of->dead));
}

/* It may end under requests that were posted, and not by the program's own mistake. */
static inline bool mrc_mr_may_end(const struct mrc_mr *mr)
{
	return mr->fast || mr->lent;
}

/* Process context: an index of the table for @w, in *@index, or -errno; and out of it again. */
int mrc_mr_window_add(struct mrc_window *w, u32 *index);
void mrc_mr_window_del(u32 index);
struct mrc_window *mrc_mr_window(u32 key);	/* under RCU; or NULL */
/*
 * Any context: [addr, addr + length) of @mr, which covers it, under another key, with
 * @access and from @iova on. In no table; ends with @mr. NULL: no memory.
 */
struct mrc_mr *mrc_mr_cut(struct mrc_mr *mr, u64 addr, u64 length, u64 iova, int access);
/* Process context: @mr is dead; waits until all users that found it alive have finished. */
void mrc_mr_wait(const struct mrc_mr *mr);

/* Any context, by @gfp. One that is in no table; NULL: no memory. */
struct mrc_mr *mrc_mr_alloc(struct mrc_dev *dev, u32 pdn, int access, gfp_t gfp);
/* Process context. Into the table, under a new key: 0, or -errno. */
int mrc_mr_hash(struct mrc_mr *mr);
/* In the place of the one that has its key; and out of the table. */
void mrc_mr_rehash(struct mrc_mr *mr);
void mrc_mr_unhash(struct mrc_mr *mr);
/* Lets go of the pages. For kref_put(): the last reference is gone, and this may sleep. */
void mrc_mr_unpin(struct mrc_mr *mr);
void mrc_mr_release_now(struct kref *ref);

int mrc_mr_init(void);
void mrc_mr_exit(void);

#endif
