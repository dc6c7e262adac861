/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_netdev.h - netdevs of kind mrc (`ip link add mrc0 type mrc`).
 */
#ifndef MRC_NETDEV_H
#define MRC_NETDEV_H

#include "core/mrc_dev.h"

/* Process context; module start and end. */
int mrc_netdev_init(void);	/* 0 or -errno */
void mrc_netdev_exit(void);	/* deletes all netdevs of kind mrc */
/* Under rtnl. Planes or their MTU changed: adapts the netdev's MTU. No effect on a device of rdma link add. */
void mrc_netdev_follow_mtu(struct mrc_dev *dev);

#endif
