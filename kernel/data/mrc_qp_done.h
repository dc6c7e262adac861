/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_qp_done.h - counts failed requests of a QP at their completion, and requests of the peer.
 */
#ifndef MRC_QP_DONE_H
#define MRC_QP_DONE_H

#include "data/mrc_qp.h"

/* Under qp->lock. A send request, or a receive, failed with @status (enum ib_wc_status). */
void mrc_qp_done_failed_send(struct mrc_qp *qp, u8 status);
void mrc_qp_done_failed_recv(struct mrc_qp *qp, u8 status);

static inline void mrc_qp_done_send(struct mrc_qp *qp, u8 status)
{
	if (unlikely(status != IB_WC_SUCCESS))
		mrc_qp_done_failed_send(qp, status);
}

static inline void mrc_qp_done_recv(struct mrc_qp *qp, u8 status)
{
	if (unlikely(status != IB_WC_SUCCESS))
		mrc_qp_done_failed_recv(qp, status);
}

/*
 * Under qp->lock. A data packet was accepted and is not committed yet. @ahead: mrc_conn_rx_ahead(). The last packet of
 * a WRITE counts the WRITE, because each packet is accepted once.
 */
void mrc_qp_done_packet(struct mrc_qp *qp, u8 opcode, u32 ahead);

#endif
