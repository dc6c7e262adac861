/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_bh.h - the softirq scheduler: gives QPs their turns (data/mrc_flow.h).
 */
#ifndef MRC_BH_H
#define MRC_BH_H

#include "data/mrc_qp.h"

/*
 * Any context, also hard interrupt and with any lock of a QP or peer held. Queues a turn of @qp, unless one is queued
 * already. The queue holds a reference.
 */
void mrc_bh_kick(struct mrc_qp *qp);
enum hrtimer_restart mrc_bh_timer(struct hrtimer *t);	/* hard interrupt: handler of mrc_qp.timer */
int mrc_bh_init(void);		/* module start. Returns 0 */
void mrc_bh_exit(void);		/* module end, process context; all QPs are destroyed */

#endif
