// { "what": "NETIF_F_LLTX, where netdev_lltx is not", "used_by": "probe.sh" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <linux/netdevice.h>

void mrc_probe(struct net_device *dev)
{
	dev->features |= NETIF_F_LLTX;
}
