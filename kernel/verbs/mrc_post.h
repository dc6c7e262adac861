/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_post.h - posts work requests.
 *
 * Programs fill their rings themselves and call this without a request (doorbell). Requests of
 * kernel users are copied into the same rings. Any context, also with interrupts off.
 */
#ifndef MRC_POST_H
#define MRC_POST_H

#include <rdma/ib_verbs.h>

int mrc_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr, const struct ib_send_wr **bad);
int mrc_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad);
int mrc_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad);

#endif
