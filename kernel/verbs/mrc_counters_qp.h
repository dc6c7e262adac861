/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_counters_qp.h - counters of rdma(8): `rdma statistic qp`.
 *
 * A counter collects what its QPs count while they are bound to it. The port shows the rest, and
 * ib_core adds all counters to it. So a bound QP has a base: its values at the time of binding.
 */
#ifndef MRC_COUNTERS_QP_H
#define MRC_COUNTERS_QP_H

#include <rdma/rdma_counter.h>
#include "compat/mrc_compat.h"
#include "core/mrc_dev.h"

struct mrc_qp;

/* QPs per counter: rdma(8) reads all their numbers in one message of a page. */
#define MRC_COUNTER_QPS	80

/* Called by ib_core in process context; they sleep. Only RC QPs have counters. */
/* The first bind creates our part of the counter. */
static inline void mrc_counters_qp_init(struct rdma_counter *of) { }
int mrc_counters_qp_bind(struct rdma_counter *of, struct ib_qp *ibqp MRC_COUNTER_PORT_ARG);
int mrc_counters_qp_unbind(struct ib_qp *ibqp MRC_COUNTER_PORT_ARG);
int mrc_counters_qp_dealloc(struct rdma_counter *of);
/* Process context; sleeps. The values of the counter. False: no QP was ever bound to it. */
bool mrc_counters_qp_sum(struct rdma_counter *of, struct mrc_statset *sum);
/* Likewise. Is a QP bound to it? */
bool mrc_counters_qp_any(struct rdma_counter *of);

/*
 * Under qp->mutex; sleeps. Unbinds the QP; its counter keeps the values. False: the QP was not
 * bound.
 */
bool mrc_counters_qp_leave(struct mrc_qp *qp);

/* Under dev->sum_mutex. The QP's counters when it was bound; NULL: it is not bound. */
const struct mrc_statset *mrc_counters_qp_base(const struct mrc_qp *qp);

/*
 * Under qp->mutex, around a reset. They hold dev->sum_mutex if the QP is bound: nobody may read a
 * counter or a sum while the QP's values move.
 */
void mrc_counters_qp_hold(struct mrc_qp *qp);
void mrc_counters_qp_let(struct mrc_qp *qp);
/*
 * Between the two, under any other locks. @now: all counters of the QP. Adds those since the
 * binding to the QP's counter, if it is bound; the caller sets the QP's counters to 0.
 */
void mrc_counters_qp_gone(struct mrc_qp *qp, const struct mrc_statset *now);

#endif
