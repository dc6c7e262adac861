// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_probe.c - probes that bring EVs back, and probes that find dead ones.
 *
 * MRC 1.0 section 3.5 (6.5). A probe carries the index of its EV as probe_id,
 * so its answer finds the EV again whatever path the answer took. An
 * ASSUMED_BAD EV is probed at growing intervals until `readmit` answers came
 * in a row; one answer calls for the next probe at once.
 */
#include "mrc_ev.h"

#define MRC_VERIFY_RTTS		8	/* silence of so many round trips: lost */
#define MRC_VERIFY_EVERY_RTTS	4	/* one EV verified in so many round trips */

/* Earliest probe of any bad EV on a live plane. O(n), only when one changed. */
static void mrc_evset_reschedule(struct mrc_evset *s)
{
	u64 at = MRC_TIME_NEVER;
	u16 i, left = s->bad;

	for (i = 0; left && i < s->n; i++) {
		if (s->ev[i].state != MRC_EV_ASSUMED_BAD)
			continue;
		left--;
		if (mrc_evset_plane_live(s, s->ev[i].plane) && s->ev[i].probe_at_ns < at)
			at = s->ev[i].probe_at_ns;
	}
	s->next_probe_ns = at;
}

static void mrc_ev_probe_sent(struct mrc_evset *s, struct mrc_ev *ev, u64 now_ns)
{
	u64 wait = s->probe_ns << ev->backoff;

	if (ev->backoff) {	/* the one before went unanswered */
		s->stats.probes_lost++;
		ev->answers = 0;
	}
	if (wait >= s->probe_max_ns)
		wait = s->probe_max_ns;
	else
		ev->backoff++;
	ev->probe_at_ns = now_ns + wait;
	s->stats.probes++;
}

bool mrc_evset_probe_next(struct mrc_evset *s, u64 now_ns, u16 *idx)
{
	u16 i;

	if (likely(now_ns < s->next_probe_ns))
		return false;
	for (i = 0; i < s->n; i++) {
		struct mrc_ev *ev = &s->ev[i];

		if (ev->state != MRC_EV_ASSUMED_BAD || ev->probe_at_ns > now_ns ||
		    !mrc_evset_plane_live(s, ev->plane))
			continue;
		mrc_ev_probe_sent(s, ev, now_ns);
		*idx = i;
		return true;	/* others that are due come at the next call */
	}
	mrc_evset_reschedule(s);
	return false;
}

/* How long a verifying probe may take before its EV is called dead. */
static u64 mrc_evset_verify_wait(const struct mrc_evset *s)
{
	return max_t(u64, MRC_VERIFY_RTTS * s->probe_rtt_ns, 4 * s->probe_ns);
}

bool mrc_evset_verify_next(struct mrc_evset *s, struct mrc_rot *r, u64 now_ns, u16 *idx)
{
	if (s->verify_out) {
		if (now_ns - s->verify_ns < mrc_evset_verify_wait(s))
			return false;
		s->verify_out = false;
		s->stats.probes_lost++;
		mrc_evset_sign(s, s->verify_idx, MRC_SIGN_PROBE_LOST, now_ns);
	} else if (now_ns < s->verify_ns) {
		return false;
	}
	*idx = mrc_rot_pick(r, s, MRC_NONE16);
	if (*idx == MRC_NONE16)
		return false;
	s->verify_out = true;
	s->verify_idx = *idx;
	s->verify_ns = now_ns;
	s->stats.probes++;
	return true;
}

static void mrc_evset_rtt(struct mrc_evset *s, u64 rtt_ns)
{
	s->probe_rtt_ns = s->probe_rtt_ns ? (7 * s->probe_rtt_ns + rtt_ns) / 8 : rtt_ns;
}

void mrc_evset_probe_answer(struct mrc_evset *s, u16 probe_id, bool ecn, u64 now_ns)
{
	struct mrc_ev *ev;

	if (probe_id >= s->n)
		return;
	ev = &s->ev[probe_id];
	if (s->verify_out && probe_id == s->verify_idx) {
		mrc_evset_rtt(s, now_ns - s->verify_ns);
		s->verify_out = false;
		s->verify_ns = now_ns + max_t(u64, MRC_VERIFY_EVERY_RTTS * s->probe_rtt_ns,
					      MRC_VERIFY_EVERY_RTTS * s->probe_ns);
	}
	if (ev->state != MRC_EV_ASSUMED_BAD)
		return;
	ev->backoff = 0;
	if (++ev->answers < s->readmit) {
		ev->probe_at_ns = now_ns;
		s->next_probe_ns = now_ns;
		return;
	}
	mrc_evset_sign(s, probe_id, MRC_SIGN_PROBE_OK, now_ns);
	if (ecn)	/* it lives, and is congested */
		mrc_evset_sign(s, probe_id, MRC_SIGN_ECN, now_ns);
	mrc_evset_reschedule(s);
}
