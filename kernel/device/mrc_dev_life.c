// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_dev_life.c - the life cycle of an MRC device.
 *
 * A device is created and removed under rtnl. But ib_core takes rtnl inside registration, and waits
 * for programs inside unregistration. So both run in one work item, register_work, which never runs
 * concurrently and decides by state alone:
 *
 *	alive, not registered	register with ib_core
 *	dead, registered	queue unregistration in ib_core's work queue; retry while ib_core is busy
 *	dead, not registered	free
 *
 * mrc_dev_remove() marks the device dead, removes its planes and queues the work. ib_core may also
 * start the removal (rdma link delete, module unload). Then dev_dealloc(), its last callback, does
 * the rest. Memory lives until the last get_device() reference and an RCU grace period.
 *
 * Planes are in mrc_dev_port.c, their state in mrc_carrier.c, netdevs of kind mrc in mrc_netdev.c.
 */
#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include "core/mrc_event.h"
#include "core/mrc_log.h"
#include "core/mrc_net.h"
#include "core/mrc_random.h"
#include "path/mrc_cc_profile.h"
#include "path/mrc_claim.h"
#include "path/mrc_path_change.h"
#include "path/mrc_peers.h"
#include "path/mrc_profiles.h"
#include "data/mrc_loop.h"
#include "data/mrc_ud_dup.h"
#include "verbs/mrc_verbs.h"
#include "device/mrc_addr.h"
#include "device/mrc_carrier.h"
#include "device/mrc_dev_life.h"
#include "device/mrc_dev_port.h"
#include "device/mrc_gid.h"
#include "device/mrc_parent.h"
#include "device/mrc_sock.h"

#define DEV_BUSY	(HZ / 10)	/* ib_core is busy with the device: retry */

/* ---- registration ---- */

/*
 * With "rdma system set netns exclusive" a device is visible in one namespace only, which must be that of its netdev.
 * ib_core of the supported kernels creates all devices in the initial namespace, from which rdma(8) can move them. It
 * has no function for another one (newer kernels: ib_alloc_device_with_net()). Before registration ib_core does not
 * use the field, so it is set here. In shared mode every namespace has access, and nothing is done.
 */
static void dev_set_netns(struct mrc_dev *dev)
{
	if (!rdma_dev_access_netns(&dev->ibdev, dev->net))
		write_pnet(&dev->ibdev.coredev.rdma_net, dev->net);
}

/*
 * The namespace, referenced; NULL: it or the device is ending. The reference keeps the namespace during registration:
 * when one ends, ib_core moves its devices away, and would miss a device that is registered later.
 */
static struct net *dev_get_net(struct mrc_dev *dev)
{
	struct net *net;

	rtnl_lock();	/* dev->net is valid while the device is not dead */
	net = dev->dead ? NULL : maybe_get_net(dev->net);
	rtnl_unlock();
	return net;
}

static int dev_register(struct mrc_dev *dev)
{
	int err;

	/* GIDs follow the addresses of this netdev. */
	err = ib_device_set_netdev(&dev->ibdev, mrc_gid_netdev(dev), 1);
	if (err)
		return err;
	dev_set_netns(dev);
	err = -ENFILE;
	if (dev->want_name[0])
		err = ib_register_device(&dev->ibdev, dev->want_name, NULL);
	/* The name of the netdev may be taken: names of RDMA devices are unique over all namespaces. */
	if (err == -ENFILE && dev->own_netdev)
		err = ib_register_device(&dev->ibdev, "mrc%d", NULL);
	return err;
}

