// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_suspect.c - planes that are suspect as a whole, and what clears them.
 *
 * A dead switch or cable takes all EVs of a plane at once. To wait until each EV loses packets
 * takes long, and longer with more EVs. So a plane becomes suspect when packets by two of its EVs
 * are late, nothing sent by it since then has arrived, and other planes delivered. A suspect plane
 * carries neither data nor acknowledgements; it is probed.
 *
 * If messages are rare, the second packet is a message of its own, which would also be late. So if
 * nothing was delivered by the plane for a round trip after a loss, another of its EVs is probed.
 * No answer counts as a second loss.
 *
 * Suspecting a plane costs little, because one delivery or answer of anything sent later clears it.
 * Two probes leave at once, by different EVs. The next probes follow after 1/64 of the time that
 * the plane has been suspect: a plane that was away for 100 ms is used again 2 ms after its return.
 * A plane that relapses needs more proof (mrc_suspect_relapse()). Without data nobody misses the
 * plane, and each wait equals the sum of the waits before it.
 *
 * If all planes go silent at once, no plane is at fault: the peer or this host paused. A plane is
 * suspect only in contrast to another plane that delivered later packets.
 */
#include "paths/mrc_ev.h"

#define MRC_ASK_PART		64
#define MRC_ASK_MIN_NS		200000ull
#define MRC_ASK_MAX_NS		100000000ull
#define MRC_ASK_IDLE_NS		250000000ull
#define MRC_RELAPSES_FREE	3	/* relapses without penalty: dead EVs may be found one by one */
#define MRC_RELAPSES_MAX	(MRC_RELAPSES_FREE + 10)
#define MRC_RELAPSE_NS		10000000ull	/* suspect again within this time, or 8 holds: a relapse */
#define MRC_JUDGE_RTTS		4	/* suspect for less: some EVs are at fault, not the plane */
#define MRC_EXCUSE_OUT		1	/* unanswered probes with which a demoted EV is still forgiven */

/*
 * Has the plane delivered something sent after @tick? Compares ages, because ticks wrap: after minutes of silence
 * an old delivery would look newer.
 */
static bool mrc_plane_after(const struct mrc_evplane *pl, u32 tick, u64 now_ns)
{
	return pl->ok && mrc_ev_age_ns(now_ns, pl->ok_tick) < mrc_ev_age_ns(now_ns, tick);
}

/* Has another plane in use delivered something sent after @tick? */
bool mrc_suspect_others(const struct mrc_evset *s, u8 p, u32 tick, u64 now_ns)
{
	u8 q;

	for (q = 0; q < s->n_planes; q++)
		if (q != p && mrc_evset_plane_in_use(s, q) &&
		    mrc_plane_after(&s->plane[q], tick, now_ns))
			return true;
	return false;
}

static void mrc_suspect_note(struct mrc_evset *s, u8 p)
{
	bool queried = s->plane[p].query_ev != MRC_NONE16;

	if (mrc_evplane_watched(&s->plane[p]))
		s->watched |= 1u << p;
	else
		s->watched &= ~(1u << p);
	if (queried == (s->querying >> p & 1))
		return;
	s->querying ^= 1u << p;
	mrc_share_update(s);
}

/* The plane was at fault: restore the EVs that were demoted for silence and probed at most once. */
static void mrc_suspect_excuse(struct mrc_evset *s, u8 p)
{
	u16 i;

	for (i = s->start[p]; (s->bad_on[p] | s->open) && i < s->start[p + 1]; i++) {
		mrc_ev_no_losses(s, &s->ev[i]);
		if (s->ev[i].state == MRC_EV_ASSUMED_BAD && s->ev[i].by_loss &&
		    s->ev[i].out <= MRC_EXCUSE_OUT)
			mrc_ev_forgive(s, &s->ev[i]);
	}
}

