// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_mr_reg.c - registers, re-registers and deregisters regions: those of programs, and the region
 * of all kernel memory.
 */
#include <linux/slab.h>
#include "core/mrc_dev.h"
#include "mem/mrc_dmabuf.h"
#include "mem/mrc_mr.h"
#include "mem/mrc_mr_reg.h"
#include "mem/mrc_pd.h"
#include "mem/mrc_ucontext.h"

/* Accepted without effect: hints, and "iova starts at zero". */
#define MRC_MR_IGNORED	(IB_ACCESS_OPTIONAL | IB_ZERO_BASED | IB_ACCESS_HUGETLB)

/* Pins the memory and lists its pages in an array. This may take a while; no lock is held. */
static int mr_pin(struct mrc_mr *mr, struct ib_device *ibdev, u64 start, int access)
{
	struct sg_page_iter it;
	u32 i = 0;

	if (!mr->length)
		return 0;
	mr->umem = mrc_umem_get(ibdev, start, mr->length, access);
	if (IS_ERR(mr->umem))
		return PTR_ERR(mr->umem);
	mr->n_pages = ib_umem_num_pages(mr->umem);
	mr->page_off = ib_umem_offset(mr->umem);
	mr->pages = kvmalloc_array(mr->n_pages, sizeof(*mr->pages), GFP_KERNEL_ACCOUNT);
	if (!mr->pages)
		goto err_umem;
	for_each_sgtable_page(&mr->umem->sgt_append.sgt, &it, 0) {
		if (i == mr->n_pages)
			break;
		mr->pages[i++] = sg_page_iter_page(&it);
		if (!(i % 65536))
			cond_resched();
	}
	if (!WARN_ON_ONCE(i != mr->n_pages))
		return 0;
	kvfree(mr->pages);
err_umem:
	ib_umem_release(mr->umem);
	return -ENOMEM;
}

/* Shares the pages of @from, or of the region that owns them. */
static void mr_share(struct mrc_mr *mr, struct mrc_mr *from)
{
	mr->of = from->of ?: from;
	kref_get(&mr->of->ref);
	mr->iova = from->iova;
	mr->length = from->length;
	mr->page_off = from->page_off;
	mr->n_pages = from->n_pages;
	mr->pages = from->pages;
}

/* Parameters of a new region: the pages of @from, a dma-buf, or user memory at @start. */
struct mr_want {
	u64 start, length, iova;
	int access;
	struct mrc_mr *from;
	const struct mrc_dmabuf_want *dmabuf;
};

static int mr_lend(struct mrc_mr *mr, struct ib_device *ibdev, const struct mrc_dmabuf_want *want)
{
	mr->page_off = offset_in_page(want->offset);
	mr->n_pages = (u32)DIV_ROUND_UP(mr->page_off + mr->length, PAGE_SIZE);
	mr->dmabuf = mrc_dmabuf_map(ibdev, want, &mr->dead);
	if (IS_ERR(mr->dmabuf))
		return PTR_ERR(mr->dmabuf);
	mr->lent = mrc_dmabuf_addr(mr->dmabuf);
	return 0;
}

static struct mrc_mr *mr_create(struct ib_pd *ibpd, const struct mr_want *w)
{
	struct mrc_mr *mr = mrc_mr_alloc(to_mrc_dev(ibpd->device), to_mrc_pd(ibpd)->pdn, w->access,
					 GFP_KERNEL_ACCOUNT);
	int err = 0;

	if (!mr)
		return ERR_PTR(-ENOMEM);
	if (w->from) {
		mr_share(mr, w->from);
	} else {
		mr->iova = w->iova;
		mr->length = w->length;
		err = w->dmabuf ? mr_lend(mr, ibpd->device, w->dmabuf) :
				  mr_pin(mr, ibpd->device, w->start, w->access);
	}
	if (!err)
		return mr;
	kfree(mr);
	return ERR_PTR(err);
}

