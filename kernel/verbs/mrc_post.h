/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_post.h - posts work requests. Called by ib_core in any context, also with interrupts off.
 *
 * Programs fill their rings themselves and call this without a request, as a doorbell. Requests of
 * kernel users are copied into the same rings.
 */
#ifndef MRC_POST_H
#define MRC_POST_H

#include <rdma/ib_verbs.h>

/*
 * 0, or -errno with the first request that was not posted in *@bad. -EOPNOTSUPP: a program's QP, or
 * an operation that we do not offer; -EINVAL: wrong state, too many SGEs, or an operation that this
 * QP does not allow; -ENOMEM: the ring is full.
 */
int mrc_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr, const struct ib_send_wr **bad);
int mrc_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad);
int mrc_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad);

#endif
