// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_qp_timer.c - see mrc_qp_timer.h.
 *
 * Each packet moves the deadline, mostly to a later time. To set the timer each time costs more
 * than the packet; so does a timer that fires before its deadline. So a timer is moved only when
 * half of its time has passed (mrc_deadline_moves()). When a QP becomes idle its timer is left
 * running and fires without effect. It is set when the CPU has no other work (mrc_bh.c): a message
 * that is answered before that needs no timer. An earlier deadline takes effect at once.
 *
 * The timer handler and a turn may run on two CPUs. Each writes its own value before it reads the
 * other's (timer_ns, timer_at), so at least one of them sees that something waits.
 */
#include <linux/ktime.h>
#include "data/mrc_qp_timer.h"

void mrc_qp_timer_want(struct mrc_qp *qp, u64 at, u64 now)
{
	WRITE_ONCE(qp->timer_at, at);
	smp_mb();	/* the handler: timer_ns, then timer_at */
	WRITE_ONCE(qp->timer_owed, mrc_deadline_moves(READ_ONCE(qp->timer_ns), at, now));
}

void mrc_qp_timer_set(struct mrc_qp *qp)
{
	spin_lock(&qp->lock);
	if (qp->ibqp && mrc_deadline_moves(READ_ONCE(qp->timer_ns), qp->timer_at, ktime_get_ns())) {
		WRITE_ONCE(qp->timer_ns, qp->timer_at);
		hrtimer_start(&qp->timer, ns_to_ktime(qp->timer_at), MRC_QP_TIMER_MODE);
	}
	WRITE_ONCE(qp->timer_owed, false);
	spin_unlock(&qp->lock);
}

bool mrc_qp_timer_fired(struct mrc_qp *qp)
{
	WRITE_ONCE(qp->timer_ns, MRC_TIME_NEVER);
	smp_mb();	/* a turn: timer_at, then timer_ns */
	return READ_ONCE(qp->timer_at) != MRC_TIME_NEVER;
}

void mrc_qp_timer_forget(struct mrc_qp *qp)
{
	WRITE_ONCE(qp->timer_at, MRC_TIME_NEVER);
	WRITE_ONCE(qp->timer_ns, MRC_TIME_NEVER);
	WRITE_ONCE(qp->timer_owed, false);
}
