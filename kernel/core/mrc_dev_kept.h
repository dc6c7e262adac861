/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_dev_kept.h - what a plane's number is kept for while it has no plane: the port that had
 * it, and what the operator had set.
 *
 * A port is known by its name and permanent address. Not by its ifindex: a driver that is
 * reloaded makes the same port with another one. Not by the name alone: behind it may be
 * another adapter. Not by the address alone: virtual ports have none, and VLANs of one port
 * share what they have.
 *
 * A port that leaves a device and comes back is the same plane of the same fabric: with another
 * number, or without its SID, no EV leads over it. One place for each number; it is for another
 * port when no number is left that is kept for nobody. Under rtnl.
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
