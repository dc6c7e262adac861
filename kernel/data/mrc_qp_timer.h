/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_qp_timer.h - the timer of a QP: when it has its next turn.
 */
#ifndef MRC_QP_TIMER_H
#define MRC_QP_TIMER_H

#include "data/mrc_qp.h"

/*
 * Under qp->lock. Its deadline is @at now (MRC_TIME_NEVER: none). qp->timer_owed tells whether
 * mrc_qp_timer_set() has to be called when the lock is free and nothing else is at hand.
 */
void mrc_qp_timer_want(struct mrc_qp *qp, u64 at, u64 now);
void mrc_qp_timer_set(struct mrc_qp *qp);	/* softirq, no lock held; may be too much or too late */
bool mrc_qp_timer_fired(struct mrc_qp *qp);	/* hard interrupt. True: it wants a turn */
void mrc_qp_timer_forget(struct mrc_qp *qp);	/* under qp->lock; then hrtimer_cancel() */

#endif
