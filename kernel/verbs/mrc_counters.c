// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_counters.c - counters of a device: the sums over its QPs, existing and destroyed, for `rdma
 * statistic`, sysfs (mrc_counters_hw.c, mrc_mad.c) and netlink.
 *
 * Counters of a QP are plain numbers under the QP's lock; the packet path adds nothing up. A sum
 * visits the QPs one by one and holds no other lock meanwhile, because there may be thousands of
 * busy QPs. A QP that is reset during the walk leaves its counters with the device: in `gone` if
 * the walk has not visited it yet, in `gone_seen` if it has. So each QP is counted once, and no
 * counter decreases. Lock order: dev->qp_lock > qp->lock.
 */
#include <linux/sched.h>
#include <linux/spinlock.h>
#include "data/mrc_qp.h"
#include "verbs/mrc_counters.h"
#include "verbs/mrc_counters_qp.h"

/* All counters, or without the part that counters of rdma(8) collected: mrc_counters_sum_rest(). */
enum sum_of { SUM_ALL, SUM_REST };

static noinline_for_stack void sum_visit(struct mrc_qp *qp, u64 id, struct mrc_statset *sum,
					 enum sum_of of)
{
	const struct mrc_statset *base = of == SUM_REST ? mrc_counters_qp_base(qp) : NULL;
	struct mrc_statset now;

	spin_lock_bh(&qp->lock);
	mrc_qp_get_stats(qp, &now);
	qp->sum_id = id;
	spin_unlock_bh(&qp->lock);
	mrc_statset_add(sum, base ?: &now);
}

static void sum_all(struct mrc_dev *dev, struct mrc_statset *sum, enum sum_of of)
{
	struct mrc_qp *qp;
	u32 qpn = 0;
	u64 id;

	memset(sum, 0, sizeof(*sum));
	mutex_lock(&dev->sum_mutex);
	spin_lock_bh(&dev->qp_lock);
	id = ++dev->sum_id;
	mrc_statset_add(&dev->gone, &dev->gone_seen);
	memset(&dev->gone_seen, 0, sizeof(dev->gone_seen));
	spin_unlock_bh(&dev->qp_lock);
	while ((qp = mrc_qp_next(dev, qpn)) != NULL) {
		sum_visit(qp, id, sum, of);
		qpn = qp->qpn + 1;
		mrc_qp_put(qp);
		cond_resched();
	}
	spin_lock_bh(&dev->qp_lock);
	mrc_statset_add(sum, &dev->gone);
	spin_unlock_bh(&dev->qp_lock);
	if (of == SUM_REST)
		mrc_statset_sub(sum, &dev->counted);
	mutex_unlock(&dev->sum_mutex);
}

void mrc_counters_sum(struct mrc_dev *dev, struct mrc_statset *sum)
{
	sum_all(dev, sum, SUM_ALL);
}

void mrc_counters_sum_rest(struct mrc_dev *dev, struct mrc_statset *sum)
{
	sum_all(dev, sum, SUM_REST);
}

void mrc_counters_retire(struct mrc_qp *qp)
{
	struct mrc_dev *dev = qp->dev;
	struct mrc_statset now;

	lockdep_assert_held(&dev->qp_lock);
	lockdep_assert_held(&qp->lock);
	mrc_qp_get_stats(qp, &now);
	mrc_counters_qp_gone(qp, &now);
	mrc_statset_add(qp->sum_id == dev->sum_id ? &dev->gone_seen : &dev->gone, &now);
	mrc_qp_clear_stats(qp);
}
