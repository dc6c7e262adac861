/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_carrier.h - decides which planes are up: carrier, admin state, flap damping. Under rtnl
 * unless noted.
 */
#ifndef MRC_CARRIER_H
#define MRC_CARRIER_H

#include "core/mrc_dev_plane.h"

void mrc_carrier_init(struct mrc_dev *dev);	/* for a new device */
void mrc_carrier_stop(struct mrc_dev *dev);	/* process context, without rtnl: ends a dead device's work items */
/* The state of the port may have changed. @going_down: carrier counts as lost already. */
void mrc_carrier_port(struct mrc_dev_plane *plane, bool going_down);
/*
 * The netdev of kind mrc was set up or down. While it is down, the RDMA port is down regardless of its planes, and
 * nothing is sent or received. QPs stay connected, and continue if it comes up again before their retries are used up.
 */
void mrc_carrier_admin(struct mrc_dev *dev, bool up);
/*
 * Planes or their state changed: recomputes planes_up, and notifies path sets, peers, QPs, ib_core (port event) and
 * user space. Also for a dead device.
 */
void mrc_carrier_changed(struct mrc_dev *dev);
/* The MTU of planes, or the size of headers around the payload, changed. */
void mrc_carrier_mtu(struct mrc_dev *dev);
/* Plane number @num (0-based) has lost its port: drops its flap history. */
void mrc_carrier_forget(struct mrc_dev *dev, u8 num);
/* attr.damp_ms changed: damping starts again. */
void mrc_carrier_damp(struct mrc_dev *dev);
u32 mrc_carrier_speed(struct net_device *port);	/* Mb/s; a default if the port does not report its speed */

#endif
