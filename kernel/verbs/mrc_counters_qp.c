// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_counters_qp.c - see mrc_counters_qp.h.
 *
 * The value of a counter is the sum that unbound QPs left (`closed`) plus what each bound QP has
 * counted since its binding. Neither that value nor the remaining counters of the port ever
 * decrease: binding, unbinding and resets of bound QPs run under dev->sum_mutex, as sums do.
 *
 * ib_core unbinds a QP before it is destroyed. Lock order: ib_core's lock of the counter >
 * qp->mutex > dev->sum_mutex > dev->qp_lock > qp->lock.
 */
#include <linux/list.h>
#include <linux/slab.h>
#include "data/mrc_qp.h"
#include "verbs/mrc_counters_qp.h"

/* dev->sum_mutex protects all fields of both structs. */
struct mrc_counter {
	struct list_head qps;		/* struct mrc_counter_binding */
	u32 n_qps;
	struct mrc_statset closed;	/* counted by QPs before they were unbound or reset */
};

struct mrc_counter_binding {			/* a bound QP */
	struct list_head link;
	struct mrc_counter *counter;
	struct mrc_qp *qp;		/* not referenced: it is unbound before it is freed */
	struct mrc_statset base;	/* its counters when it was bound */
};

static struct mrc_counter *counter_of(const struct rdma_counter *of)
{
	struct mrc_dev *dev = to_mrc_dev(of->device);

	return of->id ? xa_load(&dev->counters, of->id) : NULL;
}

static struct mrc_counter *counter_new(struct mrc_dev *dev, u32 *id)
{
	struct mrc_counter *counter = kzalloc(sizeof(*counter), GFP_KERNEL_ACCOUNT);

	if (!counter)
		return NULL;
	INIT_LIST_HEAD(&counter->qps);
	/* Cyclic, because ib_core may still use the counter that had the id before. */
	if (xa_alloc_cyclic(&dev->counters, id, counter, xa_limit_32b, &dev->counter_next,
			    GFP_KERNEL_ACCOUNT) < 0) {
		kfree(counter);
		return NULL;
	}
	return counter;
}

static void qp_stats_now(struct mrc_qp *qp, struct mrc_statset *now)
{
	spin_lock_bh(&qp->lock);
	mrc_qp_get_stats(qp, now);
	spin_unlock_bh(&qp->lock);
}

/*
 * Under qp->mutex and dev->sum_mutex. Two commands may bind the same QP, because ib_core checks
 * without the QP's lock. Some versions of ib_core also bind a QP that is being destroyed.
 */
static int counter_take(struct mrc_counter *counter, struct mrc_qp *qp, struct mrc_counter_binding *c)
{
	if (!qp->ibqp)
		return -ENOENT;
	if (qp->counted)
		return -EINVAL;
	if (counter->n_qps == MRC_COUNTER_QPS) {
		ibdev_warn_ratelimited(&qp->dev->ibdev,
				       "QP %u is counted by the port only: a counter takes at most %u QPs\n",
				       qp->qpn, MRC_COUNTER_QPS);
		return -ENOSPC;
	}
	c->counter = counter;
	c->qp = qp;
	qp_stats_now(qp, &c->base);
	list_add_tail(&c->link, &counter->qps);
	counter->n_qps++;
	qp->counted = c;
	return 0;
}

/*
 * With a reference. NULL: the QP is destroyed. Some versions of ib_core call even then
 * (mrc_restrack.c).
 */
static struct mrc_qp *qp_of(struct ib_qp *ibqp)
{
	struct mrc_qp *qp;

	rcu_read_lock();
	qp = READ_ONCE(container_of(ibqp, struct mrc_ibqp, ibqp)->qp);
	if (qp && !mrc_qp_try_get(qp))
		qp = NULL;
	rcu_read_unlock();
	return qp;
}

static int counter_bind(struct mrc_counter *counter, struct mrc_qp *qp)
{
	struct mrc_counter_binding *c = kmalloc(sizeof(*c), GFP_KERNEL_ACCOUNT);
	int err;

	if (!c)
		return -ENOMEM;
	mutex_lock(&qp->mutex);
	mutex_lock(&qp->dev->sum_mutex);
	err = counter_take(counter, qp, c);
	mutex_unlock(&qp->dev->sum_mutex);
	mutex_unlock(&qp->mutex);
	if (err)
		kfree(c);
	return err;
}

