/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_tx_out.h - hands a complete packet to its neighbour.
 */
#ifndef MRC_TX_OUT_H
#define MRC_TX_OUT_H

#include <linux/skbuff.h>
#include "core/mrc_dev.h"

/*
 * Under RCU, BH off, no lock of ours held. Consumes @skb, whose dst is set and device alive, and
 * which is no longer than the route's MTU; counts for @plane (MRC_PLANE_NONE: for none). @proven: what left by
 * this plane for the same host has arrived, so the neighbour need not be asked whether it is there.
 */
void mrc_tx_output(struct mrc_dev *dev, u8 plane, bool proven, struct sk_buff *skb);

#endif
