/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_tx_out.h - hands a complete packet to its neighbour.
 */
#ifndef MRC_TX_OUT_H
#define MRC_TX_OUT_H

#include <linux/skbuff.h>
#include "core/mrc_dev.h"

/*
 * Under RCU, BH off, none of our locks held. Consumes @skb. Its dst is set, its device is alive, and it fits the route's
 * MTU. Counts for @plane (MRC_PLANE_NONE: for none). @proven: a packet to the same host by this plane arrived recently, so
 * the neighbour needs no confirmation.
 */
void mrc_tx_output(struct mrc_dev *dev, u8 plane, bool proven, struct sk_buff *skb);

#endif
