/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_counters.h - sums of counters over a device's QPs, existing and destroyed.
 */
#ifndef MRC_COUNTERS_H
#define MRC_COUNTERS_H

#include "core/mrc_dev.h"

struct mrc_qp;

/* Process context, sleep. Take dev->qp_lock and each QP's lock, one at a time. */
void mrc_counters_sum(struct mrc_dev *dev, struct mrc_statset *sum);
/* Likewise, without what counters of rdma(8) have taken: ib_core adds these itself. */
void mrc_counters_sum_rest(struct mrc_dev *dev, struct mrc_statset *sum);
/*
 * Under dev->qp_lock and qp->lock, between mrc_counters_qp_hold() and _let(): the connection is
 * reset, what it counted stays.
 */
void mrc_counters_gone(struct mrc_qp *qp);

#endif
