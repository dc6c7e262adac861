// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_crc.c - see mrc_crc.h.
 */
#include "peer/mrc_crc.h"

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

bool mrc_crc_tell(struct mrc_crc *c, const struct mrc_pkt *pkt, bool icrc, u64 now_ns)
{
	u64 reported_ns = READ_ONCE(c->reported_ns);

	if (icrc || !mrc_pkt_insists(pkt) || (reported_ns && now_ns - reported_ns < MRC_CRC_TELL_NS))
		return false;
	WRITE_ONCE(c->reported_ns, now_ns);	/* concurrent calls may both return true: harmless */
	return true;
}
