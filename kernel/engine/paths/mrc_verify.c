// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_verify.c - probes that find dead paths which only acknowledgements use.
 *
 * MRC 1.0 section 3.5. Acknowledgements are not acknowledged: a path that carries nothing else may
 * be dead unnoticed, and the peer retransmits what has arrived. So while acknowledgements leave,
 * planes are probed in turn, each about every three round trips, as far as the probe credit allows,
 * and less often where little is sent.
 *
 * Order: first a plane on which the peer reports missing acknowledgements (mrc_no_acks.h); no
 * acknowledgement takes it until it answers. Then a longer plane that must be measured (mrc_ecf.c).
 * Then a plane with an EV that did not answer. The others take turns, first those by which nothing
 * was received while packets arrived by other planes. A plane by which our data was delivered
 * recently has no turn, because data finds its failure. A window of data and the ACK at its end take
 * two round trips, so "recently" is longer than that.
 *
 * If the probe is not answered, acknowledgements avoid the plane (doubt_ev), and another of its EVs
 * is probed at once. If that EV answers, the first EV is at fault; otherwise the plane is suspect.
 * If nothing at all came from the peer since the probe, the peer paused, and nothing is concluded.
 */
#include "paths/mrc_ev.h"

#define MRC_VERIFY_EVERY_RTTS	3
#define MRC_VERIFY_FRESH_RTTS	3	/* no probe if data of the last 3 round trips was delivered */
#define MRC_VERIFY_MISS_RTTS	1	/* the same for a plane that the peer reported */
#define MRC_VERIFY_KEEP		4	/* credit for so many probes is reserved for bad EVs */
#define MRC_VERIFY_FIRST	4	/* probe intervals to wait before the first round-trip sample */
#define MRC_VERIFY_SLACK_NS	5000u
#define MRC_VERIFY_SHIFT_MAX	6	/* doublings of patience */
#define MRC_VERIFY_GAP_MIN_NS	10000u
#define MRC_VERIFY_POOR_NS	100000u	/* without credit, look again after this time */

/*
 * How long an answer may take on plane @p. Some slack, as it may return by a somewhat longer path. The time doubles
 * with each relapse: if answers clear the plane each time it is suspect, perhaps they are only late.
 */
static u64 mrc_verify_wait(const struct mrc_evset *s, u8 p)
{
	const struct mrc_evplane *pl = &s->plane[p];
	u64 wait = mrc_clock_late_ns(&pl->clock);

	wait = wait ? wait + pl->srtt_ns / 4 + MRC_VERIFY_SLACK_NS : MRC_VERIFY_FIRST * s->probe_ns;
	return wait << min_t(u8, pl->relapses, MRC_VERIFY_SHIFT_MAX);
}

/* The answer may take another plane than the probe: wait as long as for the slowest one. */
static u64 mrc_verify_patience(const struct mrc_evset *s, u8 p)
{
	u64 most = mrc_verify_wait(s, p);
	u8 q;

	for (q = 0; q < s->n_planes; q++)
		if (mrc_evset_plane_in_use(s, q) && s->plane[q].srtt_ns)
			most = max_t(u64, most, mrc_verify_wait(s, q));
	return most;
}

/*
 * Has anything arrived from the peer since the probe of @tick on plane @p? Packets that the peer sent before it can
 * have received the probe do not count.
 */
static bool mrc_verify_answered(const struct mrc_evset *s, u8 p, u32 tick, u64 now_ns)
{
	u32 asked = tick + (u32)(mrc_verify_wait(s, p) / 2 >> MRC_TICK_SHIFT);

	return (s->rx_tick && (s32)(s->rx_tick - asked) > 0) ||
	       mrc_suspect_others(s, p, tick, now_ns);
}

/* Give up the verification of plane @p if it has waited too long. */
static void mrc_verify_expire(struct mrc_evset *s, u8 p, u64 now_ns)
{
	struct mrc_evplane *pl = &s->plane[p];
	u16 idx = pl->verify_ev;

	if (mrc_ev_age_ns(now_ns, pl->verify_tick) < mrc_verify_patience(s, p))
		return;
	mrc_verify_closed(s, p);
	s->stats.probes_lost++;
	if (mrc_verify_answered(s, p, pl->verify_tick, now_ns))
		mrc_suspect_mute(s, p, idx, pl->verify_tick, now_ns);
}

