/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_qp_grow.h - allocates the full memory of a QP that turned out to be busy.
 */
#ifndef MRC_QP_GROW_H
#define MRC_QP_GROW_H

#include "data/mrc_qp.h"

/* At creation, in the context of the creator, who is charged. */
void mrc_qp_grow_init(struct mrc_qp *qp);
/* Under qp->lock, after a turn. */
void mrc_qp_grow_ask(struct mrc_qp *qp);

/* Module start and end: before the first QP, and after the last. The latter waits for pending work. */
int mrc_qp_grow_start(void);
void mrc_qp_grow_end(void);

#endif
