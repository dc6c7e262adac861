// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_crc.c - see mrc_crc.h.
 */
#include "mrc_crc.h"

bool mrc_crc_wanted(const struct mrc_crc *c, bool own, const struct mrc_pkt *pkt)
{
	u8 peer = READ_ONCE(c->peer);

	if (likely(own) || peer == MRC_CRC_SENDS)
		return true;
	return peer == MRC_CRC_UNKNOWN && mrc_pkt_insists(pkt);
}

bool mrc_crc_wrong(const struct mrc_pkt *pkt, bool icrc)
{
	return icrc || mrc_pkt_insists(pkt);
}
