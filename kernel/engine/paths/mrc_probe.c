// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_probe.c - probes that readmit EVs, and their budget.
 *
 * MRC 1.0 section 3.5 (6.5). A probe carries the index of its EV as probe_id, so the answer
 * identifies the EV whatever path the answer took. An ASSUMED_BAD EV is probed until `readmit`
 * answers came in a row; each answer starts the next probe at once.
 *
 * A probe times out after the round trip of its plane, and the next one leaves. A later answer
 * still counts: a path of 13 ms must not be lost because its first probes had to be answered within
 * 100 us.
 *
 * EVs that were demoted together may return together. A host that paused, or a plane that was away
 * for a moment, leaves many EVs bad whose paths work. Two probes for each EV exceed the budget of a
 * large set. But if several probes of one plane in a row are answered, the disturbance is over: EVs
 * that were demoted for silence and were probed at most once return without an answer of their own.
 * The longer the run of answers, the more EVs return. A dead EV breaks the run by its own probe.
 * Where planes have few EVs each and nothing earns credit for probes, a run over several planes
 * says the same.
 *
 * Probes cost credit (struct mrc_probe_credit, mrc_credit.c).
 */
#include "paths/mrc_ev.h"

#define MRC_PROBE_SHIFT_MAX	10	/* doublings */
#define MRC_PROBE_COUNT_MAX	15	/* of 4 bits */
#define MRC_STREAK_FIRST	2	/* answers in a row that restore other EVs of the plane */
#define MRC_STREAK_ALL		16	/* and all of them */
#define MRC_STREAK_SET		4	/* planes that answered in a row restore EVs of each other */

/* ---- when a bad EV is probed ---- */

/* How long an answer may take on plane @p. */
static u64 mrc_probe_patience(const struct mrc_evset *s, u8 p)
{
	return max_t(u64, s->probe_ns, mrc_clock_due_ns(&s->plane[p].clock));
}

/* Interval from the latest probe, or from the demotion, to the next probe. */
static u64 mrc_probe_wait(const struct mrc_evset *s, const struct mrc_ev *ev)
{
	u64 patience = mrc_probe_patience(s, (u8)ev->plane);

	if (ev->again)
		return 0;
	if (!ev->out)
		return s->probe_ns;
	return min_t(u64, patience << min_t(u32, ev->out - 1u, MRC_PROBE_SHIFT_MAX),
		     max_t(u64, s->probe_max_ns, patience));
}

/* A suspect plane with a usable EV is probed as a whole (mrc_suspect.c), not by each bad EV. */
static bool mrc_plane_wants_probes(const struct mrc_evset *s, u8 p)
{
	return mrc_evset_plane_live(s, p) && !(s->plane[p].suspect && s->usable_on[p]);
}

static bool mrc_ev_wants_probe(const struct mrc_evset *s, const struct mrc_ev *ev)
{
	return ev->state == MRC_EV_ASSUMED_BAD && mrc_plane_wants_probes(s, (u8)ev->plane);
}

/* Time until the EV's probe is due. */
static u64 mrc_probe_left(const struct mrc_evset *s, const struct mrc_ev *ev, u64 now_ns)
{
	u64 wait = mrc_tick_up_ns(mrc_probe_wait(s, ev));
	u64 age = mrc_ev_age_ns(now_ns, mrc_ev_past_of(s, ev)->probed);

	return wait > age ? wait - age : 0;
}

/* Set next_probe_ns to the earliest probe that is due. O(n); called only after changes. */
void mrc_evset_reschedule(struct mrc_evset *s, u64 now_ns)
{
	u64 least = MRC_TIME_NEVER;
	u16 i, left = s->bad;

	for (i = 0; left && i < s->n; i++) {
		if (s->ev[i].state != MRC_EV_ASSUMED_BAD)
			continue;
		left--;
		if (mrc_ev_wants_probe(s, &s->ev[i]))
			least = min_t(u64, least, mrc_probe_left(s, &s->ev[i], now_ns));
	}
	s->next_probe_ns = min_t(u64, least == MRC_TIME_NEVER ? least : now_ns + least,
				 mrc_suspect_next_ns(s));
}

/* A probe of @ev was lost. It ends the plane's streak of answers, unless it left before the streak began. */
static void mrc_plane_unanswered(struct mrc_evset *s, const struct mrc_ev *ev)
{
	struct mrc_evplane *pl = &s->plane[ev->plane];

	pl->spoke = 0;
	if ((s32)(mrc_ev_past_of(s, ev)->probed - pl->streak_tick) < 0)
		return;
	pl->streak = 0;
	s->answered = 0;
}

