/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_post.h - work is posted. Programs fill their rings themselves and ring here with no request
 * (doorbell); users in the kernel post theirs, which are put into the same rings. Any context, interrupts
 * off too.
 */
#ifndef MRC_POST_H
#define MRC_POST_H

#include <rdma/ib_verbs.h>

int mrc_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr, const struct ib_send_wr **bad);
int mrc_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad);
int mrc_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad);

#endif
