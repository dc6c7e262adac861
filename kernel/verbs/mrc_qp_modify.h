/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_qp_modify.h - the states of a queue pair of a connection. Called by ib_core in process
 * context.
 */
#ifndef MRC_QP_MODIFY_H
#define MRC_QP_MODIFY_H

#include <rdma/ib_verbs.h>

/*
 * Sleeps. 0, or -errno and nothing has changed. -EINVAL, -EOPNOTSUPP: a transition or value that we
 * do not offer. At RTR also -EPFNOSUPPORT: the peer speaks no MRC; -EADDRNOTAVAIL: no plane leads
 * to it; -EADDRINUSE: another user's QP is connected to the peer's QP.
 */
int mrc_qp_modify(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata);
/* Under RCU. -EAGAIN: the QP was destroyed. */
int mrc_qp_query(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init);

#endif
