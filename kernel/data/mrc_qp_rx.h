/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_qp_rx.h - a packet of a QP arrives: engine's verdict, place or hold, commit.
 */
#ifndef MRC_QP_RX_H
#define MRC_QP_RX_H

#include "data/mrc_qp.h"

struct mrc_peer_how;

/* Softirq, no lock held. One parsed packet with its payload at @off in @skb (ICRC checked). */
void mrc_qp_rx(struct mrc_qp *qp, const struct mrc_pkt *pkt, struct sk_buff *skb, int off,
	       const struct mrc_peer_how *how);

#endif
