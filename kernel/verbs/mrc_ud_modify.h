/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_ud_modify.h - the states of a datagram QP. Called by ib_core, process context.
 */
#ifndef MRC_UD_MODIFY_H
#define MRC_UD_MODIFY_H

#include <rdma/ib_verbs.h>

int mrc_ud_modify(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask);
/* Under RCU. -EAGAIN: it was destroyed. */
int mrc_ud_query(struct ib_qp *ibqp, struct ib_qp_attr *attr, struct ib_qp_init_attr *init);

#endif
