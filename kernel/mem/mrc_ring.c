// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_ring.c - memory of the rings that are shared with user space.
 *
 * Three parties keep the memory. The kernel object that owns the ring keeps it until its last
 * reference is gone, possibly long after the verbs object. The mmap entry, through which user space
 * finds it, keeps it until the object is destroyed and the last mmap() has returned. The page
 * tables of the processes that mapped it keep it as long as they have it. The first two are counted
 * here. The memory manager counts the third: remap_vmalloc_range() takes a reference on each page.
 * So the module needs no vm_operations and may be unloaded.
 *
 * Rings are charged twice, as pinned user pages are. Each page is charged to the cgroup of the
 * creator, where the allocation fails rather than invoke the OOM killer. While the ring is
 * published it counts against RLIMIT_MEMLOCK. A mapping that a program keeps beyond that counts in
 * its RSS.
 */
#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "mem/mrc_ring.h"

#define RING_GFP	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

struct mrc_ring_mem {
	struct kref ref;
	void *addr;
	struct page **pages;
	u32 n_pages;
	struct mm_struct *mm;		/* charged for pinned pages while published */
	struct mrc_ring_entry *entry;	/* the owner's pointer; NULL: not published */
};

struct mrc_ring_entry {
	struct rdma_user_mmap_entry rdma;
	struct mrc_ring_mem *mem;	/* referenced */
};

static void ring_mem_free(struct kref *ref)
{
	struct mrc_ring_mem *mem = container_of(ref, struct mrc_ring_mem, ref);

	if (mem->addr)
		vunmap(mem->addr);
	while (mem->n_pages)
		__free_page(mem->pages[--mem->n_pages]);
	kvfree(mem->pages);
	kfree(mem);
}

static void ring_mem_put(struct mrc_ring_mem *mem)
{
	kref_put(&mem->ref, ring_mem_free);
}

/* Not vmalloc_user(), because it charges nobody. */
static bool ring_mem_fill(struct mrc_ring_mem *mem, u32 n)
{
	mem->pages = kvmalloc_array(n, sizeof(*mem->pages), RING_GFP);
	if (!mem->pages)
		return false;
	for (; mem->n_pages < n; mem->n_pages++) {
		mem->pages[mem->n_pages] = alloc_page(RING_GFP | __GFP_ZERO | __GFP_HIGHMEM);
		if (!mem->pages[mem->n_pages])
			return false;
		cond_resched();
	}
	mem->addr = vmap(mem->pages, n, VM_MAP | VM_USERMAP, PAGE_KERNEL);
	return mem->addr;
}

static struct mrc_ring_mem *ring_mem_alloc(size_t bytes)
{
	struct mrc_ring_mem *mem = kzalloc(sizeof(*mem), GFP_KERNEL_ACCOUNT);

	if (!mem)
		return NULL;
	kref_init(&mem->ref);
	if (ring_mem_fill(mem, bytes >> PAGE_SHIFT))
		return mem;
	ring_mem_put(mem);
	return NULL;
}

/* Counts the pages against RLIMIT_MEMLOCK, as ib_umem_get() does. */
static int ring_charge(struct mm_struct *mm, u32 pages)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;

	if (atomic64_add_return(pages, &mm->pinned_vm) <= limit || capable(CAP_IPC_LOCK))
		return 0;
	atomic64_sub(pages, &mm->pinned_vm);
	return -ENOMEM;
}

static void ring_uncharge(struct mm_struct *mm, u32 pages)
{
	atomic64_sub(pages, &mm->pinned_vm);
	mmdrop(mm);
}

