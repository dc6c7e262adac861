/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_net.h - per network namespace: the list of MRC devices, their planes by ifindex, and
 * (device/mrc_sock.h) the hooks and sockets.
 */
#ifndef MRC_NET_H
#define MRC_NET_H

#include <linux/netfilter.h>
#include <linux/refcount.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>

/*
 * Exists while the namespace has a device, or a device refers to it (mrc_dev.mnet). A device may
 * outlive its namespace; sockets and hooks are gone then.
 */
struct mrc_net {
	struct net *net;
	refcount_t users;		/* devices; under rtnl */
	bool running;			/* sockets and hooks exist; under rtnl */
	struct list_head devs;		/* RCU; changed under rtnl */
	struct xarray planes;		/* ifindex -> struct mrc_dev_plane; changed under rtnl */
	struct socket *sock[4];		/* IPv4 and IPv6, each with ports 4791 and 4971 */
	struct nf_hook_ops hooks[4];	/* for IPv6 and IPv4: received packets, and sent ones
					 * that are not allowed */
	atomic64_t rx_no_dev;		/* MRC packets for no device of ours */
	struct rcu_head rcu;
};

/* The namespace's pointer, in the slot that device/mrc_sock.c registers. */
struct mrc_net_slot {
	struct mrc_net __rcu *mnet;
};

extern unsigned int mrc_net_id;

/* Under rtnl or RCU. NULL: the namespace has no device. */
struct mrc_net *mrc_net_of(const struct net *net);

#endif
