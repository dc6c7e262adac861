// { "since": "6.15", "what": "net/netdev_lock.h, where netdev_lockdep_set_classes() is", "used_by": "compat/mrc_compat_net.h" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <linux/netdevice.h>
#include <net/netdev_lock.h>

void mrc_probe(struct net_device *ndev)
{
	netdev_lockdep_set_classes(ndev);
}
