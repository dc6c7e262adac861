/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_udp.h - the UDP port of a peer. A peer sends from and listens on the same port.
 *
 * MRC 1.0 names two ports (7.5.5.2). We always listen on both, and a device may have one of its
 * own. The port of the latest packet of the peer counts, because settings may change while
 * connections live.
 *
 * One object per peer, zeroed at first. Any context, no lock: concurrent calls do no harm.
 */
#ifndef MRC_UDP_H
#define MRC_UDP_H

#include "wire/mrc_wire.h"

struct mrc_udp {
	u16 heard;		/* local port of its latest packet; 0: none has arrived */
	u8 tries;		/* as long as none has arrived: selects the port to try */
};

/* A valid packet of the peer arrived at local port @port. */
static inline void mrc_udp_rx(struct mrc_udp *u, u16 port)
{
	if (unlikely(READ_ONCE(u->heard) != port))
		WRITE_ONCE(u->heard, port);
}

/* UDP destination port for @pkt; @own: the device's port. */
u16 mrc_udp_dest(struct mrc_udp *u, u16 own, const struct mrc_pkt *pkt);

#endif