static void dev_register_work(struct work_struct *work)
{
	struct mrc_dev *dev = container_of(to_delayed_work(work), struct mrc_dev, register_work);
	struct net *net;

	if (!READ_ONCE(dev->dead)) {
		if (dev->registered)
			return;
		net = dev_get_net(dev);
		if (!net)
			return;
		dev->reg_err = dev_register(dev);
		put_net(net);
		if (dev->reg_err) {
			netdev_err(dev->ndev, "RDMA device not registered: %pe\n",
				   ERR_PTR(dev->reg_err));
			return;
		}
		WRITE_ONCE(dev->registered, true);
		rtnl_lock();
		mrc_parent_follow(dev);
		rtnl_unlock();
		ibdev_info(&dev->ibdev, "registered for netdev %s, mask of planes that are up 0x%x\n", dev->ndev->name,
			   READ_ONCE(dev->planes_up));
		mrc_event_dev(dev, MRC_EVENT_DEV_ADD);
		return;
	}
	if (!dev->registered) {
		ib_dealloc_device(&dev->ibdev);
	} else if (ib_device_try_get(&dev->ibdev)) {
		ib_unregister_device_queued(&dev->ibdev);
		ib_device_put(&dev->ibdev);
	} else {
		/*
		 * Either ib_core unregisters the device already, which ends in dev_dealloc(), or it moves the device to
		 * another namespace: retry.
		 */
		queue_delayed_work(mrc_wq, &dev->register_work, DEV_BUSY);
	}
}

void mrc_dev_register_later(struct mrc_dev *dev, const char *name, bool exact)
{
	ASSERT_RTNL();
	WARN_ON(exact == dev->own_netdev);
	strscpy(dev->want_name, name ? name : "", sizeof(dev->want_name));
	queue_delayed_work(mrc_wq, &dev->register_work, 0);
}

int mrc_dev_register_wait(struct mrc_dev *dev)
{
	flush_delayed_work(&dev->register_work);
	return dev->reg_err;
}

/* ---- creation and removal ---- */

static void dev_dealloc(struct ib_device *ibdev);

static const struct ib_device_ops dev_life_ops = {
	.dealloc_driver = dev_dealloc,
};

static void dev_init_ib(struct mrc_dev *dev)
{
	struct ib_device *ibdev = &dev->ibdev;

	mrc_verbs_setup(ibdev);
	ib_set_device_ops(ibdev, &dev_life_ops);
	strscpy(ibdev->node_desc, "mrc", sizeof(ibdev->node_desc));
	if (dev->ndev->addr_len == ETH_ALEN)
		addrconf_addr_eui48((u8 *)&ibdev->node_guid, dev->ndev->dev_addr);
	else
		ibdev->node_guid = cpu_to_be64(mrc_random_u64());
	mrc_gid_setup(dev);
	mrc_parent_setup(ibdev);
}

struct mrc_dev *mrc_dev_alloc(struct net_device *ndev, struct mrc_dev __rcu **slot,
			      struct netlink_ext_ack *extack)
{
	struct mrc_net *mnet;
	struct mrc_dev *dev;
	int err;

	ASSERT_RTNL();
	mnet = mrc_sock_get(dev_net(ndev), extack);
	if (IS_ERR(mnet))
		return ERR_CAST(mnet);
	dev = ib_alloc_device(mrc_dev, ibdev);
	if (!dev) {
		err = -ENOMEM;
		goto err_net;
	}
	dev->hash_seed = mrc_random_u32();
	dev->mnet = mnet;
	dev->net = dev_net(ndev);
	dev->ndev = ndev;
	dev->own_netdev = slot;
	dev->netdev_slot = slot;
	dev->down = slot;	/* a new netdev of kind mrc is down: mrc_carrier_admin() */
	dev->attr = mrc_dev_attr_default;
	dev->reg_err = -ENODEV;
	dev->mtu_reported = IB_MTU_4096;
	init_rwsem(&dev->use);
	INIT_LIST_HEAD(&dev->link);
	dev->profiles = RB_ROOT;
	INIT_LIST_HEAD(&dev->cc_profiles);
	mutex_init(&dev->sum_mutex);
	spin_lock_init(&dev->peer_lock);
	spin_lock_init(&dev->qp_lock);
	spin_lock_init(&dev->plain_roce_lock);
	INIT_DELAYED_WORK(&dev->register_work, dev_register_work);
	mrc_carrier_init(dev);
	mrc_addr_init(dev);
	spin_lock_init(&dev->incast_lock);
	/* No rate of the last hop is configured: it is measured, because virtual ports report no useful speed. */
	mrc_incast_init(&dev->incast, &(struct mrc_incast_cfg){ .off = !dev->attr.incast });
	mrc_path_change_init(dev);
	err = mrc_log_init(dev);
	if (err)
		goto err_ib;
	err = mrc_loop_init(dev);
	if (err)
		goto err_log;
	err = mrc_ud_dup_init(dev);
	if (err)
		goto err_loop;
	err = mrc_peers_init(dev);
	if (err)
		goto err_dup;
	err = mrc_claim_init(dev);
	if (err)
		goto err_peers;
	ida_init(&dev->pdn_ida);
	xa_init_flags(&dev->counters, XA_FLAGS_ALLOC1);
	netdev_hold(ndev, &dev->ndev_tracker, GFP_KERNEL);
	dev_init_ib(dev);	/* from here on dev_dealloc() cleans up */
	return dev;

err_peers:
	mrc_peers_destroy(dev);
err_dup:
	mrc_ud_dup_exit(dev);
err_loop:
	mrc_loop_exit(dev);
err_log:
	mrc_log_exit(dev);
err_ib:
	ib_dealloc_device(&dev->ibdev);
err_net:
	mrc_sock_put(mnet);
	return ERR_PTR(err);
}

