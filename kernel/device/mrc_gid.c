// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_gid.c - see mrc_gid.h.
 *
 * ib_core thinks of a RoCE device as an adapter: the device belongs to the adapter's netdev, and
 * addresses of all VLANs, bridges and whatever else lies upon that one are GIDs, too; a device
 * of a VLAN alone it gives no address. Our device is the netdev it was made on: what comes by
 * another one is not for it. So ib_core is told the adapter, and what it offers is taken or
 * refused here. It logs each refusal (GID add failed), which is harmless.
 *
 * Nothing lies upon netdevs of kind mrc (device/mrc_upper.c).
 */
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <rdma/ib_verbs.h>
#include "device/mrc_gid.h"

/* attr->ndev is referenced until this has returned. */
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

/* A VLAN has its adapter's MAC address, and may have an RDMA device beside it. */
static void gid_node_vlan(struct ib_device *ibdev, u16 vlan)
{
	u8 *eui = (u8 *)&ibdev->node_guid;

	eui[3] = (u8)(vlan >> 8);	/* ff:fe where there is no VLAN */
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
