// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_qp_grow.c - see mrc_qp_grow.h.
 *
 * Most of a program's thousands of QPs are idle, so a QP starts small (engine/sent/mrc_rec_mem.c).
 * When a turn finds that small tables delay packets, it queues a work item, which allocates the
 * full memory. Traffic continues meanwhile. The memory is charged to the cgroup of the QP's
 * creator. If the allocation fails, the QP stays small and retries later.
 */
#include <linux/jiffies.h>
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/workqueue.h>
#include "mem/mrc_pages.h"
#include "data/mrc_qp_grow.h"

#define MRC_GROW_AGAIN	HZ	/* pause after a failed allocation */
#define MRC_GROW_AT_ONCE 4	/* work items that run concurrently */

/* Not mrc_wq: an allocation may block for long if the cgroup is short of memory. */
static struct workqueue_struct *grow_wq;

/* Runs in a kernel thread, so the cgroup to charge is set explicitly. */
static void *room_alloc(struct mrc_qp *qp, size_t bytes)
{
	struct mem_cgroup *old = set_active_memcg(qp->memcg);
	void *mem = mrc_pages_alloc(bytes);

	set_active_memcg(old);
	return mem;
}

/* Under qp->lock. */
static void room_use(struct mrc_qp *qp, void *mem, size_t bytes)
{
	mrc_conn_grow(&qp->conn, mem);
	qp->room = mem;
	qp->room_bytes = bytes;
	qp->mem_bytes += PAGE_ALIGN(bytes);
}

static void qp_grow_work(struct work_struct *work)
{
	struct mrc_qp *qp = container_of(work, struct mrc_qp, grow_work);
	size_t bytes = mrc_conn_grow_size(&qp->conn);	/* without qp->lock: only this work item changes it */
	void *mem = room_alloc(qp, bytes);

	spin_lock_bh(&qp->lock);
	if (mem && qp->ibqp) {
		room_use(qp, mem, bytes);
		mem = NULL;
	} else {
		if (!mem)
			mrc_dev_count(qp->dev, grow_no_mem);
		qp->grow_at = (jiffies + MRC_GROW_AGAIN) | 1;
		qp->growing = false;
	}
	spin_unlock_bh(&qp->lock);
	mrc_pages_free(mem, bytes);
	mrc_qp_put(qp);
}

void mrc_qp_grow_init(struct mrc_qp *qp)
{
	INIT_WORK(&qp->grow_work, qp_grow_work);
	if (qp->pid)	/* a program created it */
		qp->memcg = get_mem_cgroup_from_mm(current->mm);
}

void mrc_qp_grow_check(struct mrc_qp *qp)
{
	if (qp->growing || likely(!mrc_conn_wants_mem(&qp->conn)) || !qp->ibqp ||
	    (qp->grow_at && time_before(jiffies, qp->grow_at)))
		return;
	qp->growing = true;	/* reset only by a failed allocation: a QP grows once */
	mrc_qp_get(qp);
	queue_work(grow_wq, &qp->grow_work);
}

int mrc_qp_grow_start(void)
{
	grow_wq = alloc_workqueue("mrc_grow", WQ_UNBOUND, MRC_GROW_AT_ONCE);
	return grow_wq ? 0 : -ENOMEM;
}

void mrc_qp_grow_end(void)
{
	destroy_workqueue(grow_wq);
}
