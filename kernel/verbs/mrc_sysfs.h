/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_sysfs.h - what /sys/class/infiniband/NAME/ says beside ib_core's files.
 */
#ifndef MRC_SYSFS_H
#define MRC_SYSFS_H

#include <linux/sysfs.h>

extern const struct attribute_group mrc_sysfs_group;

#endif