/* The plane was not at fault: demote those of its EVs that have lost enough packets. */
static void mrc_suspect_judge(struct mrc_evset *s, u8 p, u64 now_ns)
{
	u16 i;

	for (i = s->start[p]; s->open && i < s->start[p + 1]; i++)
		if (s->ev[i].state <= MRC_EV_SKIP && s->ev[i].losses >= s->need)
			mrc_ev_blame(s, &s->ev[i], false, now_ns);
}

/* How long after a relapse answers to probes do not clear the plane. */
static u64 mrc_suspect_hold(const struct mrc_evplane *pl)
{
	return pl->relapses > MRC_RELAPSES_FREE ? MRC_ASK_MIN_NS / 2 << (pl->relapses - MRC_RELAPSES_FREE) : 0;
}

/*
 * Count relapses. A plane may deliver probes and lose data, for example large packets. An answer clears it, and
 * the next packets make it suspect again. After each relapse the time doubles during which answers do not
 * clear it. A delivery of a packet sent after the plane was cleared ends the series.
 */
static void mrc_suspect_relapse(struct mrc_evplane *pl, u64 now_ns)
{
	u64 soon = max_t(u64, 8 * mrc_suspect_hold(pl), MRC_RELAPSE_NS);

	if (!pl->over_ns || now_ns >= pl->over_ns + soon ||
	    mrc_plane_after(pl, mrc_ev_tick(pl->over_ns), now_ns))
		pl->relapses = 0;
	else if (pl->relapses < MRC_RELAPSES_MAX)
		pl->relapses++;
}

void mrc_suspect_make(struct mrc_evset *s, u8 p, u32 tick, u64 now_ns)
{
	struct mrc_evplane *pl = &s->plane[p];

	mrc_suspect_relapse(pl, now_ns);
	pl->suspect = true;
	pl->suspect_tick = tick;
	pl->suspect_ns = now_ns;
	pl->ask_ns = now_ns;
	pl->asks = 2;
	pl->query_ev = MRC_NONE16;
	s->stats.suspicions++;
	mrc_trace(planes, s->peer, s->local_up, s->remote_up, mrc_evset_suspects(s));
	mrc_suspect_note(s, p);
	mrc_avoid_settle(s);	/* first: if only suspect planes were left, the recount would trust them */
	mrc_evset_recount(s);
	mrc_avoid_settle(s);
	s->next_probe_ns = min_t(u64, s->next_probe_ns, now_ns);
}

/* Forget the plane's recorded loss, and the probe that was sent because of it. */
static void mrc_suspect_found(struct mrc_evplane *pl)
{
	pl->lost_ev = MRC_NONE16;
	pl->query_ev = MRC_NONE16;
}

/* Remove all suspicion from plane @p. */
void mrc_suspect_clear(struct mrc_evset *s, u8 p)
{
	struct mrc_evplane *pl = &s->plane[p];
	bool was = pl->suspect;

	pl->suspect = false;
	mrc_suspect_found(pl);
	pl->doubt_ev = MRC_NONE16;
	mrc_suspect_note(s, p);
	if (was) {
		mrc_trace(planes, s->peer, s->local_up, s->remote_up, mrc_evset_suspects(s));
		mrc_evset_recount(s);
		mrc_avoid_settle(s);
	}
}

/*
 * A packet that left by plane @p at @tick was late, not lost. It clears a suspect plane only if it was not sent
 * before the losses: the plane may have died in between.
 */
void mrc_suspect_refuted(struct mrc_evset *s, u8 p, u32 tick)
{
	if (!s->plane[p].suspect || (s32)(tick - s->plane[p].suspect_tick) >= 0)
		mrc_suspect_clear(s, p);
}

/*
 * A packet sent since the plane became suspect has arrived: it is alive. If it was suspect for only a few round
 * trips, some of its EVs are at fault; otherwise the plane was.
 */
