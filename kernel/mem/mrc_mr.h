/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_mr.h - memory regions: pinned user pages behind a key.
 *
 * lkey == rkey: index << 8 | random byte. A region is looked up under RCU, with a reference; the
 * last reference releases its pages. Pages are a flat array. Bounds are checked by subtraction.
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
	struct ib_mr ibmr;	/* first */
	struct mrc_mr *mr;	/* replaced by a re-registration; fr: the owner of its pages */
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
	u64 page_off;		/* offset of iova from the start of the first page */
	u32 n_pages;
	struct page **pages;
	struct ib_umem *umem;
	struct mrc_dmabuf *dmabuf;	/* owned; NULL: no dma-buf, or that of @of */
	u8 *lent;		/* address of the dma-buf's first page; pages is NULL */
	bool dma;		/* all kernel memory, by virtual address; pages is NULL */
	struct mrc_mr *of;	/* the region that owns the pages, referenced; NULL: this one */
	bool window;		/* the binding of a window: ends with @of */
	bool fast;		/* a fast registration: its memory is accessed under of->lock */
	u32 qpn;		/* unless 0: usable through this QP only */
	bool dead;		/* deregistered or revoked: its memory must not be accessed */
	spinlock_t lock;	/* for accesses of fast registrations to its pages; innermost */
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
 * Any context. The region of @key with a reference; NULL unless it belongs to @dev and @pdn and is
 * alive. The first takes an lkey, and finds no windows. The second takes an rkey that the peer of
 * QP @qpn sent, and also finds bound windows.
 */
struct mrc_mr *mrc_mr_get(struct mrc_dev *dev, u32 pdn, u32 key);
struct mrc_mr *mrc_mr_get_remote(struct mrc_dev *dev, u32 pdn, u32 qpn, u32 key);
void mrc_mr_put(struct mrc_mr *mr);	/* any context */
/* May the memory be accessed, until this BH-disabled section ends? */
static inline bool mrc_mr_alive(const struct mrc_mr *mr)
{
	return !READ_ONCE(mr->dead) && !(mr->window && READ_ONCE(mr->of->dead));
}

/* Can the region end while posted requests use it, without a mistake of the program? */
static inline bool mrc_mr_may_end(const struct mrc_mr *mr)
{
	return mr->fast || mr->lent;
}

/* Process context. Adds @w to the table of keys, at *@index, or removes it. 0 or -errno. */
int mrc_mr_window_add(struct mrc_window *w, u32 *index);
void mrc_mr_window_del(u32 index);
struct mrc_window *mrc_mr_window(u32 key);	/* under RCU; or NULL */
/*
 * Any context. A region for [addr, addr + length) of @mr, which covers it, with its own @access,
 * and addresses from @iova on. It is in no table, has no key yet and ends with @mr. NULL: no
 * memory.
 */
struct mrc_mr *mrc_mr_subregion(struct mrc_mr *mr, u64 addr, u64 length, u64 iova, int access);
/* Process context; sleeps. @mr is dead: waits until all users that found it alive have finished. */
void mrc_mr_wait(const struct mrc_mr *mr);

/*
 * Any context that @gfp allows. A new region in no table, with one reference; NULL: no memory.
 * Unless it is fast, the caller takes a reference to the device for it.
 */
struct mrc_mr *mrc_mr_alloc(struct mrc_dev *dev, u32 pdn, int access, gfp_t gfp);
/* Process context. Adds it to the table under a new key: 0, or -errno. */
int mrc_mr_hash(struct mrc_mr *mr);
/*
 * Process context. Replaces the region with the same key in the table; removes the region from it.
 */
void mrc_mr_rehash(struct mrc_mr *mr);
void mrc_mr_unhash(struct mrc_mr *mr);
/* Process context; sleeps. Releases the pages at once; for kref_put(): frees the region at once. */
void mrc_mr_unpin(struct mrc_mr *mr);
void mrc_mr_release_now(struct kref *ref);

int mrc_mr_init(void);
void mrc_mr_exit(void);

#endif
