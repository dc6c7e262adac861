/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_ud_create.h - creates and destroys datagram QPs. Called by ib_core, process context.
 */
#ifndef MRC_UD_CREATE_H
#define MRC_UD_CREATE_H

#include <rdma/ib_verbs.h>

int mrc_ud_create(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata);
int mrc_ud_destroy(struct ib_qp *ibqp);

#endif