static void mrc_ev_probe_sent(struct mrc_evset *s, struct mrc_ev *ev, u64 now_ns)
{
	if (ev->out && !ev->again) {	/* the previous probe was not answered */
		s->stats.probes_lost++;
		mrc_plane_unanswered(s, ev);
		ev->good = 0;
	}
	ev->again = 0;
	if (ev->out < MRC_PROBE_COUNT_MAX)
		ev->out = (ev->out + 1u) & 15;
	mrc_ev_past_of(s, ev)->probed = mrc_ev_tick(mrc_tick_up_ns(now_ns));
	mrc_credit_spend(s);
	s->stats.probes++;
}

/* The next EV of plane @p whose probe is due, in rotation, or NULL. */
static struct mrc_ev *mrc_probe_due_on(struct mrc_evset *s, u8 p, u64 now_ns)
{
	struct mrc_evplane *pl = &s->plane[p];
	u16 len = (u16)(s->start[p + 1] - s->start[p]), n;

	for (n = len; n; n--) {
		struct mrc_ev *ev = &s->ev[s->start[p] + pl->probe_pos];

		pl->probe_pos = (u16)(pl->probe_pos + 1 < len ? pl->probe_pos + 1 : 0);
		if (mrc_ev_wants_probe(s, ev) && !mrc_probe_left(s, ev, now_ns))
			return ev;
	}
	return NULL;
}

/* Planes take turns: one answer of each plane tells more than several of one plane. */
static struct mrc_ev *mrc_probe_due(struct mrc_evset *s, u64 now_ns)
{
	struct mrc_ev *ev;
	u8 n;

	for (n = s->n_planes; n; n--) {
		u8 p = s->probe_plane;

		s->probe_plane = (u8)(p + 1 < s->n_planes ? p + 1 : 0);
		ev = s->bad_on[p] && mrc_plane_wants_probes(s, p) ? mrc_probe_due_on(s, p, now_ns) : NULL;
		if (ev)
			return ev;
	}
	return NULL;
}

bool mrc_evset_take_wake(struct mrc_evset *s)
{
	bool wake = s->wake;

	s->wake = false;
	return wake;
}

/*
 * EV @idx is probed for another reason than verification, and answers cannot be told apart. So an unanswered
 * verification by this EV ends. Otherwise its age would be taken for a round trip.
 */
static void mrc_probe_instead(struct mrc_evset *s, u16 idx)
{
	u8 p = (u8)s->ev[idx].plane;

	if (s->plane[p].verify_ev == idx)
		mrc_verify_closed(s, p);
}

bool mrc_evset_probe_next(struct mrc_evset *s, u64 now_ns, u16 *idx)
{
	struct mrc_ev *ev;

	if (likely(now_ns < s->next_probe_ns))
		return false;
	if (!mrc_credit_has(s, 0, now_ns)) {
		mrc_credit_wait(s);
		return false;
	}
	*idx = mrc_suspect_probe(s, now_ns);
	if (*idx != MRC_NONE16) {
		mrc_probe_instead(s, *idx);
		mrc_credit_spend(s);
		s->stats.probes++;
		s->next_probe_ns = now_ns;
		return true;
	}
	ev = mrc_probe_due(s, now_ns);
	if (!ev) {
		mrc_evset_reschedule(s, now_ns);
		return false;
	}
	mrc_ev_probe_sent(s, ev, now_ns);
	*idx = (u16)(ev - s->ev);
	mrc_probe_instead(s, *idx);
	s->next_probe_ns = now_ns;	/* more may be due: the next call looks */
	return true;
}

/* ---- answers ---- */

/*
 * A round-trip sample from an answer. With several unanswered probes, any of them may be the one that is answered.
 * Then the answer is used only before the plane's first sample, and attributed to the first probe: too
 * long a round trip does less harm than too short a one.
 */
static void mrc_ev_answer_rtt(struct mrc_evset *s, const struct mrc_ev *ev, u64 now_ns)
{
	u64 rtt = max_t(u64, mrc_ev_age_ns(now_ns, mrc_ev_past_of(s, ev)->probed), 1);
	u8 p = (u8)ev->plane;

	if (ev->out > 1) {
		if (mrc_evset_srtt_ns(s, p) || ev->out > MRC_PROBE_SHIFT_MAX)
			return;
		rtt += s->probe_ns * ((1u << (ev->out - 1u)) - 1);
		rtt = min_t(u64, rtt, s->probe_max_ns);
	}
	mrc_evset_probe_rtt(s, p, rtt, now_ns);
}

