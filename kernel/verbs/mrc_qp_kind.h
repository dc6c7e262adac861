/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_qp_kind.h - a queue pair is of one kind or another: a connection (RC), or datagrams (UD and
 * the GSI). What ib_core calls for any goes to the kind's own here. Process context.
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
