// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_dev.c - what may be asked of a device.
 */
#include <linux/inetdevice.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <net/route.h>
#include "core/mrc_dev.h"
#include "core/mrc_net.h"

struct workqueue_struct *mrc_wq;

struct mrc_dev *mrc_dev_of_owner(const struct net_device *ndev)
{
	struct mrc_net *mnet;
	struct mrc_dev *dev;

	ASSERT_RTNL();
	mnet = mrc_net_of(dev_net(ndev));
	if (!mnet)
		return NULL;
	list_for_each_entry(dev, &mnet->devs, link)
		if (dev->ndev == ndev)
			return dev;
	return NULL;
}

bool mrc_dev_owns_addr(const struct mrc_dev *dev, const struct in6_addr *a)
{
	const struct in_ifaddr *ifa;
	struct in_device *in_dev;

	if (READ_ONCE(dev->dead))
		return false;
	if (!ipv6_addr_v4mapped(a))
		return ipv6_chk_addr(dev->net, a, dev->ndev, 1);
	in_dev = __in_dev_get_rcu(dev->ndev);
	if (!in_dev)
		return false;
	in_dev_for_each_ifa_rcu(ifa, in_dev)
		if (ifa->ifa_local == a->s6_addr32[3])
			return true;
	return false;
}

bool mrc_dev_addr_is_local(const struct mrc_dev *dev, const struct in6_addr *a)
{
	bool local;

	rcu_read_lock();	/* the namespace outlasts readers that saw the device alive */
	if (READ_ONCE(dev->dead))
		local = false;
	else if (ipv6_addr_v4mapped(a))
		local = inet_addr_type(dev->net, a->s6_addr32[3]) == RTN_LOCAL;
	else if (ipv6_addr_type(a) & IPV6_ADDR_LINKLOCAL)
		local = ipv6_chk_addr(dev->net, a, dev->ndev, 1);
	else
		local = ipv6_chk_addr(dev->net, a, NULL, 0);
	rcu_read_unlock();
	return local;
}
