/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_qp_rx.h - receives packets of a QP: the engine's verdict, place or hold, commit.
 */
#ifndef MRC_QP_RX_H
#define MRC_QP_RX_H

#include "path/mrc_peer_hint.h"
#include "data/mrc_qp.h"

/* A parsed packet, its ICRC checked. */
struct mrc_arrival {
	struct mrc_pkt pkt;
	struct sk_buff *skb;
	int off;		/* of its payload in skb */
	struct mrc_peer_how how;
};

/* Softirq, no lock held. @n packets of one batch. The caller keeps ownership. */
void mrc_qp_rx(struct mrc_qp *qp, const struct mrc_arrival *a, u32 n);

#endif
