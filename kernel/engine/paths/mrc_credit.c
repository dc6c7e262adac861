// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_credit.c - the budget of probes.
 *
 * Probes compete with data for the receiver's time. If a path set is bad because its receiver is
 * overloaded, probes must not add to the load. So each probe costs credit: MRC_PROBE_COST packets.
 * Packets sent and received earn credit, and so does time, up to MRC_PROBE_BURST probes (mrc_ev.h).
 * A probe without credit waits until packets or time have earned it. Tail probes cost credit, but
 * never wait for it. Less urgent probes leave credit for others (@keep of mrc_credit_has()).
 */
#include "paths/mrc_ev.h"

#define MRC_PROBE_UNIT_NS	(1000000000ull / (10 * MRC_PROBE_COST))

static void mrc_credit_pkts(struct mrc_evset *s, u32 pkts)
{
	const u32 most = MRC_PROBE_BURST * MRC_PROBE_COST;

	s->credit.pkts += pkts;
	pkts = min_t(u32, pkts, most);
	s->credit.units = min_t(u32, s->credit.units + pkts, most);
	s->verify_pkts = min_t(u32, s->verify_pkts + pkts, MRC_VERIFY_PKTS);
}

/* Add the credit that packets and time have earned since the last call. */
static void mrc_credit_settle(struct mrc_evset *s, u64 now_ns)
{
	struct mrc_probe_credit *c = &s->credit;
	const u32 most = MRC_PROBE_BURST * MRC_PROBE_COST;
	u32 pkts = (u32)c->from - (u32)c->left;
	u64 passed = now_ns > c->at_ns ? now_ns - c->at_ns : 0, units;

	c->from = c->left = MRC_CREDIT_SLEEP;
	if ((s32)pkts > 0)
		mrc_credit_pkts(s, pkts);
	if (passed >= most * MRC_PROBE_UNIT_NS) {
		c->units = most;
		c->at_ns = now_ns;
		return;
	}
	if (likely(passed < MRC_PROBE_UNIT_NS))
		return;
	units = div_u64(passed, (u32)MRC_PROBE_UNIT_NS);
	c->at_ns += units * MRC_PROBE_UNIT_NS;
	c->units = min_t(u32, c->units + (u32)units, most);
}

/*
 * Is there credit for a probe and @keep more? If another probe already waits for credit, it is updated, too: it is due
 * now, or waits for what is still missing.
 */
bool mrc_credit_has(struct mrc_evset *s, u32 keep, u64 now_ns)
{
	bool waits = s->credit.from != MRC_CREDIT_SLEEP;

	mrc_credit_settle(s, now_ns);
	if (unlikely(waits) && s->credit.units >= MRC_PROBE_COST)
		s->next_probe_ns = min_t(u64, s->next_probe_ns, s->credit.at_ns);
	else if (unlikely(waits))
		mrc_credit_wait(s);
	return s->credit.units >= (keep + 1) * MRC_PROBE_COST;
}

/* A probe is due without credit: it waits until packets or time have earned it. */
void mrc_credit_wait(struct mrc_evset *s)
{
	u32 lack = MRC_PROBE_COST - min_t(u32, s->credit.units, MRC_PROBE_COST - 1);

	s->credit.from = s->credit.left = (s32)lack;
	s->next_probe_ns = s->credit.at_ns + lack * MRC_PROBE_UNIT_NS;
}

void mrc_evset_credit_wake(struct mrc_evset *s)
{
	u32 pkts = (u32)s->credit.from - (u32)s->credit.left;

	/* The waiting probe is due now: any time in the past will do. */
	if (s->credit.from != MRC_CREDIT_SLEEP)
		s->next_probe_ns = min_t(u64, s->next_probe_ns, s->credit.at_ns);
	mrc_credit_pkts(s, pkts);
	s->credit.from = s->credit.left = MRC_CREDIT_SLEEP;
}
