// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_netdev.c - `ip link add mrc0 type mrc`: the netdev that owns the addresses.
 *
 * It has the type of an Ethernet device, because ib_core and rdma_cm require that of RoCE, but has
 * no ARP and no neighbour discovery: its Ethernet header is removed, and mrc_tx_ip() sends the
 * packet over a plane. Its carrier is always on, so GIDs and routes stay when planes fail. The RDMA
 * port shows the state of the planes; it is also down while the netdev is.
 *
 * Ports are enslaved as with a bond (`ip link set eth0 master mrc0`), but keep their own IP. The
 * MTU follows the smallest plane until it is set explicitly.
 */
#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>
#include <net/dsfield.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/rtnetlink.h>
#include "compat/mrc_compat_net.h"
#include "core/mrc_dev_plane.h"
#include "data/mrc_tx_ip.h"
#include "device/mrc_carrier.h"
#include "device/mrc_dev_life.h"
#include "device/mrc_dev_port.h"
#include "device/mrc_netdev.h"

#define MRC_NETDEV_MTU		8900
#define MRC_ENCAP_MAX		64	/* outer IPv6 and a routing header with one segment */

struct mrc_netdev_priv {
	struct mrc_dev __rcu *dev;
	bool mtu_set;			/* the administrator has set the MTU */
	bool mtu_auto;		/* mrc_netdev_follow_mtu() is changing the MTU */
};

/* Under rtnl or RCU. */
static struct mrc_dev *netdev_dev(const struct net_device *ndev)
{
	struct mrc_netdev_priv *priv = netdev_priv(ndev);

	return rcu_dereference_rtnl(priv->dev);
}

void mrc_netdev_follow_mtu(struct mrc_dev *dev)
{
	struct mrc_netdev_priv *priv = netdev_priv(dev->ndev);
	u32 mtu = MRC_NETDEV_MTU;
	struct mrc_dev_plane *plane;
	int i;

	if (!dev->own_netdev || priv->mtu_set || dev->dead)
		return;
	for (i = 0; i < MRC_PLANES_MAX; i++) {
		plane = rtnl_dereference(dev->plane[i]);
		if (plane && plane->ndev->mtu > MRC_ENCAP_MAX)
			mtu = min(mtu, plane->ndev->mtu - MRC_ENCAP_MAX);
	}
	mtu = max(mtu, dev->ndev->min_mtu);
	if (mtu == dev->ndev->mtu)
		return;
	priv->mtu_auto = true;
	dev_set_mtu(dev->ndev, (int)mtu);
	priv->mtu_auto = false;
}

static int ndo_init(struct net_device *ndev)
{
	ndev->tstats = netdev_alloc_pcpu_stats(struct pcpu_sw_netstats);
	if (!ndev->tstats)
		return -ENOMEM;
	netdev_lockdep_set_classes(ndev);
	return 0;
}

static void ndo_uninit(struct net_device *ndev)
{
	free_percpu(ndev->tstats);
	ndev->tstats = NULL;
}

static int ndo_open(struct net_device *ndev)
{
	struct mrc_dev *dev = netdev_dev(ndev);

	if (dev)
		mrc_carrier_admin(dev, true);
	return 0;
}

static int ndo_stop(struct net_device *ndev)
{
	struct mrc_dev *dev = netdev_dev(ndev);

	if (dev)
		mrc_carrier_admin(dev, false);
	return 0;
}

