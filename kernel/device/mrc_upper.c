// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_upper.c - see mrc_upper.h.
 *
 * mrc0 sends a packet to the peer whose address it has, and takes those for addresses of its own. An
 * ipvlan, macvlan, bridge or bond upon it would have addresses to which no path leads, or frames
 * that nothing here carries: ib_core would list its GIDs, and every packet would be lost. So it
 * is refused, with the reason. A VRF brings no address of its own.
 */
#include <linux/netdevice.h>
#include <net/rtnetlink.h>
#include "compat/mrc_compat_net.h"
#include "core/mrc_dev.h"
#include "device/mrc_upper.h"

int mrc_upper_check(const struct mrc_dev *dev, const struct netdev_notifier_changeupper_info *info)
{
	struct netlink_ext_ack *extack = netdev_notifier_info_to_extack(&info->info);
	const struct net_device *upper = info->upper_dev;

	if (!info->linking || !dev->own_netdev || netif_is_l3_master(upper))
		return 0;
	MRC_ERR_MSG(extack, "no %s upon %s, which carries IP of its own addresses only",
		    upper->rtnl_link_ops ? upper->rtnl_link_ops->kind : "netdev", dev->ndev->name);
	return -EOPNOTSUPP;
}
