/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_compat_bhwork.h - part of mrc_compat.h: a function that runs in softirq, on the CPU that
 * queued it, and on one CPU at a time.
 *
 * It is a work item of the BH workqueue, or a tasklet on kernels without one. Both run in
 * TASKLET_SOFTIRQ, after NET_RX.
 */
#ifndef MRC_COMPAT_BHWORK_H
#define MRC_COMPAT_BHWORK_H

#include <linux/interrupt.h>
#include <linux/workqueue.h>
#include "mrc_have.h"

struct mrc_bhwork {
	void (*fn)(struct mrc_bhwork *w);
#ifdef MRC_HAVE_BH_WORKQUEUE
	struct work_struct work;
	struct work_struct hop;		/* queues work: mrc_bhwork_again() */
#else
	struct tasklet_struct tasklet;
#endif
};

/*
 * Both implementations have:
 *
 * mrc_bhwork_init()
 * mrc_bhwork_queue()	any context: fn will run, once for all calls before it starts
 * mrc_bhwork_again()	from fn: it runs again, after the other pending softirqs
 * mrc_bhwork_run()	process context: queues it and waits until it has run
 * mrc_bhwork_end()	process context, when nobody queues it any more and fn does not call
 * 			mrc_bhwork_again(): waits for a run; there is none after it
 */

#ifdef MRC_HAVE_BH_WORKQUEUE

static inline void mrc_bhwork_call(struct work_struct *work)
{
	struct mrc_bhwork *w = container_of(work, struct mrc_bhwork, work);

	w->fn(w);
}

static inline void mrc_bhwork_queue(struct mrc_bhwork *w)
{
	queue_work(system_bh_wq, &w->work);
}

static inline void mrc_bhwork_hop(struct work_struct *hop)
{
	mrc_bhwork_queue(container_of(hop, struct mrc_bhwork, hop));
}

static inline void mrc_bhwork_init(struct mrc_bhwork *w, void (*fn)(struct mrc_bhwork *w))
{
	w->fn = fn;
	INIT_WORK(&w->work, mrc_bhwork_call);
	INIT_WORK(&w->hop, mrc_bhwork_hop);
}

/*
 * The BH worker runs a work item that its own work item queues at once, up to ten times in a row.
 * It cannot run HI_SOFTIRQ: that runs in the next pass over the softirqs, and NET_RX after it.
 */
static inline void mrc_bhwork_again(struct mrc_bhwork *w)
{
	queue_work(system_bh_highpri_wq, &w->hop);
}

static inline void mrc_bhwork_run(struct mrc_bhwork *w)
{
	mrc_bhwork_queue(w);
	flush_work(&w->work);
}

static inline void mrc_bhwork_end(struct mrc_bhwork *w)
{
	disable_work_sync(&w->work);
	disable_work_sync(&w->hop);
}

#else

static inline void mrc_bhwork_call(struct tasklet_struct *t)
{
	struct mrc_bhwork *w = from_tasklet(w, t, tasklet);

	w->fn(w);
}

static inline void mrc_bhwork_init(struct mrc_bhwork *w, void (*fn)(struct mrc_bhwork *w))
{
	w->fn = fn;
	tasklet_setup(&w->tasklet, mrc_bhwork_call);
}

static inline void mrc_bhwork_queue(struct mrc_bhwork *w)
{
	tasklet_schedule(&w->tasklet);
}

static inline void mrc_bhwork_again(struct mrc_bhwork *w)
{
	tasklet_schedule(&w->tasklet);
}

static inline void mrc_bhwork_run(struct mrc_bhwork *w)
{
	tasklet_schedule(&w->tasklet);
	tasklet_unlock_wait(&w->tasklet);
}

static inline void mrc_bhwork_end(struct mrc_bhwork *w)
{
	tasklet_kill(&w->tasklet);
}

#endif

#endif
