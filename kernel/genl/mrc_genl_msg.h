/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_genl_msg.h - parts that all messages share: the family, and the device.
 *
 * Requests run under rtnl, so devices and planes cannot come or go meanwhile.
 */
#ifndef MRC_GENL_MSG_H
#define MRC_GENL_MSG_H

#include <net/genetlink.h>
#include "linux/mrc.h"
#include "core/mrc_dev.h"

enum { MRC_GENL_MCGRP, MRC_GENL_MCGRP_RECORDS };	/* events; the log */

extern struct genl_family mrc_genl_family;
/* Incremented when objects appear, disappear or are set, so that interrupted dumps are detected. */
extern atomic_t mrc_genl_generation;

/* Under rtnl or RCU. The device of @net with the smallest ifindex >= @from, or NULL. */
struct mrc_dev *mrc_genl_next_dev(struct net *net, int from);
/* Under rtnl. By DEV_IFINDEX or DEV_NAME; ERR_PTR with extack. */
struct mrc_dev *mrc_genl_find_dev(struct net *net, struct nlattr **attrs,
				  struct netlink_ext_ack *extack);
/* Any context. Ifindex and names; 0 or -EMSGSIZE. */
int mrc_genl_put_ids(struct sk_buff *skb, struct mrc_dev *dev);

#endif
