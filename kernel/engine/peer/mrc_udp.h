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
	u16 heard;		/* port of ours that its latest packet came to; 0: none came */
	u8 tries;		/* of one that was never heard: which port is tried next */
};

/* A sound packet of the peer came to @port. */
static inline void mrc_udp_rx(struct mrc_udp *u, u16 port)
{
	if (unlikely(READ_ONCE(u->heard) != port))
		WRITE_ONCE(u->heard, port);
}

/* Where @pkt goes; @own: the device's port. */
u16 mrc_udp_dest(struct mrc_udp *u, u16 own, const struct mrc_pkt *pkt);

#endif
