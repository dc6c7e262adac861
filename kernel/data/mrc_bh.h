/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_bh.h - the softirq scheduler: which QP has its turn (data/mrc_flow.h) next on this CPU.
 */
#ifndef MRC_BH_H
#define MRC_BH_H

#include "data/mrc_qp.h"

/* Any context, hard interrupt too, whatever lock of a QP or peer is held. Takes a reference. */
void mrc_bh_kick(struct mrc_qp *qp);
enum hrtimer_restart mrc_bh_timer(struct hrtimer *t);	/* of a QP: its deadline has come */
int mrc_bh_init(void);
void mrc_bh_exit(void);		/* all QPs are destroyed */

#endif
