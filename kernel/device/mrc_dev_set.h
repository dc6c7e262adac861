/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_dev_set.h - applies settings of a device.
 */
#ifndef MRC_DEV_SET_H
#define MRC_DEV_SET_H

#include "core/mrc_dev.h"

/* Under rtnl. Applies all settings of @new and returns 0, or changes nothing and returns -errno with extack. */
int mrc_dev_set(struct mrc_dev *dev, const struct mrc_dev_attr *new,
		struct netlink_ext_ack *extack);

#endif
