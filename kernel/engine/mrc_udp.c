// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_udp.c - see mrc_udp.h.
 */
#include "mrc_udp.h"

/*
 * The port that the peer is heard at: the device's, if ever, else another. One that was
 * never heard may listen at the other port only: what is sent again, and probes,
 * look for it there by turns.
 */
u16 mrc_udp_dest(struct mrc_udp *u, u16 own, const struct mrc_pkt *pkt)
{
	u8 heard = READ_ONCE(u->heard), tries;

	if (likely(heard & mrc_udp_bit(own)))
		return own;
	if (heard)
		return heard & MRC_UDP_HEARD_ALT ? MRC_UDP_PORT_ALT : MRC_UDP_PORT;
	if (!pkt->rtx && pkt->opcode != MRC_OPC_PROBE && pkt->opcode != MRC_OPC_EP_REQ)
		return own;
	tries = READ_ONCE(u->tries) + 1;
	WRITE_ONCE(u->tries, tries);	/* a lost count does no harm */
	if (tries & 1)
		return own;
	return own == MRC_UDP_PORT_ALT ? MRC_UDP_PORT : MRC_UDP_PORT_ALT;
}
