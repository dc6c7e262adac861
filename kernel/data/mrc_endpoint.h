/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_endpoint.h - endpoint packets: from QP 2 to QP 2 of a peer, over any live plane. What
 * they say is the peer's (path/mrc_peer_port.h), who is told here how they are sent.
 */
#ifndef MRC_ENDPOINT_H
#define MRC_ENDPOINT_H

void mrc_endpoint_init(void);	/* once, before any device */

#endif
