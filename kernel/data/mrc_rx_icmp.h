/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_rx_icmp.h - reads ICMP errors about our packets, for hints.
 */
#ifndef MRC_RX_ICMP_H
#define MRC_RX_ICMP_H

#include "core/mrc_dev.h"

/*
 * BH off, under RCU. @skb: an ICMP packet that arrived on a plane of @dev, IP header at skb->data. The caller keeps
 * it.
 */
void mrc_rx_icmp6(struct mrc_dev *dev, const struct sk_buff *skb);
void mrc_rx_icmp4(struct mrc_dev *dev, const struct sk_buff *skb);

#endif
