/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_ring.h - a ring that is shared with user space (uapi/rdma/mrc-abi.h), or used by the kernel
 * only.
 *
 * The memory has its own reference count: the kernel object and the mmap entry each hold one, and
 * mappings hold its pages (mrc_ring.c). Values that user space writes are always bounded.
 *
 * Kernel users have the same rings, unmapped: filling and draining use the same code on both sides
 * of the boundary.
 */
#ifndef MRC_RING_H
#define MRC_RING_H

#include <linux/kref.h>
#include <rdma/ib_verbs.h>
#include "rdma/mrc-abi.h"

struct mrc_ring_mem;	/* pages, their mapping, and the mmap entry */

struct mrc_ring {
	struct mrc_ring_mem *mem;
	struct mrc_ring_hdr *hdr;
	void *slots;
	u32 entries;		/* power of two */
	u32 stride;
	size_t bytes;		/* of the mapping: header and slots */
	spinlock_t fill_lock;	/* serialises posting of kernel users */
};

/*
 * Process context, in the program that @ctx belongs to; sleeps. @ctx NULL: for the kernel, without
 * a key. @entries: a power of two; @stride: bytes of a slot. -ENOMEM: no memory, the cgroup has
 * none left, or the memlock limit is reached.
 */
int mrc_ring_create(struct mrc_ring *r, struct ib_ucontext *ctx, u32 entries, u32 stride,
		    u64 *mmap_key);
/*
 * Process context. Unpublishes the mapping key: new mmap() calls fail, and the ring no longer
 * counts as pinned.
 */
void mrc_ring_unmap(struct mrc_ring *r);
/* Process context. Drops the kernel's reference; mappings of user space remain valid. */
void mrc_ring_free(struct mrc_ring *r);

/* The slot of the free-running index @idx. */
static inline void *mrc_ring_slot(const struct mrc_ring *r, u32 idx)
{
	return (u8 *)r->slots + (size_t)(idx & (r->entries - 1)) * r->stride;
}

/* How many slots can be read at private index @cons; 0 if user space wrote an impossible prod. */
static inline u32 mrc_ring_avail(const struct mrc_ring *r, u32 cons)
{
	u32 n = smp_load_acquire(&r->hdr->prod) - cons;

	return n <= r->entries ? n : 0;
}

/* Called by ib_core: an mmap() of a ring's key, in process context, and the end of the key. */
int mrc_ring_mmap(struct ib_ucontext *ctx, struct vm_area_struct *vma);
void mrc_ring_mmap_free(struct rdma_user_mmap_entry *entry);

#endif
