/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_wqe.h - work requests: copied out of the rings, checked, and turned into the payload of
 * packets. All under qp->lock.
 */
#ifndef MRC_WQE_H
#define MRC_WQE_H

#include "mem/mrc_payload.h"
#include "data/mrc_qp.h"

/*
 * Copies the send request at ring index @idx into its slot, checks it, and fills @wr; wr->error says whether it is
 * bad. A local request is executed. False: it must wait (mrc_wqe_local()).
 */
bool mrc_wqe_load(struct mrc_qp *qp, u32 idx, struct mrc_wr *wr);
/* Drops the request's references to memory. */
void mrc_wqe_release(struct mrc_swqe *w);
static inline struct mrc_swqe *mrc_wqe_send(const struct mrc_qp *qp, u32 cookie)
{
	return &qp->swqe[cookie & (qp->sq_slots - 1)];
}

/*
 * Copy bytes into memory of a list of SGEs, which must allow local writes: a packet of a receive, a packet of a READ
 * response, or @len bytes at @src. False: memory is not covered.
 */
bool mrc_wqe_scatter_recv(struct mrc_qp *qp, const struct mrc_rwqe *w, const struct mrc_rxop *op,
			  const struct sk_buff *skb, int off);
bool mrc_wqe_scatter_resp(struct mrc_qp *qp, const struct mrc_swqe *w, const struct mrc_rxop *op,
			  const struct sk_buff *skb, int off);
bool mrc_wqe_scatter(struct mrc_qp *qp, const struct mrc_sge *sge, u32 num_sge,
		     const void *src, u32 len);

/* May the READ response of exec slot @slot still be read: is its region valid, and reading allowed? */
bool mrc_wqe_resp_ok(const struct mrc_qp *qp, u32 slot);

/* Was memory of the send request of @op invalidated? Then w->gone is set, and the request's completion reports it. */
bool mrc_wqe_invalidated(struct mrc_qp *qp, const struct mrc_txop *op);

/* Fills @pl with the payload of @op. False: its memory was invalidated or deregistered. */
bool mrc_wqe_payload(struct mrc_qp *qp, const struct mrc_txop *op, struct mrc_payload *pl);

#endif