/* Reads the destination as a GID, and the DS field. False: the packet cannot be sent to one host. */
static bool ip_dest(struct sk_buff *skb, union ib_gid *gid, u8 *tos)
{
	struct in6_addr *a = (struct in6_addr *)gid;

	switch (skb->protocol) {
	case htons(ETH_P_IP):
		if (!pskb_may_pull(skb, sizeof(struct iphdr)))
			return false;
		*tos = ip_hdr(skb)->tos;
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr, a);
		return !ipv4_is_multicast(ip_hdr(skb)->daddr) &&
		       !ipv4_is_lbcast(ip_hdr(skb)->daddr);
	case htons(ETH_P_IPV6):
		if (!pskb_may_pull(skb, sizeof(struct ipv6hdr)))
			return false;
		*tos = ipv6_get_dsfield(ipv6_hdr(skb));
		*a = ipv6_hdr(skb)->daddr;
		return !ipv6_addr_is_multicast(a);
	}
	return false;
}

static bool netdev_send(struct mrc_dev *dev, struct sk_buff *skb)
{
	union ib_gid gid;
	u8 tos;

	if (READ_ONCE(dev->dead) || !ip_dest(skb, &gid, &tos) ||
	    !mrc_tx_ip(dev, skb, &gid, tos)) {
		mrc_dev_count(dev, tx_ip_dropped);
		return false;
	}
	return true;
}

static netdev_tx_t ndo_start_xmit(struct sk_buff *skb, struct net_device *ndev)
{
	struct mrc_dev *dev;
	u32 len;

	skb_pull(skb, ETH_HLEN);
	skb_reset_network_header(skb);
	len = skb->len;
	rcu_read_lock();
	dev = netdev_dev(ndev);
	if (likely(dev && netdev_send(dev, skb))) {
		dev_sw_netstats_tx_add(ndev, 1, len);
	} else {
		DEV_STATS_INC(ndev, tx_dropped);
		kfree_skb(skb);
	}
	rcu_read_unlock();
	return NETDEV_TX_OK;
}

static int ndo_change_mtu(struct net_device *ndev, int mtu)
{
	struct mrc_netdev_priv *priv = netdev_priv(ndev);

	if (!priv->mtu_auto)
		priv->mtu_set = true;
	ndev->mtu = (unsigned int)mtu;
	return 0;
}

static int ndo_add_slave(struct net_device *ndev, struct net_device *port,
			 struct netlink_ext_ack *extack)
{
	struct mrc_dev *dev = netdev_dev(ndev);
	int err;

	if (!dev) {
		MRC_ERR_MSG(extack, "%s lost its RDMA device: delete it", ndev->name);
		return -ENODEV;
	}
	err = mrc_dev_port_add(dev, port, 0, extack);
	if (!err)
		mrc_netdev_follow_mtu(dev);
	return err;
}

static int ndo_del_slave(struct net_device *ndev, struct net_device *port)
{
	struct mrc_dev *dev = netdev_dev(ndev);
	int err = dev ? mrc_dev_port_del(dev, port) : -ENODEV;

	if (!err)
		mrc_netdev_follow_mtu(dev);
	return err;
}

static const struct net_device_ops mrc_netdev_ops = {
	.ndo_init = ndo_init,
	.ndo_uninit = ndo_uninit,
	.ndo_open = ndo_open,
	.ndo_stop = ndo_stop,
	.ndo_start_xmit = ndo_start_xmit,
	.ndo_get_stats64 = dev_get_tstats64,
	.ndo_change_mtu = ndo_change_mtu,
	.ndo_validate_addr = eth_validate_addr,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_add_slave = ndo_add_slave,
	.ndo_del_slave = ndo_del_slave,
};

