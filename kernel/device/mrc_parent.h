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
/* Under rtnl, after planes were added or removed, and after registration. Before that it does nothing. */
void mrc_parent_follow(struct mrc_dev *dev);

#endif
