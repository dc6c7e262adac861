// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_sock.c - per network namespace: the netfilter hooks for received and for locally sent
 * packets, and UDP sockets that reserve the ports.
 *
 * The hooks at PRE_ROUTING take all of our packets before UDP sees them. The sockets serve two
 * purposes. Another program that wants the port gets a plain error. And packets for an address that
 * belongs to no device of ours are dropped and counted; without a socket the host would answer with
 * ICMP port unreachable.
 *
 * Hooks and sockets are created for the first device, and removed with the last one or with the
 * namespace, whichever is first. All under rtnl.
 */
#include <linux/in6.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/rtnetlink.h>
#include <net/netns/generic.h>
#include <net/sock.h>
#include <net/udp_tunnel.h>
#include "engine/wire/mrc_wire.h"
#include "compat/mrc_compat_net.h"
#include "core/mrc_net.h"
#include "data/mrc_rx.h"
#include "data/mrc_tx_guard.h"
#include "device/mrc_sock.h"

/* Softirq. The hooks did not take the packet, so it is for no address of a device. */
static int encap_rcv(struct sock *sk, struct sk_buff *skb)
{
	struct mrc_net *mnet = rcu_dereference_sk_user_data(sk);

	if (mnet)
		atomic64_inc(&mnet->rx_no_dev);
	kfree_skb(skb);
	return 0;
}

static int sock_open(struct mrc_net *mnet, struct socket **sock, u8 family, u16 port)
{
	struct udp_port_cfg port_cfg = {
		.family = family,
		.local_udp_port = htons(port),
	};
	struct udp_tunnel_sock_cfg cfg = {
		.sk_user_data = mnet,
		.encap_type = 1,
		.encap_rcv = encap_rcv,
	};
	struct socket *s;
	int err;

	if (family == AF_INET6)
		port_cfg.ipv6_v6only = 1;
	err = udp_sock_create(mnet->net, &port_cfg, &s);
	if (err == -EAFNOSUPPORT && family == AF_INET6)
		return 0;	/* IPv6 is disabled on this host */
	if (err)
		return err;
	mrc_udp_tunnel_setup(mnet->net, s, &cfg);
	*sock = s;
	return 0;
}

static void socks_close(struct mrc_net *mnet)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(mnet->sock); i++) {
		if (mnet->sock[i])
			mrc_udp_tunnel_release(mnet->sock[i]);
		mnet->sock[i] = NULL;
	}
}

static int socks_open(struct mrc_net *mnet, struct netlink_ext_ack *extack)
{
	static const struct {
		u16 port;
		bool must;
	} want[] = {
		{ MRC_UDP_PORT, true },
		{ MRC_UDP_PORT_ALT, false },
	};
	int i, err;

	for (i = 0; i < ARRAY_SIZE(want); i++) {
		err = sock_open(mnet, &mnet->sock[2 * i], AF_INET, want[i].port);
		if (!err)
			err = sock_open(mnet, &mnet->sock[2 * i + 1], AF_INET6,
					want[i].port);
		if (!err)
			continue;
		if (!want[i].must) {
			pr_warn("mrc: cannot reserve UDP port %u (%pe); MRC packets to it are received anyway\n",
				want[i].port, ERR_PTR(err));
			continue;
		}
		if (err == -EADDRINUSE)
			MRC_ERR_MSG(extack,
				    "UDP port %u is in use in this netns (rdma_rxe binds it in the initial one)",
				    want[i].port);
		else
			MRC_ERR_MSG(extack, "cannot open UDP port %u: error %d",
				    want[i].port, -err);
		socks_close(mnet);
		return err;
	}
	return 0;
}

