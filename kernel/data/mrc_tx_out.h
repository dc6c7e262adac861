/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_tx_out.h - hands a complete packet to its neighbour.
 */
#ifndef MRC_TX_OUT_H
#define MRC_TX_OUT_H

#include <linux/skbuff.h>
#include "core/mrc_dev.h"

/*
 * Under RCU, BH off, no lock of ours held. Sends @skb and consumes it. Its dst is set, @dev is alive, and @skb fits
 * the route's MTU. Counts for @plane (MRC_PLANE_NONE: for none). @proven: the plane delivered packets to this host
 * recently, which confirms the neighbour.
 */
void mrc_tx_output(struct mrc_dev *dev, u8 plane, bool proven, struct sk_buff *skb);

#endif
