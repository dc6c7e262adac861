// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_rtt.c - round trips of a connection: its clock (mrc_clock.h), the clock of the plane, and the
 * evaluation of echoed timestamps.
 *
 * Loss detection waits by the plane of the packet. Waits that concern all planes, such as the
 * patience for an answer and the timeout, use the connection's own clock, and the clocks of the
 * path set before its first sample.
 */
#include "conn/mrc_conn.h"

#define MRC_PATIENCE_MIN_NS	10000u

void mrc_rtt_reset(struct mrc_conn *c)
{
	memset(&c->rtt, 0, sizeof(c->rtt));
	c->rack.min_rtt_ns = MRC_RACK_NO_RTT;
}

/* @plane: of the packet, or MRC_PLANES_MAX if not known. */
void mrc_rtt_sample(struct mrc_conn *c, u8 plane, u64 rtt_ns, u64 now_ns)
{
	mrc_trace(rtt, c->rx.sqpn, plane, (u32)min_t(u64, rtt_ns, ~0u));
	if (plane < MRC_PLANES_MAX)
		mrc_evset_rtt(c->evs, plane, rtt_ns, now_ns);
	mrc_clock_sample(&c->rtt, rtt_ns, now_ns);
	c->budget.unsure = 0;
	c->rack.min_rtt_ns = (u32)clamp_t(u64, rtt_ns, 1, c->rack.min_rtt_ns) & MRC_RACK_NO_RTT;
}

/* How long an answer may take. In RTR the caller does not hold path_lock, so the path set is not read. */
u64 mrc_rtt_patience_ns(const struct mrc_conn *c)
{
	u64 ns = mrc_clock_due_ns(&c->rtt);

	if (unlikely(!ns) && c->tx_ready && c->evs)
		ns = mrc_evset_patience_ns(c->evs);
	return max_t(u64, ns ? ns : MRC_CLOCK_FIRST_NS, MRC_PATIENCE_MIN_NS);
}

/*
 * Round trip of a packet sent at tick @sent, from a reflected timestamp. The responder may have added the
 * time that it held the packet. 0: not the timestamp of this packet, or ambiguous because of a wrap.
 */
u64 mrc_rtt_of_stamp(u32 sent, u16 stamp, u64 now_ns)
{
	u64 age = mrc_tick_age_ns(now_ns, sent);
	u64 held = (u64)(u16)(stamp - mrc_tick_ts16(sent)) << MRC_TS_SHIFT;

	if (held > age || (held && age >= MRC_TS_WRAP_NS))
		return 0;
	return max_t(u64, age - held, 1);
}
