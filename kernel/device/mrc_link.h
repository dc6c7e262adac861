/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_link.h - `rdma link add NAME type mrc netdev NDEV`, and the netdevice notifier, which reports
 * changes of planes.
 */
#ifndef MRC_LINK_H
#define MRC_LINK_H

/* Process context; module start and end. */
int mrc_link_init(void);	/* registers the notifier; 0 or -errno */
void mrc_link_exit(void);	/* reports each netdev as removed, which removes the devices of rdma link add */
void mrc_link_register(void);	/* from here on rdma link add works */
void mrc_link_unregister(void);

#endif