/* Must plane @p be verified? Not if it delivered data that was sent in the last @rtts round trips. */
static bool mrc_verify_wants(const struct mrc_evset *s, u8 p, u32 rtts, u64 now_ns)
{
	const struct mrc_evplane *pl = &s->plane[p];

	if (!mrc_evset_plane_in_use(s, p) || pl->verify_ev != MRC_NONE16)
		return false;
	return pl->doubt_ev != MRC_NONE16 || !pl->ok || !pl->srtt_ns ||
	       mrc_ev_age_ns(now_ns, pl->ok_tick) >= (u64)rtts * pl->srtt_ns;
}

/* Interval to the next probe: each plane in use once per MRC_VERIFY_EVERY_RTTS round trips of plane @p. */
static u64 mrc_verify_gap(const struct mrc_evset *s, u8 p)
{
	u32 rtt = s->plane[p].srtt_ns ? s->plane[p].srtt_ns : (u32)s->probe_ns;
	u64 gap = div_u64(MRC_VERIFY_EVERY_RTTS * (u64)rtt, max_t(u32, hweight64((u64)s->in_use), 1));

	return max_t(u64, gap, MRC_VERIFY_GAP_MIN_NS);
}

/* Has nothing arrived by plane @p for a round trip, although packets arrived by others? */
static bool mrc_verify_quiet(const struct mrc_evset *s, u8 p)
{
	u32 quiet = s->rx_tick - s->plane[p].rx_tick;

	return s->plane[p].rx_tick && (u64)quiet << MRC_TICK_SHIFT > s->plane[p].srtt_ns;
}

/* Give up verifications that have waited too long. Returns when the next one will have. */
static u64 mrc_verify_look(struct mrc_evset *s, u64 now_ns)
{
	u64 at = MRC_TIME_NEVER, age;
	u32 left;
	u8 p;

	for (left = s->verifying; left; left &= left - 1) {
		p = (u8)mrc_ffs64(left);
		mrc_verify_expire(s, p, now_ns);
		if (s->plane[p].verify_ev == MRC_NONE16)
			continue;
		age = mrc_ev_age_ns(now_ns, s->plane[p].verify_tick);
		at = min_t(u64, at, now_ns + mrc_verify_patience(s, p) - age);
	}
	return at;
}

/*
 * A plane on which the peer misses our acknowledgements, or MRC_PLANES_MAX. A plane with an unanswered probe has to
 * wait for its end: that probe may have left before the plane died.
 */
static u8 mrc_verify_missed(struct mrc_evset *s, u64 now_ns)
{
	u32 left;
	u8 p;

	for (left = s->acks_missing & ~s->verifying; left; left &= left - 1) {
		p = (u8)mrc_ffs64(left);
		if (mrc_verify_wants(s, p, MRC_VERIFY_MISS_RTTS, now_ns))
			return p;
		s->acks_missing &= ~(1u << p);
	}
	return MRC_PLANES_MAX;
}

/* A longer plane that carries no data and must be measured (mrc_ecf.c). */
static u8 mrc_verify_measure(struct mrc_evset *s)
{
	u32 left = s->measure & s->longer & ~s->verifying;

	s->measure &= left & (left - 1);
	return left ? (u8)mrc_ffs64(left) : MRC_PLANES_MAX;
}

/* A plane whose EV did not answer is probed out of turn. */
static u8 mrc_verify_doubted(const struct mrc_evset *s, u64 now_ns)
{
	u8 p;

	for (p = 0; s->watched && p < s->n_planes; p++)
		if (s->plane[p].doubt_ev != MRC_NONE16 && mrc_verify_wants(s, p, 0, now_ns))
			return p;
	return MRC_PLANES_MAX;
}

/* The next plane in rotation that needs verification, among the quiet ones or all; or MRC_PLANES_MAX. */
static u8 mrc_verify_turn(struct mrc_evset *s, bool quiet, u64 now_ns)
{
	u8 n, p;

	for (n = s->n_planes; n; n--) {
		p = s->verify_plane;
		s->verify_plane = (u8)(p + 1 < s->n_planes ? p + 1 : 0);
		if (mrc_verify_wants(s, p, MRC_VERIFY_FRESH_RTTS, now_ns) &&
		    (!quiet || mrc_verify_quiet(s, p)))
			return p;
	}
	return MRC_PLANES_MAX;
}

/* Is a routine verification due? */
static bool mrc_verify_routine(const struct mrc_evset *s, u64 now_ns)
{
	return now_ns >= s->verify_from_ns && s->verify_pkts >= MRC_VERIFY_PKTS;
}

/*
 * The plane to probe now, or MRC_PLANES_MAX. Quiet planes take turns, too: if the peer sends rarely, all of them are
 * quiet.
 */
