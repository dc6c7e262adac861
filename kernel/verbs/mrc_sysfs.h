/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_sysfs.h - our files in /sys/class/infiniband/NAME/, beside those of ib_core.
 */
#ifndef MRC_SYSFS_H
#define MRC_SYSFS_H

#include <linux/sysfs.h>

extern const struct attribute_group mrc_sysfs_group;

#endif
