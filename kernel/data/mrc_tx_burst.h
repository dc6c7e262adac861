/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_tx_burst.h - sends consecutive packets of one EV as one GSO packet.
 */
#ifndef MRC_TX_BURST_H
#define MRC_TX_BURST_H

#include <linux/skbuff.h>

/*
 * BH off. Appends @skb to the burst of @head. Both are finished packets; joins is set for @head (mrc_tx_cb.h). False:
 * @skb does not fit, and stays the caller's.
 */
bool mrc_tx_burst_add(struct sk_buff *head, struct sk_buff *skb);
/* BH off. No more packets follow: turns the burst of @head into a GSO packet, if it has more than one packet. */
void mrc_tx_burst_end(struct sk_buff *head);

#endif
