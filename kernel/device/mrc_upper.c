// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_upper.c - see mrc_upper.h.
 *
 * mrc0 sends a packet to the peer that owns the destination address, and accepts packets for its
 * own addresses only. An ipvlan, macvlan, bridge or bond on top would have addresses without paths,
 * or frames that mrc0 does not carry. ib_core would list its GIDs, but every packet would be lost.
 * So it is refused, with the reason. A VRF has no address of its own and is allowed.
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
