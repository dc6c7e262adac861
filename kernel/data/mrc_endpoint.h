/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_endpoint.h - sends endpoint packets, from QP 2 to QP 2 of a peer, over any live plane.
 *
 * The contents come from the peer (path/mrc_peer_port.h), which calls this file through a function
 * pointer. A request of a controller leaves by the EV that it names.
 */
#ifndef MRC_ENDPOINT_H
#define MRC_ENDPOINT_H

#include "path/mrc_profile.h"
#include "path/mrc_peer.h"

struct mrc_endpoint_request {
	struct mrc_ep_req q;
	union ib_gid to;
	union ib_gid from;		/* all zero: the address of ours that the peer knows */
	struct mrc_profile_ev ev;	/* checked: path/mrc_profile_check.h */
	u32 fmt;			/* MRC_FMT_* */
	bool has_dscp;			/* else that of control packets */
	u8 dscp;
};

/*
 * Under rtnl. 0: it was sent. Otherwise -ENOENT: no such peer; -EADDRNOTAVAIL: @from is no address of the device;
 * errors of mrc_peer_request() and mrc_route_named(); -ENOMEM.
 */
int mrc_endpoint_request(struct mrc_dev *dev, const struct mrc_endpoint_request *ask);
void mrc_endpoint_init(void);	/* once, before any device */

#endif