/* Restore EVs that have not answered, if the streak of answers on plane @p is long enough. */
static void mrc_plane_pardon(struct mrc_evset *s, u8 p)
{
	u32 streak = s->plane[p].streak, silence = streak / MRC_STREAK_FIRST;
	u16 i;

	if (streak < MRC_STREAK_FIRST || streak & (streak - 1) || !s->bad_on[p])
		return;
	for (i = s->start[p]; i < s->start[p + 1]; i++) {
		struct mrc_ev *ev = &s->ev[i];

		if (ev->state == MRC_EV_ASSUMED_BAD && ev->by_loss &&
		    (ev->out <= silence || ev->good ||
		     (streak >= MRC_STREAK_ALL && ev->out < MRC_PROBE_COUNT_MAX)))
			mrc_ev_forgive(s, ev);
	}
}

/*
 * Several planes answered in a row, each by an EV: not the planes were at fault, but a host that paused. So the
 * other EVs of these planes are restored, too, unless they flapped.
 */
static void mrc_set_pardon(struct mrc_evset *s)
{
	u32 planes = (u32)hweight64((u64)s->answered);
	u16 i;

	for (i = 0; planes >= MRC_STREAK_SET && s->bad && i < s->n; i++) {
		struct mrc_ev *ev = &s->ev[i];

		if (ev->state == MRC_EV_ASSUMED_BAD && s->answered >> ev->plane & 1 && ev->by_loss &&
		    (ev->good || (!ev->flaps && ev->out <= planes / 2)))
			mrc_ev_forgive(s, ev);
	}
}

static void mrc_plane_answered(struct mrc_evset *s, const struct mrc_ev *ev)
{
	struct mrc_evplane *pl = &s->plane[ev->plane];

	if (!pl->streak)
		pl->streak_tick = mrc_ev_past_of(s, ev)->probed;
	if (pl->streak < MRC_STREAK_ALL)
		pl->streak++;
	s->answered |= 1u << ev->plane;
	mrc_plane_pardon(s, (u8)ev->plane);
	mrc_set_pardon(s);
}

/*
 * Number of answers in a row that readmit @ev. Without traffic that pays for probes, each probe takes a tenth of a
 * second. Then one answer suffices for an EV that was demoted for silence, and `readmit` if it flapped.
 */
static u32 mrc_probe_need(const struct mrc_evset *s, const struct mrc_ev *ev)
{
	if (ev->by_loss && mrc_credit_units(s) < MRC_PROBE_COST)
		return ev->flaps ? s->readmit : 1;
	return min_t(u32, (u32)s->readmit << ev->flaps, MRC_PROBE_COUNT_MAX);
}

/* A bad EV answered: readmit it, or probe it again. */
static void mrc_ev_answered(struct mrc_evset *s, struct mrc_ev *ev, u64 now_ns)
{
	u32 need = mrc_probe_need(s, ev);
	bool first = !ev->good;

	if (mrc_correlate_answered(s, (u16)(ev - s->ev), now_ns))
		return;
	if (first && ev->by_loss && ev->out == 1)
		mrc_blame_refuted(s, now_ns);
	mrc_ev_answer_rtt(s, ev, now_ns);
	if (ev->out > 1 && !ev->again)
		s->stats.probes_late++;
	ev->out = (ev->out - 1u) & 15;
	if (ev->good < MRC_PROBE_COUNT_MAX)
		ev->good = (ev->good + 1u) & 15;
	ev->again = 1;
	if (ev->good >= need)
		mrc_evset_sign(s, (u16)(ev - s->ev), MRC_SIGN_PROBE_OK, now_ns);
	if (first)
		mrc_plane_answered(s, ev);
	/* Not on a plane that is down: no probe could leave, and the timer would stay in the past. */
	if (mrc_ev_wants_probe(s, ev))
		s->next_probe_ns = min_t(u64, s->next_probe_ns, now_ns);
	if (!s->bad)
		mrc_evset_reschedule(s, now_ns);
}

void mrc_evset_probe_answer(struct mrc_evset *s, u16 probe_id, bool ecn, u64 now_ns)
{
	struct mrc_ev *ev;
	u8 p;

	if (probe_id >= s->n)
		return;
	ev = &s->ev[probe_id];
	p = (u8)ev->plane;
	if (ev->state == MRC_EV_ASSUMED_BAD && ev->out) {
		mrc_ev_answered(s, ev, now_ns);
		if (unlikely(s->lent))
			mrc_avoid_settle(s);
	} else if (!mrc_evset_verified(s, probe_id, now_ns) &&
		   !mrc_suspect_answered(s, probe_id, now_ns) && !s->plane[p].suspect) {
		return;		/* no such probe is outstanding */
	}
	if (s->plane[p].suspect) {	/* probed since it became suspect, and alive */
		mrc_suspect_over(s, p, now_ns);
		mrc_evset_reschedule(s, now_ns);
	}
	if (ecn)	/* alive, but congested */
		mrc_evset_sign(s, probe_id, MRC_SIGN_ECN, now_ns);
}
