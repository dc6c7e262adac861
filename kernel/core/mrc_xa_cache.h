/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_xa_cache.h - a direct-mapped cache in front of an XArray: finds recent entries in one step.
 *
 * Each packet looks up its port, its QP and its memory region. A lookup in an XArray with large
 * indices visits four nodes. A slot of the cache holds the latest entry that was stored there; the
 * caller compares whether it is the right one. If not, the entry may still be in the XArray, which
 * holds all of them. Indices are allocated in sequence, so entries in use rarely share a slot.
 *
 * The caller updates the cache after the XArray, and before it waits for RCU.
 */
#ifndef MRC_XA_CACHE_H
#define MRC_XA_CACHE_H

#include <linux/rcupdate.h>

#define MRC_XA_CACHE_SLOTS	1024

struct mrc_xa_cache {
	void __rcu *slot[MRC_XA_CACHE_SLOTS];
};

/* Under RCU, or while entries cannot be freed. The entry in @index's slot, of this or another index; or NULL. */
static inline void *mrc_xa_cache_lookup(const struct mrc_xa_cache *f, u32 index)
{
	return rcu_dereference_check(f->slot[index % MRC_XA_CACHE_SLOTS], true);
}

/* Any context. */
static inline void mrc_xa_cache_set(struct mrc_xa_cache *f, u32 index, void *entry)
{
	rcu_assign_pointer(f->slot[index % MRC_XA_CACHE_SLOTS], entry);
}

/* Any context. @entry was removed from the XArray: removes it here, too. */
static inline void mrc_xa_cache_drop(struct mrc_xa_cache *f, u32 index, void *entry)
{
	(void)cmpxchg(&f->slot[index % MRC_XA_CACHE_SLOTS], RCU_INITIALIZER(entry), NULL);
}

#endif
