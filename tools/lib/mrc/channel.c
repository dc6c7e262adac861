// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * channel.c - completion channels: those of libibverbs, extended with queues of EV events.
 *
 * libibverbs' channel is a kernel file, and EV events arrive on another one. The program polls an
 * epoll file over both. It is created when the program requests a file or adds the first queue of
 * events. Until then mrc_get_cq_event() calls libibverbs directly.
 *
 * A queue of events is watched while it is armed, so each mrc_req_notify_cq() gives one event.
 *
 * After fork() parent and child share one epoll file and one event socket: the parent would lose
 * what the child reads or disarms there. So calls in a child are refused, except that it may free
 * its own memory.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>
#include "object.h"

int mrc_create_comp_channel(struct mrc_context *ctx, struct mrc_comp_channel **channel)
{
	struct mrc_comp_channel *ch;

	if (!MRC_IS(ctx, CONTEXT) || !channel)
		return mrc_debug(EINVAL, "mrc_create_comp_channel: an argument is NULL or no context");
	ch = calloc(1, sizeof(*ch));
	if (!ch)
		return ENOMEM;
	ch->v = ctx->verbs.create_comp_channel(ctx->v);
	if (!ch->v) {
		int err = errno;

		free(ch);
		return err;
	}
	ch->kind = MRC_KIND_CHANNEL;
	ch->ctx = ctx;
	ch->poll_fd = -1;
	pthread_mutex_lock(&ctx->lock);
	ctx->n_channels++;
	pthread_mutex_unlock(&ctx->lock);
	*channel = ch;
	return 0;
}

int mrc_destroy_comp_channel(struct mrc_comp_channel *channel)
{
	struct mrc_context *ctx;
	int err;

	if (!MRC_IS(channel, CHANNEL))
		return EINVAL;
	ctx = channel->ctx;
	pthread_mutex_lock(&ctx->lock);
	err = channel->n_queues ? EBUSY : ctx->verbs.destroy_comp_channel(channel->v);
	ctx->n_channels -= !err;
	pthread_mutex_unlock(&ctx->lock);
	if (err)
		return mrc_debug(err, "mrc_destroy_comp_channel: completion queues use it");
	if (channel->poll_fd >= 0)
		close(channel->poll_fd);
	channel->kind = 0;
	free(channel);
	return 0;
}

/* ---- the file ---- */

/* Under ctx->lock. Was the channel's file created by the parent process? */
static bool of_parent(const struct mrc_comp_channel *ch)
{
	return ch->poll_fd >= 0 && ch->owner != getpid();
}

/*
 * Under ctx->lock. The epoll file, or -1 with errno. Once it exists, we wait, and not libibverbs.
 */
static int poll_fd_of(struct mrc_comp_channel *ch)
{
	struct epoll_event want = { .events = EPOLLIN };	/* NULL for the file of
								 * libibverbs */
	int fd, flags;

	if (of_parent(ch))
		return mrc_minus(mrc_debug(EINVAL, "a completion channel of the parent process"));
	if (ch->poll_fd >= 0)
		return ch->poll_fd;
	fd = epoll_create1(EPOLL_CLOEXEC);
	if (fd < 0)
		return -1;
	flags = fcntl(ch->v->fd, F_GETFL);
	if (flags < 0 || fcntl(ch->v->fd, F_SETFL, flags | O_NONBLOCK) ||
	    epoll_ctl(fd, EPOLL_CTL_ADD, ch->v->fd, &want)) {
		int err = errno;

		close(fd);
		return mrc_minus(err);
	}
	ch->owner = getpid();
	return ch->poll_fd = fd;
}

int mrc_get_comp_channel_fd(struct mrc_comp_channel *channel, int *fd)
{
	int err = 0;

	if (!MRC_IS(channel, CHANNEL) || !fd)
		return mrc_minus(EINVAL);
	pthread_mutex_lock(&channel->ctx->lock);
	*fd = poll_fd_of(channel);
	if (*fd < 0)
		err = errno;
	pthread_mutex_unlock(&channel->ctx->lock);
	return mrc_minus(err);
}

/* ---- queues of events ---- */

int mrc_channel_join(struct mrc_cq *cq, struct mrc_comp_channel *channel)
{
	int err = 0;

	pthread_mutex_lock(&channel->ctx->lock);
	if (poll_fd_of(channel) < 0)
		err = errno;
	else
		channel->n_queues++;
	pthread_mutex_unlock(&channel->ctx->lock);
	if (!err)
		cq->channel = channel;
	return err;
}

/* Under ctx->lock. */
static void disarm(struct mrc_cq *cq)
{
	if (cq->armed)
		epoll_ctl(cq->channel->poll_fd, EPOLL_CTL_DEL, mrc_ev_queue_fd(cq->events), NULL);
	cq->armed = false;
}

