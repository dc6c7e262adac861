// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_link.c - see mrc_link.h.
 */
#include <linux/rtnetlink.h>
#include <rdma/rdma_netlink.h>
#include "core/mrc_dev_plane.h"
#include "data/mrc_mcast.h"
#include "device/mrc_carrier.h"
#include "device/mrc_dev_life.h"
#include "device/mrc_dev_port.h"
#include "device/mrc_link.h"
#include "device/mrc_netdev.h"
#include "device/mrc_upper.h"

/* Under rtnl. Creates the device with its plane, with a reference for the caller. ERR_PTR on failure, logged. */
static struct mrc_dev *link_create(const char *name, struct net_device *ndev)
{
	struct netlink_ext_ack why = {};	/* ib_core passes no extack, so the text goes to the log */
	struct mrc_dev *dev;
	int err;

	ASSERT_RTNL();
	if (ndev->reg_state != NETREG_REGISTERED)
		return ERR_PTR(-ENODEV);
	if (mrc_dev_of_owner(ndev)) {
		netdev_err(ndev, "has an MRC device already, and can have only one\n");
		return ERR_PTR(-EEXIST);
	}
	dev = mrc_dev_alloc(ndev, NULL, NULL);
	if (IS_ERR(dev)) {
		netdev_err(ndev, "cannot create an MRC device: %pe%s\n", dev,
			   PTR_ERR(dev) == -EADDRINUSE ?
			   " (UDP port 4791 is in use; rdma_rxe binds it in the initial namespace)" : "");
		return dev;
	}
	get_device(&dev->ibdev.dev);
	mrc_dev_attach(dev);
	err = mrc_dev_port_add(dev, ndev, 1, &why);
	if (err) {
		netdev_err(ndev, "cannot be a plane: %pe%s%s\n", ERR_PTR(err), why._msg ? ": " : "",
			   why._msg ?: "");
		mrc_dev_remove(dev);
		put_device(&dev->ibdev.dev);
		return ERR_PTR(err);
	}
	mrc_dev_register_later(dev, name, true);
	return dev;
}

/* rdma link add NAME type mrc netdev NDEV: one plane, NDEV, which owns the GIDs too. */
static int link_new(const char *name, struct net_device *ndev)
{
	struct mrc_dev *dev;
	int err;

	rtnl_lock();
	dev = link_create(name, ndev);
	rtnl_unlock();
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	err = mrc_dev_register_wait(dev);
	if (err) {
		rtnl_lock();
		mrc_dev_remove(dev);
		rtnl_unlock();
	}
	put_device(&dev->ibdev.dev);
	return err;
}

static struct rdma_link_ops link_ops = {
	.type = "mrc",
	.newlink = link_new,
};

/* @ndev is being unregistered: removes its device of rdma link add, and the plane that it is. */
static void link_unregistered(struct net_device *ndev)
{
	struct mrc_dev *owner = mrc_dev_of_owner(ndev);
	struct mrc_dev_plane *plane;

	if (owner && !owner->own_netdev)
		mrc_dev_remove(owner);
	plane = mrc_dev_plane_of(ndev);	/* of another device; the own one was removed above */
	if (plane) {
		owner = plane->dev;
		mrc_dev_port_del(owner, ndev);
		mrc_netdev_follow_mtu(owner);
	}
}

static int link_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(ptr);
	struct mrc_dev_plane *plane;
	struct mrc_dev *owner;

	if (event == NETDEV_UNREGISTER) {
		link_unregistered(ndev);
		return NOTIFY_DONE;
	}
	if (event == NETDEV_PRECHANGEUPPER) {
		owner = mrc_dev_of_owner(ndev);
		return owner ? notifier_from_errno(mrc_upper_check(owner, ptr)) : NOTIFY_DONE;
	}
	plane = mrc_dev_plane_of(ndev);
	if (!plane)
		return NOTIFY_DONE;
	switch (event) {
	case NETDEV_GOING_DOWN:
		mrc_carrier_port(plane, true);
		break;
	case NETDEV_UP:
		mrc_mcast_plane_rejoin(plane);
		fallthrough;
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		mrc_carrier_port(plane, false);
		break;
	case NETDEV_CHANGEMTU:
		mrc_netdev_follow_mtu(plane->dev);
		mrc_mcast_plane_rejoin(plane);	/* before mrc_carrier_mtu(), which drops cached routes */
		mrc_carrier_mtu(plane->dev);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block link_nb = {
	.notifier_call = link_event,
};

int mrc_link_init(void)
{
	return register_netdevice_notifier(&link_nb);
}

void mrc_link_exit(void)
{
	unregister_netdevice_notifier(&link_nb);
}

void mrc_link_register(void)
{
	rdma_link_register(&link_ops);
}

void mrc_link_unregister(void)
{
	rdma_link_unregister(&link_ops);
}
