/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_flow.h - one turn of a QP: rings -> engine -> completions and packets.
 */
#ifndef MRC_FLOW_H
#define MRC_FLOW_H

#include "data/mrc_qp.h"

/*
 * Softirq, no lock held, and not twice at once for a QP but by its own lock: timer, ring ->
 * engine, tails, execs, completions, packets out, under a budget. *@packets grows by those
 * sent. True: wants another turn.
 */
bool mrc_flow_run(struct mrc_qp *qp, u32 *packets);

#endif
