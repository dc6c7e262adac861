/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_mr.h - memory regions: pinned user pages behind a key.
 *
 * lkey == rkey: index << 8 | random byte. Looked up under RCU with a
 * reference; pages are a flat array. Bounds are checked by subtraction.
 *
 * A key may also be a memory window's (mrc_mw.h): then the table holds the window, and what
 * it is bound to now is a struct mrc_mr of its own, which has the pages of another.
 */
#ifndef MRC_MR_H
#define MRC_MR_H

#include <linux/kref.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>

struct mrc_dev;
struct mrc_payload;
struct sk_buff;

struct mrc_ibmr {
	struct ib_mr ibmr;	/* first; a shell */
	struct mrc_mr *mr;	/* another one when it is registered again */
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
	bool dma;		/* all memory of the kernel, by its addresses; pages is NULL */
	struct mrc_mr *of;	/* whose pages these are, referenced; NULL: its own */
	bool window;		/* a window's: ends with @of */
	u32 qpn;		/* not 0: usable through that QP only */
	bool dead;		/* deregistered: nothing is read or written any more */
};

/* A memory window in the table; mrc_mw.c. */
struct mrc_window {
	struct mrc_mr __rcu *bound;
	struct rcu_head rcu;
};

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
/* Does [va, va + len) lie inside with all of @access. Zero length: true. */
bool mrc_mr_covers(const struct mrc_mr *mr, u64 va, u64 len, int access);

/* Copy skb bytes in. Last byte last: the final min(len, 64) bytes are written
 * after a write barrier. Range must have been checked. */
void mrc_mr_copy_from_skb(struct mrc_mr *mr, u64 va, const struct sk_buff *skb, int off, u32 len);
void mrc_mr_write(struct mrc_mr *mr, u64 va, const void *src, u32 len);
/* Bytes out. Range must have been checked. */
void mrc_mr_read(const struct mrc_mr *mr, u64 va, void *to, u32 len);
/* Append the pages of the range to @pl as fragments (no copy, no reference taken).
 * -EMSGSIZE when they do not fit. */
int mrc_mr_frags(const struct mrc_mr *mr, u64 va, u32 len, struct mrc_payload *pl);
/* 8-byte atomic on naturally aligned va; returns the old value, native order. */
u64 mrc_mr_atomic(struct mrc_mr *mr, u64 va, bool cmp_swap, u64 swap_add, u64 compare);

/* Process context: an index of the table for @w, in *@index, or -errno; and out of it again. */
int mrc_mr_window_add(struct mrc_window *w, u32 *index);
void mrc_mr_window_del(u32 index);
struct mrc_window *mrc_mr_window(u32 key);	/* under RCU; or NULL */
/*
 * Any context: [addr, addr + length) of @mr, which covers it, under another key, with
 * @access and from @iova on. In no table; ends with @mr. NULL: no memory.
 */
struct mrc_mr *mrc_mr_cut(struct mrc_mr *mr, u64 addr, u64 length, u64 iova, int access);
/* Process context: @mr is dead; wait until nobody who found it alive uses it any more. */
void mrc_mr_wait(const struct mrc_mr *mr);

struct ib_mr *mrc_mr_reg(struct ib_pd *ibpd, u64 start, u64 length, u64 iova, int access,
			 struct ib_udata *udata);
/* For users in the kernel: every address of theirs, local access only. */
struct ib_mr *mrc_mr_get_dma(struct ib_pd *ibpd, int access);
struct ib_mr *mrc_mr_rereg(struct ib_mr *ibmr, int flags, u64 start, u64 length, u64 iova,
			   int access, struct ib_pd *ibpd, struct ib_udata *udata);
int mrc_mr_dereg(struct ib_mr *ibmr, struct ib_udata *udata);
int mrc_mr_init(void);
void mrc_mr_exit(void);

#endif
