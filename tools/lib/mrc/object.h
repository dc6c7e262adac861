/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * object.h - the library's objects. Each is a libibverbs object with MRC's additions.
 *
 * Each begins with a word for its kind, so a handle of another kind, or of a destroyed object, is
 * detected while its memory exists. Nothing is global: all objects belong to their context. Lock
 * order: qp->lock > ctx->lock.
 */
#ifndef MRC_OBJECT_H
#define MRC_OBJECT_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "mrc_ctl.h"
#include "verbs.h"

#define MRC_MAX_HINTS	65536

enum mrc_kind {
	MRC_KIND_CONTEXT = 0x4d524301,
	MRC_KIND_CHANNEL,
	MRC_KIND_CQ,
	MRC_KIND_HINT,
	MRC_KIND_QP,
};

struct mrc_context {
	uint32_t kind;
	struct ibv_context *v;
	struct mrc_verbs verbs;
	uint32_t version;		/* of the interface: the program's, or ours */
	pthread_mutex_t lock;		/* protects the fields below */
	struct mrc_qp *qps;
	struct mrc_cq *cqs;
	uint32_t n_channels;
	uint32_t n_hints;
	struct mrc_ctl *ctl;		/* the controller half; NULL before its first call */
};

struct mrc_comp_channel {
	uint32_t kind;
	struct mrc_context *ctx;
	struct ibv_comp_channel *v;
	int poll_fd;			/* under ctx->lock; -1: v alone is enough so far */
	uint32_t n_queues;		/* queues of EV events; likewise */
	pid_t owner;			/* the process that created poll_fd; likewise */
};

struct mrc_cq {
	uint32_t kind;
	struct mrc_context *ctx;
	struct ibv_cq *v;		/* NULL: a queue of EV events */
	struct mrc_ev_queue *events;
	struct mrc_comp_channel *channel;	/* of a queue of events; NULL: it is polled */
	bool armed;			/* of events: the next one is reported; under ctx->lock */
	uint32_t unacked;		/* of events: reported and not acknowledged; likewise */
	pid_t owner;			/* of events: the process of its socket and channel */
	void *user;			/* the program's cq_context */
	struct mrc_cq *next;		/* ctx->cqs */
};

struct mrc_qp_hint {
	uint32_t kind;
	struct mrc_context *ctx;
	struct mrc_qp_hint_attr attr;	/* under ctx->lock */
	uint32_t n_qps;			/* likewise */
};

struct mrc_qp {
	uint32_t kind;
	struct mrc_context *ctx;
	struct ibv_qp *v;
	struct mrc_qp_init_attr init;	/* as granted */
	pthread_mutex_t lock;		/* modify and query; of attr */
	struct mrc_qp_attr usual;	/* the device's defaults of attributes that the program
					 * does not give */
	struct mrc_qp_attr attr;	/* in effect, or applied by their transitions */
	struct mrc_qp_attr late;	/* given after their transition: applied after RESET */
	int late_mask;
	struct mrc_qp *next;		/* ctx->qps */
};

/* A queue of completions, not of events. */
#define MRC_IS_WCQ(cq)	(MRC_IS(cq, CQ) && (cq)->v)
#define MRC_IS(object, what) ((object) && (object)->kind == MRC_KIND_##what)

/* 0 or -1 with errno, from 0 or errno. */
static inline int mrc_minus(int err)
{
	if (!err)
		return 0;
	errno = err;
	return -1;
}

/* NULL with errno. */
static inline void *mrc_null(int err)
{
	errno = err;
	return NULL;
}

/*
 * debug.c: prints the reason of a refusal to stderr if MRC_DEBUG is in the environment. Returns
 * @err.
 */
int mrc_debug(int err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ctl/controller.cc: @ctl may be NULL. */
void mrc_ctl_free(struct mrc_ctl *ctl);

/* ctl/events.cc. The queue's file is readable when there are changes of EVs. */
void mrc_ev_queue_free(struct mrc_ev_queue *queue);
int mrc_ev_queue_fd(const struct mrc_ev_queue *queue);

/* channel.c: adds a queue of EV events to a channel. 0 or errno. */
int mrc_channel_join(struct mrc_cq *cq, struct mrc_comp_channel *channel);
int mrc_channel_leave(struct mrc_cq *cq);
int mrc_channel_arm(struct mrc_cq *cq);
void mrc_channel_ack(struct mrc_cq *cq, unsigned int nevents);

/* cq.c, qp.c; under ctx->lock. NULL: mrc.h did not create it. */
struct mrc_cq *mrc_cq_of(struct mrc_context *ctx, const struct ibv_cq *v);
struct mrc_qp *mrc_qp_of(struct mrc_context *ctx, const struct ibv_qp *v);

/* hint.c: a QP uses the hint (@by 1), or no longer (-1); it may be NULL. */
void mrc_hint_use(struct mrc_qp_hint *hint, int by);

#endif
