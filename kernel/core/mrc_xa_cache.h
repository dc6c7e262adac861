/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_xa_cache.h - before an XArray: its latest entries, found in one step.
 *
 * A packet looks up its port, its QP and its memory region. Each walk through an XArray of large numbers goes down
 * four nodes. Here each slot holds what was put there last, and who finds an entry compares whether it is the
 * right one. If it is not, it may still be in the XArray, where all are. Numbers are given in turn, so those in
 * use rarely share a slot.
 *
 * Changed by whoever changes the XArray, and after it; before RCU is waited for.
 */
#ifndef MRC_XA_CACHE_H
#define MRC_XA_CACHE_H

#include <linux/rcupdate.h>

#define MRC_XA_CACHE_SLOTS	1024

struct mrc_xa_cache {
	void __rcu *slot[MRC_XA_CACHE_SLOTS];
};

/* Under RCU, or what keeps entries from being freed. What @index's slot holds, of that index or another; or NULL. */
static inline void *mrc_xa_cache_lookup(const struct mrc_xa_cache *f, u32 index)
{
	return rcu_dereference_check(f->slot[index % MRC_XA_CACHE_SLOTS], true);
}

/* Any context. */
static inline void mrc_xa_cache_set(struct mrc_xa_cache *f, u32 index, void *entry)
{
	rcu_assign_pointer(f->slot[index % MRC_XA_CACHE_SLOTS], entry);
}

/* Any context. @entry is in the XArray no more: nor is it here. */
static inline void mrc_xa_cache_drop(struct mrc_xa_cache *f, u32 index, void *entry)
{
	(void)cmpxchg(&f->slot[index % MRC_XA_CACHE_SLOTS], RCU_INITIALIZER(entry), NULL);
}

#endif
