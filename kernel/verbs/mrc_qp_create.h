/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_qp_create.h - creates and destroys queue pairs of connections. Called by ib_core, process
 * context.
 */
#ifndef MRC_QP_CREATE_H
#define MRC_QP_CREATE_H

#include <rdma/ib_verbs.h>
#include "core/mrc_dev.h"

int mrc_qp_create(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata);
int mrc_qp_destroy(struct ib_qp *ibqp, struct ib_udata *udata);
/* Process context. One QP more or less (@by: 1, -1), connected or not. 0, or -ENOSPC: a program's, beyond the limit. */
int mrc_qp_limit(const struct ib_qp *ibqp, int by);
/* Any context. Rings too: 128 WRs each way, 1 SGE, no inline, 8 * 128 PSNs. */
u32 mrc_qp_idle_bytes(void);
/* Any context. Windows that new QPs of the device have room for, in units of 128 PSNs. */
u8 mrc_qp_create_mpr(const struct mrc_dev *dev);

#endif
