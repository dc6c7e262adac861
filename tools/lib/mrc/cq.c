// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * cq.c - completion queues: those of libibverbs, under other names. Queues of EV events are in
 * ctl/events.cc.
 */
#include <stdlib.h>
#include "object.h"

struct mrc_cq *mrc_create_cq(struct mrc_context *ctx, int cqe, void *cq_context,
			     struct mrc_comp_channel *channel, int comp_vector)
{
	struct mrc_cq *cq;

	if (!MRC_IS(ctx, CONTEXT) || (channel && !MRC_IS(channel, CHANNEL)))
		return mrc_null(mrc_debug(EINVAL, "mrc_create_cq: no context, or no channel"));
	if (channel && channel->ctx != ctx)
		return mrc_null(mrc_debug(EINVAL, "mrc_create_cq: the channel is of another context"));
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return NULL;
	cq->v = ctx->verbs.create_cq(ctx->v, cqe, cq_context, channel ? channel->v : NULL, comp_vector);
	if (!cq->v) {
		int err = errno;

		free(cq);
		return mrc_null(err);
	}
	cq->kind = MRC_KIND_CQ;
	cq->ctx = ctx;
	cq->user = cq_context;
	pthread_mutex_lock(&ctx->lock);
	cq->next = ctx->cqs;
	ctx->cqs = cq;
	pthread_mutex_unlock(&ctx->lock);
	return cq;
}

struct mrc_cq *mrc_cq_of(struct mrc_context *ctx, const struct ibv_cq *v)
{
	struct mrc_cq *cq;

	for (cq = ctx->cqs; cq && cq->v != v; cq = cq->next)
		;
	return cq;
}

int mrc_destroy_cq(struct mrc_cq *cq)
{
	struct mrc_context *ctx;
	struct mrc_cq **at;
	int err;

	if (!MRC_IS(cq, CQ))
		return EINVAL;
	ctx = cq->ctx;
	err = cq->v ? ctx->verbs.destroy_cq(cq->v) : mrc_channel_leave(cq);
	if (err)
		return mrc_debug(err, "mrc_destroy_cq: QPs use it, or its news was not acknowledged");
	pthread_mutex_lock(&ctx->lock);
	for (at = &ctx->cqs; *at != cq; at = &(*at)->next)
		;
	*at = cq->next;
	pthread_mutex_unlock(&ctx->lock);
	mrc_ev_queue_free(cq->events);
	cq->kind = 0;
	free(cq);
	return 0;
}

int mrc_poll_cq(struct mrc_cq *cq, int num_entries, struct ibv_wc *wc)
{
	if (!MRC_IS_WCQ(cq) || num_entries < 0 || (num_entries && !wc))
		return mrc_minus(EINVAL);
	return cq->ctx->verbs.poll_cq(cq->v, num_entries, wc);
}

int mrc_req_notify_cq(struct mrc_cq *cq, int solicited_only)
{
	if (!MRC_IS(cq, CQ))
		return EINVAL;
	return cq->v ? cq->ctx->verbs.req_notify_cq(cq->v, solicited_only) : mrc_channel_arm(cq);
}

void mrc_ack_cq_events(struct mrc_cq *cq, unsigned int nevents)
{
	if (!MRC_IS(cq, CQ))
		return;
	if (cq->v)
		cq->ctx->verbs.ack_cq_events(cq->v, nevents);
	else
		mrc_channel_ack(cq, nevents);
}
