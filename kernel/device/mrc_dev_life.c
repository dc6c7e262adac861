// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_dev.c - life of an MRC device, and its planes.
 *
 * A device is made and removed under rtnl, but ib_core takes rtnl inside
 * registration and waits for programs inside unregistration. So both happen in one
 * work item, register_work, which never runs twice at once and decides by
 * state alone:
 *
 *	alive, not registered	register with ib_core
 *	dead, registered	ask ib_core to unregister (its own work queue)
 *	dead, not registered	free
 *
 * mrc_dev_remove() marks the device dead, takes its planes off and queues the
 * work. ib_core may begin on its own (rdma link delete, module unload):
 * mrc_dev_dealloc(), the last thing it calls, does what is missing.
 * Memory lives until the last get_device(), then an RCU grace period.
 *
 * Not here: which planes are up (mrc_carrier.c), settings (mrc_dev_attr.c), peers and
 * paths (mrc_path.c), QPs, what a netdev of kind mrc does.
 */
#include <linux/etherdevice.h>
#include <linux/inetdevice.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include "rdma/mrc-abi.h"
#include "mrc_compat_net.h"
#include "mrc_genl.h"
#include "mrc_net.h"
#include "mrc_path.h"
#include "mrc_qpcc.h"
#include "mrc_seed.h"

#define MRC_PORT_MTU_GOOD	4236	/* 4096 of payload in SRv6 with a segment, and all headers */

static const struct ib_device_ops mrc_life_ops = {
	.dealloc_driver = mrc_dev_dealloc,
};

/* ---- registration ---- */

static int mrc_dev_register(struct mrc_dev *dev)
{
	int err;

	/* GIDs follow the addresses of this netdev. */
	err = ib_device_set_netdev(&dev->ibdev, dev->ndev, 1);
	if (err)
		return err;
	err = -ENFILE;
	if (dev->want_name[0])
		err = ib_register_device(&dev->ibdev, dev->want_name, NULL);
	/* Names of RDMA devices are global over namespaces, those of netdevs are not. */
	if (err == -ENFILE && dev->own_netdev)
		err = ib_register_device(&dev->ibdev, "mrc%d", NULL);
	return err;
}

static void mrc_dev_register_work(struct work_struct *work)
{
	struct mrc_dev *dev = container_of(work, struct mrc_dev, register_work);

	if (!READ_ONCE(dev->dead)) {
		if (dev->registered)
			return;
		dev->reg_err = mrc_dev_register(dev);
		if (dev->reg_err) {
			netdev_err(dev->ndev, "RDMA device not registered: %pe\n",
				   ERR_PTR(dev->reg_err));
			return;
		}
		WRITE_ONCE(dev->registered, true);
		ibdev_info(&dev->ibdev, "on %s, planes up 0x%x\n", dev->ndev->name,
			   READ_ONCE(dev->planes_up));
		mrc_genl_event_dev(dev, MRC_EVENT_DEV_ADD);
		return;
	}
	if (!dev->registered) {
		ib_dealloc_device(&dev->ibdev);
	} else if (ib_device_try_get(&dev->ibdev)) {
		ib_unregister_device_queued(&dev->ibdev);
		ib_device_put(&dev->ibdev);
	}	/* else: ib_core is unregistering it already */
}

/* @exact: @name or an error (rdma link add); else mrc%d when it is taken. */
void mrc_dev_register_later(struct mrc_dev *dev, const char *name, bool exact)
{
	ASSERT_RTNL();
	WARN_ON(exact == dev->own_netdev);
	strscpy(dev->want_name, name ? name : "", sizeof(dev->want_name));
	queue_work(mrc_wq, &dev->register_work);
}

int mrc_dev_register_wait(struct mrc_dev *dev)
{
	flush_work(&dev->register_work);
	return dev->reg_err;
}

/* ---- making and unmaking ---- */

static void mrc_dev_init_ib(struct mrc_dev *dev)
{
	struct ib_device *ibdev = &dev->ibdev;

	mrc_verbs_setup(ibdev);
	ib_set_device_ops(ibdev, &mrc_life_ops);
	strscpy(ibdev->node_desc, "mrc", sizeof(ibdev->node_desc));
	if (dev->ndev->addr_len == ETH_ALEN)
		addrconf_addr_eui48((u8 *)&ibdev->node_guid, dev->ndev->dev_addr);
	else
		ibdev->node_guid = cpu_to_be64(mrc_seed_u64());
	ib_set_device_ops(ibdev, &mrc_dev_ops);
	mrc_verbs_setup(ibdev);
	ib_set_device_ops(ibdev, &mrc_life_ops);
}

struct mrc_dev *mrc_dev_alloc(struct net_device *ndev, bool own_netdev,
			      struct netlink_ext_ack *extack)
{
	struct mrc_net *mnet;
	struct mrc_dev *dev;
	int err;

