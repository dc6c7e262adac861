// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_addr.c - see mrc_addr.h.
 *
 * IPv6 reports address changes in softirq, too, so a work item examines peers and path sets. The
 * changes of all netdevs count, because a peer may have any address of this host. The end of
 * duplicate address detection (DAD) is not reported, so it is polled, for addresses of peers only.
 */
#include <linux/inetdevice.h>
#include <linux/notifier.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include "core/mrc_net.h"
#include "path/mrc_path_change.h"
#include "device/mrc_addr.h"

#define ADDR_AGAIN	(HZ / 4)	/* polling interval while DAD runs */

static void addr_work(struct work_struct *work)
{
	struct mrc_dev *dev = container_of(to_delayed_work(work), struct mrc_dev, addr_work);

	rtnl_lock();
	if (mrc_path_change_addrs(dev))
		queue_delayed_work(mrc_wq, &dev->addr_work, ADDR_AGAIN);
	rtnl_unlock();
}

static void addr_changed(const struct net_device *ndev)
{
	struct mrc_net *mnet;
	struct mrc_dev *dev;

	rcu_read_lock();
	mnet = mrc_net_of(dev_net(ndev));
	if (mnet)
		list_for_each_entry_rcu(dev, &mnet->devs, link)
			mod_delayed_work(mrc_wq, &dev->addr_work, 0);
	rcu_read_unlock();
}

static int addr_event_v6(struct notifier_block *nb, unsigned long event, void *ptr)
{
	const struct inet6_ifaddr *ifa = ptr;

	addr_changed(ifa->idev->dev);
	return NOTIFY_DONE;
}

static int addr_event_v4(struct notifier_block *nb, unsigned long event, void *ptr)
{
	const struct in_ifaddr *ifa = ptr;

	addr_changed(ifa->ifa_dev->dev);
	return NOTIFY_DONE;
}

static struct notifier_block addr_v6 = { .notifier_call = addr_event_v6 };
static struct notifier_block addr_v4 = { .notifier_call = addr_event_v4 };

void mrc_addr_init(struct mrc_dev *dev)
{
	INIT_DELAYED_WORK(&dev->addr_work, addr_work);
}

void mrc_addr_stop(struct mrc_dev *dev)
{
	cancel_delayed_work_sync(&dev->addr_work);
}

int mrc_addr_start(void)
{
	int err = register_inet6addr_notifier(&addr_v6);

	if (err)
		return err;
	err = register_inetaddr_notifier(&addr_v4);
	if (err)
		unregister_inet6addr_notifier(&addr_v6);
	return err;
}

void mrc_addr_end(void)
{
	unregister_inetaddr_notifier(&addr_v4);
	unregister_inet6addr_notifier(&addr_v6);
}
