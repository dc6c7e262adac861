// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_counters.c - counters of a device: what its QPs counted, living and gone,
 * and what no QP could count. Shown by `rdma statistic show link` and sysfs
 * hw_counters; mrcctl gets them by netlink from the same sums. The lists are
 * the X-macros MRC_STATS and MRC_DEV_STATS, so that a counter added there is
 * seen here.
 *
 * Per-QP counters are plain, owned by the QP's lock; nothing is added up on
 * the packet path. A sum visits the QPs one by one, and holds nothing else meanwhile: there
 * may be thousands, all busy. A QP that is reset during the walk leaves its counters with
 * the device, with `gone` if the walk has not seen it and with `gone_seen` if it has: so
 * each is in the sum once, and no counter ever goes back. Order: dev->qp_lock > qp->lock.
 */
#include <linux/sched.h>
#include <linux/spinlock.h>
#include "data/mrc_qp.h"
#include "verbs/mrc_counters.h"

static const struct rdma_stat_desc mrc_stat_descs[] = {
#define X(counter, help) { .name = #counter },
	MRC_STATS(X)
	MRC_DEV_STATS(X)
#undef X
};

static void sum_visit(struct mrc_qp *qp, u64 id, struct mrc_stats *sum)
{
	struct mrc_conn_info info;

	spin_lock_bh(&qp->lock);
	mrc_conn_info(&qp->conn, &info);
	qp->sum_id = id;
	spin_unlock_bh(&qp->lock);
	mrc_stats_add(sum, &info.stats);
}

void mrc_counters_sum(struct mrc_dev *dev, struct mrc_stats *sum)
{
	struct mrc_qp *qp;
	u32 qpn = 0;
	u64 id;

	memset(sum, 0, sizeof(*sum));
	mutex_lock(&dev->sum_mutex);
	spin_lock_bh(&dev->qp_lock);
	id = ++dev->sum_id;
	mrc_stats_add(&dev->gone, &dev->gone_seen);
	memset(&dev->gone_seen, 0, sizeof(dev->gone_seen));
	spin_unlock_bh(&dev->qp_lock);
	while ((qp = mrc_qp_next(dev, qpn)) != NULL) {
		sum_visit(qp, id, sum);
		qpn = qp->qpn + 1;
		mrc_qp_put(qp);
		cond_resched();
	}
	spin_lock_bh(&dev->qp_lock);
	mrc_stats_add(sum, &dev->gone);
	spin_unlock_bh(&dev->qp_lock);
	mutex_unlock(&dev->sum_mutex);
}

void mrc_counters_gone(struct mrc_qp *qp)
{
	struct mrc_dev *dev = qp->dev;
	struct mrc_conn_info info;

	lockdep_assert_held(&dev->qp_lock);
	lockdep_assert_held(&qp->lock);
	mrc_conn_info(&qp->conn, &info);
	mrc_stats_add(qp->sum_id == dev->sum_id ? &dev->gone_seen : &dev->gone, &info.stats);
	mrc_conn_clear_stats(&qp->conn);
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
