/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_qp_reset.h - returns a QP to RESET, from any state. Also the first half of destruction.
 */
#ifndef MRC_QP_RESET_H
#define MRC_QP_RESET_H

#include "data/mrc_qp.h"

/*
 * Under qp->mutex, no other lock held; sleeps. The engine forgets, references to memory and
 * paths go, what the connection counted stays with the device.
 */
void mrc_qp_reset(struct mrc_qp *qp);

#endif
