// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_parent.c - see mrc_parent.h.
 *
 * Programs follow the link "device" to find a nearby PCI device or NUMA node. Our device has as
 * many adapters as planes, and planes come and go while programs use it. So its parent in the
 * device model is always a platform device of ours, without power management and never unplugged.
 * The link points to the PCI device of the first plane that has one.
 *
 * A PCI device as the real parent would have to be changed by device_move() when a port is
 * unplugged, together with the devices of uverbs and umad, which ib_core keeps private. And udev
 * would name the RDMA device after it.
 *
 * The link is removed before the PCI device: a netdev is unregistered before its parent, and the
 * plane with it. Copies of the device in other namespaces (ib_core's shared mode) follow. A copy
 * that is created later points to the platform device until the next change.
 */
#include <linux/if_vlan.h>
#include <linux/pci.h>
#include <linux/platform_device.h>
#include <linux/rtnetlink.h>
#include "core/mrc_dev_plane.h"
#include "device/mrc_parent.h"

static struct platform_device *mrc_parent;

int mrc_parent_init(void)
{
	int err;

	mrc_parent = platform_device_alloc("mrc", PLATFORM_DEVID_NONE);
	if (!mrc_parent)
		return -ENOMEM;
	set_dev_node(&mrc_parent->dev, first_online_node);	/* arbitrary: the device is close to no node */
	err = platform_device_add(mrc_parent);
	if (err)
		platform_device_put(mrc_parent);
	return err;
}

void mrc_parent_exit(void)
{
	platform_device_unregister(mrc_parent);
}

void mrc_parent_setup(struct ib_device *ibdev)
{
	ibdev->dev.parent = &mrc_parent->dev;
}

/* The PCI device of @port, or NULL. There may be other buses in between, for example virtio. */
static struct device *pci_of(const struct net_device *port)
{
	struct device *at;

	if (is_vlan_dev(port))
		port = vlan_dev_real_dev(port);
	for (at = port->dev.parent; at && !dev_is_pci(at); at = at->parent)
		;
	return at;
}

static struct device *parent_of(struct mrc_dev *dev)
{
	const struct mrc_dev_plane *plane;
	struct device *pci = NULL;
	int i;

	for (i = 0; i < MRC_PLANES_MAX && !pci; i++) {
		plane = rtnl_dereference(dev->plane[i]);
		if (plane)
			pci = pci_of(plane->ndev);
	}
	return pci ?: &mrc_parent->dev;
}

static void relink(struct device *of, struct device *to)
{
	sysfs_remove_link(&of->kobj, "device");
	if (sysfs_create_link(&of->kobj, &to->kobj, "device"))
		dev_warn(of, "cannot create the sysfs link \"device\": no memory\n");
}

void mrc_parent_follow(struct mrc_dev *dev)
{
	struct ib_core_device *copy;
	struct device *to;
	unsigned long i;

	ASSERT_RTNL();
	/* The reference prevents unregistration meanwhile. */
	if (!READ_ONCE(dev->registered) || !ib_device_try_get(&dev->ibdev))
		return;
	to = parent_of(dev);
	if (to != dev->parent) {
		relink(&dev->ibdev.dev, to);
		mutex_lock(&dev->ibdev.compat_devs_mutex);
		xa_for_each(&dev->ibdev.compat_devs, i, copy)
			relink(&copy->dev, to);
		mutex_unlock(&dev->ibdev.compat_devs_mutex);
		dev->parent = to;
	}
	ib_device_put(&dev->ibdev);
}
