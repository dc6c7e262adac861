/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_qp_rx.h - receives packets of a QP: the engine judges each, then it is placed or held, then
 * the engine commits it.
 */
#ifndef MRC_QP_RX_H
#define MRC_QP_RX_H

#include "path/mrc_peer_hint.h"
#include "data/mrc_qp.h"

/* A parsed packet whose ICRC was checked. */
struct mrc_arrival {
	struct mrc_pkt pkt;
	struct sk_buff *skb;
	int off;		/* offset of the payload in skb */
	struct mrc_peer_how how;
};

/* BH off, under RCU, no lock held. @n packets of one batch, at least one. The caller keeps the skbs. */
void mrc_qp_rx(struct mrc_qp *qp, const struct mrc_arrival *a, u32 n);

#endif
