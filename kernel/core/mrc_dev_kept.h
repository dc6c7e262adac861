/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_dev_kept.h - reserves a plane number, and the settings of its plane, for a port that left or
 * will come.
 *
 * A port is identified by name and permanent address together. The ifindex changes when a driver is
 * reloaded. The name alone may belong to another adapter. The address alone does not suffice:
 * virtual ports have none, and VLANs of one port share theirs.
 *
 * A port that leaves a device and returns is the same plane of the same fabric. With another
 * number, or without its SID, no EV would lead over it. A number is given to another port only when
 * no unreserved number is left. All functions run under rtnl.
 */
#ifndef MRC_DEV_KEPT_H
#define MRC_DEV_KEPT_H

#include <linux/netdevice.h>
#include "core/mrc_dev_plane.h"

/* @plane leaves the device: its number is reserved for its port. */
void mrc_dev_kept_save(const struct mrc_dev_plane *plane);
/* The number (0-based) that @port should have; -1: all numbers have a plane. */
int mrc_dev_kept_number(const struct mrc_dev *dev, const struct net_device *port);
/*
 * @plane is about to be published. It gets the settings that its number keeps for its port, and the
 * reservation ends. True: the number was reserved for this port.
 */
bool mrc_dev_kept_take(struct mrc_dev_plane *plane);
/*
 * Reserves number @num, which has no plane, for @port instead of any other number. Settings stay
 * with the number.
 */
void mrc_dev_kept_assign(struct mrc_dev *dev, u8 num, const struct net_device *port);
/* The name of the port that number @num is reserved for; or NULL. */
const char *mrc_dev_kept_for(const struct mrc_dev *dev, u8 num);

#endif