	ASSERT_RTNL();
	mnet = mrc_net_get(dev_net(ndev), extack);
	if (IS_ERR(mnet))
		return ERR_CAST(mnet);
	dev = ib_alloc_device(mrc_dev, ibdev);
	if (!dev) {
		err = -ENOMEM;
		goto err_net;
	}
	dev->mnet = mnet;
	dev->net = dev_net(ndev);
	dev->ndev = ndev;
	dev->own_netdev = own_netdev;
	dev->attr = mrc_attr_default;
	dev->reg_err = -ENODEV;
	INIT_LIST_HEAD(&dev->link);
	INIT_LIST_HEAD(&dev->profiles);
	INIT_LIST_HEAD(&dev->cc_profiles);
	INIT_LIST_HEAD(&dev->qps);
	spin_lock_init(&dev->peer_lock);
	spin_lock_init(&dev->qp_lock);
	INIT_WORK(&dev->register_work, mrc_dev_register_work);
	mrc_carrier_init(dev);
	spin_lock_init(&dev->incast_lock);
	/* What the last hop can take is learnt: speeds of virtual ports say nothing. */
	mrc_incast_init(&dev->incast, &(struct mrc_incast_cfg){ .off = !dev->attr.incast });
	err = mrc_peers_init(dev);
	if (err)
		goto err_ib;
	ida_init(&dev->pdn_ida);
	netdev_hold(ndev, &dev->ndev_tracker, GFP_KERNEL);
	mrc_dev_init_ib(dev);	/* from here on mrc_dev_dealloc() cleans up */
	return dev;

err_ib:
	ib_dealloc_device(&dev->ibdev);
err_net:
	mrc_net_put(mnet);
	return ERR_PTR(err);
}

void mrc_dev_attach(struct mrc_dev *dev)
{
	ASSERT_RTNL();
	list_add_tail_rcu(&dev->link, &dev->mnet->devs);
}

static void mrc_plane_free_rcu(struct rcu_head *rcu)
{
	struct mrc_dev_plane *plane = container_of(rcu, struct mrc_dev_plane, rcu);

	netdev_put(plane->ndev, &plane->tracker);
	free_percpu(plane->stats);
	kfree(plane);
}

static void mrc_plane_off(struct mrc_dev_plane *plane)
{
	struct mrc_dev *dev = plane->dev;
	u8 n = 0, i;

	RCU_INIT_POINTER(dev->plane[plane->num], NULL);
	for (i = 0; i < MRC_PLANES_MAX; i++)
		if (rtnl_dereference(dev->plane[i]))
			n = i + 1;
	WRITE_ONCE(dev->n_planes, n);
	xa_erase(&dev->mnet->planes, (unsigned long)plane->ndev->ifindex);
	if (dev->own_netdev)
		netdev_upper_dev_unlink(plane->ndev, dev->ndev);
	mrc_carrier_forget(dev, plane->num);
	call_rcu(&plane->rcu, mrc_plane_free_rcu);
}

/* Take the device out of every path. True for the first caller. */
static bool mrc_dev_detach(struct mrc_dev *dev)
{
	struct mrc_dev_plane *plane;
	int i;

	ASSERT_RTNL();
	if (dev->dead)
		return false;
	if (dev->registered)
		mrc_genl_event_dev(dev, MRC_EVENT_DEV_DEL);
	WRITE_ONCE(dev->dead, true);
	for (i = 0; i < MRC_PLANES_MAX; i++) {
		plane = rtnl_dereference(dev->plane[i]);
		if (plane)
			mrc_plane_off(plane);
	}
	mrc_dev_planes_changed(dev);	/* drops cached routes: the namespace may end */
	if (!list_empty(&dev->link))
		list_del_rcu(&dev->link);
	mrc_netdev_detach(dev);
	return true;
}

void mrc_dev_remove(struct mrc_dev *dev)
{
	if (mrc_dev_detach(dev))
		queue_work(mrc_wq, &dev->register_work);
}

/* Process context, no rtnl. ib_core has closed all users; QPs, CQs, MRs are destroyed. */
void mrc_dev_dealloc(struct ib_device *ibdev)
{
	struct mrc_dev *dev = to_mrc_dev(ibdev);

	rtnl_lock();
	mrc_dev_detach(dev);
	rtnl_unlock();
	synchronize_net();	/* packets that saw it alive are through */
	/* It may have been queued again after this run of it saw the device dead. */
	if (current_work() == &dev->register_work)
		cancel_work(&dev->register_work);
	else
		cancel_work_sync(&dev->register_work);
	mrc_carrier_stop(dev);
	mrc_peers_destroy(dev);
	mrc_profiles_destroy(dev);
	mrc_cc_profiles_destroy(dev);
	ida_destroy(&dev->pdn_ida);
	netdev_put(dev->ndev, &dev->ndev_tracker);
	rtnl_lock();
	mrc_net_put(dev->mnet);
	rtnl_unlock();
}

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

/* ---- planes ---- */

