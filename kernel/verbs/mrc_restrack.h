/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_restrack.h - details of our objects in `rdma -dd resource show`.
 */
#ifndef MRC_RESTRACK_H
#define MRC_RESTRACK_H

#include <rdma/ib_verbs.h>

/* Called by ib_core in process context. 0, or -EMSGSIZE: the message is full. */
int mrc_restrack_qp(struct sk_buff *msg, struct ib_qp *ibqp);
int mrc_restrack_cq(struct sk_buff *msg, struct ib_cq *ibcq);
int mrc_restrack_mr(struct sk_buff *msg, struct ib_mr *ibmr);
int mrc_restrack_srq(struct sk_buff *msg, struct ib_srq *ibsrq);

#endif
