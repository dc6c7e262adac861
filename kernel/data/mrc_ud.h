/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_ud.h - a datagram queue pair: UD of programs and of the kernel, and QP 1 (GSI).
 *
 * It has no connection and therefore no engine state. It shares with struct mrc_qp only the rings,
 * the completion queues and the number space. Send payload is copied, and a send completes when the
 * packet was handed over. A BH work item of its own processes sends (data/mrc_ud_tx.c), because QP
 * 1 is posted to with interrupts off. Receives are filled when packets arrive (data/mrc_ud_rx.c),
 * also those of an SRQ: it never holds one.
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

#define MRC_UD_GRH	40	/* bytes before each received message: its source (GRH) */

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
	u32 psn;			/* of the next datagram; nobody checks it */
	enum ib_qp_state state;		/* under lock */
	bool sq_sig_all;
	bool no_echo;			/* takes none of its own datagrams to a group */
	bool last_wqe_told;		/* of an SRQ, in error: IB_EVENT_QP_LAST_WQE_REACHED */
	struct ib_qp_init_attr init;	/* caps as granted */
	struct ib_qp_attr attr;		/* as modified; query_qp */
	struct mrc_cq *scq, *rcq;	/* referenced */
	struct mrc_srq *srq;		/* referenced; NULL: receives are its own, in rq */
	struct mrc_ring sq, rq;
	u32 sq_cons, rq_cons;		/* private copies; run on through RESET */
	struct mrc_bhwork turn;		/* sends and flushes; ended when ibqp is NULL */
};

/* Softirq. By its number (1: that of @dev), + ref; NULL: it has none such. */
struct mrc_ud *mrc_ud_find(struct mrc_dev *dev, u32 qpn);
/* Any context. The first of @dev from that number on, + ref; NULL: none. QP 1 is not among them. */
struct mrc_ud *mrc_ud_next(const struct mrc_dev *dev, u32 from);
void mrc_ud_put(struct mrc_ud *ud);		/* any context */
/* Process context. It gets a number, 1 if it is the GSI QP; and is found. 0, -EBUSY or -ENOMEM. */
int mrc_ud_publish(struct mrc_ud *ud);
void mrc_ud_withdraw(struct mrc_ud *ud);	/* and no more; keeps its number */
void mrc_ud_free_work(struct work_struct *work);	/* for INIT_RCU_WORK() */
/* Any context, interrupts off too: there is something to send or to flush. */
void mrc_ud_kick(struct mrc_ud *ud);
void mrc_ud_exit(void);

/* Under ud->lock. It is to end: a completion of it may be lost. */
static inline bool mrc_ud_overrun(const struct mrc_ud *ud)
{
	return unlikely(mrc_cq_overrun(ud->scq) || mrc_cq_overrun(ud->rcq));
}

#endif
