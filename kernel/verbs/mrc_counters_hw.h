/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_counters_hw.h - counters that ib_core shows: `rdma statistic`, sysfs hw_counters.
 *
 * Counters have our names. Those with an equivalent in mlx5 appear under its name, too:
 * Documentation/reference/verbs-counters.md.
 */
#ifndef MRC_COUNTERS_HW_H
#define MRC_COUNTERS_HW_H

#include <rdma/ib_verbs.h>

/*
 * Called by ib_core in process context; they sleep. The first two serve a port, the others a
 * counter of rdma(8).
 */
struct rdma_hw_stats *mrc_counters_hw_alloc(struct ib_device *ibdev, u32 port);
int mrc_counters_hw_get(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port,
			int index);
struct rdma_hw_stats *mrc_counters_hw_alloc_qp(struct rdma_counter *counter);
int mrc_counters_hw_update_qp(struct rdma_counter *counter);

#endif
