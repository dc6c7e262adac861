/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_link.h - `rdma link add NAME type mrc netdev NDEV`, and the netdevice notifier, which reports
 * changes of planes.
 */
#ifndef MRC_LINK_H
#define MRC_LINK_H

int mrc_link_init(void);	/* the notifier */
void mrc_link_exit(void);	/* reports every netdev as gone: devices of rdma link add end */
void mrc_link_register(void);
void mrc_link_unregister(void);

#endif
