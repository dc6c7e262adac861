/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_rx_icmp.h - ICMP errors about our packets.
 */
#ifndef MRC_RX_ICMP_H
#define MRC_RX_ICMP_H

#include "core/mrc_dev.h"

/* Softirq. @skb: an ICMP packet from a plane of @dev, IP header at skb->data. It is not changed. */
void mrc_rx_icmp6(struct mrc_dev *dev, const struct sk_buff *skb);
void mrc_rx_icmp4(struct mrc_dev *dev, const struct sk_buff *skb);

#endif
