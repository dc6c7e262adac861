/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_qp_create.h - creates and destroys queue pairs of connections (RC).
 *
 * ib_core owns the verbs object (struct mrc_ibqp). The QP behind it is refcounted and may outlive
 * it (data/mrc_qp.h).
 */
#ifndef MRC_QP_CREATE_H
#define MRC_QP_CREATE_H

#include <rdma/ib_verbs.h>
#include "core/mrc_dev.h"

/*
 * Called by ib_core in process context; they sleep. Create returns 0; -EINVAL, -EOPNOTSUPP:
 * attributes that we do not offer; -ENOSPC, -ENODEV: as mrc_qp_limit(); -ENOMEM.
 */
int mrc_qp_create(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata);
int mrc_qp_destroy(struct ib_qp *ibqp, struct ib_udata *udata);
/*
 * Process context. Counts a QP of either kind (@by 1), or one less (-1). A program's QP also holds
 * the module. 0; -ENOSPC: the limit of programs is reached; -ENODEV: the module is being removed.
 */
int mrc_qp_limit(const struct ib_qp *ibqp, int by);
/*
 * Any context. Kernel memory of an idle QP in bytes, rings included: 128 WRs each way, 1 SGE, no
 * inline data, a window of 8 * 128 PSNs.
 */
u32 mrc_qp_idle_bytes(void);
/*
 * Any context. The largest window that new QPs of the device have memory for, in units of 128 PSNs.
 */
u8 mrc_qp_create_mpr(const struct mrc_dev *dev);

#endif
