/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_qp_modify.h - the states of a queue pair. Called by ib_core, process context.
 */
#ifndef MRC_QP_MODIFY_H
#define MRC_QP_MODIFY_H

#include <rdma/ib_verbs.h>

int mrc_qp_modify(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata);
/* Under RCU. -EAGAIN: it was destroyed. */
int mrc_qp_query(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init);

#endif
