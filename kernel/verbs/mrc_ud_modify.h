/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_ud_modify.h - the states of a datagram queue pair. Called by ib_core in process context.
 */
#ifndef MRC_UD_MODIFY_H
#define MRC_UD_MODIFY_H

#include <rdma/ib_verbs.h>

/*
 * Sleeps. 0, or -errno and nothing has changed: -EINVAL, -EOPNOTSUPP: a transition or value that we
 * do not offer.
 */
int mrc_ud_modify(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask);
/* Under RCU. -EAGAIN: the QP was destroyed. */
int mrc_ud_query(struct ib_qp *ibqp, struct ib_qp_attr *attr, struct ib_qp_init_attr *init);

#endif
