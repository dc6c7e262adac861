/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_dev_port.h - adds ports to a device as planes, and removes them. Under rtnl.
 */
#ifndef MRC_DEV_PORT_H
#define MRC_DEV_PORT_H

#include "core/mrc_dev.h"
#include "core/mrc_dev_plane.h"

/*
 * @number 1..32, or 0: the one @port had, else the lowest that is kept for no other
 * (core/mrc_dev_kept.h). 0 or -errno with extack.
 */
int mrc_dev_port_add(struct mrc_dev *dev, struct net_device *port, u8 number,
		     struct netlink_ext_ack *extack);
/*
 * The netdev @name is plane @num (0-based) when it comes: the number, and what is set there, are
 * kept for it. 0, also when it is that plane; or -errno with extack.
 */
int mrc_dev_port_assign(struct mrc_dev *dev, u8 num, const char *name,
			struct netlink_ext_ack *extack);
int mrc_dev_port_del(struct mrc_dev *dev, struct net_device *port);
/* The plane goes, and nobody is told: mrc_carrier_changed() is the caller's. */
void mrc_dev_port_off(struct mrc_dev_plane *plane);

#endif
