// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_bh.c - the softirq scheduler: which QP runs next on this CPU.
 *
 * One list and one tasklet per CPU. A QP is queued at most once at a time
 * (MRC_BH_QUEUED) on the CPU that had news of it (packet, doorbell, timer), runs one
 * bounded turn (mrc_qp_run) and goes to the back if it wants more: round robin. In
 * the packet path the tasklet runs after the NET_RX softirq, so that all packets of
 * a batch are answered together.
 *
 * The queue holds a reference on each QP in it.
 */
#include <linux/interrupt.h>
#include <linux/percpu.h>
#include "mrc_qp.h"

#define MRC_BH_TURNS	64	/* QP turns per tasklet run; then other softirqs */

struct mrc_bh {
	spinlock_t lock;	/* irqs off: timers kick from hard interrupt */
	struct list_head qps;
	struct tasklet_struct tasklet;
};

static DEFINE_PER_CPU(struct mrc_bh, mrc_bh);

void mrc_bh_kick(struct mrc_qp *qp)
{
	struct mrc_bh *bh;
	unsigned long flags;

	if (test_and_set_bit(MRC_BH_QUEUED, &qp->bh))
		return;
	mrc_qp_get(qp);
	/*
	 * With BH off, a tasklet scheduled from process context runs at
	 * local_bh_enable() instead of waking ksoftirqd. Not in hard interrupt:
	 * there it runs on the way out anyway.
	 */
	if (!in_hardirq() && !irqs_disabled())
		local_bh_disable();
	local_irq_save(flags);
	bh = this_cpu_ptr(&mrc_bh);
	spin_lock(&bh->lock);
	list_add_tail(&qp->bh_link, &bh->qps);
	spin_unlock(&bh->lock);
	tasklet_schedule(&bh->tasklet);
	local_irq_restore(flags);
	if (!in_hardirq() && !irqs_disabled())
		local_bh_enable();
}

static struct mrc_qp *mrc_bh_pop(struct mrc_bh *bh)
{
	struct mrc_qp *qp;

	spin_lock_irq(&bh->lock);
	qp = list_first_entry_or_null(&bh->qps, struct mrc_qp, bh_link);
	if (qp)
		list_del_init(&qp->bh_link);
	spin_unlock_irq(&bh->lock);
	return qp;
}

static void mrc_bh_work(struct tasklet_struct *t)
{
	struct mrc_bh *bh = from_tasklet(bh, t, tasklet);
	struct mrc_qp *qp;
	int turns;

	for (turns = 0; turns < MRC_BH_TURNS; turns++) {
		qp = mrc_bh_pop(bh);
		if (!qp)
			return;
		/* Before the turn: news that come during it queue the QP again. */
		clear_bit(MRC_BH_QUEUED, &qp->bh);
		smp_mb__after_atomic();
		if (mrc_qp_run(qp))
			mrc_bh_kick(qp);
		mrc_qp_put(qp);
	}
	tasklet_schedule(&bh->tasklet);
}

int mrc_bh_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct mrc_bh *bh = per_cpu_ptr(&mrc_bh, cpu);

		spin_lock_init(&bh->lock);
		INIT_LIST_HEAD(&bh->qps);
		tasklet_setup(&bh->tasklet, mrc_bh_work);
	}
	return 0;
}

/* All QPs are destroyed: what is queued only drops its reference. */
void mrc_bh_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct mrc_bh *bh = per_cpu_ptr(&mrc_bh, cpu);

		while (!list_empty_careful(&bh->qps)) {
			tasklet_schedule(&bh->tasklet);
			tasklet_unlock_wait(&bh->tasklet);
			cond_resched();
		}
		tasklet_kill(&bh->tasklet);
	}
}
