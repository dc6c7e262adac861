// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_gid.c - see mrc_gid.h.
 *
 * ib_core assumes that a RoCE device is an adapter. It offers the addresses of all VLANs, bridges
 * and other netdevs on top of the adapter's netdev as GIDs, but none for a device on a VLAN. Our
 * device belongs to exactly the netdev on which it was created, and packets of other netdevs are
 * not for it. So ib_core gets the adapter's netdev, and this file accepts or refuses each address
 * that it offers. ib_core logs each refusal (GID add failed), which is harmless.
 *
 * Netdevs of kind mrc have nothing on top (device/mrc_upper.c).
 */
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <rdma/ib_verbs.h>
#include "device/mrc_gid.h"

/* ib_core holds a reference on attr->ndev during the call. */
static int gid_add(const struct ib_gid_attr *attr, void **context)
{
	const struct mrc_dev *dev = to_mrc_dev(attr->device);

	return rcu_access_pointer(attr->ndev) == dev->ndev ? 0 : -EADDRNOTAVAIL;
}

static int gid_del(const struct ib_gid_attr *attr, void **context)
{
	return 0;
}

static const struct ib_device_ops gid_ops = {
	.add_gid = gid_add,
	.del_gid = gid_del,
};

/* A VLAN has its adapter's MAC address. Both may have an RDMA device, so the node GUID contains the VLAN ID. */
static void gid_node_vlan(struct ib_device *ibdev, u16 vlan)
{
	u8 *eui = (u8 *)&ibdev->node_guid;

	eui[3] = (u8)(vlan >> 8);	/* without a VLAN, these two bytes are ff:fe */
	eui[4] = (u8)vlan;
}

void mrc_gid_setup(struct mrc_dev *dev)
{
	if (dev->own_netdev)
		return;
	ib_set_device_ops(&dev->ibdev, &gid_ops);
	if (is_vlan_dev(dev->ndev))
		gid_node_vlan(&dev->ibdev, vlan_dev_vlan_id(dev->ndev));
}

struct net_device *mrc_gid_netdev(const struct mrc_dev *dev)
{
	return is_vlan_dev(dev->ndev) ? vlan_dev_real_dev(dev->ndev) : dev->ndev;
}
