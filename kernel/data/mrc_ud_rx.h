/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_ud_rx.h - received datagrams.
 */
#ifndef MRC_UD_RX_H
#define MRC_UD_RX_H

#include "data/mrc_rx_pkt.h"

struct sk_buff;

/*
 * BH off, under RCU, no lock held. A packet to an address of @dev for @dqpn, which is no connected QP. It arrived on a
 * plane of @dev, or over lo. The packet is counted in any case. The caller keeps @skb.
 */
void mrc_ud_rx(const struct mrc_rx_pkt *p, struct mrc_dev *dev, u32 dqpn, struct sk_buff *skb);

/*
 * The same for a packet to a multicast group: every QP of @dev that is attached to the group gets a copy. The QP
 * number of all groups is MRC_QPN_MCAST.
 */
void mrc_ud_rx_group(const struct mrc_rx_pkt *p, struct mrc_dev *dev, u32 dqpn,
		     struct sk_buff *skb);

#endif
