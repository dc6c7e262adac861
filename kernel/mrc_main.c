// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_main.c - module start and end, `rdma link add ... type mrc`, and the
 * netdevice notifier through which planes are seen to come and go.
 *
 * End of the module, in the order of dependence: no new devices (both link
 * types unregistered; netdevs of kind mrc are deleted with theirs), the notifier
 * (its unregistration reports every netdev as gone, which removes the devices
 * of `rdma link add`), then ib_core finishes all unregistrations, then the
 * work queue and RCU drain what their last references freed.
 */
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <net/genetlink.h>
#include <net/rtnetlink.h>
#include <rdma/rdma_netlink.h>
#include "rdma/mrc-abi.h"
#include "mrc_genl.h"
#include "mrc_mr.h"
#include "mrc_net.h"
#include "mrc_qp.h"
#include "mrc_seed.h"

struct workqueue_struct *mrc_wq;

/* The device under rtnl, with a reference for the caller. */
static struct mrc_dev *mrc_link_create(const char *name, struct net_device *ndev)
{
	struct mrc_dev *dev;
	int err;

	ASSERT_RTNL();
	if (ndev->reg_state != NETREG_REGISTERED)
		return ERR_PTR(-ENODEV);
	if (mrc_netdev_dev(ndev) || mrc_dev_of_owner(ndev)) {
		netdev_err(ndev, "has an MRC device already\n");
		return ERR_PTR(-EEXIST);
	}
	dev = mrc_dev_alloc(ndev, false, NULL);
	if (IS_ERR(dev)) {
		netdev_err(ndev, "no MRC device: %pe%s\n", dev,
			   PTR_ERR(dev) == -EADDRINUSE ?
			   " (UDP port 4791; rdma_rxe binds it in the initial namespace)" : "");
		return dev;
	}
	get_device(&dev->ibdev.dev);
	mrc_dev_attach(dev);
	err = mrc_dev_add_plane(dev, ndev, 1, NULL);
	if (err) {
		netdev_err(ndev, "cannot be a plane: %pe\n", ERR_PTR(err));
		mrc_dev_remove(dev);
		put_device(&dev->ibdev.dev);
		return ERR_PTR(err);
	}
	mrc_dev_register_later(dev, name, true);
	return dev;
}

/* rdma link add NAME type mrc netdev NDEV: one plane, NDEV, which owns the GIDs too. */
static int mrc_newlink(const char *name, struct net_device *ndev)
{
	struct mrc_dev *dev;
	int err;

	rtnl_lock();
	dev = mrc_link_create(name, ndev);
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

static struct rdma_link_ops mrc_rdma_link_ops = {
	.type = "mrc",
	.newlink = mrc_newlink,
};

static void mrc_netdev_gone(struct net_device *ndev)
{
	struct mrc_dev *owner = mrc_dev_of_owner(ndev);
	struct mrc_dev_plane *plane;

	if (owner && !owner->own_netdev)
		mrc_dev_remove(owner);
	plane = mrc_plane_of(ndev);	/* of another device, or gone by now */
	if (plane)
		mrc_dev_del_plane(plane->dev, ndev);
}

static int mrc_netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(ptr);
	struct mrc_dev_plane *plane;

	if (event == NETDEV_UNREGISTER) {
		mrc_netdev_gone(ndev);
		return NOTIFY_DONE;
	}
	plane = mrc_plane_of(ndev);
	if (!plane)
		return NOTIFY_DONE;
	switch (event) {
	case NETDEV_GOING_DOWN:
		mrc_dev_port_event(plane, true);
		break;
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		mrc_dev_port_event(plane, false);
		break;
	case NETDEV_CHANGEMTU:
		mrc_netdev_follow_mtu(plane->dev);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block mrc_netdev_nb = {
	.notifier_call = mrc_netdev_event,
};

/* Frees chain: QP work -> peer -> RCU -> work -> device. */
static void mrc_drain(void)
{
	int i;

	for (i = 0; i < 3; i++) {
		flush_workqueue(mrc_wq);
		rcu_barrier();
	}
}

static int __init mrc_init_tables(void)
{
	int err;

	err = mrc_icrc_init();
	if (err)
		return err;
	err = mrc_mr_table_init();
	if (err)
		goto err_icrc;
	err = mrc_qp_table_init();
	if (err)
		goto err_mr;
	err = mrc_bh_init();
	if (err)
		goto err_qp;
	return 0;

err_qp:
	mrc_qp_table_exit();
err_mr:
	mrc_mr_table_exit();
err_icrc:
	mrc_icrc_exit();
	return err;
}

static void mrc_exit_tables(void)
{
	mrc_bh_exit();
	mrc_qp_table_exit();
	mrc_mr_table_exit();
	mrc_icrc_exit();
}

static int __init mrc_init(void)
{
	int err;

	mrc_seed_init();
	mrc_wq = alloc_workqueue("mrc", WQ_UNBOUND, 0);
	if (!mrc_wq)
		return -ENOMEM;
	err = mrc_init_tables();
	if (err)
		goto err_wq;
	err = mrc_sock_init();
	if (err)
		goto err_tables;
	err = mrc_genl_init();
	if (err)
		goto err_sock;
	err = register_netdevice_notifier(&mrc_netdev_nb);
	if (err)
		goto err_genl;
	err = mrc_netdev_init();
	if (err)
		goto err_notifier;
	rdma_link_register(&mrc_rdma_link_ops);
	return 0;

err_notifier:
	unregister_netdevice_notifier(&mrc_netdev_nb);
err_genl:
	mrc_genl_exit();
err_sock:
	mrc_sock_exit();
err_tables:
	mrc_exit_tables();
err_wq:
	destroy_workqueue(mrc_wq);
	return err;
}

static void __exit mrc_exit(void)
{
	rdma_link_unregister(&mrc_rdma_link_ops);
	mrc_netdev_exit();
	unregister_netdevice_notifier(&mrc_netdev_nb);
	flush_workqueue(mrc_wq);	/* devices are with ib_core, or freed */
	ib_unregister_driver(MRC_DRIVER_ID);
	mrc_genl_exit();
	mrc_drain();
	mrc_sock_exit();
	mrc_exit_tables();
	mrc_drain();
	destroy_workqueue(mrc_wq);
}

module_init(mrc_init);
module_exit(mrc_exit);

MODULE_DESCRIPTION("OCP MRC (Multipath Reliable Connection) RDMA transport");
MODULE_LICENSE("GPL");
MODULE_ALIAS_RDMA_LINK("mrc");
MODULE_ALIAS_RTNL_LINK("mrc");
MODULE_ALIAS_GENL_FAMILY(MRC_GENL_NAME);
