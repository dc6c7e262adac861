/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_qp_grow.h - allocates the full memory of a QP that turned out to be busy.
 */
#ifndef MRC_QP_GROW_H
#define MRC_QP_GROW_H

#include "data/mrc_qp.h"

/* At creation, by who will use it and pays. */
void mrc_qp_grow_init(struct mrc_qp *qp);
/* Under qp->lock, after a turn. */
void mrc_qp_grow_ask(struct mrc_qp *qp);

/* Of the module: before all QPs, and when all are destroyed: waits for those that grow. */
int mrc_qp_grow_start(void);
void mrc_qp_grow_end(void);

#endif
