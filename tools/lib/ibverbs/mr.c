// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mr.c - memory regions, and allocation of memory windows. Binding a window is a work request.
 */
#include <errno.h>
#include <stdlib.h>
#include "mrc_prov.h"

/*
 * Optional access flags (relaxed ordering) are hints that MRC's relaxed placement satisfies: they
 * are accepted and not passed on.
 */
struct ibv_mr *mrc_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t hca_va,
			  int access)
{
	struct ib_uverbs_reg_mr_resp resp = {};
	struct ibv_reg_mr cmd = {};
	struct mrc_mr *mr;
	int ret;

	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return NULL;
	access &= ~IBV_ACCESS_OPTIONAL_RANGE;
	ret = ibv_cmd_reg_mr(pd, addr, length, hca_va, access, &mr->vmr, &cmd, sizeof(cmd),
			     &resp, sizeof(resp));
	if (ret) {
		free(mr);
		errno = ret;
		return NULL;
	}
	return &mr->vmr.ibv_mr;
}

/* A region of another driver's memory: the kernel maps it through that driver. */
struct ibv_mr *mrc_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				 int fd, int access)
{
	struct mrc_mr *mr = calloc(1, sizeof(*mr));
	int ret;

	if (!mr)
		return NULL;
	access &= ~IBV_ACCESS_OPTIONAL_RANGE;
	ret = ibv_cmd_reg_dmabuf_mr(pd, offset, length, iova, fd, access, &mr->vmr NEW_LAST(NULL));
	if (ret) {
		free(mr);
		errno = ret;
		return NULL;
	}
	return &mr->vmr.ibv_mr;
}

int mrc_dereg_mr(struct verbs_mr *vmr)
{
	uint32_t *dm_mrs = ((struct mrc_mr *)vmr)->dm_mrs;
	int ret = ibv_cmd_dereg_mr(vmr);

	if (ret)
		return ret;
	if (dm_mrs)
		__atomic_fetch_sub(dm_mrs, 1, __ATOMIC_RELEASE);
	free(vmr);
	return 0;
}

/* libibverbs copies the keys from the response, although the kernel keeps them. */
int mrc_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		 int access)
{
	struct ib_uverbs_rereg_mr_resp resp = {};
	struct ibv_rereg_mr cmd = {};

	access &= ~IBV_ACCESS_OPTIONAL_RANGE;
	return ibv_cmd_rereg_mr(vmr, (uint32_t)flags, addr, length, (uintptr_t)addr, access, pd,
				&cmd, sizeof(cmd), &resp, sizeof(resp));
}

struct ibv_mw *mrc_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct ib_uverbs_alloc_mw_resp resp = {};
	struct ibv_alloc_mw cmd = {};
	struct ibv_mw *mw;
	int ret;

	mw = calloc(1, sizeof(*mw));
	if (!mw)
		return NULL;
	ret = ibv_cmd_alloc_mw(pd, type, mw, &cmd, sizeof(cmd), &resp, sizeof(resp));
	if (ret) {
		free(mw);
		errno = ret;
		return NULL;
	}
	return mw;
}

int mrc_dealloc_mw(struct ibv_mw *mw)
{
	int ret = ibv_cmd_dealloc_mw(mw);

	if (!ret)
		free(mw);
	return ret;
}
