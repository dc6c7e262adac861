// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_rtt.c - round trips: of the connection (RFC 6298's estimator), of the plane that
 * took part, and what a reflected stamp says of one.
 *
 * Loss waits by the plane of the packet (mrc_plane.h). What concerns all planes at once,
 * as the patience for an answer and the timeout, goes by the connection's own figure.
 */
#include "conn/mrc_conn.h"

#define MRC_RTT_MAX_NS		1000000000u
#define MRC_PATIENCE_MIN_NS	10000u

void mrc_rtt_reset(struct mrc_conn *c)
{
	c->rtt.srtt_ns = 0;
	c->rtt.var_ns = 0;
	c->rtt.min_ns = ~0u;
}

/* @plane: by which the packet left, or MRC_PLANES_MAX when that is not known. */
void mrc_rtt_sample(struct mrc_conn *c, u8 plane, u64 rtt_ns, u64 now_ns)
{
	u32 rtt = (u32)clamp_t(u64, rtt_ns, 1, MRC_RTT_MAX_NS), err;

	mrc_trace(rtt, c->rx.sqpn, plane, rtt);
	if (plane < MRC_PLANES_MAX)
		mrc_evset_rtt(c->evs, plane, rtt, now_ns);
	if (rtt < c->rtt.min_ns)
		c->rtt.min_ns = rtt;
	if (!c->rtt.srtt_ns) {
		c->rtt.srtt_ns = rtt;
		c->rtt.var_ns = rtt / 2;
		return;
	}
	err = rtt > c->rtt.srtt_ns ? rtt - c->rtt.srtt_ns : c->rtt.srtt_ns - rtt;
	c->rtt.var_ns = (u32)((3ull * c->rtt.var_ns + err) / 4);
	c->rtt.srtt_ns = (u32)((7ull * c->rtt.srtt_ns + rtt) / 8);	/* both at least 1 */
}

/* How long an answer may take. */
u64 mrc_rtt_patience_ns(const struct mrc_conn *c)
{
	u64 ns = c->rtt.srtt_ns ? 2ull * c->rtt.srtt_ns + 4ull * c->rtt.var_ns :
				  2ull * MRC_RTT_INIT_NS;

	return max_t(u64, ns, MRC_PATIENCE_MIN_NS);
}

/*
 * Round trip of what was sent at tick @sent, told by a reflected stamp. The responder may
 * have moved the stamp on by the time it held the packet. 0: not the stamp of this
 * send, or too old to tell from one a wrap away.
 */
u64 mrc_rtt_of_stamp(u32 sent, u16 stamp, u64 now_ns)
{
	u64 age = mrc_tick_age_ns(now_ns, sent);
	u64 held = (u64)(u16)(stamp - mrc_tick_ts16(sent)) << MRC_TS_SHIFT;

	if (held > age || (held && age >= MRC_TS_WRAP_NS))
		return 0;
	return max_t(u64, age - held, 1);
}
