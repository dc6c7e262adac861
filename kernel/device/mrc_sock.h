/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_sock.h - per network namespace: netfilter hooks, through which packets are received, and UDP
 * sockets, which reserve the ports.
 */
#ifndef MRC_SOCK_H
#define MRC_SOCK_H

#include "core/mrc_net.h"

/*
 * Under rtnl. The object of namespace @net, created on first use; each device holds one reference. ERR_PTR on failure;
 * -EADDRINUSE with an extack message that names the port.
 */
struct mrc_net *mrc_sock_get(struct net *net, struct netlink_ext_ack *extack);
void mrc_sock_put(struct mrc_net *mnet);	/* under rtnl */
int mrc_sock_init(void);	/* registers the pernet operations; 0 or -errno */
void mrc_sock_exit(void);

#endif
