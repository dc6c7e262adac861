// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_probe.c - probes that bring EVs back, and probes that find dead ones.
 *
 * MRC 1.0 section 3.5 (6.5). A probe carries the index of its EV as probe_id,
 * so its answer finds the EV again whatever path the answer took. An
 * ASSUMED_BAD EV is probed at growing intervals until `readmit` answers came
 * in a row; one answer calls for the next probe at once.
 *
 * An EV's next probe is a 16-bit tick: right as long as it is less than half a wrap (268 ms)
 * from now. Ahead it never is more, probe_max_ns sees to that. Behind it may be
 * any time, if nobody calls: next_probe_ns, which no tick precedes by more than
 * the pacing of a whole set (4,096 ticks: 34 ms), has 64 bits and tells. Then all are due.
 */
#include "mrc_ev.h"

#define MRC_VERIFY_RTTS		8	/* silence of so many round trips: lost */
#define MRC_VERIFY_EVERY_RTTS	4	/* one EV verified in so many round trips */
#define MRC_VERIFY_RUN		8	/* so many answers in a row: half as often */
#define MRC_VERIFY_SLOWER_MAX	4	/* at the least, one in 16 times as many */
#define MRC_VERIFY_ACKS		64	/* then also at most one for so many acknowledgements */
#define MRC_PROBE_LATE_NS	(1ull << 27)	/* ticks may have wrapped soon */
#define MRC_PROBE_BURST		8
#define MRC_PROBE_GAP_MAX	(1ull << MRC_EV_TICK_SHIFT)
#define MRC_PROBE_PATIENCE	8
#define MRC_PROBE_RUN_MAX	15

static u16 mrc_ev_tick(u64 ns)
{
	return (u16)(ns >> MRC_EV_TICK_SHIFT);
}

u16 mrc_ev_tick_up(u64 ns)
{
	return mrc_ev_tick(ns + (1u << MRC_EV_TICK_SHIFT) - 1);
}

/* Probe it at @at_ns, rounded up to a tick: never early. */
void mrc_ev_probe_at(struct mrc_evset *s, struct mrc_ev *ev, u64 at_ns)
{
	ev->tick = mrc_ev_tick_up(at_ns);
	if (at_ns < s->next_probe_ns)
		s->next_probe_ns = at_ns;
}

static bool mrc_ev_wants_probe(const struct mrc_evset *s, const struct mrc_ev *ev)
{
	return ev->state == MRC_EV_ASSUMED_BAD && mrc_evset_plane_live(s, ev->plane);
}

/* Earliest probe of any bad EV on a live plane. O(n), only when one changed. */
void mrc_evset_reschedule(struct mrc_evset *s, u64 now_ns)
{
	u64 at = MRC_TIME_NEVER;
	u16 i, left = s->bad;

	for (i = 0; left && i < s->n; i++) {
		s16 wait;

		if (s->ev[i].state != MRC_EV_ASSUMED_BAD)
			continue;
		left--;
		if (!mrc_ev_wants_probe(s, &s->ev[i]))
			continue;
		wait = (s16)(u16)(s->ev[i].tick - mrc_ev_tick(now_ns));
		if (wait <= 0)
			at = min_t(u64, at, now_ns);
		else
			at = min_t(u64, at, ((now_ns >> MRC_EV_TICK_SHIFT) + (u64)wait)
					    << MRC_EV_TICK_SHIFT);
	}
	s->next_probe_ns = at;
}

/* Nobody called for so long that ticks cannot tell before from after. */
static void mrc_evset_all_due(struct mrc_evset *s, u64 now_ns)
{
	u16 i;

	for (i = 0; i < s->n; i++)
		if (s->ev[i].state == MRC_EV_ASSUMED_BAD)
			s->ev[i].tick = mrc_ev_tick(now_ns);
}

/*
 * How long to wait for an answer. One that has answered before gets patience: a
 * round trip longer than probe_ns must not look like a loss for ever.
 */
static u64 mrc_ev_probe_wait(const struct mrc_evset *s, const struct mrc_ev *ev)
{
	u64 wait = ev->run > 0 ? MRC_PROBE_PATIENCE * s->probe_ns : s->probe_ns << -ev->run;

	return min_t(u64, wait, s->probe_max_ns);
}

static void mrc_ev_probe_sent(struct mrc_evset *s, struct mrc_ev *ev, u64 now_ns)
{
	if (ev->asked) {	/* the one before went unanswered */
		s->stats.probes_lost++;
		ev->by_loss = 0;
		if (ev->run > 0)
			ev->run = 0;
		if (ev->run > -MRC_PROBE_RUN_MAX)
			ev->run--;
	}
	ev->asked = 1;
	ev->tick = mrc_ev_tick_up(now_ns + mrc_ev_probe_wait(s, ev));
	s->stats.probes++;
}

/* Many may be due together: probes must not hold up everything else. */
static void mrc_evset_pace(struct mrc_evset *s, u64 now_ns)
{
	u64 gap = clamp_t(u64, s->probe_ns / 64, 1, MRC_PROBE_GAP_MAX);
	u64 credit = min_t(u64, now_ns, MRC_PROBE_BURST * gap);

	s->next_probe_ns = max_t(u64, s->next_probe_ns, now_ns - credit) + gap;
}

