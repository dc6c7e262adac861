/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_dev_life.h - creates a device, registers it with ib_core, and removes it.
 */
#ifndef MRC_DEV_LIFE_H
#define MRC_DEV_LIFE_H

#include "core/mrc_dev.h"

/*
 * Under rtnl. ERR_PTR on failure. @slot: where a netdev of kind mrc keeps its pointer to the
 * device, cleared when that dies; NULL: rdma link add. The device is on no list yet:
 * mrc_dev_attach(), then planes, then mrc_dev_register_later(); mrc_dev_remove() undoes it at
 * any point.
 */
struct mrc_dev *mrc_dev_alloc(struct net_device *ndev, struct mrc_dev __rcu **slot,
			      struct netlink_ext_ack *extack);
void mrc_dev_attach(struct mrc_dev *dev);
/*
 * Under rtnl; done by a work item, because ib_core takes rtnl itself. @exact: @name or an error
 * (rdma link add); else mrc%d when it is taken.
 */
void mrc_dev_register_later(struct mrc_dev *dev, const char *name, bool exact);
/* Process context, no rtnl; the caller holds get_device(&dev->ibdev.dev). */
int mrc_dev_register_wait(struct mrc_dev *dev);
/* Under rtnl: planes off, then unregistered by the work item. */
void mrc_dev_remove(struct mrc_dev *dev);

#endif
