// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * hint.c - QP hints: the traffic that a program expects. Stored and returned, but not used:
 * congestion control measures the windows.
 */
#include <stdlib.h>
#include <string.h>
#include "object.h"

#define HINT_BITS (MRC_QP_HINT_NUM_QPS_PER_PEER | MRC_QP_HINT_NUM_SEND_PEERS |	\
		   MRC_QP_HINT_NUM_REMOTE_RECV_PEERS | MRC_QP_HINT_VENDOR_CFG)

static int hint_check(const struct mrc_qp_hint_attr *attr, int mask)
{
	if (mask & ~HINT_BITS)
		return mrc_debug(EINVAL, "QP hint: mask 0x%x has bits that no attribute has", mask);
	if ((mask & MRC_QP_HINT_NUM_QPS_PER_PEER && attr->num_qps_per_peer < 0) ||
	    (mask & MRC_QP_HINT_NUM_SEND_PEERS && attr->num_send_peers < 0) ||
	    (mask & MRC_QP_HINT_NUM_REMOTE_RECV_PEERS && attr->num_remote_recv_peers < 0))
		return mrc_debug(EINVAL, "QP hint: a number is negative; 0 means not known");
	return 0;
}

static void hint_copy(struct mrc_qp_hint_attr *to, const struct mrc_qp_hint_attr *from, int mask)
{
	if (mask & MRC_QP_HINT_NUM_QPS_PER_PEER)
		to->num_qps_per_peer = from->num_qps_per_peer;
	if (mask & MRC_QP_HINT_NUM_SEND_PEERS)
		to->num_send_peers = from->num_send_peers;
	if (mask & MRC_QP_HINT_NUM_REMOTE_RECV_PEERS)
		to->num_remote_recv_peers = from->num_remote_recv_peers;
	if (mask & MRC_QP_HINT_VENDOR_CFG)
		memcpy(to->vendor_cfg, from->vendor_cfg, sizeof(to->vendor_cfg));
}

struct mrc_qp_hint *mrc_create_qp_hint(struct mrc_context *ctx,
				       struct mrc_qp_hint_init_attr *init_attr)
{
	struct mrc_qp_hint *hint;
	bool full;
	int err;

	if (!MRC_IS(ctx, CONTEXT) || !init_attr)
		return mrc_null(EINVAL);
	err = hint_check(&init_attr->attr, HINT_BITS);
	if (err)
		return mrc_null(err);
	hint = calloc(1, sizeof(*hint));
	if (!hint)
		return NULL;
	hint->kind = MRC_KIND_HINT;
	hint->ctx = ctx;
	hint->attr = init_attr->attr;
	pthread_mutex_lock(&ctx->lock);
	full = ctx->n_hints >= MRC_MAX_HINTS;
	ctx->n_hints += !full;
	pthread_mutex_unlock(&ctx->lock);
	if (full) {
		free(hint);
		return mrc_null(mrc_debug(ENOSPC, "there are %u QP hints already", MRC_MAX_HINTS));
	}
	return hint;
}

int mrc_destroy_qp_hint(struct mrc_qp_hint *hint)
{
	struct mrc_context *ctx;
	uint32_t users;

	if (!MRC_IS(hint, HINT))
		return mrc_minus(EINVAL);
	ctx = hint->ctx;
	pthread_mutex_lock(&ctx->lock);
	users = hint->n_qps;
	ctx->n_hints -= !users;
	pthread_mutex_unlock(&ctx->lock);
	if (users)
		return mrc_minus(mrc_debug(EBUSY, "mrc_destroy_qp_hint: %u QPs have it", users));
	hint->kind = 0;
	free(hint);
	return 0;
}

int mrc_query_qp_hint(struct mrc_qp_hint *hint, struct mrc_qp_hint_attr *attr, int mask)
{
	if (!MRC_IS(hint, HINT) || !attr || mask & ~HINT_BITS)
		return mrc_minus(EINVAL);
	pthread_mutex_lock(&hint->ctx->lock);
	hint_copy(attr, &hint->attr, mask);
	pthread_mutex_unlock(&hint->ctx->lock);
	return 0;
}

int mrc_modify_qp_hint(struct mrc_qp_hint *hint, struct mrc_qp_hint_attr *attr, int mask)
{
	int err;

	if (!MRC_IS(hint, HINT) || !attr)
		return mrc_minus(EINVAL);
	err = hint_check(attr, mask);
	if (err)
		return mrc_minus(err);
	pthread_mutex_lock(&hint->ctx->lock);
	hint_copy(&hint->attr, attr, mask);
	pthread_mutex_unlock(&hint->ctx->lock);
	return 0;
}

void mrc_hint_use(struct mrc_qp_hint *hint, int by)
{
	if (!hint)
		return;
	pthread_mutex_lock(&hint->ctx->lock);
	hint->n_qps += by;
	pthread_mutex_unlock(&hint->ctx->lock);
}
