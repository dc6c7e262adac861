// { "since": "6.15", "what": "net_device.netns_immutable replaces netns_local", "used_by": "device/mrc_netdev.c" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <linux/netdevice.h>

void mrc_probe(struct net_device *dev)
{
	dev->netns_immutable = true;
}
