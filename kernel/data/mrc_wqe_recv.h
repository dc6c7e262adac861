/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_wqe_recv.h - receive requests: copied out of the QP's ring, or taken from its SRQ. All under
 * qp->lock.
 */
#ifndef MRC_WQE_RECV_H
#define MRC_WQE_RECV_H

#include "data/mrc_qp.h"

/*
 * The receive request @rq_idx, copied on first use; NULL when none is posted. With an SRQ, earlier ones are taken first.
 */
struct mrc_rwqe *mrc_wqe_recv(struct mrc_qp *qp, u32 rq_idx);
/* The oldest that is to be flushed, or NULL: posted, or taken from the SRQ. */
struct mrc_rwqe *mrc_wqe_recv_oldest(struct mrc_qp *qp);
/* It is completed: its slot may be written again. Its index. */
u32 mrc_wqe_recv_done(struct mrc_qp *qp, struct mrc_rwqe *w);
/* None of them will complete: receives taken from an SRQ are returned to it. */
void mrc_wqe_recv_forget(struct mrc_qp *qp);

#endif
