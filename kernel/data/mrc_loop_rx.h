/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_loop_rx.h - receives returning self-probes.
 */
#ifndef MRC_LOOP_RX_H
#define MRC_LOOP_RX_H

#include "data/mrc_rx_pkt.h"

/* Under RCU. Is @sid the locator of a plane of @dev? The caller has excluded the plane of arrival. */
bool mrc_loop_other_plane(const struct mrc_dev *dev, const struct in6_addr *sid);
/*
 * BH off, under RCU; BTH is linear. True: @skb is a self-probe, and was processed and counted. The caller keeps @skb.
 */
bool mrc_loop_rx(const struct mrc_rx_pkt *p, struct mrc_dev *dev, const struct sk_buff *skb);

#endif
