/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_ud_create.h - creates and destroys datagram queue pairs (UD, and GSI of the kernel).
 *
 * ib_core owns the verbs object (struct mrc_ibqp). The QP behind it is refcounted and may outlive
 * it (data/mrc_ud.h).
 */
#ifndef MRC_UD_CREATE_H
#define MRC_UD_CREATE_H

#include <rdma/ib_verbs.h>

/*
 * Called by ib_core in process context; they sleep. Errors as of mrc_qp_create(), and of
 * mrc_ud_publish().
 */
int mrc_ud_create(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata);
int mrc_ud_destroy(struct ib_qp *ibqp);

#endif
