/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_rx_burst.h - splits a burst that arrived as one GSO packet (data/mrc_tx_burst.h) into
 * packets.
 */
#ifndef MRC_RX_BURST_H
#define MRC_RX_BURST_H

#include "data/mrc_rx_pkt.h"

/*
 * Softirq. True: @skb and its successors (skb->next) are complete packets, each as long as its skb, at @p's offsets. False:
 * nothing was changed, and the kernel has to split it.
 */
bool mrc_rx_burst_part(const struct mrc_rx_pkt *p, struct sk_buff *skb);

#endif
