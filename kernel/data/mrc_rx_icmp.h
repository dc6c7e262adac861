/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_rx_icmp.h - ICMP errors about our packets.
 */
#ifndef MRC_RX_ICMP_H
#define MRC_RX_ICMP_H

#include "core/mrc_dev.h"

/* Softirq. @skb: ICMP that came by a plane of @dev, IP's header at skb->data; unchanged. */
void mrc_rx_icmp6(struct mrc_dev *dev, const struct sk_buff *skb);
void mrc_rx_icmp4(struct mrc_dev *dev, const struct sk_buff *skb);

#endif
