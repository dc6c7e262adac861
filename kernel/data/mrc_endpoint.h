/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_endpoint.h - sends endpoint packets (MRC 1.0 sections 1.10, 3.6) to QP 2 of a peer.
 *
 * path/mrc_peer_port.h makes the contents: Port Status Updates and answers, which leave by any live
 * plane, or over the switch that an EV probe names for its answer. It calls this file through a
 * function pointer. A request of a controller leaves by the EV that the controller names.
 */
#ifndef MRC_ENDPOINT_H
#define MRC_ENDPOINT_H

#include "path/mrc_profile.h"
#include "path/mrc_peer.h"

struct mrc_endpoint_request {
	struct mrc_ep_req q;
	union ib_gid to;
	union ib_gid from;		/* all zero: our address that the peer knows */
	struct mrc_profile_ev ev;	/* checked by path/mrc_profile_check.h */
	u32 fmt;			/* MRC_FMT_* */
	bool has_dscp;			/* false: use the DSCP of control packets */
	u8 dscp;
};

/*
 * Under rtnl. Sends the request of a controller. 0; -ENOENT: no such peer; -EADDRNOTAVAIL: @from is no address of the
 * device, or there is none for the peer; -ENOMEM; errors of mrc_peer_request() and mrc_route_named().
 */
int mrc_endpoint_request(struct mrc_dev *dev, const struct mrc_endpoint_request *ask);
void mrc_endpoint_init(void);	/* module start, before any device exists */

#endif
