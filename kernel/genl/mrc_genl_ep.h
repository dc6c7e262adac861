/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_genl_ep.h - requests to endpoints of peers, and their responses, by netlink.
 */
#ifndef MRC_GENL_EP_H
#define MRC_GENL_EP_H

#include <net/genetlink.h>
#include "path/mrc_peer.h"

int mrc_genl_ep_send(struct sk_buff *skb, struct genl_info *info);	/* process context */
/* Any context, under RCU. Sends the response to the socket of the requester. */
void mrc_genl_ep_answer(struct mrc_peer *peer, const struct mrc_ep_rsp *answer);

#endif