void mrc_dev_attach(struct mrc_dev *dev)
{
	ASSERT_RTNL();
	list_add_tail_rcu(&dev->link, &dev->mnet->devs);
}

/* Marks the device dead and removes it from all lookups. True for the first caller. */
static bool dev_detach(struct mrc_dev *dev)
{
	struct mrc_dev_plane *plane;
	int i;

	ASSERT_RTNL();
	if (dev->dead)
		return false;
	if (dev->registered)
		mrc_event_dev(dev, MRC_EVENT_DEV_DEL);
	WRITE_ONCE(dev->dead, true);
	for (i = 0; i < MRC_PLANES_MAX; i++) {
		plane = rtnl_dereference(dev->plane[i]);
		if (plane)
			mrc_dev_port_off(plane);
	}
	mrc_carrier_changed(dev);	/* drops cached routes: the namespace may end */
	if (!list_empty(&dev->link))
		list_del_rcu(&dev->link);
	if (dev->netdev_slot && rtnl_dereference(*dev->netdev_slot) == dev)
		RCU_INIT_POINTER(*dev->netdev_slot, NULL);
	return true;
}

void mrc_dev_remove(struct mrc_dev *dev)
{
	if (dev_detach(dev))
		queue_delayed_work(mrc_wq, &dev->register_work, 0);
}

/* Process context, without rtnl. ib_core has closed all users: QPs, CQs and MRs are destroyed. */
static void dev_dealloc(struct ib_device *ibdev)
{
	struct mrc_dev *dev = to_mrc_dev(ibdev);

	rtnl_lock();
	dev_detach(dev);
	rtnl_unlock();
	synchronize_net();	/* packets that found it alive are processed */
	mrc_dev_unused(dev);	/* dumps have ended, too */
	/* The work item may have been queued again. It may also be the caller, and must not wait for itself. */
	if (current_work() == &dev->register_work.work)
		cancel_delayed_work(&dev->register_work);
	else
		cancel_delayed_work_sync(&dev->register_work);
	mrc_carrier_stop(dev);
	mrc_addr_stop(dev);
	mrc_path_change_stop(dev);
	mrc_peers_destroy(dev);
	mrc_avoids_exit(dev);
	mrc_claim_exit(dev);
	mrc_ud_dup_exit(dev);
	mrc_loop_exit(dev);
	mrc_log_stop(dev);
	mrc_log_exit(dev);
	mrc_profiles_destroy(dev);
	mrc_cc_profiles_destroy(dev);
	ida_destroy(&dev->pdn_ida);
	xa_destroy(&dev->counters);
	netdev_put(dev->ndev, &dev->ndev_tracker);
	rtnl_lock();
	mrc_sock_put(dev->mnet);
	rtnl_unlock();
}
