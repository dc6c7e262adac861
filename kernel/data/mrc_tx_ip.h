/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_tx_ip.h - sends ordinary IP of the mrc netdev over the paths of MRC. A flow keeps one EV, so
 * TCP is not reordered.
 */
#ifndef MRC_TX_IP_H
#define MRC_TX_IP_H

#include <linux/skbuff.h>
#include "core/mrc_dev.h"

/*
 * BH off, under RCU. @skb: skb->data is at the IP header, whose destination is @gid; @tos: its DS field. True: @skb was
 * consumed. False: it was not sent, and the caller keeps it.
 */
bool mrc_tx_ip(struct mrc_dev *dev, struct sk_buff *skb, const union ib_gid *gid, u8 tos);

#endif
