/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_qp_kind.h - dispatches calls of ib_core by the type of the queue pair: connection (RC), or
 * datagrams (UD and GSI). Process context.
 */
#ifndef MRC_QP_KIND_H
#define MRC_QP_KIND_H

#include <rdma/ib_verbs.h>

bool mrc_qp_kind_is_ud(enum ib_qp_type type);	/* any context */

int mrc_qp_kind_create(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata);
int mrc_qp_kind_destroy(struct ib_qp *ibqp, struct ib_udata *udata);
int mrc_qp_kind_modify(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		       struct ib_udata *udata);
int mrc_qp_kind_query(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		      struct ib_qp_init_attr *init);

#endif
