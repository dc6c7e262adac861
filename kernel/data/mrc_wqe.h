/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_wqe.h - work requests: copied out of the rings, checked, and turned into the payload of
 * packets. All under qp->lock.
 */
#ifndef MRC_WQE_H
#define MRC_WQE_H

#include "mem/mrc_payload.h"
#include "data/mrc_qp.h"

/* Copy and check the send request at ring index @idx into its slot; fill @wr. False: not yet. */
bool mrc_wqe_load(struct mrc_qp *qp, u32 idx, struct mrc_wr *wr);
/* Drop its memory references. */
void mrc_wqe_release(struct mrc_swqe *w);
static inline struct mrc_swqe *mrc_wqe_send(const struct mrc_qp *qp, u32 cookie)
{
	return &qp->swqe[cookie & (qp->sq_slots - 1)];
}

/* Where bytes go: [off, off + len) of the list, local write access. False: not covered. */
bool mrc_wqe_scatter_recv(struct mrc_qp *qp, const struct mrc_rwqe *w, const struct mrc_rxop *op,
			  const struct sk_buff *skb, int off);
bool mrc_wqe_scatter_resp(struct mrc_qp *qp, const struct mrc_swqe *w, const struct mrc_rxop *op,
			  const struct sk_buff *skb, int off);
bool mrc_wqe_scatter(struct mrc_qp *qp, const struct mrc_sge *sge, u32 num_sge,
		     const void *src, u32 len);

/* May the answer in exec @slot still be read: its region is there, and reading is allowed. */
bool mrc_wqe_resp_ok(const struct mrc_qp *qp, u32 slot);

/* Was memory that @op reads for a send request invalidated? Then the request's completion reports it. */
bool mrc_wqe_gone(struct mrc_qp *qp, const struct mrc_txop *op);

/* The payload of what @op sends. False: memory gone (deregistered under the request). */
bool mrc_wqe_payload(struct mrc_qp *qp, const struct mrc_txop *op, struct mrc_payload *pl);

#endif
