// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_ud.c - see mrc_ud.h.
 *
 * Numbers come from the table of connected QPs, so no two QPs of a host share one. Datagram QPs are
 * found in a table of their own, which is searched after that of connected QPs.
 */
#include <linux/slab.h>
#include <linux/xarray.h>
#include "engine/wire/mrc_deth.h"
#include "data/mrc_qp.h"
#include "data/mrc_ud.h"

static DEFINE_XARRAY(uds);

struct mrc_ud *mrc_ud_find(struct mrc_dev *dev, u32 qpn)
{
	struct mrc_ud *ud;

	rcu_read_lock();
	ud = qpn == MRC_QPN_GSI ? rcu_dereference(dev->gsi) : xa_load(&uds, qpn);
	if (ud && (ud->dev != dev || !kref_get_unless_zero(&ud->ref)))
		ud = NULL;
	rcu_read_unlock();
	return ud;
}

struct mrc_ud *mrc_ud_next(const struct mrc_dev *dev, u32 from)
{
	unsigned long qpn = from;
	struct mrc_ud *ud;

	rcu_read_lock();
	for (ud = xa_find(&uds, &qpn, ULONG_MAX, XA_PRESENT); ud;
	     ud = xa_find_after(&uds, &qpn, ULONG_MAX, XA_PRESENT))
		if (ud->dev == dev && kref_get_unless_zero(&ud->ref))
			break;
	rcu_read_unlock();
	return ud;
}

void mrc_ud_free_work(struct work_struct *work)
{
	struct mrc_ud *ud = container_of(to_rcu_work(work), struct mrc_ud, free_work);
	struct ib_device *ibdev = &ud->dev->ibdev;

	if (ud->scq)
		mrc_cq_put(ud->scq);
	if (ud->rcq)
		mrc_cq_put(ud->rcq);
	mrc_ring_free(&ud->sq);
	mrc_ring_free(&ud->rq);
	if (ud->srq)
		mrc_srq_put(ud->srq);
	if (ud->qpn > MRC_QPN_GSI)
		mrc_qp_release(ud->qpn);
	mutex_destroy(&ud->mutex);
	kfree(ud);
	ib_device_put(ibdev);
}

static void ud_release(struct kref *ref)
{
	struct mrc_ud *ud = container_of(ref, struct mrc_ud, ref);

	queue_rcu_work(mrc_wq, &ud->free_work);
}

void mrc_ud_put(struct mrc_ud *ud)
{
	kref_put(&ud->ref, ud_release);
}

static int ud_publish_gsi(struct mrc_ud *ud)
{
	struct mrc_dev *dev = ud->dev;
	int err = 0;

	spin_lock_bh(&dev->qp_lock);
	if (rcu_access_pointer(dev->gsi))
		err = -EBUSY;
	else
		rcu_assign_pointer(dev->gsi, ud);
	spin_unlock_bh(&dev->qp_lock);
	if (!err)
		ud->qpn = MRC_QPN_GSI;
	return err;
}

int mrc_ud_publish(struct mrc_ud *ud)
{
	int err;

	if (ud->init.qp_type == IB_QPT_GSI)
		return ud_publish_gsi(ud);
	err = mrc_qp_reserve(&ud->qpn);
	return err ?: xa_err(xa_store(&uds, ud->qpn, ud, GFP_KERNEL_ACCOUNT));
}

void mrc_ud_withdraw(struct mrc_ud *ud)
{
	struct mrc_dev *dev = ud->dev;

	if (ud->qpn > MRC_QPN_GSI) {
		xa_erase(&uds, ud->qpn);
		return;
	}
	spin_lock_bh(&dev->qp_lock);
	if (rcu_access_pointer(dev->gsi) == ud)
		RCU_INIT_POINTER(dev->gsi, NULL);
	spin_unlock_bh(&dev->qp_lock);
}

/*
 * With BH off, a work item queued from process context runs at local_bh_enable() instead of
 * waking ksoftirqd.
 */
void mrc_ud_kick(struct mrc_ud *ud)
{
	bool bh = !in_hardirq() && !irqs_disabled();

	if (bh)
		local_bh_disable();
	mrc_bhwork_queue(&ud->turn);
	if (bh)
		local_bh_enable();
}

void mrc_ud_exit(void)
{
	WARN_ON(!xa_empty(&uds));
	xa_destroy(&uds);
}
