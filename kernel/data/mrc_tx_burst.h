/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_tx_burst.h - sends consecutive packets of one EV as one GSO packet.
 */
#ifndef MRC_TX_BURST_H
#define MRC_TX_BURST_H

#include <linux/skbuff.h>

/*
 * BH off. Appends @skb, a complete packet, to the burst of @head. False: not possible, and @head is complete. Both must be
 * allowed to join others (mrc_tx_cb.h).
 */
bool mrc_tx_burst_add(struct sk_buff *head, struct sk_buff *skb);
/* BH off. @head, complete, becomes a GSO packet, if it is not alone. */
void mrc_tx_burst_end(struct sk_buff *head);

#endif
