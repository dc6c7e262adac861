/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_parent.h - the parent of an RDMA device: /sys/class/infiniband/mrc0/device.
 */
#ifndef MRC_PARENT_H
#define MRC_PARENT_H

#include "core/mrc_dev.h"

int mrc_parent_init(void);
void mrc_parent_exit(void);

/* Before registration. */
void mrc_parent_setup(struct ib_device *ibdev);
/* Under rtnl, after planes came or went, and after registration; nothing happens before. */
void mrc_parent_follow(struct mrc_dev *dev);

#endif
