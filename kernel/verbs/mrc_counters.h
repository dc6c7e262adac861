/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_counters.h - counters of a device: what its QPs counted, living and gone, and what no
 * QP could count.
 */
#ifndef MRC_COUNTERS_H
#define MRC_COUNTERS_H

#include "core/mrc_dev.h"

/* Any context up to softirq; takes dev->qp_lock and each QP's lock. */
void mrc_counters_sum(struct mrc_dev *dev, struct mrc_stats *sum);
/* Called by ib_core. */
struct rdma_hw_stats *mrc_counters_alloc(struct ib_device *ibdev, u32 port);
int mrc_counters_get(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port, int index);

#endif