static int mrc_plane_number(struct mrc_dev *dev, u8 number, struct netlink_ext_ack *extack)
{
	int i;

	if (number > MRC_PLANES_MAX) {
		MRC_ERR_MSG(extack, "plane %u: numbers go from 1 to %u", number, MRC_PLANES_MAX);
		return -EINVAL;
	}
	if (number) {
		if (!rtnl_dereference(dev->plane[number - 1]))
			return number - 1;
		MRC_ERR_MSG(extack, "plane %u of %s exists already", number, dev->ndev->name);
		return -EEXIST;
	}
	for (i = 0; i < MRC_PLANES_MAX; i++)
		if (!rtnl_dereference(dev->plane[i]))
			return i;
	MRC_ERR_MSG(extack, "%s has %u planes already", dev->ndev->name, MRC_PLANES_MAX);
	return -ENOSPC;
}

/* May @port be a plane of @dev? */
static int mrc_port_check(struct mrc_dev *dev, struct net_device *port,
			  struct netlink_ext_ack *extack)
{
	struct net_device *upper = netdev_master_upper_dev_get(port);
	struct mrc_dev_plane *other;

	if (dev->dead)
		return -ENODEV;
	if (port->flags & IFF_LOOPBACK) {
		MRC_ERR_MSG(extack, "%s is a loopback device", port->name);
		return -EINVAL;
	}
	if (mrc_netdev_dev(port) || (dev->own_netdev && port == dev->ndev)) {
		MRC_ERR_MSG(extack, "%s is an MRC device itself", port->name);
		return -ELOOP;
	}
	if (!net_eq(dev_net(port), dev->net)) {
		MRC_ERR_MSG(extack, "%s is in another network namespace than %s", port->name,
			    dev->ndev->name);
		return -EXDEV;
	}
	other = mrc_plane_of(port);
	if (other) {
		MRC_ERR_MSG(extack, "%s is plane %u of %s already", port->name, other->num + 1,
			    other->dev->ndev->name);
		return -EBUSY;
	}
	if (upper && dev->own_netdev) {
		MRC_ERR_MSG(extack, "%s is enslaved to %s", port->name, upper->name);
		return -EBUSY;
	}
	return 0;
}

static struct mrc_dev_plane *mrc_plane_alloc(struct mrc_dev *dev, struct net_device *port, u8 num)
{
	struct mrc_dev_plane *plane = kzalloc(sizeof(*plane), GFP_KERNEL);
	int cpu;

	if (!plane)
		return NULL;
	plane->stats = alloc_percpu(struct mrc_plane_stats);
	if (!plane->stats) {
		kfree(plane);
		return NULL;
	}
	for_each_possible_cpu(cpu)
		u64_stats_init(&per_cpu_ptr(plane->stats, cpu)->sync);
	plane->dev = dev;
	plane->ndev = port;
	plane->num = num;
	plane->admin = true;
	plane->carrier = netif_running(port) && netif_carrier_ok(port);
	plane->speed_mbps = mrc_netdev_speed(port);
	netdev_hold(port, &plane->tracker, GFP_KERNEL);
	return plane;
}

int mrc_dev_add_plane(struct mrc_dev *dev, struct net_device *port, u8 number,
		      struct netlink_ext_ack *extack)
{
	struct mrc_dev_plane *plane;
	int num, err;

	ASSERT_RTNL();
	err = mrc_port_check(dev, port, extack);
	if (err)
		return err;
	num = mrc_plane_number(dev, number, extack);
	if (num < 0)
		return num;
	plane = mrc_plane_alloc(dev, port, (u8)num);
	if (!plane)
		return -ENOMEM;
	err = xa_err(xa_store(&dev->mnet->planes, (unsigned long)port->ifindex, plane,
			      GFP_KERNEL));
	if (err)
		goto err_free;
	if (dev->own_netdev) {
		/* No IFF_SLAVE: the port keeps its own IPv6. */
		err = netdev_master_upper_dev_link(port, dev->ndev, NULL, NULL, extack);
		if (err)
			goto err_index;
	}
	rcu_assign_pointer(dev->plane[num], plane);
	if (num >= dev->n_planes)
		WRITE_ONCE(dev->n_planes, num + 1);
	if (port->mtu < MRC_PORT_MTU_GOOD)
		MRC_ERR_MSG(extack, "Note: MTU %u of %s is too small for 4096 bytes per packet",
			    port->mtu, port->name);
	mrc_netdev_follow_mtu(dev);
	mrc_dev_planes_changed(dev);
	mrc_genl_event_plane(dev, (u8)num);
	return 0;

err_index:
	xa_erase(&dev->mnet->planes, (unsigned long)port->ifindex);
err_free:
	call_rcu(&plane->rcu, mrc_plane_free_rcu);
	return err;
}

int mrc_dev_del_plane(struct mrc_dev *dev, struct net_device *port)
{
	struct mrc_dev_plane *plane = mrc_plane_of(port);
	u8 num;

	ASSERT_RTNL();
	if (!plane || plane->dev != dev)
		return -ENOENT;
	num = plane->num;
	mrc_plane_off(plane);
	mrc_netdev_follow_mtu(dev);
	mrc_dev_planes_changed(dev);
	mrc_genl_event_plane(dev, num);
	return 0;
}

struct mrc_dev_plane *mrc_plane_of(const struct net_device *port)
{
	struct mrc_net *mnet = mrc_net_of(dev_net(port));

	return mnet ? xa_load(&mnet->planes, (unsigned long)port->ifindex) : NULL;
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
