/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_ring.h - a ring that is shared with user space (uapi/rdma/mrc-abi.h), or used by the kernel
 * only.
 *
 * The memory has its own reference count: mappings and the kernel object each hold one. Values that
 * user space writes are always bounded.
 *
 * Kernel users have the same rings, unmapped: filling and draining use the same code on both sides
 * of the boundary.
 */
#ifndef MRC_RING_H
#define MRC_RING_H

#include <linux/kref.h>
#include <rdma/ib_verbs.h>
#include "rdma/mrc-abi.h"

struct mrc_ring_mem;	/* kref, vmalloc area, rdma_user_mmap_entry */

struct mrc_ring {
	struct mrc_ring_mem *mem;
	struct mrc_ring_hdr *hdr;
	void *slots;
	u32 entries;		/* power of two */
	u32 stride;
	size_t bytes;		/* of the mapping */
	spinlock_t fill_lock;	/* work rings of kernel users: serialises posting */
};

/*
 * Process context, of the program that @ctx belongs to; @ctx NULL: for the kernel, without a
 * key. -ENOMEM: no memory, its cgroup has none left, or its memlock limit is reached.
 */
int mrc_ring_create(struct mrc_ring *r, struct ib_ucontext *ctx, u32 entries, u32 stride,
		    u64 *mmap_key);
/* Process context. Unpublishes the mapping key: the ring no longer counts as pinned ... */
void mrc_ring_unmap(struct mrc_ring *r);
/* ... and drop the kernel's reference (any sleeping context). */
void mrc_ring_free(struct mrc_ring *r);

static inline void *mrc_ring_slot(const struct mrc_ring *r, u32 idx)
{
	return (u8 *)r->slots + (size_t)(idx & (r->entries - 1)) * r->stride;
}

/* Slots readable at private index @cons, bounded; an absurd prod reads as none. */
static inline u32 mrc_ring_avail(const struct mrc_ring *r, u32 cons)
{
	u32 n = smp_load_acquire(&r->hdr->prod) - cons;

	return n <= r->entries ? n : 0;
}

int mrc_ring_mmap(struct ib_ucontext *ctx, struct vm_area_struct *vma);
void mrc_ring_mmap_free(struct rdma_user_mmap_entry *entry);

#endif
