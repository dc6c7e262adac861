// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_counters.c - counters of a device: what its QPs counted, living and gone,
 * and what no QP could count. Shown by `rdma statistic show link` and sysfs
 * hw_counters; mrcctl gets them by netlink from the same sums. The lists are
 * the X-macros MRC_STATS and MRC_DEV_STATS, so that a counter added there is
 * seen here.
 *
 * Per-QP counters are plain, owned by the QP's lock; nothing is added up on
 * the packet path. Order: dev->qp_lock > qp->lock.
 */
#include <linux/spinlock.h>
#include "data/mrc_qp.h"
#include "verbs/mrc_counters.h"

static const struct rdma_stat_desc mrc_stat_descs[] = {
#define X(counter, help) { .name = #counter },
	MRC_STATS(X)
	MRC_DEV_STATS(X)
#undef X
};

void mrc_counters_sum(struct mrc_dev *dev, struct mrc_stats *sum)
{
	struct mrc_conn_info info;
	struct mrc_qp *qp;

	spin_lock_bh(&dev->qp_lock);
	*sum = dev->gone;
	list_for_each_entry(qp, &dev->qps, dev_link) {
		spin_lock(&qp->lock);
		mrc_conn_info(&qp->conn, &info);
		spin_unlock(&qp->lock);
		mrc_stats_add(sum, &info.stats);
	}
	spin_unlock_bh(&dev->qp_lock);
}

struct rdma_hw_stats *mrc_counters_alloc(struct ib_device *ibdev, u32 port)
{
	return rdma_alloc_hw_stats_struct(mrc_stat_descs, ARRAY_SIZE(mrc_stat_descs),
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

int mrc_counters_get(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port, int index)
{
	struct mrc_dev *dev = to_mrc_dev(ibdev);
	struct mrc_stats sum;
	u64 *v = stats->value;

	if (!port)
		return -EINVAL;
	mrc_counters_sum(dev, &sum);
#define X(counter, help) *v++ = sum.counter;
	MRC_STATS(X)
#undef X
#define X(counter, help) *v++ = atomic64_read(&dev->stats.counter);
	MRC_DEV_STATS(X)
#undef X
	return ARRAY_SIZE(mrc_stat_descs);
}
