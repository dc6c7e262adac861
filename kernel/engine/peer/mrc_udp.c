// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_udp.c - see mrc_udp.h.
 */
#include "peer/mrc_udp.h"

/*
 * One that was never heard may listen at the other port only: what is sent again, and probes,
 * look for it there by turns. One that was heard at a port which is ours no more would
 * answer to that: what comes to a port of the standard's tells it where we are.
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
	WRITE_ONCE(u->tries, tries);	/* a lost count does no harm */
	if (tries & 1)
		return own;
	return own == MRC_UDP_PORT_ALT ? MRC_UDP_PORT : MRC_UDP_PORT_ALT;
}
