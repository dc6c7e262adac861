// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * device.c - device capabilities, versions, and contexts.
 */
#include <stdlib.h>
#include <string.h>
#include "uverbs.h"

void mrc_query_version(uint32_t *current_version, uint32_t *last_supported_version,
		       uint32_t *vendor_version, uint32_t *last_supported_vendor_version)
{
	if (current_version)
		*current_version = MRC_API_CURRENT_VERSION;
	if (last_supported_version)
		*last_supported_version = MRC_API_LAST_SUPPORTED_VERSION;
	if (vendor_version)
		*vendor_version = MRC_VENDOR_API_CURRENT_VERSION;
	if (last_supported_vendor_version)
		*last_supported_vendor_version = MRC_VENDOR_API_LAST_SUPPORTED_VERSION;
}

int mrc_query_device(struct ibv_context *context, struct mrc_device_attr *attr, int *supported)
{
	struct mrc_uquery_device_resp limits;
	int err;

	if (!context || !attr || !supported)
		return mrc_minus(mrc_debug(EINVAL, "mrc_query_device: an argument is NULL"));
	memset(attr, 0, sizeof(*attr));
	*supported = mrc_uverbs_is_ours(context);
	if (!*supported)
		return 0;
	err = mrc_uverbs_limits(context, &limits);
	if (err)
		return mrc_minus(err);
	attr->mrc_protocol_version = MRC_PROTOCOL_VERSION_1;
	attr->wimm_attr.max_wimm = limits.max_wimm;
	attr->wimm_attr.max_wimm_dest = limits.max_wimm_dest;
	attr->mpr_attr.max_mpr = limits.max_mpr;
	attr->mpr_attr.mpr_resolution = 1;
	attr->qp_attr.max_qp_hint = MRC_MAX_HINTS;
	attr->cap = limits.cap;		/* the bits are the same */
	return 0;
}

int mrc_query_device_ex(struct ibv_context *context, struct mrc_context *mcontext,
			struct mrc_device_attr *attr, int *supported)
{
	if (mcontext && (!MRC_IS(mcontext, CONTEXT) || mcontext->v != context))
		return mrc_minus(mrc_debug(EINVAL, "mrc_query_device_ex: the MRC context is of "
					   "another device context"));
	return mrc_query_device(context, attr, supported);
}

/* The version that a program's value means; 0: there is no such version. */
static uint32_t version_of(uint32_t said, uint32_t current)
{
	return said == UINT32_MAX ?	/* MRC_API_VER_LATEST */ current : said <= current ? said : 0;
}

static int context_check(const struct mrc_context_attr *attr)
{
	const uint32_t now = MRC_API_CURRENT_VERSION, vendor = MRC_VENDOR_API_CURRENT_VERSION;

	if (attr->mrc_api_version_used && !version_of(attr->mrc_api_version_used, now))
		return mrc_debug(EINVAL, "API version 0x%08x is newer than ours, 0x%08x",
				 attr->mrc_api_version_used, now);
	if (attr->mrc_vendor_api_version_used &&
	    !version_of(attr->mrc_vendor_api_version_used, vendor))
		return mrc_debug(EINVAL, "vendor API version 0x%08x is newer than ours, 0x%08x",
				 attr->mrc_vendor_api_version_used, vendor);
	return 0;
}

struct mrc_context *mrc_create_context(struct ibv_context *vcontext,
				       struct mrc_context_attr *context_attr)
{
	struct mrc_context *ctx;
	int err;

	if (!vcontext)
		return mrc_null(mrc_debug(EINVAL, "mrc_create_context: no device context"));
	err = context_attr ? context_check(context_attr) : 0;
	if (err)
		return mrc_null(err);
	if (!mrc_uverbs_is_ours(vcontext))
		return mrc_null(mrc_debug(EOPNOTSUPP, "%s is no MRC device",
					  vcontext->device->name));
	ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return NULL;
	err = mrc_verbs_load(&ctx->verbs, vcontext);
	if (err) {
		free(ctx);
		return mrc_null(err);
	}
	ctx->kind = MRC_KIND_CONTEXT;
	ctx->v = vcontext;
	ctx->version = MRC_API_CURRENT_VERSION;
	if (context_attr && context_attr->mrc_api_version_used)
		ctx->version = version_of(context_attr->mrc_api_version_used, ctx->version);
	pthread_mutex_init(&ctx->lock, NULL);
	return ctx;
}

/* The number of objects that are left. MRC_DEBUG prints each kind. */
static uint32_t context_left(struct mrc_context *ctx)
{
	uint32_t qps = 0, cqs = 0, left;
	const struct mrc_qp *qp;
	const struct mrc_cq *cq;

	pthread_mutex_lock(&ctx->lock);
	for (qp = ctx->qps; qp; qp = qp->next)
		qps++;
	for (cq = ctx->cqs; cq; cq = cq->next)
		cqs++;
	left = qps + cqs + ctx->n_channels + ctx->n_hints;
	if (left)
		mrc_debug(EBUSY, "mrc_destroy_context: %u QPs, %u CQs, %u completion channels and "
			  "%u QP hints are left", qps, cqs, ctx->n_channels, ctx->n_hints);
	pthread_mutex_unlock(&ctx->lock);
	return left;
}

int mrc_destroy_context(struct mrc_context *ctx)
{
	if (!MRC_IS(ctx, CONTEXT))
		return mrc_minus(EINVAL);
	if (context_left(ctx))
		return mrc_minus(EBUSY);
	mrc_ctl_free(ctx->ctl);
	pthread_mutex_destroy(&ctx->lock);
	ctx->kind = 0;
	free(ctx);
	return 0;
}
