/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_qp_reset.h - returns a QP to RESET, from any state. Also the first half of destruction.
 */
#ifndef MRC_QP_RESET_H
#define MRC_QP_RESET_H

#include "data/mrc_qp.h"

/*
 * Under qp->mutex, no other lock held; sleeps. Resets the engine, discards requests, drops the
 * references to memory and paths, and adds the connection's counters to the device's.
 */
void mrc_qp_reset(struct mrc_qp *qp);

#endif
