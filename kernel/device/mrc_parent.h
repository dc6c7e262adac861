/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_parent.h - the parent of an RDMA device, to which /sys/class/infiniband/mrc0/device points.
 */
#ifndef MRC_PARENT_H
#define MRC_PARENT_H

#include "core/mrc_dev.h"

/* Process context; module start (0 or -errno) and end. */
int mrc_parent_init(void);
void mrc_parent_exit(void);

/* Any context, before registration. */
void mrc_parent_setup(struct ib_device *ibdev);
/*
 * Under rtnl. Updates the link after registration, and after planes were added or removed. Does nothing before
 * registration.
 */
void mrc_parent_follow(struct mrc_dev *dev);

#endif
