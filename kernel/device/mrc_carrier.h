/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_carrier.h - decides which planes are up: carrier, admin state, flap damping. Under rtnl
 * unless noted.
 */
#ifndef MRC_CARRIER_H
#define MRC_CARRIER_H

#include "core/mrc_dev_plane.h"

void mrc_carrier_init(struct mrc_dev *dev);
void mrc_carrier_stop(struct mrc_dev *dev);	/* process context, no rtnl: its works end */
/* From the netdevice notifier. @going_down: carrier counts as lost already. */
void mrc_carrier_port(struct mrc_dev_plane *plane, bool going_down);
/*
 * The netdev of kind mrc was set up or down. While it is down, the port is down regardless of its planes, and nothing is
 * sent or received. QPs remain, and continue if it comes up again within their timeouts.
 */
void mrc_carrier_admin(struct mrc_dev *dev, bool up);
/*
 * Planes, or their state, changed: recomputes planes_up and notifies peers, path sets, QPs, ib_core (port event) and user
 * space.
 */
void mrc_carrier_changed(struct mrc_dev *dev);
/* MTUs of planes, or what packets have around their payload, changed. */
void mrc_carrier_mtu(struct mrc_dev *dev);
/* A plane number has another port: its flap history is dropped. */
void mrc_carrier_forget(struct mrc_dev *dev, u8 num);
/* attr.damp_ms changed. */
void mrc_carrier_damp(struct mrc_dev *dev);
u32 mrc_carrier_speed(struct net_device *port);	/* Mb/s */

#endif
