// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_last_delivered.c - the most recently sent packet that is known as delivered.
 *
 * RFC 8985 section 6.2: a packet can only be lost if a packet that was sent later has arrived
 * (mrc_rack.c). Every delivery, and every answer to a probe, is recorded here.
 */
#include "conn/mrc_conn.h"

#define MRC_LATE_MAX_NS	1000000000u

void mrc_last_delivered_reset(struct mrc_conn *c)
{
	c->last_delivered.valid = false;
	c->last_delivered.late_ns = 0;
}

/*
 * @psn, sent at @tick, has arrived. Its delay beyond the shortest round trip is granted to all other packets,
 * too: late acknowledgements must not look like losses. (A smoothed round trip would react too late to
 * a growing queue.) Before the first sample, all of its age counts as delay.
 */
void mrc_last_delivered_learn(struct mrc_conn *c, u32 tick, u32 psn, u8 plane, u64 now_ns)
{
	u64 age, usual;

	if (c->last_delivered.valid && !((s32)(tick - c->last_delivered.sent) > 0 ||
					 (tick == c->last_delivered.sent && mrc_psn_diff(psn, c->last_delivered.psn) > 0)))
		return;
	c->last_delivered.valid = true;
	c->last_delivered.sent = tick;
	c->last_delivered.psn = psn;
	age = mrc_tick_age_ns(now_ns, tick);
	usual = plane < MRC_PLANES_MAX ? mrc_evset_srtt_ns(c->evs, plane) : 0;
	usual = usual ? min_t(u64, usual, c->rack.min_rtt_ns) : c->rtt.srtt_ns;
	age = age > usual ? min_t(u64, age - usual, MRC_LATE_MAX_NS) : 0;
	c->last_delivered.late_ns = (u32)age & 0x7fffffff;
}
