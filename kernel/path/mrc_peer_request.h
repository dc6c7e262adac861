/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_peer_request.h - requests of controllers to a peer: EV probes, Port Status Updates.
 *
 * The engine decides (mrc_ep_req.h, mrc_port.h). This file owns its memory, which a peer gets with
 * its first request. Responses arrive in path/mrc_peer_port.h. data/mrc_endpoint.h sends the
 * packets.
 */
#ifndef MRC_PEER_REQUEST_H
#define MRC_PEER_REQUEST_H

#include "path/mrc_peer.h"

/*
 * Process context, no lock held. 0 and the packet to send, or -EINVAL: the peer is this host or a multicast group;
 * -EOPNOTSUPP: a switch is named for the answer of an IPv4 peer, whose packets cannot carry it; -ENOTCONN: Port Status
 * Update to a peer without QPs; -EBUSY: see mrc_port_request(); -ENOMEM.
 */
int mrc_peer_request(struct mrc_peer *peer, const struct mrc_ep_req *q, struct mrc_pkt *pkt);
/* Process context, no lock held. The packet could not be sent. */
void mrc_peer_request_undo(struct mrc_peer *peer, const struct mrc_pkt *pkt);

#endif