int mrc_channel_leave(struct mrc_cq *cq)
{
	int err = 0;

	if (!cq->channel)
		return 0;
	pthread_mutex_lock(&cq->ctx->lock);
	if (cq->unacked) {
		err = EBUSY;
	} else {
		if (cq->owner == getpid())
			disarm(cq);
		cq->channel->n_queues--;
	}
	pthread_mutex_unlock(&cq->ctx->lock);
	return err;
}

int mrc_channel_arm(struct mrc_cq *cq)
{
	struct epoll_event want = { .events = EPOLLIN, .data.ptr = cq };
	int err = 0;

	if (!cq->channel)
		return mrc_debug(EINVAL, "mrc_req_notify_cq: a queue of EV events without a channel");
	if (cq->owner != getpid())
		return mrc_debug(EINVAL, "mrc_req_notify_cq: a queue of EV events of the parent process");
	pthread_mutex_lock(&cq->ctx->lock);
	if (!cq->armed && epoll_ctl(cq->channel->poll_fd, EPOLL_CTL_ADD, mrc_ev_queue_fd(cq->events), &want))
		err = errno;
	cq->armed |= !err;
	pthread_mutex_unlock(&cq->ctx->lock);
	return err;
}

void mrc_channel_ack(struct mrc_cq *cq, unsigned int nevents)
{
	pthread_mutex_lock(&cq->ctx->lock);
	cq->unacked -= nevents < cq->unacked ? nevents : cq->unacked;
	pthread_mutex_unlock(&cq->ctx->lock);
}

/* ---- waiting ---- */

/* False: the queue is disarmed or destroyed, because another thread handled the event first. */
static bool take_news(struct mrc_comp_channel *ch, struct mrc_cq *cq)
{
	struct mrc_cq *at;

	pthread_mutex_lock(&ch->ctx->lock);
	for (at = ch->ctx->cqs; at && (at != cq || !at->armed || at->channel != ch); at = at->next)
		;
	if (at) {
		disarm(at);
		at->unacked++;
	}
	pthread_mutex_unlock(&ch->ctx->lock);
	return at;
}

/* 0 or -1 with errno. EAGAIN: there is no event, and the program does not want to wait. */
static int wait_any(int fd, struct epoll_event *e)
{
	int n = epoll_wait(fd, e, 1, 0), flags;

	if (n)
		return n < 0 ? -1 : 0;
	flags = fcntl(fd, F_GETFL);
	if (flags < 0)
		return -1;
	if (flags & O_NONBLOCK)
		return mrc_minus(EAGAIN);
	return epoll_wait(fd, e, 1, -1) < 0 ? -1 : 0;
}

/*
 * Takes an event of a completion queue. The cq_context in libibverbs is the program's, so the
 * handle identifies the queue.
 */
static int take_completion(struct mrc_comp_channel *ch, struct mrc_cq **cq)
{
	struct mrc_context *ctx = ch->ctx;
	struct ibv_cq *v;
	void *user;

	for (;;) {
		if (ctx->verbs.get_cq_event(ch->v, &v, &user))
			return -1;
		pthread_mutex_lock(&ctx->lock);
		*cq = mrc_cq_of(ctx, v);
		pthread_mutex_unlock(&ctx->lock);
		if (*cq)
			return 0;
		ctx->verbs.ack_cq_events(v, 1);
	}
}

static int get_any(struct mrc_comp_channel *ch, int fd, struct mrc_cq **cq)
{
	struct epoll_event e;

	for (;;) {
		if (wait_any(fd, &e))
			return -1;
		*cq = e.data.ptr;
		if (*cq ? take_news(ch, *cq) : !take_completion(ch, cq))
			return 0;
		if (!e.data.ptr && errno != EAGAIN)
			return -1;
	}
}

int mrc_get_cq_event(struct mrc_comp_channel *channel, struct mrc_cq **cq, void **cq_context)
{
	struct mrc_cq *got;
	bool foreign;
	int fd;

	if (!MRC_IS(channel, CHANNEL) || !cq || !cq_context)
		return mrc_minus(EINVAL);
	pthread_mutex_lock(&channel->ctx->lock);
	fd = channel->poll_fd;
	foreign = of_parent(channel);
	pthread_mutex_unlock(&channel->ctx->lock);
	if (foreign)
		return mrc_minus(mrc_debug(EINVAL, "mrc_get_cq_event: a channel of the parent process"));
	if (fd < 0 ? take_completion(channel, &got) : get_any(channel, fd, &got))
		return -1;
	*cq = got;
	*cq_context = got->user;
	return 0;
}
