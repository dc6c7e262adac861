/* SPDX-License-Identifier: GPL-2.0 */
/* mrc_rx_icmp.h - ICMPv6 errors about SRv6 packets of ours. */
#ifndef MRC_RX_ICMP_H
#define MRC_RX_ICMP_H

#include "core/mrc_dev.h"

/* Softirq. @skb: ICMPv6 that came by a plane of @dev, IPv6's header at skb->data; unchanged. */
void mrc_rx_icmp(struct mrc_dev *dev, const struct sk_buff *skb);

#endif
