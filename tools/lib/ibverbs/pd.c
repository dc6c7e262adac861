// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * pd.c - protection domains, thread domains and parent domains.
 *
 * The last two exist in user space only. A parent domain is its protection domain under another
 * name. A thread domain promises single-threaded use of its objects; we lock nevertheless.
 * Allocators of a parent domain are accepted and unused, because the memory of queues belongs to
 * the kernel.
 */
#include <errno.h>
#include <stdlib.h>
#include "mrc_prov.h"

struct ibv_pd *mrc_alloc_pd(struct ibv_context *context)
{
	struct ib_uverbs_alloc_pd_resp resp = {};
	struct ibv_alloc_pd cmd = {};
	struct mrc_pd *pd;
	int ret;

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	ret = ibv_cmd_alloc_pd(context, &pd->pd, &cmd, sizeof(cmd), &resp, sizeof(resp));
	if (ret) {
		free(pd);
		errno = ret;
		return NULL;
	}
	return &pd->pd;
}

/* An object in use is not freed: EBUSY, as the kernel returns for its own objects. */
static bool in_use(const uint32_t *users)
{
	return __atomic_load_n(users, __ATOMIC_ACQUIRE);
}

int mrc_dealloc_pd(struct ibv_pd *ibpd)
{
	struct mrc_pd *pd = (struct mrc_pd *)ibpd;
	int ret;

	if (in_use(&pd->users))
		return EBUSY;
	if (pd->of) {
		__atomic_fetch_sub(&pd->of->users, 1, __ATOMIC_RELEASE);
		if (pd->td)
			__atomic_fetch_sub(&pd->td->users, 1, __ATOMIC_RELEASE);
		free(pd);
		return 0;
	}
	ret = ibv_cmd_dealloc_pd(ibpd);
	if (!ret)
		free(pd);
	return ret;
}

struct ibv_td *mrc_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr)
{
	struct mrc_td *td;

	if (attr->comp_mask) {
		errno = EINVAL;
		return NULL;
	}
	td = calloc(1, sizeof(*td));
	if (!td)
		return NULL;
	td->td.context = context;
	return &td->td;
}

int mrc_dealloc_td(struct ibv_td *ibtd)
{
	struct mrc_td *td = (struct mrc_td *)ibtd;

	if (in_use(&td->users))
		return EBUSY;
	free(td);
	return 0;
}

#define MRC_PARENT_DOMAIN_MASK	(IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |	\
				 IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)

struct ibv_pd *mrc_alloc_parent_domain(struct ibv_context *context,
				       struct ibv_parent_domain_init_attr *attr)
{
	struct mrc_pd *of = (struct mrc_pd *)attr->pd, *pd;

	if (!of || of->of || attr->comp_mask & ~(uint32_t)MRC_PARENT_DOMAIN_MASK) {
		errno = EINVAL;
		return NULL;
	}
	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	pd->pd.context = context;
	pd->pd.handle = of->pd.handle;
	pd->of = of;
	pd->td = (struct mrc_td *)attr->td;
	__atomic_fetch_add(&of->users, 1, __ATOMIC_RELAXED);
	if (pd->td)
		__atomic_fetch_add(&pd->td->users, 1, __ATOMIC_RELAXED);
	return &pd->pd;
}
