// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * import.c - objects of another context or process, whose file descriptor was passed on.
 *
 * Domains and regions belong to the kernel and are identified by handle. The plug-in keeps little
 * of its own.
 */
#include <errno.h>
#include <stdlib.h>
#include "mrc_prov.h"

/* The kernel has no query for a domain: a wrong handle fails when it is used. */
struct ibv_pd *mrc_import_pd(struct ibv_context *context, uint32_t handle)
{
	struct mrc_pd *pd = calloc(1, sizeof(*pd));

	if (!pd)
		return NULL;
	pd->pd.context = context;
	pd->pd.handle = handle;
	return &pd->pd;
}

void mrc_unimport_pd(struct ibv_pd *pd)
{
	free(pd);
}

struct ibv_mr *mrc_import_mr(struct ibv_pd *pd, uint32_t handle)
{
	struct mrc_mr *mr = calloc(1, sizeof(*mr));
	int ret;

	if (!mr)
		return NULL;
	ret = ibv_cmd_query_mr(pd, &mr->vmr, handle);
	if (ret) {
		free(mr);
		errno = ret;
		return NULL;
	}
	return &mr->vmr.ibv_mr;
}

void mrc_unimport_mr(struct ibv_mr *mr)
{
	free(mr);
}
