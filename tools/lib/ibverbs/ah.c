// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ah.c - address handles. The kernel stores their contents; requests name them by number.
 */
#include <errno.h>
#include <stdlib.h>
#include "mrc_prov.h"

struct ibv_ah *mrc_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	/*
	 * libibverbs' struct ends in a flexible array, so nothing can follow it: a union gives it
	 * room.
	 */
	union {
		struct ib_uverbs_create_ah_resp core;
		struct {
			uint32_t room[sizeof(struct ib_uverbs_create_ah_resp) / 4];
			struct mrc_ucreate_ah_resp drv;
		} all;
	} resp = {};
	struct ibv_ah_attr to = *attr;
	struct mrc_ah *ah;
	int ret;

	mrc_lid_resolve(pd->context, &to);
	ah = calloc(1, sizeof(*ah));
	if (!ah)
		return NULL;
	ret = ibv_cmd_create_ah(pd, &ah->ah, &to, &resp.core, sizeof(resp));
	if (ret) {
		free(ah);
		errno = ret;
		return NULL;
	}
	ah->number = resp.all.drv.ah;
	return &ah->ah;
}

int mrc_destroy_ah(struct ibv_ah *ibah)
{
	int ret = ibv_cmd_destroy_ah(ibah);

	if (!ret)
		free(ibah);
	return ret;
}
