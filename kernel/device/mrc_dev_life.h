/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_dev_life.h - creates a device, registers it with ib_core, and removes it.
 */
#ifndef MRC_DEV_LIFE_H
#define MRC_DEV_LIFE_H

#include "core/mrc_dev.h"

/*
 * Under rtnl. Creates a device. ERR_PTR on failure. @slot: where a netdev of kind mrc keeps its pointer to the device,
 * which is cleared when the device dies; NULL: rdma link add. The caller then calls mrc_dev_attach(), adds planes, and
 * calls mrc_dev_register_later(). mrc_dev_remove() undoes all at any point.
 */
struct mrc_dev *mrc_dev_alloc(struct net_device *ndev, struct mrc_dev __rcu **slot,
			      struct netlink_ext_ack *extack);
void mrc_dev_attach(struct mrc_dev *dev);	/* under rtnl: received packets find the device */
/*
 * Under rtnl. A work item registers the device with ib_core, which takes rtnl itself. @exact: if @name is taken, that
 * is an error (rdma link add); else the name is then mrc%d.
 */
void mrc_dev_register_later(struct mrc_dev *dev, const char *name, bool exact);
/*
 * Process context, without rtnl; the caller holds get_device(&dev->ibdev.dev). Returns the result of the registration.
 */
int mrc_dev_register_wait(struct mrc_dev *dev);
/* Under rtnl. The device is dead: removes its planes; the work item unregisters it. Repeated calls are harmless. */
void mrc_dev_remove(struct mrc_dev *dev);

#endif