static u8 mrc_verify_plane(struct mrc_evset *s, u64 now_ns)
{
	u8 p = mrc_verify_missed(s, now_ns);

	if (p == MRC_PLANES_MAX)
		p = mrc_verify_measure(s);
	if (p == MRC_PLANES_MAX)
		p = mrc_verify_doubted(s, now_ns);
	if (p < MRC_PLANES_MAX || !mrc_verify_routine(s, now_ns))
		return p;
	p = mrc_verify_turn(s, true, now_ns);
	return p < MRC_PLANES_MAX ? p : mrc_verify_turn(s, false, now_ns);
}

/* When to look next, after no probe was sent. */
static u64 mrc_verify_again(const struct mrc_evset *s, bool paid, u64 now_ns)
{
	return paid ? max_t(u64, s->verify_from_ns, now_ns + MRC_VERIFY_GAP_MIN_NS / 4) :
		      now_ns + MRC_VERIFY_POOR_NS;
}

static mrc_noinline bool mrc_verify_ask(struct mrc_evset *s, struct mrc_spray *r, bool paid,
					u64 now_ns, u16 *idx)
{
	u64 look = mrc_verify_look(s, now_ns);
	u8 p = paid ? mrc_verify_plane(s, now_ns) : MRC_PLANES_MAX;
	struct mrc_evplane *pl;

	s->verify_ns = min_t(u64, look, mrc_verify_again(s, paid, now_ns));
	if (p == MRC_PLANES_MAX)
		return false;
	pl = &s->plane[p];
	*idx = mrc_spray_any(r, s, p, pl->doubt_ev);
	pl->verify_ev = *idx;
	s->verifying |= 1u << p;
	pl->verify_tick = mrc_ev_tick(now_ns);
	s->muted |= s->acks_missing & 1u << p;
	s->acks_missing &= ~(1u << p);
	s->verify_pkts = 0;
	s->verify_from_ns = now_ns + mrc_verify_gap(s, p);
	s->verify_ns = min_t(u64, look, s->verify_from_ns);
	mrc_credit_spend(s);
	s->stats.probes++;
	return true;
}

bool mrc_evset_verify_next(struct mrc_evset *s, struct mrc_spray *r, u64 now_ns, u16 *idx)
{
	bool paid;

	if (!mrc_evset_verify_due(s, now_ns))
		return false;
	paid = mrc_credit_has(s, s->acks_missing ? 0 : MRC_VERIFY_KEEP, now_ns);
	/* The usual case: no unanswered probe, no plane in doubt, no routine verification due. */
	if (likely(!(s->verifying | s->watched | s->acks_missing | s->measure) && !(paid && mrc_verify_routine(s, now_ns)))) {
		s->verify_ns = mrc_verify_again(s, paid, now_ns);
		return false;
	}
	return mrc_verify_ask(s, r, paid, now_ns, idx);
}

void mrc_evset_acks_missing(struct mrc_evset *s, u8 p)
{
	if (p >= s->n_planes)
		return;
	s->muted |= s->verifying & 1u << p;
	s->acks_missing |= 1u << p;
	s->verify_ns = 0;
}

/* EV @idx answered a probe. False: it was not a verification. */
bool mrc_evset_verified(struct mrc_evset *s, u16 idx, u64 now_ns)
{
	u8 p = (u8)s->ev[idx].plane;
	struct mrc_evplane *pl = &s->plane[p];

	if (pl->doubt_ev == idx) {	/* late, but alive */
		/* A valid sample, except on a suspect plane, where it may answer a later probe. */
		if (!pl->suspect)
			mrc_evset_probe_rtt(s, p, mrc_ev_age_ns(now_ns, pl->doubt_tick), now_ns);
		/* A plane with one EV probes it again. That probe must not put the plane in doubt next. */
		if (pl->verify_ev == idx)
			mrc_verify_closed(s, p);
		mrc_suspect_clear(s, p);
		return true;
	}
	if (pl->mute_ev == idx) {
		pl->mute_ev = MRC_NONE16;
		if (s->ev[idx].state == MRC_EV_ASSUMED_BAD) {	/* even later: it was demoted by mistake */
			mrc_ev_forgive(s, &s->ev[idx]);
			return true;
		}
	}			/* else it was readmitted by probes, and this answers a later question */
	if (pl->verify_ev != idx)
		return false;
	mrc_verify_closed(s, p);
	mrc_evset_probe_rtt(s, p, max_t(u64, mrc_ev_age_ns(now_ns, pl->verify_tick), 1), now_ns);
	mrc_evset_delivered(s, p, idx, pl->verify_tick, now_ns);
	return true;
}