bool mrc_evset_probe_next(struct mrc_evset *s, u64 now_ns, u16 *idx)
{
	u16 n;

	if (likely(now_ns < s->next_probe_ns))
		return false;
	if (now_ns - s->next_probe_ns >= MRC_PROBE_LATE_NS)
		mrc_evset_all_due(s, now_ns);
	for (n = 0; n < s->n; n++) {
		u16 i = s->probe_pos;
		struct mrc_ev *ev = &s->ev[i];

		s->probe_pos = (u16)(i + 1 < s->n ? i + 1 : 0);
		if (!mrc_ev_wants_probe(s, ev) ||
		    (s16)(u16)(mrc_ev_tick(now_ns) - ev->tick) < 0)
			continue;
		mrc_ev_probe_sent(s, ev, now_ns);
		mrc_evset_pace(s, now_ns);
		*idx = i;
		return true;	/* others that are due come at the next call */
	}
	mrc_evset_reschedule(s, now_ns);
	return false;
}

/* How long a verifying probe may take before its EV is called dead. */
static u64 mrc_evset_verify_wait(const struct mrc_evset *s)
{
	return max_t(u64, MRC_VERIFY_RTTS * s->probe_rtt_ns, 4 * s->probe_ns);
}

/* If verification has become seldom: the next one now. */
void mrc_evset_verify_soon(struct mrc_evset *s)
{
	if (s->verify_run < MRC_VERIFY_RUN || s->verify_out)
		return;
	s->verify_ns = 0;
	s->verify_acks = MRC_VERIFY_ACKS;
}

/*
 * Not yet. Of many senders to one host each gets few acknowledgements in many round trips:
 * there it is their number that bounds the probes.
 */
static bool mrc_evset_verify_early(const struct mrc_evset *s, u64 now_ns)
{
	return now_ns < s->verify_ns || (s->verify_run >= MRC_VERIFY_RUN &&
					 s->verify_acks < MRC_VERIFY_ACKS);
}

bool mrc_evset_verify_next(struct mrc_evset *s, struct mrc_rot *r, u64 now_ns, u16 *idx)
{
	if (s->verify_acks < MRC_VERIFY_ACKS)
		s->verify_acks++;
	if (s->verify_out) {
		if (now_ns < s->verify_ns + mrc_evset_verify_wait(s))
			return false;
		s->verify_out = false;
		s->verify_run = 0;
		s->stats.probes_lost++;
		mrc_evset_sign(s, s->verify_idx, MRC_SIGN_PROBE_LOST, now_ns);
	} else if (mrc_evset_verify_early(s, now_ns)) {
		return false;
	}
	*idx = mrc_rot_pick(r, s, MRC_NONE16);
	if (*idx == MRC_NONE16)
		return false;
	s->verify_out = true;
	s->verify_acks = 0;
	s->verify_idx = *idx;
	s->verify_ns = now_ns;
	s->stats.probes++;
	return true;
}

static void mrc_evset_rtt(struct mrc_evset *s, u64 rtt_ns)
{
	s->probe_rtt_ns = s->probe_rtt_ns ? (7 * s->probe_rtt_ns + rtt_ns) / 8 : rtt_ns;
}

/* Paths that have answered for long are asked seldom: probes are in the way of others. */
static u64 mrc_evset_verify_gap(const struct mrc_evset *s)
{
	return MRC_VERIFY_EVERY_RTTS * max_t(u64, s->probe_rtt_ns, s->probe_ns)
	       << s->verify_run / MRC_VERIFY_RUN;
}

static void mrc_evset_verified(struct mrc_evset *s, u64 now_ns)
{
	/* QPs of other CPUs may be a little behind in time. */
	mrc_evset_rtt(s, now_ns > s->verify_ns ? now_ns - s->verify_ns : 0);
	s->verify_out = false;
	if (s->verify_run < MRC_VERIFY_RUN * MRC_VERIFY_SLOWER_MAX)
		s->verify_run++;
	s->verify_ns = now_ns + mrc_evset_verify_gap(s);
	mrc_evset_sign(s, s->verify_idx, MRC_SIGN_DELIVERED, now_ns);
}

/* A bad one answered: good again, or another question. */
static void mrc_ev_answered(struct mrc_evset *s, struct mrc_ev *ev, u64 now_ns)
{
	u32 need = min_t(u32, (u32)s->readmit << ev->flaps, MRC_PROBE_RUN_MAX);

	ev->asked = 0;
	if (ev->run < 0)
		ev->run = 0;
	if (ev->run < MRC_PROBE_RUN_MAX)
		ev->run++;
	if ((u32)ev->run < need) {
		ev->tick = mrc_ev_tick(now_ns);
		s->next_probe_ns = min_t(u64, s->next_probe_ns, now_ns);
		return;
	}
	mrc_evset_sign(s, (u16)(ev - s->ev), MRC_SIGN_PROBE_OK, now_ns);
	mrc_evset_reschedule(s, now_ns);
}

void mrc_evset_probe_answer(struct mrc_evset *s, u16 probe_id, bool ecn, u64 now_ns)
{
	struct mrc_ev *ev;
	bool verified, asked;

	if (probe_id >= s->n)
		return;
	ev = &s->ev[probe_id];
	verified = s->verify_out && probe_id == s->verify_idx;
	asked = ev->state == MRC_EV_ASSUMED_BAD && ev->asked;
	if (!verified && !asked)
		return;		/* to nothing that was asked */
	if (verified)
		mrc_evset_verified(s, now_ns);
	if (asked)
		mrc_ev_answered(s, ev, now_ns);
	if (ecn)	/* it lives, and is congested */
		mrc_evset_sign(s, probe_id, MRC_SIGN_ECN, now_ns);
}
