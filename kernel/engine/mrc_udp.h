/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_udp.h - at which UDP port a peer listens. A peer speaks and listens at the same one;
 * MRC 1.0 names two (7.5.5.2), and a device may have one of its own.
 *
 * One object per peer, zeroed at first. Any context, no lock: what two callers do to it at
 * once does no harm.
 */
#ifndef MRC_UDP_H
#define MRC_UDP_H

#include "mrc_wire.h"

/* Ports of ours that a peer's packets came to. */
#define MRC_UDP_HEARD_DEFAULT	1
#define MRC_UDP_HEARD_ALT	2
#define MRC_UDP_HEARD_OTHER	4	/* the device's own setting */

struct mrc_udp {
	u8 heard;		/* MRC_UDP_HEARD_* */
	u8 tries;		/* of one that was never heard: which port is tried next */
};

static inline u8 mrc_udp_bit(u16 port)
{
	return port == MRC_UDP_PORT ? MRC_UDP_HEARD_DEFAULT :
	       port == MRC_UDP_PORT_ALT ? MRC_UDP_HEARD_ALT : MRC_UDP_HEARD_OTHER;
}

/* A sound packet of the peer came to @port. */
static inline void mrc_udp_heard(struct mrc_udp *u, u16 port)
{
	u8 bit = mrc_udp_bit(port), heard = READ_ONCE(u->heard);

	if (unlikely(!(heard & bit)))
		WRITE_ONCE(u->heard, heard | bit);
}

/* Where @pkt goes; @own: the device's port. */
u16 mrc_udp_dest(struct mrc_udp *u, u16 own, const struct mrc_pkt *pkt);

#endif
