/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_counters.h - counters of a device: what its QPs counted, living and gone, and what no
 * QP could count.
 */
#ifndef MRC_COUNTERS_H
#define MRC_COUNTERS_H

#include "core/mrc_dev.h"

struct mrc_qp;

/* Process context, sleeps. Takes dev->qp_lock and each QP's lock, one at a time. */
void mrc_counters_sum(struct mrc_dev *dev, struct mrc_stats *sum);
/* Under dev->qp_lock and qp->lock: the connection is reset, what it counted stays. */
void mrc_counters_gone(struct mrc_qp *qp);
/* Called by ib_core. */
struct rdma_hw_stats *mrc_counters_alloc(struct ib_device *ibdev, u32 port);
int mrc_counters_get(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port, int index);

#endif
