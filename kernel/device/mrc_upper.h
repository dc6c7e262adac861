/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_upper.h - checks which netdevs may be put on top of a netdev of kind mrc.
 */
#ifndef MRC_UPPER_H
#define MRC_UPPER_H

#include <linux/netdevice.h>

struct mrc_dev;

/* Under rtnl. @info->upper_dev is about to be put on top of @dev's netdev. 0, or an error with its reason in extack. */
int mrc_upper_check(const struct mrc_dev *dev, const struct netdev_notifier_changeupper_info *info);

#endif
