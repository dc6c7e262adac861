/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_dev_kept.h - remembers the port and the settings of a plane number while the number has no
 * plane.
 *
 * A port is identified by name and permanent address together. The ifindex changes when a driver is
 * reloaded. The name alone may belong to another adapter. The address alone does not suffice:
 * virtual ports have none, and VLANs of one port share theirs.
 *
 * A port that leaves a device and returns is the same plane of the same fabric. With another
 * number, or without its SID, no EV would lead over it. One entry per number. A number is given to
 * another port only when no unreserved number is left. Under rtnl.
 */
#ifndef MRC_DEV_KEPT_H
#define MRC_DEV_KEPT_H

#include <linux/netdevice.h>
#include "core/mrc_dev_plane.h"

/* @plane leaves: its number is kept for it. */
void mrc_dev_kept_save(const struct mrc_dev_plane *plane);
/* The number (0-based) without a plane that @port should have; or -1: all have one. */
int mrc_dev_kept_number(const struct mrc_dev *dev, const struct net_device *port);
/*
 * @plane is about to be published: it gets what is kept for its port, and what another had
 * under its number is forgotten. True: the port had that number before.
 */
bool mrc_dev_kept_take(struct mrc_dev_plane *plane);
/* Number @num, which has no plane, is for @port from now on; what was set stays with the number. */
void mrc_dev_kept_assign(struct mrc_dev *dev, u8 num, const struct net_device *port);
/* Whom number @num is kept for; or NULL. */
const char *mrc_dev_kept_for(const struct mrc_dev *dev, u8 num);

#endif
