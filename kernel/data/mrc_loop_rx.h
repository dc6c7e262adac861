/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_loop_rx.h - receives returning self-probes.
 */
#ifndef MRC_LOOP_RX_H
#define MRC_LOOP_RX_H

#include "data/mrc_rx_pkt.h"

/* Under RCU. @sid is not the locator of the plane of arrival; is it that of another plane of @dev? */
bool mrc_loop_strays(const struct mrc_dev *dev, const struct in6_addr *sid);
/* BH off, under RCU; BTH is linear. False: it is none. Else it was counted; @skb is still the caller's. */
bool mrc_loop_rx(const struct mrc_rx_pkt *p, struct mrc_dev *dev, const struct sk_buff *skb);

#endif
