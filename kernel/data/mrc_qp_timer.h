/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_qp_timer.h - the timer of a QP: starts a turn when the engine's next deadline is reached.
 */
#ifndef MRC_QP_TIMER_H
#define MRC_QP_TIMER_H

#include "data/mrc_qp.h"

/*
 * Under qp->lock. Sets the deadline to @at (MRC_TIME_NEVER: none). If qp->timer_deferred is true afterwards, the caller
 * calls mrc_qp_timer_set() after it has dropped the lock, when there is no other work.
 */
void mrc_qp_timer_deadline(struct mrc_qp *qp, u64 at, u64 now);
void mrc_qp_timer_set(struct mrc_qp *qp);	/* softirq, no lock held; does nothing if it is not necessary */
bool mrc_qp_timer_fired(struct mrc_qp *qp);	/* hard interrupt. True: the QP needs a turn */
void mrc_qp_timer_clear(struct mrc_qp *qp);	/* under qp->lock; the caller then calls hrtimer_cancel() */

#endif