static struct ib_mr *mr_reg(struct ib_pd *ibpd, const struct mr_want *want)
{
	struct mrc_dev *dev = to_mrc_dev(ibpd->device);
	struct mrc_ibmr *shell;
	struct mrc_mr *mr;
	int err = -ENODEV;

	if (!atomic_add_unless(&dev->n_mrs, 1, MRC_MAX_MR))
		return ERR_PTR(-ENOSPC);
	shell = kzalloc(sizeof(*shell), GFP_KERNEL_ACCOUNT);
	if (!shell) {
		err = -ENOMEM;
		goto err_count;
	}
	/* Keeps the device registered until the last reference to the pages is dropped. */
	if (!ib_device_try_get(ibpd->device))
		goto err_shell;
	mr = mr_create(ibpd, want);
	if (IS_ERR(mr)) {
		err = PTR_ERR(mr);
		goto err_dev;
	}
	err = mrc_mr_hash(mr);
	if (err) {
		mrc_mr_unpin(mr);
		kfree(mr);
		goto err_dev;
	}
	shell->mr = mr;
	shell->ibmr.lkey = mr->key;
	shell->ibmr.rkey = mr->key;
	shell->ibmr.iova = mr->iova;
	shell->ibmr.length = mr->length;
	return &shell->ibmr;

err_dev:
	ib_device_put(ibpd->device);
err_shell:
	kfree(shell);
err_count:
	atomic_dec(&dev->n_mrs);
	return ERR_PTR(err);
}

/*
 * The region of all kernel memory. Its addresses are virtual ones: ib_dma_map_*() returns them
 * unchanged for a device without a DMA device.
 */
static struct mrc_mr *mr_create_dma(struct ib_pd *ibpd)
{
	struct mrc_mr *mr = mrc_mr_alloc(to_mrc_dev(ibpd->device), to_mrc_pd(ibpd)->pdn,
					 IB_ACCESS_LOCAL_WRITE, GFP_KERNEL_ACCOUNT);
	int err;

	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->length = U64_MAX;
	mr->dma = true;
	err = mrc_mr_hash(mr);
	if (!err)
		return mr;
	kfree(mr);
	return ERR_PTR(err);
}

struct ib_mr *mrc_mr_get_dma(struct ib_pd *ibpd, int access)
{
	struct mrc_ibmr *shell;
	struct mrc_mr *mr;

	/* Local keys only: no peer may access all memory. */
	if (access & ~IB_ACCESS_LOCAL_WRITE)
		return ERR_PTR(-EOPNOTSUPP);
	shell = kzalloc(sizeof(*shell), GFP_KERNEL_ACCOUNT);
	if (!shell)
		return ERR_PTR(-ENOMEM);
	if (!ib_device_try_get(ibpd->device)) {
		kfree(shell);
		return ERR_PTR(-ENODEV);
	}
	mr = mr_create_dma(ibpd);
	if (IS_ERR(mr)) {
		ib_device_put(ibpd->device);
		kfree(shell);
		return ERR_CAST(mr);
	}
	shell->mr = mr;
	shell->ibmr.lkey = mr->key;
	shell->ibmr.rkey = mr->key;
	return &shell->ibmr;
}

static int mr_check(u64 length, u64 iova, int access)
{
	if (access & ~(MRC_MR_ACCESS | MRC_MR_IGNORED))
		return -EOPNOTSUPP;
	if (length > MRC_MAX_MR_SIZE || (length && iova > U64_MAX - (length - 1)))
		return -EINVAL;
	return 0;
}

struct ib_mr *mrc_mr_reg(struct ib_pd *ibpd, u64 start, u64 length, u64 iova, int access,
			 MRC_DMAH_ARG struct ib_udata *udata)
{
	const struct mr_want want = {
		.start = start, .length = length, .iova = iova, .access = access,
	};
	int err = mr_check(length, iova, access);

	return err ? ERR_PTR(err) : mr_reg(ibpd, &want);
}

