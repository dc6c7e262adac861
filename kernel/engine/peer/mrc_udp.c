// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_udp.c - see mrc_udp.h.
 */
#include "peer/mrc_udp.h"

/*
 * A peer of which nothing has arrived may listen on the other port only, so retransmissions and probes alternate between
 * the ports. If the latest packet arrived on a port that the device no longer uses, a packet to a standard port tells
 * the peer the new one.
 */
u16 mrc_udp_dest(struct mrc_udp *u, u16 own, const struct mrc_pkt *pkt)
{
	u16 heard = READ_ONCE(u->heard);
	u8 tries;

	if (likely(heard == own || heard == MRC_UDP_PORT || heard == MRC_UDP_PORT_ALT))
		return heard;
	if (heard)
		return MRC_UDP_PORT;
	if (!mrc_pkt_insists(pkt))
		return own;
	tries = READ_ONCE(u->tries) + 1;
	WRITE_ONCE(u->tries, tries);	/* a lost update does no harm */
	if (tries & 1)
		return own;
	return own == MRC_UDP_PORT_ALT ? MRC_UDP_PORT : MRC_UDP_PORT_ALT;
}
