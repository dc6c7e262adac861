/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_rx_burst.h - splits a burst that arrived as one GSO packet (data/mrc_tx_burst.h).
 */
#ifndef MRC_RX_BURST_H
#define MRC_RX_BURST_H

#include "data/mrc_rx_pkt.h"

/*
 * BH off. True: @skb and the list behind it (skb->next) are complete packets, each as long as its skb; the offsets in
 * @p are valid for each. False: nothing was changed, and the kernel must split @skb.
 */
bool mrc_rx_burst_part(const struct mrc_rx_pkt *p, struct sk_buff *skb);

#endif
