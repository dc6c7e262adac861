/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_compat_net.h - as mrc_compat.h, for what only the network files use.
 */
#ifndef MRC_COMPAT_NET_H
#define MRC_COMPAT_NET_H

#include <linux/netdevice.h>
#if __has_include(<net/gso.h>)
#include <net/gso.h>
#endif
#include "compat/mrc_err_text.h"
#include "mrc_have.h"

/* ndo_start_xmit needs no lock of the netdev's. */
static inline void mrc_netdev_set_lltx(struct net_device *ndev)
{
#ifdef MRC_HAVE_NETDEV_LLTX
	ndev->lltx = true;
#else
	ndev->features |= NETIF_F_LLTX;
#endif
}

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
