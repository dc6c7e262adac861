/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_ud.h - a datagram queue pair: UD of programs and of the kernel, and QP 1 (GSI).
 *
 * It has no connection and therefore no engine state. It shares with struct mrc_qp only the rings,
 * the completion queues and the number space. The payload of a send is copied, and the send
 * completes when the packet is handed over. Each QP has a BH work item that processes sends
 * (data/mrc_ud_tx.c), because the kernel posts to QP 1 with interrupts off. A receive is taken, from
 * the ring or the SRQ, and completed at once when a packet arrives (data/mrc_ud_rx.c).
 *
 * ud->lock (spin_lock_bh) protects both rings and the state. peer->path_lock, srq->lock and
 * cq->lock are taken inside. ib_core's object may be destroyed first: then ibqp is NULL, and
 * nothing is sent, received or completed.
 */
#ifndef MRC_UD_H
#define MRC_UD_H

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include "compat/mrc_compat_bhwork.h"
#include "core/mrc_dev.h"
#include "mem/mrc_cq.h"
#include "mem/mrc_ring.h"
#include "mem/mrc_srq.h"

#define MRC_UD_GRH	40	/* bytes of the GRH in front of each received message; it names the source */

struct mrc_ud {
	struct kref ref;
	struct rcu_work free_work;
	struct mrc_dev *dev;
	spinlock_t lock;		/* queues and state, and the fields marked below */
	struct mutex mutex;		/* modify, query, destroy */
	struct ib_qp *ibqp;		/* NULL once destroyed; under lock */
	u32 qpn;			/* 1: GSI */
	u32 pdn;
	u32 qkey;			/* under lock */
	u32 psn;			/* of the next datagram; receivers do not check it */
	enum ib_qp_state state;		/* under lock */
	bool sq_sig_all;
	bool no_echo;			/* does not receive its own multicast datagrams */
	bool last_wqe_raised;		/* SRQ: IB_EVENT_QP_LAST_WQE_REACHED was raised */
	struct ib_qp_init_attr init;	/* caps as granted */
	struct ib_qp_attr attr;		/* as modified; query_qp */
	struct mrc_cq *scq, *rcq;	/* referenced */
	struct mrc_srq *srq;		/* referenced; NULL: receives are in rq */
	struct mrc_ring sq, rq;
	u32 sq_cons, rq_cons;		/* private copies; RESET does not set them to 0 */
	struct mrc_bhwork turn;		/* sends and flushes; not queued any more once ibqp is NULL */
};

/* Any context. The datagram QP of @dev with this number (1: its GSI QP), with a reference; or NULL. */
struct mrc_ud *mrc_ud_find(struct mrc_dev *dev, u32 qpn);
/* Any context. The QP of @dev with the lowest number >= @from, with a reference; or NULL. QP 1 is not included. */
struct mrc_ud *mrc_ud_next(const struct mrc_dev *dev, u32 from);
void mrc_ud_put(struct mrc_ud *ud);		/* any context */
/*
 * Process context. Allocates a number (1 for the GSI QP); from then on lookups find the QP. 0; -EBUSY: there is a GSI
 * QP, or no number is free; -ENOMEM.
 */
int mrc_ud_publish(struct mrc_ud *ud);
void mrc_ud_withdraw(struct mrc_ud *ud);	/* lookups find it no longer; the number is freed with the QP */
void mrc_ud_free_work(struct work_struct *work);	/* for INIT_RCU_WORK() */
/* Any context, also with interrupts off. Queues a turn: there are requests to send or to flush. */
void mrc_ud_kick(struct mrc_ud *ud);
void mrc_ud_exit(void);				/* module end; all datagram QPs are destroyed */

/* Under ud->lock. Has a completion queue overrun? Then completions may be lost, and the QP must fail. */
static inline bool mrc_ud_overrun(const struct mrc_ud *ud)
{
	return unlikely(mrc_cq_overrun(ud->scq) || mrc_cq_overrun(ud->rcq));
}

#endif
