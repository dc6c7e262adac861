// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_qp_timer.c - see mrc_qp_timer.h.
 *
 * Each packet moves the deadline, mostly to a later time. Setting the timer each time costs more
 * than the packet; so does a timer that fires before its deadline. So a timer is moved to a later
 * time only when half of its time has passed (mrc_deadline_moves()). When a QP becomes idle, its
 * timer keeps running and fires without effect. The timer is set when the CPU has no other work
 * (mrc_bh.c): a message that is answered before needs no timer.
 *
 * The timer handler and a turn may run on two CPUs at once. The handler writes timer_ns and then
 * reads timer_at; the turn writes timer_at and then reads timer_ns. So at least one of them sees
 * that there is a deadline without a timer.
 */
#include <linux/ktime.h>
#include "data/mrc_qp_timer.h"

void mrc_qp_timer_deadline(struct mrc_qp *qp, u64 at, u64 now)
{
	WRITE_ONCE(qp->timer_at, at);
	smp_mb();	/* pairs with mrc_qp_timer_fired() */
	WRITE_ONCE(qp->timer_deferred, mrc_deadline_moves(READ_ONCE(qp->timer_ns), at, now));
}

void mrc_qp_timer_set(struct mrc_qp *qp)
{
	spin_lock(&qp->lock);
	if (qp->ibqp && mrc_deadline_moves(READ_ONCE(qp->timer_ns), qp->timer_at, ktime_get_ns())) {
		WRITE_ONCE(qp->timer_ns, qp->timer_at);
		hrtimer_start(&qp->timer, ns_to_ktime(qp->timer_at), MRC_QP_TIMER_MODE);
	}
	WRITE_ONCE(qp->timer_deferred, false);
	spin_unlock(&qp->lock);
}

bool mrc_qp_timer_fired(struct mrc_qp *qp)
{
	WRITE_ONCE(qp->timer_ns, MRC_TIME_NEVER);
	smp_mb();	/* pairs with mrc_qp_timer_deadline() */
	return READ_ONCE(qp->timer_at) != MRC_TIME_NEVER;
}

void mrc_qp_timer_clear(struct mrc_qp *qp)
{
	WRITE_ONCE(qp->timer_at, MRC_TIME_NEVER);
	WRITE_ONCE(qp->timer_ns, MRC_TIME_NEVER);
	WRITE_ONCE(qp->timer_deferred, false);
}