void mrc_suspect_over(struct mrc_evset *s, u8 p, u64 now_ns)
{
	struct mrc_evplane *pl = &s->plane[p];
	bool soon = now_ns < pl->suspect_ns + (u64)MRC_JUDGE_RTTS * pl->srtt_ns, was = pl->suspect;

	if (was && now_ns < pl->suspect_ns + mrc_suspect_hold(pl))
		return;
	pl->over_ns = was ? now_ns : pl->over_ns;
	mrc_suspect_clear(s, p);
	if (was && soon)
		mrc_suspect_judge(s, p, now_ns);
	else if (was)
		mrc_suspect_excuse(s, p);
}

bool mrc_evset_overdue(struct mrc_evset *s, u8 p, u32 tick, u64 now_ns)
{
	struct mrc_evplane *pl = &s->plane[p];

	if (pl->suspect)
		return true;
	if (!mrc_evset_plane_in_use(s, p) || mrc_plane_after(pl, tick, now_ns) ||
	    !mrc_suspect_others(s, p, tick, now_ns))
		return false;
	mrc_suspect_make(s, p, tick, now_ns);
	return true;
}

/*
 * A packet sent at @tick by EV @idx is lost. One loss proves little. A second loss by another EV, with no delivery
 * by the plane since the first packet was sent, makes the plane suspect. This finds dead planes when
 * messages are rare. True: the plane is suspect.
 */
bool mrc_suspect_lost(struct mrc_evset *s, u8 p, u16 idx, u32 tick, u64 now_ns)
{
	struct mrc_evplane *pl = &s->plane[p];

	if (pl->suspect)
		return true;
	if (mrc_plane_after(pl, tick, now_ns))
		return false;
	if (pl->lost_ev == MRC_NONE16 || mrc_plane_after(pl, pl->lost_tick, now_ns)) {
		pl->lost_ev = idx;
		pl->lost_tick = tick;
		pl->query_ev = MRC_NONE16;
		pl->ask_ns = now_ns + (pl->srtt_ns ? pl->srtt_ns : s->probe_ns);
		s->next_probe_ns = min_t(u64, s->next_probe_ns, pl->ask_ns);
		mrc_suspect_note(s, p);
		return false;
	}
	if (pl->lost_ev == idx || !mrc_evset_plane_in_use(s, p) ||
	    !mrc_suspect_others(s, p, pl->lost_tick, now_ns))
		return false;
	mrc_suspect_make(s, p, (s32)(tick - pl->lost_tick) > 0 ? tick : pl->lost_tick, now_ns);
	return true;
}

/* A verification probe by EV @idx was not answered: acknowledgements avoid its plane. */
void mrc_suspect_mute(struct mrc_evset *s, u8 p, u16 idx, u32 tick, u64 now_ns)
{
	struct mrc_evplane *pl = &s->plane[p];

	if (pl->doubt_ev == MRC_NONE16) {
		pl->doubt_ev = idx;
		pl->doubt_tick = tick;
	} else if (pl->doubt_ev != idx && !pl->suspect && mrc_evset_plane_in_use(s, p) &&
		   mrc_suspect_others(s, p, pl->doubt_tick, now_ns)) {
		mrc_suspect_make(s, p, tick, now_ns);
	}
	mrc_suspect_note(s, p);
}

/*
 * Another EV of the plane is alive, so the EV that did not answer its verification is demoted. Its answer may still
 * wait in another receive ring; when it arrives, the EV is restored (mute_ev).
 */
static void mrc_suspect_settle(struct mrc_evset *s, u8 p, u16 idx, u64 now_ns)
{
	struct mrc_evplane *pl = &s->plane[p];
	u16 doubt = pl->doubt_ev;

	pl->doubt_ev = MRC_NONE16;
	if (doubt == idx)
		return;
	pl->mute_ev = doubt;
	mrc_evset_sign(s, doubt, MRC_SIGN_PROBE_LOST, now_ns);
}

