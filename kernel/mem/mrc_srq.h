/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_srq.h - a shared receive queue: a ring of receives that many QPs consume.
 *
 * QPs hold references. A destroyed QP keeps its reference until its last user is gone, so the queue
 * may outlive its verbs object. A receive is copied out as a whole: a ring that a program may write
 * at any time is never read twice.
 */
#ifndef MRC_SRQ_H
#define MRC_SRQ_H

#include <linux/kref.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include "mem/mrc_ring.h"

struct mrc_dev;

struct mrc_ibsrq {
	struct ib_srq ibsrq;	/* first */
	struct mrc_srq *srq;	/* NULL once destroyed */
};

struct mrc_srq {
	struct kref ref;
	struct rcu_work free_work;
	spinlock_t lock;	/* inside any QP's */
	struct ib_srq *ibsrq;	/* NULL once destroyed; under lock */
	struct mrc_dev *dev;
	struct mrc_ring ring;	/* replaced by a resize, under lock */
	u32 cons;		/* private, under lock */
	u32 pdn;		/* domain of the receives' memory, whatever the QP's */
	u32 max_sge;
	bool kernel;		/* of a kernel user: counts against no limit */
	u32 limit;		/* raise one event when fewer receives are left; 0: off */
};

/* A receive, copied out of the ring. */
struct mrc_srq_recv {
	u64 wr_id;
	u32 num_sge;		/* at most max_sge */
	struct mrc_sge *sge;	/* the caller's, room for max_sge of the queue */
};

static inline struct mrc_srq *mrc_srq_of(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct mrc_ibsrq, ibsrq)->srq;
}

/* Any context, also under a QP's lock. Takes the next receive. False: none is posted. */
bool mrc_srq_take(struct mrc_srq *srq, struct mrc_srq_recv *r);
/* Likewise. Gives back an unused receive, the latest first: it is the next to be taken. */
void mrc_srq_give_back(struct mrc_srq *srq, const struct mrc_srq_recv *r);
/* Under srq->lock. Raises the event if fewer receives are posted than the limit. */
void mrc_srq_check_limit(struct mrc_srq *srq);
void mrc_srq_get(struct mrc_srq *srq);
void mrc_srq_put(struct mrc_srq *srq);	/* any context */

/* Process context. Describes @ring for the plug-in. */
struct mrc_ucreate_srq_resp mrc_srq_answer(const struct mrc_ring *ring, u64 key);
/*
 * Process context. Creates a ring for at least @max_wr receives. 0 or -errno, as mrc_ring_create().
 */
int mrc_srq_new_ring(const struct mrc_srq *srq, struct ib_ucontext *ctx, u32 max_wr,
		     struct mrc_ring *ring, u64 *key);

/*
 * Called by ib_core in process context; create and destroy sleep. -EOPNOTSUPP: an XRC SRQ; -EINVAL:
 * attributes out of range; -ENOSPC: MRC_MAX_SRQ exist; -ENOMEM.
 */
int mrc_srq_create(struct ib_srq *ibsrq, struct ib_srq_init_attr *init, struct ib_udata *udata);
int mrc_srq_query(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
int mrc_srq_destroy(struct ib_srq *ibsrq, struct ib_udata *udata);

#endif
