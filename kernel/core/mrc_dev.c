// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_dev.c - queries of a device (mrc_dev.h): its owner, its users, and local addresses.
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

bool mrc_dev_use(struct mrc_dev *dev)
{
	get_device(&dev->ibdev.dev);
	rcu_read_unlock();
	down_read(&dev->use);
	if (!READ_ONCE(dev->dead))
		return true;
	mrc_dev_unuse(dev);
	return false;
}

void mrc_dev_unuse(struct mrc_dev *dev)
{
	up_read(&dev->use);
	put_device(&dev->ibdev.dev);
}

void mrc_dev_unused(struct mrc_dev *dev)
{
	down_write(&dev->use);
	up_write(&dev->use);
}

bool mrc_dev_addr_is_group(const struct in6_addr *a)
{
	return ipv6_addr_is_multicast(a) ||
	       (ipv6_addr_v4mapped(a) && ipv4_is_multicast(a->s6_addr32[3]));
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

struct own_addr {
	const struct in6_addr *dst;
	struct in6_addr best;
	int common;			/* bits that best and dst have in common; -1: no best yet */
};

static void own_addr_try(struct own_addr *own, const struct in6_addr *a)
{
	int common = ipv6_addr_diff(own->dst, a);

	if (common < own->common ||
	    (common == own->common && ipv6_addr_cmp(a, &own->best) >= 0))
		return;
	own->common = common;
	own->best = *a;
}

/* Under RCU. */
static void own_addr_v4(const struct mrc_dev *dev, struct own_addr *own)
{
	struct in_device *in_dev = __in_dev_get_rcu(dev->ndev);
	const struct in_ifaddr *ifa;
	struct in6_addr a;

	if (!in_dev)
		return;
	in_dev_for_each_ifa_rcu(ifa, in_dev) {
		ipv6_addr_set_v4mapped(ifa->ifa_local, &a);
		own_addr_try(own, &a);
	}
}

/* Under RCU. */
static void own_addr_v6(const struct mrc_dev *dev, struct own_addr *own)
{
	bool link_local = ipv6_addr_type(own->dst) & IPV6_ADDR_LINKLOCAL;
	struct inet6_dev *idev = __in6_dev_get(dev->ndev);
	const struct inet6_ifaddr *ifa;

	if (!idev)
		return;
	list_for_each_entry_rcu(ifa, &idev->addr_list, if_list)
		if (!!(ipv6_addr_type(&ifa->addr) & IPV6_ADDR_LINKLOCAL) == link_local)
			own_addr_try(own, &ifa->addr);
}

bool mrc_dev_own_addr(const struct mrc_dev *dev, const struct in6_addr *dst, struct in6_addr *out)
{
	struct own_addr own = { .dst = dst, .common = -1 };

	rcu_read_lock();
	if (READ_ONCE(dev->dead))
		;	/* its netdev may have left */
	else if (ipv6_addr_v4mapped(dst))
		own_addr_v4(dev, &own);
	else
		own_addr_v6(dev, &own);
	rcu_read_unlock();
	*out = own.best;
	return own.common >= 0;
}

/* Is @a an address of this host that has none of the flags @banned? */
static bool dev_has_addr(const struct mrc_dev *dev, const struct in6_addr *a, u32 banned)
{
	bool has;

	rcu_read_lock();	/* the namespace outlasts readers that saw the device alive */
	if (READ_ONCE(dev->dead))
		has = false;
	else if (ipv6_addr_v4mapped(a))
		has = inet_addr_type(dev->net, a->s6_addr32[3]) == RTN_LOCAL;
	else if (ipv6_addr_type(a) & IPV6_ADDR_LINKLOCAL)
		has = ipv6_chk_addr_and_flags(dev->net, a, dev->ndev, false, 1, banned);
	else
		has = ipv6_chk_addr_and_flags(dev->net, a, NULL, true, 0, banned);
	rcu_read_unlock();
	return has;
}

bool mrc_dev_addr_is_local(const struct mrc_dev *dev, const struct in6_addr *a)
{
	return dev_has_addr(dev, a, IFA_F_DADFAILED | IFA_F_TENTATIVE);
}

bool mrc_dev_addr_may_be_local(const struct mrc_dev *dev, const struct in6_addr *a)
{
	return dev_has_addr(dev, a, IFA_F_DADFAILED) && !mrc_dev_addr_is_local(dev, a);
}