/* Plane @p delivered a packet that was sent at @tick by EV @idx. */
static void mrc_suspect_alive(struct mrc_evset *s, u8 p, u16 idx, u32 tick, u64 now_ns)
{
	struct mrc_evplane *pl = &s->plane[p];

	if (pl->suspect && (s32)(tick - pl->suspect_tick) <= 0)
		return;		/* sent before the losses: the plane may have died since */
	if (pl->doubt_ev != MRC_NONE16 && (s32)(tick - pl->doubt_tick) > 0)
		mrc_suspect_settle(s, p, idx, now_ns);
	if (pl->suspect)
		mrc_suspect_over(s, p, now_ns);
	else if (pl->lost_ev != MRC_NONE16 && (s32)(tick - pl->lost_tick) > 0)
		mrc_suspect_found(pl);
	mrc_suspect_note(s, p);
}

void mrc_suspect_delivered(struct mrc_evset *s, u8 p, u16 idx, u32 tick, u64 now_ns)
{
	if (s->ev[idx].state <= MRC_EV_SKIP) {
		s->proven[p] = idx;
		s->proven_at[p] = mrc_ev_proven_tick(now_ns);
	}
	if (!s->abnormal)
		return;
	if (s->watched >> p & 1)
		mrc_suspect_alive(s, p, idx, tick, now_ns);
	mrc_correlate_delivered(s, idx);
	s->past[idx].proven = mrc_ev_tick(now_ns) | 1;
	if (s->ev[idx].losses) {
		s->chance_ev = idx;
		s->chance_tick = mrc_ev_tick(now_ns) | 1;
	}
	mrc_ev_no_losses(s, &s->ev[idx]);
}

/* ---- probes of planes ---- */

/* Did plane @p, in use, lose a packet without a delivery since? Then it is probed, or an answer is awaited. */
static bool mrc_suspect_unsettled(const struct mrc_evset *s, u8 p)
{
	return s->plane[p].lost_ev != MRC_NONE16 && mrc_evset_plane_in_use(s, p);
}

/* Time of the earliest probe of any plane, or MRC_TIME_NEVER. */
u64 mrc_suspect_next_ns(const struct mrc_evset *s)
{
	u64 at = MRC_TIME_NEVER;
	u8 p;

	for (p = 0; s->watched && p < s->n_planes; p++)
		if (s->usable_on[p] && (s->plane[p].suspect || mrc_suspect_unsettled(s, p)))
			at = min_t(u64, at, s->plane[p].ask_ns);
	return at;
}

/* A usable EV of plane @p, the next in turn. */
static u16 mrc_suspect_ev(struct mrc_evset *s, u8 p)
{
	struct mrc_evplane *pl = &s->plane[p];
	u16 len = (u16)(s->start[p + 1] - s->start[p]), n, i;

	for (n = len; n; n--) {
		i = (u16)(s->start[p] + pl->probe_pos);
		pl->probe_pos = (u16)(pl->probe_pos + 1 < len ? pl->probe_pos + 1 : 0);
		if (s->ev[i].state <= MRC_EV_SKIP)
			return i;
	}
	return MRC_NONE16;
}

/* Interval until the next probe of a suspect plane; longer while no packets are sent or received. */
static u64 mrc_suspect_gap(struct mrc_evset *s, struct mrc_evplane *pl, u64 now_ns)
{
	u64 since = now_ns > pl->suspect_ns ? now_ns - pl->suspect_ns : 0;
	bool idle = pl->ask_pkts == s->credit.pkts;

	pl->ask_pkts = s->credit.pkts;
	return idle ? clamp_t(u64, since, MRC_ASK_MIN_NS, MRC_ASK_IDLE_NS) :
		      clamp_t(u64, since / MRC_ASK_PART, MRC_ASK_MIN_NS, MRC_ASK_MAX_NS);
}

/*
 * The probe of plane @p after a loss was not answered. The plane is suspect if another one delivered a packet that
 * was sent after the lost one.
 */
