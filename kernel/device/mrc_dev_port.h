/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_dev_port.h - adds ports to a device as planes, and removes them. Under rtnl.
 */
#ifndef MRC_DEV_PORT_H
#define MRC_DEV_PORT_H

#include "core/mrc_dev.h"
#include "core/mrc_dev_plane.h"

/*
 * Adds @port as plane @number (1..32). 0: the number that @port had before, else the lowest that is kept for no other
 * port (core/mrc_dev_kept.h). Returns 0 or -errno with extack.
 */
int mrc_dev_port_add(struct mrc_dev *dev, struct net_device *port, u8 number,
		     struct netlink_ext_ack *extack);
/*
 * Reserves plane number @num (0-based), with its settings, for the existing netdev @name, until that is added. Returns
 * 0, also if @name is that plane already; or -errno with extack.
 */
int mrc_dev_port_assign(struct mrc_dev *dev, u8 num, const char *name,
			struct netlink_ext_ack *extack);
/* Removes @port, and keeps its number and settings for it. 0; -ENOENT: it is no plane of @dev. */
int mrc_dev_port_del(struct mrc_dev *dev, struct net_device *port);
/* The same for a plane, without notification: the caller calls mrc_carrier_changed(). */
void mrc_dev_port_off(struct mrc_dev_plane *plane);

#endif