int mrc_counters_qp_bind(struct rdma_counter *of, struct ib_qp *ibqp MRC_COUNTER_PORT_ARG)
{
	struct mrc_dev *dev = to_mrc_dev(of->device);
	struct mrc_counter *counter = counter_of(of), *made = NULL;
	struct mrc_qp *qp;
	int err;

	if (ibqp->qp_type == IB_QPT_UD || ibqp->qp_type == IB_QPT_GSI)
		return -EOPNOTSUPP;	/* the device counts datagrams */
	if (!counter)
		counter = made = counter_new(dev, &of->id);
	if (!counter)
		return -ENOMEM;
	qp = qp_of(ibqp);
	err = qp ? counter_bind(counter, qp) : -ENOENT;
	if (qp)
		mrc_qp_put(qp);
	if (!err) {
		ibqp->counter = of;
	} else if (made) {	/* ib_core frees it without counter_dealloc */
		xa_erase(&dev->counters, of->id);
		of->id = 0;
		kfree(made);
	}
	return err;
}

bool mrc_counters_qp_leave(struct mrc_qp *qp)
{
	struct mrc_counter_binding *c;
	struct mrc_statset now;

	lockdep_assert_held(&qp->mutex);
	c = qp->counted;
	if (!c)
		return false;
	mrc_counters_qp_hold(qp);
	qp_stats_now(qp, &now);
	mrc_counters_qp_gone(qp, &now);
	list_del(&c->link);
	c->counter->n_qps--;
	qp->counted = NULL;
	mutex_unlock(&qp->dev->sum_mutex);
	kfree(c);
	return true;
}

/*
 * Two commands may also unbind the same QP. ib_core drops a reference to the counter for each
 * success, and the QP held only one. So the second call must fail.
 */
int mrc_counters_qp_unbind(struct ib_qp *ibqp MRC_COUNTER_PORT_ARG)
{
	struct mrc_qp *qp = qp_of(ibqp);
	bool was;

	if (!qp)
		return -EINVAL;
	mutex_lock(&qp->mutex);
	was = mrc_counters_qp_leave(qp);
	if (was)
		ibqp->counter = NULL;
	mutex_unlock(&qp->mutex);
	mrc_qp_put(qp);
	return was ? 0 : -EINVAL;
}

/* Some versions of ib_core read a counter while they free it, so the lookup is under the lock, too. */
int mrc_counters_qp_dealloc(struct rdma_counter *of)
{
	struct mrc_dev *dev = to_mrc_dev(of->device);
	struct mrc_counter *counter;

	mutex_lock(&dev->sum_mutex);
	counter = counter_of(of);
	if (counter) {
		WARN_ON(!list_empty(&counter->qps));
		xa_erase(&dev->counters, of->id);
	}
	mutex_unlock(&dev->sum_mutex);
	kfree(counter);
	return 0;
}

static noinline_for_stack void sum_counted(struct mrc_statset *sum, const struct mrc_counter_binding *c)
{
	struct mrc_statset now;

	qp_stats_now(c->qp, &now);
	mrc_statset_add(sum, &now);
	mrc_statset_sub(sum, &c->base);
}

bool mrc_counters_qp_sum(struct rdma_counter *of, struct mrc_statset *sum)
{
	struct mrc_dev *dev = to_mrc_dev(of->device);
	const struct mrc_counter *counter;
	const struct mrc_counter_binding *c;

	mutex_lock(&dev->sum_mutex);
	counter = counter_of(of);
	if (counter) {
		*sum = counter->closed;
		list_for_each_entry(c, &counter->qps, link)
			sum_counted(sum, c);
	}
	mutex_unlock(&dev->sum_mutex);
	return counter;
}

bool mrc_counters_qp_any(struct rdma_counter *of)
{
	struct mrc_dev *dev = to_mrc_dev(of->device);
	const struct mrc_counter *counter;
	bool any;

	mutex_lock(&dev->sum_mutex);
	counter = counter_of(of);
	any = counter && counter->n_qps;
	mutex_unlock(&dev->sum_mutex);
	return any;
}

const struct mrc_statset *mrc_counters_qp_base(const struct mrc_qp *qp)
{
	lockdep_assert_held(&qp->dev->sum_mutex);
	return qp->counted ? &qp->counted->base : NULL;
}

void mrc_counters_qp_hold(struct mrc_qp *qp)
{
	lockdep_assert_held(&qp->mutex);
	if (qp->counted)
		mutex_lock(&qp->dev->sum_mutex);
}

void mrc_counters_qp_let(struct mrc_qp *qp)
{
	if (qp->counted)
		mutex_unlock(&qp->dev->sum_mutex);
}

void mrc_counters_qp_gone(struct mrc_qp *qp, const struct mrc_statset *now)
{
	struct mrc_counter_binding *c = qp->counted;

	if (!c)
		return;
	lockdep_assert_held(&qp->dev->sum_mutex);
	mrc_statset_add(&c->counter->closed, now);
	mrc_statset_sub(&c->counter->closed, &c->base);
	mrc_statset_add(&qp->dev->counted, now);
	mrc_statset_sub(&qp->dev->counted, &c->base);
	memset(&c->base, 0, sizeof(c->base));
}
