/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_compat_net.h - part of mrc_compat.h that only the network files need.
 */
#ifndef MRC_COMPAT_NET_H
#define MRC_COMPAT_NET_H

#include <linux/netdevice.h>
#include <net/genetlink.h>
#include <net/rtnetlink.h>
#include <net/udp_tunnel.h>
#include "compat/mrc_err_text.h"
#include "mrc_have.h"

#ifdef MRC_HAVE_GSO_HEADER
#include <net/gso.h>
#endif
#ifdef MRC_HAVE_NETDEV_LOCK_HEADER
#include <net/netdev_lock.h>
#endif

/* Flag of a multicast group: joining needs CAP_NET_ADMIN. */
#ifdef GENL_MCAST_CAP_NET_ADMIN
#define MRC_MCAST_ADMIN	GENL_MCAST_CAP_NET_ADMIN
#else
#define MRC_MCAST_ADMIN	GENL_UNS_ADMIN_PERM
#endif

/* ndo_start_xmit runs without a lock of the netdev. */
static inline void mrc_netdev_set_lltx(struct net_device *ndev)
{
#ifdef MRC_HAVE_NETDEV_LLTX
	ndev->lltx = true;
#else
	ndev->features |= NETIF_F_LLTX;
#endif
}

/* In a table of rtnl_link_ops: @fn takes the caller's namespace, the netdev and its attributes. */
#ifdef MRC_HAVE_NEWLINK_PARAMS
#define MRC_NEWLINK(fn) .newlink = fn##_params,
#define MRC_NEWLINK_PARAMS(fn)							\
static int fn##_params(struct net_device *ndev, struct rtnl_newlink_params *p,	\
		       struct netlink_ext_ack *extack)				\
{										\
	return fn(p->src_net, ndev, p->tb, p->data, extack);			\
}
#else
#define MRC_NEWLINK(fn) .newlink = (fn),
#define MRC_NEWLINK_PARAMS(fn)
#endif

#ifdef MRC_HAVE_UDP_TUNNEL_SK
#define mrc_udp_tunnel_setup(net, sock, cfg) setup_udp_tunnel_sock(net, (sock)->sk, cfg)
#define mrc_udp_tunnel_release(sock) udp_tunnel_sock_release((sock)->sk)
#else
#define mrc_udp_tunnel_setup setup_udp_tunnel_sock
#define mrc_udp_tunnel_release udp_tunnel_sock_release
#endif

/* The netdev must stay in its namespace. */
static inline void mrc_netdev_set_netns_fixed(struct net_device *ndev)
{
#if defined(MRC_HAVE_NETNS_IMMUTABLE)
	ndev->netns_immutable = true;
#elif defined(MRC_HAVE_NETNS_LOCAL)
	ndev->netns_local = true;
#else
	ndev->features |= NETIF_F_NETNS_LOCAL;
#endif
}

#endif
