/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_qp_grow.h - allocates the full memory of a QP when it becomes busy.
 */
#ifndef MRC_QP_GROW_H
#define MRC_QP_GROW_H

#include "data/mrc_qp.h"

/* Process context of the QP's creator, whose cgroup is charged. */
void mrc_qp_grow_init(struct mrc_qp *qp);
/* Under qp->lock, in a turn. Queues the allocation if the QP needs more memory. */
void mrc_qp_grow_check(struct mrc_qp *qp);

/* Module start, before the first QP: 0 or -ENOMEM. Module end, after the last QP: waits for pending work. */
int mrc_qp_grow_start(void);
void mrc_qp_grow_end(void);

#endif
