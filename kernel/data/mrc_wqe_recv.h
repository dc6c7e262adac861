/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_wqe_recv.h - receive requests: copied out of the QP's ring, or taken from its SRQ. All under
 * qp->lock.
 */
#ifndef MRC_WQE_RECV_H
#define MRC_WQE_RECV_H

#include "data/mrc_qp.h"

/* Receive request @rq_idx, copied on first use. NULL: it is not posted. With an SRQ, earlier ones are taken first. */
struct mrc_rwqe *mrc_wqe_recv(struct mrc_qp *qp, u32 rq_idx);
/* The oldest receive request to flush: posted in the QP's ring, or taken from its SRQ. NULL: there is none. */
struct mrc_rwqe *mrc_wqe_recv_oldest(struct mrc_qp *qp);
/* @w, the oldest, has completed: frees its slot. Returns its ring index. */
u32 mrc_wqe_recv_done(struct mrc_qp *qp, struct mrc_rwqe *w);
/* No copied request will complete: forgets all, and returns those of an SRQ to it. */
void mrc_wqe_recv_drop_all(struct mrc_qp *qp);

#endif
