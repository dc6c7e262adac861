/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_ud_rx.h - received datagrams.
 */
#ifndef MRC_UD_RX_H
#define MRC_UD_RX_H

#include "data/mrc_rx_pkt.h"

struct sk_buff;

/*
 * Softirq, no lock held. A packet to an address of @dev, from a plane of @dev, for @dqpn, which is no connection. It is
 * always counted.
 */
void mrc_ud_rx(const struct mrc_rx_pkt *p, struct mrc_dev *dev, u32 dqpn, struct sk_buff *skb);

/*
 * Likewise, under RCU, of a packet to a multicast group: every QP of @dev attached to it gets a
 * copy. All groups have one number, MRC_QPN_MCAST.
 */
void mrc_ud_rx_group(const struct mrc_rx_pkt *p, struct mrc_dev *dev, u32 dqpn,
		     struct sk_buff *skb);

#endif
