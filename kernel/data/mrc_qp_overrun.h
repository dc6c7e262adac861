/* SPDX-License-Identifier: GPL-2.0 */
/* mrc_qp_overrun.h - the QPs of a completion queue that was overrun have a turn, which ends them. */
#ifndef MRC_QP_OVERRUN_H
#define MRC_QP_OVERRUN_H

void mrc_qp_overrun_init(void);		/* module start */

#endif
