/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_netdev.h - netdevs of kind mrc (`ip link add mrc0 type mrc`).
 */
#ifndef MRC_NETDEV_H
#define MRC_NETDEV_H

#include "core/mrc_dev.h"

int mrc_netdev_init(void);
void mrc_netdev_exit(void);	/* deletes those there are */
/* Under rtnl: planes, or their MTU, changed. No effect on a device of rdma link add. */
void mrc_netdev_follow_mtu(struct mrc_dev *dev);

#endif
