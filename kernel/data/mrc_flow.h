/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_flow.h - one turn of a QP: rings -> engine -> completions and packets.
 */
#ifndef MRC_FLOW_H
#define MRC_FLOW_H

#include "data/mrc_qp.h"

/*
 * Softirq, no lock held; qp->lock serialises turns. Runs the engine's timer, takes requests from the rings, executes
 * and completes what the engine returns, and sends packets, all within budgets. Adds the number of packets sent to
 * *@packets. True: the QP wants another turn.
 */
bool mrc_flow_run(struct mrc_qp *qp, u32 *packets);

#endif
