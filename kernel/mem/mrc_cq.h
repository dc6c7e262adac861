/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_cq.h - a completion queue: a ring that the kernel writes and its user polls, a program in
 * user space or a kernel user by mrc_cq_poll().
 *
 * ib_core owns the verbs object (struct mrc_ibcq). The queue behind it is refcounted; QPs hold
 * references.
 */
#ifndef MRC_CQ_H
#define MRC_CQ_H

#include <linux/hrtimer.h>
#include <linux/kref.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include "compat/mrc_compat.h"
#include "mem/mrc_ring.h"

#define MRC_CQ_TIMER_MODE HRTIMER_MODE_REL_SOFT

struct mrc_dev;

struct mrc_ibcq {
	struct ib_cq ibcq;	/* first */
	struct mrc_cq *cq;	/* NULL once destroyed */
};

struct mrc_cq {
	struct kref ref;
	struct rcu_work free_work;
	struct work_struct overrun_work;	/* queued once, with a reference */
	spinlock_t lock;
	struct mutex resize_mutex;	/* one resize at a time; taken before lock */
	struct ib_cq *ibcq;	/* NULL once destroyed; under lock */
	struct mrc_dev *dev;
	struct mrc_ring ring;
	u32 prod;		/* private copy; under lock, as told and solicited */
	u32 told;		/* prod at the last notification */
	u32 solicited;		/* prod after the latest solicited or failed completion */
	bool overrun;

	/* For a kernel user: */
	bool kernel;
	u32 cons;		/* private, under poll_lock */
	spinlock_t poll_lock;	/* interrupts off; not lock, because handlers run under lock and
				 * may poll */
	struct xarray qps;	/* struct ib_qp by number: QPs whose completions are delivered */

	bool stamp;		/* MRC_UCQ_TIMESTAMP */
	/* Moderation of events, under lock. */
	u16 mod_count, mod_period;	/* so many completions, or microseconds; 0: none */
	u32 mod_n;		/* completions since the last event */
	bool mod_solicited;	/* one of them was solicited */
	struct hrtimer mod_timer;
};

static inline struct mrc_cq *mrc_cq_of(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct mrc_ibcq, ibcq)->cq;
}

/* Under cq->lock: notifies the user if the queue is armed for this completion. */
void mrc_cq_signal(struct mrc_cq *cq, bool solicited);
/* Describes @ring for the plug-in. */
struct mrc_ucreate_cq_resp mrc_cq_answer(const struct mrc_ring *ring, u64 key);

/*
 * Any context, under the QP's lock. Adds a completion, unless the queue has overrun or was
 * destroyed, and notifies its user. The first overrun is counted and raises IB_EVENT_CQ_ERR.
 */
void mrc_cq_post(struct mrc_cq *cq, const struct mrc_cqe *cqe, bool solicited);
/* Any context. Has the queue overrun? Then it takes no more completions. */
static inline bool mrc_cq_overrun(const struct mrc_cq *cq)
{
	return READ_ONCE(cq->overrun);
}

/*
 * Sets the function that fails the QPs of an overrun queue, in process context. Called once, before
 * any queue exists.
 */
typedef void (*mrc_cq_overrun_fn)(const struct mrc_cq *cq);
void mrc_cq_on_overrun(mrc_cq_overrun_fn tell);

void mrc_cq_put(struct mrc_cq *cq);	/* any context */

/*
 * Process context. A QP of a kernel user starts, or stops, to use this queue. Completions that are
 * left then are never polled. No effect on queues of programs, where the plug-in does this.
 */
int mrc_cq_add_qp(struct mrc_cq *cq, u32 qpn, struct ib_qp *ibqp);
void mrc_cq_del_qp(struct mrc_cq *cq, u32 qpn);

/*
 * Called by ib_core. Create and destroy: process context; they sleep. Poll and arm: any context for
 * a kernel user, also with interrupts off; arm for a program: process context.
 */
int mrc_cq_create(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		  mrc_create_cq_arg *arg);
int mrc_cq_destroy(struct ib_cq *ibcq, struct ib_udata *udata);
int mrc_cq_poll(struct ib_cq *ibcq, int n, struct ib_wc *wc);
int mrc_cq_arm(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);

#endif