static void netdev_setup(struct net_device *ndev)
{
	ether_setup(ndev);
	ndev->netdev_ops = &mrc_netdev_ops;
	ndev->needs_free_netdev = true;
	ndev->flags |= IFF_NOARP;
	ndev->flags &= ~(IFF_MULTICAST | IFF_BROADCAST);
	ndev->priv_flags |= IFF_NO_QUEUE | IFF_LIVE_ADDR_CHANGE;
	ndev->priv_flags &= ~IFF_TX_SKB_SHARING;
	ndev->features |= NETIF_F_VLAN_CHALLENGED;	/* the Ethernet header is removed, and a tag with it */
	/* No checksum offload: few NICs support it behind an outer header. */
	ndev->features |= NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HIGHDMA;
	mrc_netdev_set_lltx(ndev);
	mrc_netdev_set_netns_fixed(ndev);	/* sockets and hooks belong to this namespace (mrc_sock.h) */
	ndev->mtu = MRC_NETDEV_MTU;
	ndev->min_mtu = IPV6_MIN_MTU;
	ndev->max_mtu = ETH_MAX_MTU - MRC_ENCAP_MAX;
	ndev->needed_headroom = MRC_ENCAP_MAX + LL_MAX_HEADER;
	eth_hw_addr_random(ndev);
}

static int netdev_validate(struct nlattr *tb[], struct nlattr *data[],
			   struct netlink_ext_ack *extack)
{
	if (!tb[IFLA_ADDRESS])
		return 0;
	if (nla_len(tb[IFLA_ADDRESS]) != ETH_ALEN ||
	    !is_valid_ether_addr(nla_data(tb[IFLA_ADDRESS]))) {
		NL_SET_ERR_MSG_ATTR(extack, tb[IFLA_ADDRESS],
				    "must be a unicast Ethernet address of 6 bytes");
		return -EADDRNOTAVAIL;
	}
	return 0;
}

/* A device has many ports, which are enslaved later, so it does not accept a single lower link. */
static int netdev_no_link(struct net *src_net, const struct net_device *ndev, u32 ifindex,
			  struct netlink_ext_ack *extack)
{
	struct net_device *link = __dev_get_by_index(src_net, (int)ifindex);

	MRC_ERR_MSG(extack, "omit \"link\", then: ip link set %s master %s",
		    link ? link->name : "PORT", ndev->name);
	return -EINVAL;
}

static int netdev_newlink(struct net *src_net, struct net_device *ndev,
			  struct nlattr *tb[], struct nlattr *data[],
			  struct netlink_ext_ack *extack)
{
	struct mrc_netdev_priv *priv = netdev_priv(ndev);
	struct mrc_dev *dev;
	int err;

	/* Owners of a user namespace may create netdevs in it, but an RDMA device is visible to the whole host. */
	if (!capable(CAP_NET_ADMIN)) {
		MRC_ERR_MSG(extack,
			    "it creates an RDMA device: needs CAP_NET_ADMIN in the initial user namespace");
		return -EPERM;
	}
	if (tb[IFLA_LINK])
		return netdev_no_link(src_net, ndev, nla_get_u32(tb[IFLA_LINK]), extack);
	priv->mtu_set = tb[IFLA_MTU];
	err = register_netdevice(ndev);
	if (err)
		return err;
	dev = mrc_dev_alloc(ndev, &priv->dev, extack);
	if (IS_ERR(dev)) {
		unregister_netdevice(ndev);
		return PTR_ERR(dev);
	}
	rcu_assign_pointer(priv->dev, dev);
	mrc_dev_attach(dev);
	mrc_dev_register_later(dev, ndev->name, false);
	return 0;
}

MRC_NEWLINK_PARAMS(netdev_newlink)

static void netdev_dellink(struct net_device *ndev, struct list_head *head)
{
	struct mrc_dev *dev = netdev_dev(ndev);

	if (dev)
		mrc_dev_remove(dev);
	unregister_netdevice_queue(ndev, head);
}

static struct rtnl_link_ops mrc_link_ops __read_mostly = {
	.kind = "mrc",
	.priv_size = sizeof(struct mrc_netdev_priv),
	.setup = netdev_setup,
	.validate = netdev_validate,
	MRC_NEWLINK(netdev_newlink)
	.dellink = netdev_dellink,
};

int mrc_netdev_init(void)
{
	return rtnl_link_register(&mrc_link_ops);
}

void mrc_netdev_exit(void)
{
	rtnl_link_unregister(&mrc_link_ops);
}