static void mrc_suspect_unanswered(struct mrc_evset *s, u8 p, u64 now_ns)
{
	struct mrc_evplane *pl = &s->plane[p];

	pl->query_ev = MRC_NONE16;
	pl->ask_ns = MRC_TIME_NEVER;
	mrc_suspect_note(s, p);
	s->stats.probes_lost++;
	if (mrc_suspect_others(s, p, pl->lost_tick, now_ns))
		mrc_suspect_make(s, p, pl->query_tick, now_ns);
}

/* Plane @p lost a packet and has delivered nothing since: the EV of a probe, not the one with the loss. */
static u16 mrc_suspect_query(struct mrc_evset *s, u8 p, u64 now_ns)
{
	struct mrc_evplane *pl = &s->plane[p];
	u16 idx;

	if (pl->query_ev != MRC_NONE16) {
		mrc_suspect_unanswered(s, p, now_ns);
		return MRC_NONE16;
	}
	idx = mrc_suspect_ev(s, p);
	if (idx == pl->lost_ev)
		idx = mrc_suspect_ev(s, p);
	if (idx == pl->lost_ev || !mrc_credit_has(s, MRC_PROBE_SPARE, now_ns)) {
		pl->ask_ns = MRC_TIME_NEVER;
		return MRC_NONE16;
	}
	pl->query_ev = idx;
	pl->query_tick = mrc_ev_tick(now_ns);
	pl->ask_ns = now_ns + max_t(u64, s->probe_ns, mrc_evset_patience_ns(s));
	mrc_suspect_note(s, p);
	return idx;
}

/* EV @idx answered the probe that a loss on its plane caused. False: there was no such probe. */
bool mrc_suspect_answered(struct mrc_evset *s, u16 idx, u64 now_ns)
{
	u8 p = (u8)s->ev[idx].plane;
	struct mrc_evplane *pl = &s->plane[p];

	if (pl->query_ev != idx)
		return false;
	pl->query_ev = MRC_NONE16;
	if (now_ns < pl->ask_ns)	/* later it may be the answer to another probe */
		mrc_evset_probe_rtt(s, p, max_t(u64, mrc_ev_age_ns(now_ns, pl->query_tick), 1), now_ns);
	mrc_evset_delivered(s, p, idx, pl->query_tick, now_ns);
	mrc_suspect_found(pl);	/* the probe left after the loss, even if both have the same tick */
	mrc_suspect_note(s, p);
	return true;
}

/* The EV of a probe that is due now, for a suspect plane or one with a loss; or MRC_NONE16. */
u16 mrc_suspect_probe(struct mrc_evset *s, u64 now_ns)
{
	struct mrc_evplane *pl;
	u8 p;

	for (p = 0; s->watched && p < s->n_planes; p++) {
		pl = &s->plane[p];
		if (!s->usable_on[p] || now_ns < pl->ask_ns)
			continue;
		if (!pl->suspect && mrc_suspect_unsettled(s, p)) {
			u16 idx = mrc_suspect_query(s, p, now_ns);

			if (idx != MRC_NONE16)
				return idx;
		}
		if (!pl->suspect)
			continue;
		if (pl->asks)
			pl->asks--;
		if (!pl->asks)
			pl->ask_ns = now_ns + mrc_suspect_gap(s, pl, now_ns);
		return mrc_suspect_ev(s, p);
	}
	return MRC_NONE16;
}

/* ---- received packets ---- */

void mrc_evset_arrived(struct mrc_evset *s, struct mrc_arrivals *h, u64 now_ns)
{
	u32 tick = mrc_ev_tick(now_ns), left;

	s->rx_pkts += h->pkts;
	for (left = h->planes; left; left &= left - 1) {
		struct mrc_evplane *pl = &s->plane[mrc_ffs64(left)];

		pl->rx_tick = tick;
		pl->rx_pkts = s->rx_pkts;
		s->rx_tick = tick;
	}
	mrc_evset_earn(s, h->pkts);
	if (h->doubt)
		mrc_evset_doubt(s);
	*h = (struct mrc_arrivals){ 0 };
}
