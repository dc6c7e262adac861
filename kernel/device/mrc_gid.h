/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_gid.h - the GIDs of a device made by rdma link add: exactly the addresses of its netdev,
 * which may be a VLAN or have VLANs on top.
 */
#ifndef MRC_GID_H
#define MRC_GID_H

#include "core/mrc_dev.h"

/* Process context, before registration. */
void mrc_gid_setup(struct mrc_dev *dev);
/* Any context. The netdev for ib_device_set_netdev(): ib_core offers its addresses as GIDs. */
struct net_device *mrc_gid_netdev(const struct mrc_dev *dev);

#endif
