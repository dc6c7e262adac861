/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_mtu.h - finds planes whose MTU is too small for connections. All under rtnl.
 */
#ifndef MRC_MTU_H
#define MRC_MTU_H

#include "core/mrc_dev_plane.h"

/*
 * The MTU of planes, or the path MTUs of connections, changed: sets mrc_dev_plane.small and .drops, and logs changes.
 */
void mrc_mtu_apply(struct mrc_dev *dev);
/* Would mrc_mtu_apply() change anything? */
bool mrc_mtu_changed(struct mrc_dev *dev);
/*
 * Has the RDMA port's active MTU changed since the last call? Programs read it again after an event, and use it for
 * their next QPs.
 */
bool mrc_mtu_active_changed(struct mrc_dev *dev);

#endif