static int ring_publish(struct mrc_ring_mem *mem, struct ib_ucontext *ctx, size_t bytes)
{
	struct mrc_ring_entry *e = kzalloc(sizeof(*e), GFP_KERNEL_ACCOUNT);
	int err;

	if (!e)
		return -ENOMEM;
	kref_get(&mem->ref);
	e->mem = mem;
	err = rdma_user_mmap_entry_insert(ctx, &e->rdma, bytes);
	if (err) {
		ring_mem_put(mem);
		kfree(e);
		return err;
	}
	mem->entry = e;
	mem->mm = current->mm;
	mmgrab(mem->mm);
	return 0;
}

static void ring_set(struct mrc_ring *r, struct mrc_ring_mem *mem, u32 entries, u32 stride,
		     size_t bytes)
{
	r->mem = mem;
	r->hdr = mem->addr;
	r->slots = (u8 *)mem->addr + MRC_RING_HDR_SIZE;
	r->entries = entries;
	r->stride = stride;
	r->bytes = bytes;
}

/* Memory of a ring, charged and published to the calling program. */
static struct mrc_ring_mem *ring_mem_shared(struct ib_ucontext *ctx, size_t bytes)
{
	struct mm_struct *mm = current->mm;
	u32 pages = bytes >> PAGE_SHIFT;
	struct mrc_ring_mem *mem;
	int err;

	err = ring_charge(mm, pages);
	if (err)
		return ERR_PTR(err);
	mem = ring_mem_alloc(bytes);
	err = mem ? ring_publish(mem, ctx, bytes) : -ENOMEM;
	if (!err)
		return mem;
	if (mem)
		ring_mem_put(mem);
	atomic64_sub(pages, &mm->pinned_vm);
	return ERR_PTR(err);
}

int mrc_ring_create(struct mrc_ring *r, struct ib_ucontext *ctx, u32 entries, u32 stride,
		    u64 *mmap_key)
{
	size_t bytes = PAGE_ALIGN(MRC_RING_HDR_SIZE + (size_t)entries * stride);
	struct mrc_ring_mem *mem;

	BUILD_BUG_ON(sizeof(struct mrc_ring_hdr) > MRC_RING_HDR_SIZE);
	if (WARN_ON_ONCE(!is_power_of_2(entries) || !stride))
		return -EINVAL;
	spin_lock_init(&r->fill_lock);
	mem = ctx ? ring_mem_shared(ctx, bytes) : ring_mem_alloc(bytes) ?: ERR_PTR(-ENOMEM);
	if (IS_ERR(mem))
		return PTR_ERR(mem);
	if (ctx)
		*mmap_key = rdma_user_mmap_get_offset(&mem->entry->rdma);
	ring_set(r, mem, entries, stride, bytes);
	return 0;
}

void mrc_ring_unmap(struct mrc_ring *r)
{
	if (!r->mem || !r->mem->entry)
		return;
	rdma_user_mmap_entry_remove(&r->mem->entry->rdma);
	r->mem->entry = NULL;
	ring_uncharge(r->mem->mm, r->mem->n_pages);
}

void mrc_ring_free(struct mrc_ring *r)
{
	if (!r->mem)
		return;
	WARN_ON_ONCE(r->mem->entry);
	ring_mem_put(r->mem);
	memset(r, 0, sizeof(*r));
}

/* Maps the whole ring: rdma_user_mmap_entry_get() accepts only its exact length. */
int mrc_ring_mmap(struct ib_ucontext *ctx, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry = rdma_user_mmap_entry_get(ctx, vma);
	struct mrc_ring_entry *e;
	int err;

	if (!entry)
		return -EINVAL;
	e = container_of(entry, struct mrc_ring_entry, rdma);
	err = remap_vmalloc_range(vma, e->mem->addr, 0);
	rdma_user_mmap_entry_put(entry);
	return err;
}

/* Called by ib_core when the ring is unpublished and no mmap() of it runs. */
void mrc_ring_mmap_free(struct rdma_user_mmap_entry *entry)
{
	struct mrc_ring_entry *e = container_of(entry, struct mrc_ring_entry, rdma);

	ring_mem_put(e->mem);
	kfree(e);
}
