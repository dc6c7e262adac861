// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * dm.c - device memory.
 *
 * A software device has only host memory. So this is anonymous memory of the program, limited to a
 * few pages, with the semantics of device memory: programs copy to and from it, peers access it,
 * and addresses in a region of it begin at 0.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "mrc_prov.h"

#define MRC_DM_ALIGN	4	/* alignment of copies, as of adapters */

struct mrc_dm {
	struct ibv_dm dm;	/* first */
	uint8_t *mem;		/* whole pages */
	size_t length;
	uint32_t mrs;		/* regions of it; atomic */
};

static struct mrc_dm *to_mdm(struct ibv_dm *dm)
{
	return (struct mrc_dm *)dm;
}

static bool dm_has(const struct mrc_dm *dm, uint64_t offset, size_t length)
{
	return offset <= dm->length && length <= dm->length - offset;
}

/* 0, or EINVAL: not inside, or not aligned. */
static int dm_check(const struct mrc_dm *dm, uint64_t offset, size_t length)
{
	if (offset % MRC_DM_ALIGN || length % MRC_DM_ALIGN || !dm_has(dm, offset, length))
		return EINVAL;
	return 0;
}

static int dm_copy_to(struct ibv_dm *ibdm, uint64_t offset, const void *from, size_t length)
{
	struct mrc_dm *dm = to_mdm(ibdm);
	int ret = dm_check(dm, offset, length);

	if (!ret)
		memcpy(dm->mem + offset, from, length);
	return ret;
}

static int dm_copy_from(void *to, struct ibv_dm *ibdm, uint64_t offset, size_t length)
{
	struct mrc_dm *dm = to_mdm(ibdm);
	int ret = dm_check(dm, offset, length);

	if (!ret)
		memcpy(to, dm->mem + offset, length);
	return ret;
}

/* Takes @length bytes of the context's MRC_MAX_DM, which @used counts. 0 or ENOSPC. */
static int dm_take(uint64_t *used, size_t length)
{
	uint64_t was = __atomic_load_n(used, __ATOMIC_RELAXED);

	do
		if (length > MRC_MAX_DM || was > MRC_MAX_DM - length)
			return ENOSPC;
	while (!__atomic_compare_exchange_n(used, &was, was + length, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED));
	return 0;
}

struct ibv_dm *mrc_alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr)
{
	uint64_t *used = &to_mctx(context)->dm_used;
	const long page = sysconf(_SC_PAGESIZE);
	struct mrc_dm *dm;
	int ret = 0;

	if (attr->comp_mask || !attr->length || attr->log_align_req > 30 ||
	    1l << attr->log_align_req > page)
		ret = EINVAL;
	ret = ret ? ret : dm_take(used, attr->length);
	if (ret) {
		errno = ret;
		return NULL;
	}
	dm = calloc(1, sizeof(*dm));
	if (!dm)
		goto err;
	dm->mem = mmap(NULL, attr->length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);
	if (dm->mem == MAP_FAILED)
		goto err;
	dm->length = attr->length;
	dm->dm.context = context;
	dm->dm.memcpy_to_dm = dm_copy_to;
	dm->dm.memcpy_from_dm = dm_copy_from;
	return &dm->dm;

err:
	free(dm);
	__atomic_fetch_sub(used, attr->length, __ATOMIC_RELAXED);
	errno = ENOMEM;
	return NULL;
}

int mrc_free_dm(struct ibv_dm *ibdm)
{
	struct mrc_dm *dm = to_mdm(ibdm);

	if (__atomic_load_n(&dm->mrs, __ATOMIC_ACQUIRE))
		return EBUSY;
	munmap(dm->mem, dm->length);
	__atomic_fetch_sub(&to_mctx(ibdm->context)->dm_used, dm->length, __ATOMIC_RELAXED);
	free(dm);
	return 0;
}

/*
 * Addresses of the region begin at 0. So its memory must begin at a page, as the kernel requires.
 */
struct ibv_mr *mrc_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *ibdm, uint64_t offset, size_t length,
			     unsigned int access)
{
	struct mrc_dm *dm = to_mdm(ibdm);
	struct ibv_mr *mr;

	if (!dm_has(dm, offset, length) || offset % (uint64_t)sysconf(_SC_PAGESIZE) ||
	    !(access & IBV_ACCESS_ZERO_BASED)) {
		errno = EINVAL;
		return NULL;
	}
	mr = mrc_reg_mr(pd, dm->mem + offset, length, 0, (int)access);
	if (!mr)
		return NULL;
	mr->context = pd->context;
	mr->pd = pd;
	mr->addr = NULL;
	mr->length = length;
	((struct mrc_mr *)mr)->dm_mrs = &dm->mrs;
	__atomic_fetch_add(&dm->mrs, 1, __ATOMIC_RELAXED);
	return mr;
}
