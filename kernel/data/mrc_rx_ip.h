/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_rx_ip.h - decapsulates ordinary IP inside SRv6 and delivers it to the device's netdev.
 */
#ifndef MRC_RX_IP_H
#define MRC_RX_IP_H

#include <linux/skbuff.h>
#include "data/mrc_rx_pkt.h"

/* BH off, under RCU. @p has an outer header. Returns a netfilter verdict; NF_STOLEN: @skb was consumed. */
unsigned int mrc_rx_ip(const struct mrc_rx_pkt *p, struct sk_buff *skb);

#endif
