/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_qp_overrun.h - gives the QPs of an overrun completion queue a turn, in which they fail.
 */
#ifndef MRC_QP_OVERRUN_H
#define MRC_QP_OVERRUN_H

void mrc_qp_overrun_init(void);		/* module start */

#endif