static int hooks_on(struct mrc_net *mnet)
{
	static const struct {
		nf_hookfn *hook;
		u8 pf;
		u8 num;
		int priority;
	} want[] = {
		{ mrc_rx_hook, NFPROTO_IPV6, NF_INET_PRE_ROUTING, NF_IP6_PRI_FIRST },
		{ mrc_rx_hook, NFPROTO_IPV4, NF_INET_PRE_ROUTING, NF_IP_PRI_FIRST },
		{ mrc_tx_guard, NFPROTO_IPV6, NF_INET_LOCAL_OUT, NF_IP6_PRI_LAST },
		{ mrc_tx_guard, NFPROTO_IPV4, NF_INET_LOCAL_OUT, NF_IP_PRI_LAST },
	};
	int i;

	BUILD_BUG_ON(ARRAY_SIZE(want) != ARRAY_SIZE(mnet->hooks));
	for (i = 0; i < ARRAY_SIZE(want); i++) {
		mnet->hooks[i] = (struct nf_hook_ops) {
			.hook = want[i].hook,
			.priv = mnet,
			.pf = want[i].pf,
			.hooknum = want[i].num,
			.priority = want[i].priority,
		};
	}
	return nf_register_net_hooks(mnet->net, mnet->hooks, ARRAY_SIZE(mnet->hooks));
}

static void sock_stop(struct mrc_net *mnet)
{
	struct mrc_net_slot *slot;

	if (!mnet->running)	/* stopped already, when the namespace ended: mnet->net may be freed */
		return;
	slot = net_generic(mnet->net, mrc_net_id);
	mnet->running = false;
	RCU_INIT_POINTER(slot->mnet, NULL);
	nf_unregister_net_hooks(mnet->net, mnet->hooks, ARRAY_SIZE(mnet->hooks));
	socks_close(mnet);
}

static struct mrc_net *sock_make(struct net *net, struct netlink_ext_ack *extack)
{
	struct mrc_net_slot *slot = net_generic(net, mrc_net_id);
	struct mrc_net *mnet;
	int err;

	mnet = kzalloc(sizeof(*mnet), GFP_KERNEL);
	if (!mnet)
		return ERR_PTR(-ENOMEM);
	mnet->net = net;
	refcount_set(&mnet->users, 1);
	INIT_LIST_HEAD(&mnet->devs);
	xa_init(&mnet->planes);
	err = socks_open(mnet, extack);
	if (err)
		goto err_free;
	err = hooks_on(mnet);
	if (err)
		goto err_socks;
	mnet->running = true;
	rcu_assign_pointer(slot->mnet, mnet);
	return mnet;

err_socks:
	socks_close(mnet);
err_free:
	/* A packet may be using the sockets' user data. */
	kfree_rcu(mnet, rcu);
	return ERR_PTR(err);
}

struct mrc_net *mrc_sock_get(struct net *net, struct netlink_ext_ack *extack)
{
	struct mrc_net *mnet;

	ASSERT_RTNL();
	mnet = mrc_net_of(net);
	if (!mnet)
		return sock_make(net, extack);
	refcount_inc(&mnet->users);
	return mnet;
}

void mrc_sock_put(struct mrc_net *mnet)
{
	ASSERT_RTNL();
	if (!refcount_dec_and_test(&mnet->users))
		return;
	sock_stop(mnet);
	xa_destroy(&mnet->planes);
	kfree_rcu(mnet, rcu);
}

/* The namespace ends. Its netdevs are gone, but RDMA devices may still hold references. */
static void __net_exit net_exit(struct net *net)
{
	struct mrc_net *mnet;

	rtnl_lock();
	mnet = mrc_net_of(net);
	if (mnet)
		sock_stop(mnet);
	rtnl_unlock();
}

static struct pernet_operations mrc_net_ops = {
	.exit = net_exit,
	.id = &mrc_net_id,
	.size = sizeof(struct mrc_net_slot),
};

int mrc_sock_init(void)
{
	return register_pernet_subsys(&mrc_net_ops);
}

void mrc_sock_exit(void)
{
	unregister_pernet_subsys(&mrc_net_ops);
}
