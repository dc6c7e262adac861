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

/* How many QPs one counter takes: rdma(8) reads all their numbers in one message of a page. */
#define MRC_COUNTER_QPS	80

/* Called by ib_core, in process context. Only connected QPs have counters. */
/* A new counter has no QP, and nothing of ours: the first bind makes it. */
static inline void mrc_counters_qp_init(struct rdma_counter *of) { }
int mrc_counters_qp_bind(struct rdma_counter *of, struct ib_qp *ibqp MRC_COUNTER_PORT_ARG);
int mrc_counters_qp_unbind(struct ib_qp *ibqp MRC_COUNTER_PORT_ARG);
int mrc_counters_qp_dealloc(struct rdma_counter *of);
/* Process context, sleeps: what the counter has. False: it has none (no QP was ever bound). */
bool mrc_counters_qp_sum(struct rdma_counter *of, struct mrc_statset *sum);
/* Likewise: is a QP bound to it. */
bool mrc_counters_qp_any(struct rdma_counter *of);

/* Under qp->mutex, sleeps: no counter has this QP any more. False: none had. */
bool mrc_counters_qp_leave(struct mrc_qp *qp);

/* Under dev->sum_mutex. The counters of a bound QP at its binding; NULL: it is not bound. */
const struct mrc_statset *mrc_counters_qp_base(const struct mrc_qp *qp);

/*
 * Under qp->mutex, around a reset: of a bound QP neither a counter nor a sum is read meanwhile,
 * for what it counted moves. Take dev->sum_mutex then.
 */
void mrc_counters_qp_hold(struct mrc_qp *qp);
void mrc_counters_qp_let(struct mrc_qp *qp);
/* Between the two, any lock held: @now holds all of its counters, which restart at 0. */
void mrc_counters_qp_gone(struct mrc_qp *qp, const struct mrc_statset *now);

#endif
