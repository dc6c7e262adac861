// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_qp.c - queue pairs: lookup by number, references, release.
 *
 * A user with a reference (the softirq scheduler, the timer) finds ibqp NULL after the QP was
 * destroyed, and drops its reference. A received packet takes no reference, because all CPUs that
 * receive for one QP would share the count; RCU protects it. When the last reference is dropped, a
 * work item frees the QP and all that it owns after an RCU grace period. Until then the QP keeps
 * the device registered.
 */
#include <linux/ktime.h>
#include <linux/memcontrol.h>
#include <linux/pid.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include "core/mrc_xa_cache.h"
#include "core/mrc_random.h"
#include "mem/mrc_pages.h"
#include "data/mrc_qp.h"

#define QPN_FIRST	0x11	/* lower numbers are reserved; QP 2 is the endpoint */
#define QPN_LAST	0xfffffe	/* 0xffffff means multicast groups */

static DEFINE_XARRAY_FLAGS(qp_table, XA_FLAGS_ALLOC);
static struct mrc_xa_cache qp_front;
static u32 qp_next;	/* cyclic: a freed number is not reused soon */

struct mrc_qp *mrc_qp_look(u32 qpn)
{
	struct mrc_qp *qp = mrc_xa_cache_lookup(&qp_front, qpn);

	return likely(qp && qp->qpn == qpn) ? qp : xa_load(&qp_table, qpn);
}

struct mrc_qp *mrc_qp_find(u32 qpn)
{
	struct mrc_qp *qp;

	rcu_read_lock();
	qp = mrc_qp_look(qpn);
	if (qp && !kref_get_unless_zero(&qp->ref))
		qp = NULL;
	rcu_read_unlock();
	return qp;
}

/* Skips numbers that are reserved but not published. */
struct mrc_qp *mrc_qp_next(const struct mrc_dev *dev, u32 from)
{
	unsigned long qpn = from;
	struct mrc_qp *qp;

	rcu_read_lock();
	for (qp = xa_find(&qp_table, &qpn, QPN_LAST, XA_PRESENT); qp;
	     qp = xa_find_after(&qp_table, &qpn, QPN_LAST, XA_PRESENT))
		if (qp->dev == dev && kref_get_unless_zero(&qp->ref))
			break;
	rcu_read_unlock();
	return qp;
}

void mrc_qp_put_mrs(struct mrc_qp *qp)
{
	u32 i, k;

	for (i = 0; i < qp->sq_slots; i++) {
		for (k = 0; k < qp->init.cap.max_send_sge; k++) {
			if (qp->swqe[i].mr[k])
				mrc_mr_put(qp->swqe[i].mr[k]);
			qp->swqe[i].mr[k] = NULL;
		}
	}
	for (i = 0; qp->resp && i < MRC_QP_RD; i++) {
		if (qp->resp[i].mr)
			mrc_mr_put(qp->resp[i].mr);
		qp->resp[i].mr = NULL;
	}
}

void mrc_qp_free(struct mrc_qp *qp)
{
	struct ib_device *ibdev = &qp->dev->ibdev;

	hrtimer_cancel(&qp->timer);
	mrc_qp_put_mrs(qp);
	if (qp->scq)
		mrc_cq_put(qp->scq);
	if (qp->rcq)
		mrc_cq_put(qp->rcq);
	if (qp->srq)
		mrc_srq_put(qp->srq);
	mrc_ring_free(&qp->sq);
	mrc_ring_free(&qp->rq);
	mrc_pages_free(qp->conn_mem, qp->conn_bytes);	/* and wqe_mem */
	mrc_pages_free(qp->room, qp->room_bytes);
	mem_cgroup_put(qp->memcg);
	mutex_destroy(&qp->mutex);
	put_pid(qp->pid);
	kvfree(qp);
	ib_device_put(ibdev);
}

void mrc_qp_free_work(struct work_struct *work)
{
	mrc_qp_free(container_of(to_rcu_work(work), struct mrc_qp, free_work));
}

static void qp_release(struct kref *ref)
{
	struct mrc_qp *qp = container_of(ref, struct mrc_qp, ref);

	queue_rcu_work(mrc_wq, &qp->free_work);
}

void mrc_qp_put(struct mrc_qp *qp)
{
	kref_put(&qp->ref, qp_release);
}

void mrc_qp_unclaim(struct mrc_qp *qp)
{
	mrc_claim_put(qp->dev, qp->claim);
	qp->claim = NULL;
	qp->claims = false;
}

void mrc_qp_fail_conn(struct mrc_qp *qp)
{
	lockdep_assert_held(&qp->lock);
	mrc_qp_unclaim(qp);
	if (qp->peer)
		spin_lock(&qp->peer->path_lock);
	mrc_conn_fail(&qp->conn, MRC_ST_FLUSHED, ktime_get_ns());
	if (qp->peer)
		spin_unlock(&qp->peer->path_lock);
}

/* ---- counters ---- */

void mrc_qp_get_stats(struct mrc_qp *qp, struct mrc_statset *t)
{
	struct mrc_conn_info info;

	lockdep_assert_held(&qp->lock);
	mrc_conn_info(&qp->conn, &info);
	t->conn = info.stats;
	t->qp = qp->stats;
}

void mrc_qp_clear_stats(struct mrc_qp *qp)
{
	lockdep_assert_held(&qp->lock);
	mrc_conn_clear_stats(&qp->conn);
	memset(&qp->stats, 0, sizeof(qp->stats));
}

/* ---- numbers ---- */

int mrc_qp_reserve(u32 *qpn)
{
	int err = xa_alloc_cyclic(&qp_table, qpn, NULL, XA_LIMIT(QPN_FIRST, QPN_LAST),
				  &qp_next, GFP_KERNEL);

	return err < 0 ? err : 0;
}

void mrc_qp_release(u32 qpn)
{
	xa_erase(&qp_table, qpn);
}

int mrc_qp_number(struct mrc_qp *qp)
{
	return mrc_qp_reserve(&qp->qpn);
}

/* The slot of a reserved number exists, so xa_store() needs no memory. */
void mrc_qp_publish(struct mrc_qp *qp)
{
	xa_store(&qp_table, qp->qpn, qp, GFP_KERNEL);
	mrc_xa_cache_set(&qp_front, qp->qpn, qp);
}

void mrc_qp_withdraw(struct mrc_qp *qp)
{
	xa_erase(&qp_table, qp->qpn);
	mrc_xa_cache_drop(&qp_front, qp->qpn, qp);
}

int mrc_qp_init(void)
{
	qp_next = QPN_FIRST + mrc_random_u32() % 0xffff;
	return 0;
}

void mrc_qp_exit(void)
{
	WARN_ON(!xa_empty(&qp_table));
	xa_destroy(&qp_table);
}