struct ib_mr *mrc_mr_reg_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 iova, int fd,
				int access, MRC_DMAH_ARG mrc_reg_dmabuf_arg *arg)
{
	const struct mrc_dmabuf_want dmabuf = {
		.fd = fd, .offset = offset, .length = length,
		.write = ib_access_writable(access),
	};
	const struct mr_want want = {
		.length = length, .iova = iova, .access = access, .dmabuf = &dmabuf,
	};
	int err = mr_check(length, iova, access);

	return err ? ERR_PTR(err) : mr_reg(ibpd, &want);
}

/*
 * Parameters of a re-registration's new region. It shares the pages, unless the caller requests
 * others, or write access to pages that were pinned read-only.
 */
static struct mr_want mr_want_of(struct mrc_mr *old, int flags, const struct mr_want *asked)
{
	const struct ib_umem *umem = old->of ? old->of->umem : old->umem;
	struct mr_want w = { .access = old->access, .from = old };

	if (flags & IB_MR_REREG_ACCESS)
		w.access = asked->access;
	if (flags & IB_MR_REREG_TRANS) {
		w.start = asked->start;
		w.length = asked->length;
		w.iova = asked->iova;
		w.from = NULL;
	} else if (umem && !umem->writable && ib_access_writable(w.access)) {
		w.start = umem->address;
		w.length = old->length;
		w.iova = old->iova;
		w.from = NULL;
	}
	return w;
}

/*
 * A new region replaces the old one behind the same key. Softirqs that found the old one finish
 * with it, as after deregistration. Verbs would allow a new key, but programs go on using the old
 * one. uverbs lets nobody else use @ibmr meanwhile.
 */
struct ib_mr *mrc_mr_rereg(struct ib_mr *ibmr, int flags, u64 start, u64 length, u64 iova,
			   int access, struct ib_pd *ibpd, struct ib_udata *udata)
{
	const struct mr_want asked = {
		.start = start, .length = length, .iova = iova, .access = access,
	};
	struct mrc_ibmr *shell = container_of(ibmr, struct mrc_ibmr, ibmr);
	struct mrc_mr *old = shell->mr, *mr;
	struct mr_want want;
	int err;

	if (flags & ~IB_MR_REREG_SUPPORTED)
		return ERR_PTR(-EOPNOTSUPP);
	/* A revocation by the exporter ends one region, so no other may share the mapping. */
	if (old->lent && !(flags & IB_MR_REREG_TRANS))
		return ERR_PTR(-EOPNOTSUPP);
	want = mr_want_of(old, flags, &asked);
	err = mr_check(want.length, want.iova, want.access);
	if (err)
		return ERR_PTR(err);
	if (!ib_device_try_get(ibmr->device))
		return ERR_PTR(-ENODEV);
	mr = mr_create(flags & IB_MR_REREG_PD ? ibpd : ibmr->pd, &want);
	if (IS_ERR(mr)) {
		ib_device_put(ibmr->device);
		return ERR_CAST(mr);
	}
	mr->key = old->key;
	WRITE_ONCE(shell->mr, mr);
	mrc_mr_rehash(mr);
	WRITE_ONCE(old->dead, true);
	mrc_mr_wait(old);
	kref_put(&old->ref, mrc_mr_release_now);
	return NULL;
}

int mrc_mr_dereg(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct mrc_ibmr *shell = container_of(ibmr, struct mrc_ibmr, ibmr);
	struct mrc_mr *mr = shell->mr;

	WRITE_ONCE(mr->dead, true);
	mrc_mr_unhash(mr);
	mrc_mr_wait(mr);
	if (!mr->dma)	/* objects of kernel users count against no limit */
		atomic_dec(&mr->dev->n_mrs);
	kref_put(&mr->ref, mrc_mr_release_now);
	kfree(shell);
	return 0;
}
