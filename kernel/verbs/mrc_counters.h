/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_counters.h - sums of counters over a device's QPs, existing and destroyed.
 */
#ifndef MRC_COUNTERS_H
#define MRC_COUNTERS_H

#include "core/mrc_dev.h"

struct mrc_qp;

/*
 * Process context; sleeps. Sums the counters of all QPs, destroyed ones too. Takes dev->sum_mutex;
 * inside of it dev->qp_lock and each QP's lock, one at a time.
 */
void mrc_counters_sum(struct mrc_dev *dev, struct mrc_statset *sum);
/* Likewise, without the part that counters of rdma(8) collected: ib_core adds that part itself. */
void mrc_counters_sum_rest(struct mrc_dev *dev, struct mrc_statset *sum);
/*
 * Under dev->qp_lock and qp->lock, between mrc_counters_qp_hold() and mrc_counters_qp_let(). The QP
 * is being reset: adds its counters to the device's, and sets them to 0.
 */
void mrc_counters_retire(struct mrc_qp *qp);

#endif
