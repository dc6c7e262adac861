// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_main.c - module start and end.
 *
 * The module ends in the order of dependence. First, no new devices: both link types are
 * unregistered, and netdevs of kind mrc are deleted with theirs. Then the notifier: its
 * unregistration reports every netdev as gone, which removes the devices of `rdma link add`. Then
 * ib_core finishes all unregistrations. Last, the work queue and RCU drain what the last references
 * freed.
 */
#include <linux/module.h>
#include <net/genetlink.h>
#include <net/rtnetlink.h>
#include <rdma/rdma_netlink.h>
#include "linux/mrc.h"
#include "rdma/mrc-abi.h"
#include "core/mrc_dev.h"
#include "core/mrc_random.h"
#include "mem/mrc_mr.h"
#include "data/mrc_av.h"
#include "data/mrc_bh.h"
#include "data/mrc_endpoint.h"
#include "data/mrc_icrc.h"
#include "data/mrc_qp.h"
#include "data/mrc_qp_grow.h"
#include "data/mrc_qp_overrun.h"
#include "data/mrc_ud.h"
#include "device/mrc_addr.h"
#include "device/mrc_link.h"
#include "device/mrc_netdev.h"
#include "device/mrc_parent.h"
#include "device/mrc_sock.h"
#include "genl/mrc_genl.h"

/* Frees chain: QP -> RCU -> work -> peer or completion queue -> RCU -> work -> device. */
static void mrc_drain(void)
{
	int i;

	for (i = 0; i < 4; i++) {
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
	err = mrc_mr_init();
	if (err)
		goto err_icrc;
	err = mrc_qp_init();
	if (err)
		goto err_mr;
	err = mrc_bh_init();
	if (err)
		goto err_qp;
	return 0;

err_qp:
	mrc_qp_exit();
err_mr:
	mrc_mr_exit();
err_icrc:
	mrc_icrc_exit();
	return err;
}

static void mrc_exit_tables(void)
{
	mrc_bh_exit();
	mrc_ud_exit();
	mrc_av_exit();
	mrc_qp_exit();
	mrc_mr_exit();
	mrc_icrc_exit();
}

static int __init mrc_init(void)
{
	int err;

	mrc_random_init();
	mrc_endpoint_init();
	mrc_qp_overrun_init();
	mrc_wq = alloc_workqueue("mrc", WQ_UNBOUND, 0);
	if (!mrc_wq)
		return -ENOMEM;
	err = mrc_qp_grow_start();
	if (err)
		goto err_wq;
	err = mrc_init_tables();
	if (err)
		goto err_grow;
	err = mrc_sock_init();
	if (err)
		goto err_tables;
	err = mrc_genl_init();
	if (err)
		goto err_sock;
	err = mrc_addr_start();
	if (err)
		goto err_genl;
	err = mrc_parent_init();
	if (err)
		goto err_addr;
	err = mrc_link_init();
	if (err)
		goto err_parent;
	err = mrc_netdev_init();
	if (err)
		goto err_notifier;
	mrc_link_register();
	return 0;

err_notifier:
	mrc_link_exit();
err_parent:
	mrc_parent_exit();
err_addr:
	mrc_addr_end();
err_genl:
	mrc_genl_exit();
err_sock:
	mrc_sock_exit();
err_tables:
	mrc_exit_tables();
err_grow:
	mrc_qp_grow_end();
err_wq:
	destroy_workqueue(mrc_wq);
	return err;
}

static void __exit mrc_exit(void)
{
	mrc_link_unregister();
	mrc_netdev_exit();
	mrc_link_exit();
	flush_workqueue(mrc_wq);	/* devices are with ib_core, or freed */
	ib_unregister_driver(MRC_DRIVER_ID);
	mrc_parent_exit();
	mrc_qp_grow_end();
	mrc_addr_end();
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
MODULE_VERSION(MRC_VERSION);
MODULE_ALIAS_RDMA_LINK("mrc");
MODULE_ALIAS_RTNL_LINK("mrc");
MODULE_ALIAS_GENL_FAMILY(MRC_GENL_NAME);
