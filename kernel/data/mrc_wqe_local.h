/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_wqe_local.h - send requests without packets: bind a window, register a region, invalidate a
 * key. Under qp->lock.
 */
#ifndef MRC_WQE_LOCAL_H
#define MRC_WQE_LOCAL_H

#include "data/mrc_qp.h"

/*
 * Executes the request when it is taken from the ring. Returns an enum mrc_status; -EAGAIN: the caller retries later.
 */
int mrc_wqe_local(struct mrc_qp *qp, const struct mrc_send_wqe *k);

#endif
