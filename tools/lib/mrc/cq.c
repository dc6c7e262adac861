// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * cq.c - completion channels and queues: libibverbs' own, under other names.
 */
#include <stdlib.h>
#include "object.h"

/* ---- channels ---- */

int mrc_create_comp_channel(struct mrc_context *ctx, struct mrc_comp_channel **channel)
{
	struct mrc_comp_channel *ch;

	if (!MRC_IS(ctx, CONTEXT) || !channel)
		return mrc_say(EINVAL, "mrc_create_comp_channel: an argument is NULL or no context");
	ch = calloc(1, sizeof(*ch));
	if (!ch)
		return ENOMEM;
	ch->v = ibv_create_comp_channel(ctx->v);
	if (!ch->v) {
		int err = errno;

		free(ch);
		return err;
	}
	ch->kind = MRC_KIND_CHANNEL;
	ch->ctx = ctx;
	pthread_mutex_lock(&ctx->lock);
	ctx->n_channels++;
	pthread_mutex_unlock(&ctx->lock);
	*channel = ch;
	return 0;
}

int mrc_get_comp_channel_fd(struct mrc_comp_channel *channel, int *fd)
{
	if (!MRC_IS(channel, CHANNEL) || !fd)
		return mrc_minus(EINVAL);
	*fd = channel->v->fd;
	return 0;
}

int mrc_destroy_comp_channel(struct mrc_comp_channel *channel)
{
	struct mrc_context *ctx;
	int err;

	if (!MRC_IS(channel, CHANNEL))
		return EINVAL;
	err = ibv_destroy_comp_channel(channel->v);
	if (err)
		return mrc_say(err, "mrc_destroy_comp_channel: completion queues use it");
	ctx = channel->ctx;
	pthread_mutex_lock(&ctx->lock);
	ctx->n_channels--;
	pthread_mutex_unlock(&ctx->lock);
	channel->kind = 0;
	free(channel);
	return 0;
}

/* ---- queues ---- */

struct mrc_cq *mrc_create_cq(struct mrc_context *ctx, int cqe, void *cq_context,
			     struct mrc_comp_channel *channel, int comp_vector)
{
	struct mrc_cq *cq;

	if (!MRC_IS(ctx, CONTEXT) || (channel && !MRC_IS(channel, CHANNEL)))
		return mrc_null(mrc_say(EINVAL, "mrc_create_cq: no context, or no channel"));
	if (channel && channel->ctx != ctx)
		return mrc_null(mrc_say(EINVAL, "mrc_create_cq: the channel is of another context"));
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return NULL;
	cq->v = ibv_create_cq(ctx->v, cqe, cq, channel ? channel->v : NULL, comp_vector);
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

int mrc_destroy_cq(struct mrc_cq *cq)
{
	struct mrc_context *ctx;
	struct mrc_cq **at;
	int err;

	if (!MRC_IS(cq, CQ))
		return EINVAL;
	err = cq->v ? ibv_destroy_cq(cq->v) : 0;
	if (err)
		return mrc_say(err, "mrc_destroy_cq: QPs use it");
	ctx = cq->ctx;
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
	return ibv_poll_cq(cq->v, num_entries, wc);
}

int mrc_req_notify_cq(struct mrc_cq *cq, int solicited_only)
{
	if (!MRC_IS_WCQ(cq))
		return EINVAL;
	return ibv_req_notify_cq(cq->v, solicited_only);
}

int mrc_get_cq_event(struct mrc_comp_channel *channel, struct mrc_cq **cq, void **cq_context)
{
	struct ibv_cq *v;
	void *ours;

	if (!MRC_IS(channel, CHANNEL) || !cq || !cq_context)
		return mrc_minus(EINVAL);
	if (ibv_get_cq_event(channel->v, &v, &ours))
		return -1;
	*cq = ours;
	*cq_context = (*cq)->user;
	return 0;
}

void mrc_ack_cq_events(struct mrc_cq *cq, unsigned int nevents)
{
	if (MRC_IS_WCQ(cq))
		ibv_ack_cq_events(cq->v, nevents);
}
