/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_sock.h - per network namespace: the hooks through which packets arrive, and UDP sockets that
 * reserve the ports.
 */
#ifndef MRC_SOCK_H
#define MRC_SOCK_H

#include "core/mrc_net.h"

/* Under rtnl; one for each device. ERR_PTR; -EADDRINUSE with a message naming the port. */
struct mrc_net *mrc_sock_get(struct net *net, struct netlink_ext_ack *extack);
void mrc_sock_put(struct mrc_net *mnet);	/* under rtnl */
int mrc_sock_init(void);	/* pernet operations */
void mrc_sock_exit(void);

#endif
