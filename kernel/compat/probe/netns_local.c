// { "since": "6.12", "what": "net_device.netns_local replaces NETIF_F_NETNS_LOCAL", "used_by": "device/mrc_netdev.c" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <linux/netdevice.h>

void mrc_probe(struct net_device *dev)
{
	dev->netns_local = true;
}
