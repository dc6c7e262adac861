// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_ev.c - the EV states of a path set.
 *
 * MRC 1.0 section 3.1 (9.3.1). All state changes go through mrc_ev_move(), which maintains the
 * counts. Probing is in mrc_probe.c, EV selection in mrc_spray.c.
 *
 * Flaps: an EV that is lost again soon after its readmission had not recovered. Each readmission
 * counts one flap. Each flap doubles the number of answers that the EV needs to return. One flap is
 * forgotten per MRC_EV_CALM longest probe intervals since the last probe, computed when the EV is
 * lost again. Ticks wrap: an EV without traffic for minutes may once be taken as flapping, which
 * costs a few more probes.
 */
#include "paths/mrc_ev.h"

#define MRC_PROBE_NS_DEFAULT	100000ull
#define MRC_PROBE_MAX_DEFAULT	100000000ull
#define MRC_PROBE_MAX_LIMIT	200000000ull
#define MRC_READMIT_DEFAULT	2
#define MRC_READMIT_MAX		15
#define MRC_EV_CALM		10
#define MRC_EV_FLAPS_MAX	3
#define MRC_EV_LEVEL_TRIM	3	/* lowest level after a trim */
#define MRC_FLOOR_LOOK		64	/* EVs examined for one to keep */

/* How often an EV is passed over, by level; about twice as often at the highest. */
static const u8 mrc_ev_passes[MRC_EV_LEVEL_MAX + 1] = { 0, 1, 4, 15 };

size_t mrc_evset_mem_size(u16 n, bool counts)
{
	BUILD_BUG_ON(sizeof(struct mrc_ev) != 8 || sizeof(struct mrc_ev_past) != 8);
	return n * (sizeof(struct mrc_ev) + sizeof(struct mrc_ev_past) +
		    (counts ? sizeof(struct mrc_ev_count) : 0)) + (n + 7u) / 8 * 8;
}

/* Forget one flap per MRC_EV_CALM longest probe intervals since the last probe. */
static void mrc_ev_calm(const struct mrc_evset *s, struct mrc_ev *ev, u64 now_ns)
{
	u64 good = mrc_ev_age_ns(now_ns, mrc_ev_past_of(s, ev)->probed);
	u64 one = MRC_EV_CALM * s->probe_max_ns;

	for (; ev->flaps && good >= one; good -= one)
		ev->flaps = (ev->flaps - 1u) & 3;
}

void mrc_ev_unprove(struct mrc_evset *s, const struct mrc_ev *ev)
{
	if (s->proven[ev->plane] != ev - s->ev)
		return;
	s->proven[ev->plane] = MRC_NONE16;
	mrc_ev_past_of(s, ev)->proven = s->proven_at[ev->plane] << (16 - MRC_TICK_SHIFT) | 1;
}

static u32 mrc_evset_len(const struct mrc_evset *s, u8 p)
{
	return (u32)(s->start[p + 1] - s->start[p]);
}

static u32 mrc_evset_could_use(const struct mrc_evset *s)
{
	u32 can = 0;
	u8 p;

	for (p = 0; p < s->n_planes; p++)
		if (mrc_evset_plane_live(s, p) && s->usable_on[p])
			can |= 1u << p;
	return can;
}

/* All usable planes are suspect: trust them all again. */
static void mrc_evset_trust(struct mrc_evset *s)
{
	u8 p;

	for (p = 0; p < s->n_planes; p++) {
		s->plane[p].suspect = false;
		if (!mrc_evplane_watched(&s->plane[p]))
			s->watched &= ~(1u << p);
	}
	mrc_trace(planes, s->peer, s->local_up, s->remote_up, mrc_evset_suspects(s));
}

void mrc_evset_recount(struct mrc_evset *s)
{
	u32 can = mrc_evset_could_use(s), all = 0, left = 0, usable = 0;
	u8 p;

	s->in_use = can;
	for (p = 0; p < s->n_planes; p++)
		if (s->plane[p].suspect)
			s->in_use &= ~(1u << p);
	if (!s->in_use && can) {
		mrc_evset_trust(s);
		s->in_use = can;
	}
	for (p = 0; p < s->n_planes; p++) {
		if (!mrc_evset_plane_live(s, p))
			continue;
		all += mrc_evset_len(s, p);
		if (s->plane[p].suspect)
			continue;
		left += mrc_evset_len(s, p) - s->avoid_on[p];
		usable += mrc_evset_plane_in_use(s, p) ? s->usable_on[p] : 0;
	}
	s->usable = (u16)usable;
	s->floor = (u16)max_t(u32, all ? s->min_active * left / all : 0, 1);
	mrc_share_update(s);
	mrc_ecf_update(s);
}

/* One more EV of plane @p is usable, or one less. A full recount is rarely needed. */
static void mrc_ev_recount(struct mrc_evset *s, u8 p, bool more)
{
	u32 ok = s->usable_on[p];

	if (mrc_evset_plane_in_use(s, p) && ok > (u32)s->bad_on[p] + 1)
		s->usable = (u16)(s->usable + (more ? 1 : -1));
	else
		mrc_evset_recount(s);
}

/* All state changes go through this function. */
void mrc_ev_move(struct mrc_evset *s, struct mrc_ev *ev, u8 state)
{
	bool was = ev->state <= MRC_EV_SKIP, is = state <= MRC_EV_SKIP;
	s32 bad = (state == MRC_EV_ASSUMED_BAD) - (ev->state == MRC_EV_ASSUMED_BAD);
	s32 skip = (state == MRC_EV_SKIP) - (ev->state == MRC_EV_SKIP);

	if (ev->state == state)
		return;
	s->bad = (u16)(s->bad + bad);
	s->denied = (u16)(s->denied + (state == MRC_EV_DENIED) - (ev->state == MRC_EV_DENIED));
	s->bad_on[ev->plane] = (u16)(s->bad_on[ev->plane] + bad);
	s->skip_on[ev->plane] = (u16)(s->skip_on[ev->plane] + skip);
	if (s->turns) {
		s->turns->bad += state == MRC_EV_ASSUMED_BAD;
		s->turns->good += !was && is;
	}
	if (was != is) {
		if (unlikely(s->avoid[ev - s->ev]))
			s->lent_on[ev->plane] = (u16)(s->lent_on[ev->plane] + (is ? 1 : -1));
		s->usable_on[ev->plane] = (u16)(s->usable_on[ev->plane] + (is ? 1 : -1));
		if (!is)
			mrc_ev_unprove(s, ev);
		else if (!++s->gen)
			s->gen = 1;
		s->changed = true;
	}
	mrc_trace(ev, s->peer, ev->value, ev->plane, ev->state, state);
	mrc_ev_no_losses(s, ev);
	ev->state = state & 3u;
	ev->level = 0;
	ev->passes = 0;
	ev->picked = 0;
	ev->by_loss = 0;
	ev->out = 0;
	ev->good = 0;
	ev->again = 0;
	if (was != is)
		mrc_ev_recount(s, (u8)ev->plane, is);
}

void mrc_ev_notify(struct mrc_evset *s, const struct mrc_ev *ev, enum mrc_ev_why why)
{
	if (!s->turns)
		return;
	mrc_evchanges_add(s->turns, &(struct mrc_ev_change){
		.value = ev->value,
		.count = 1,
		.idx = (u16)(ev - s->ev),
		.plane = (u8)ev->plane,
		.state = ev->state <= MRC_EV_SKIP ? MRC_EV_GOOD : (u8)ev->state,
		.why = (u8)why,
	});
}

/* Make @ev SKIP, passed over as often as @level says. */
static void mrc_ev_skip(struct mrc_evset *s, struct mrc_ev *ev, u32 level)
{
	mrc_ev_move(s, ev, MRC_EV_SKIP);
	ev->level = level & 3;
	ev->passes = (u32)mrc_ev_passes[level & 3] & 15;
}

static void mrc_evplane_init(struct mrc_evplane *pl)
{
	memset(pl, 0, sizeof(*pl));
	pl->base_ns = ~0u;
	pl->base_next_ns = ~0u;
	pl->low_ns = ~0u;
	pl->len_ns = ~0u;
	pl->len_next_ns = ~0u;
	pl->reo = MRC_REO_MIN;
	pl->weight = MRC_SHARE_FULL;
	pl->lost_ev = MRC_NONE16;
	pl->query_ev = MRC_NONE16;
	pl->verify_ev = MRC_NONE16;
	pl->doubt_ev = MRC_NONE16;
	pl->mute_ev = MRC_NONE16;
	pl->alarm_ev = MRC_NONE16;
}

static void mrc_evset_defaults(struct mrc_evset *s, const struct mrc_evset_cfg *cfg)
{
	u8 p;

	s->n = cfg->n;
	s->n_planes = cfg->n_planes;
	s->min_active = cfg->min_active ? cfg->min_active : max_t(u16, cfg->n / 4, 1);
	s->readmit = cfg->readmit ? min_t(u8, cfg->readmit, MRC_READMIT_MAX) :
				    MRC_READMIT_DEFAULT;
	s->probe_max_ns = cfg->probe_max_ns ? min_t(u64, cfg->probe_max_ns, MRC_PROBE_MAX_LIMIT) :
					      MRC_PROBE_MAX_DEFAULT;
	s->probe_ns = min_t(u64, cfg->probe_ns ? cfg->probe_ns : MRC_PROBE_NS_DEFAULT,
			    s->probe_max_ns);
	s->next_probe_ns = MRC_TIME_NEVER;
	s->credit.units = MRC_PROBE_BURST * MRC_PROBE_COST;
	s->credit.left = s->credit.from = MRC_CREDIT_SLEEP;
	s->verify_pkts = MRC_VERIFY_PKTS;
	s->gen = 1;
	s->local_up = cfg->planes_up;
	s->remote_up = ~0u;
	s->peer = cfg->peer;
	s->turns = cfg->turns;
	memset(s->proven, 0xff, sizeof(s->proven));
	for (p = 0; p < MRC_PLANES_MAX; p++)
		mrc_evplane_init(&s->plane[p]);
}

int mrc_evset_init(struct mrc_evset *s, void *mem, const struct mrc_evset_cfg *cfg,
		   const u32 *values, const u8 *planes)
{
	u16 i, p;

	if (!cfg->n || cfg->n > MRC_EVS_MAX || !cfg->n_planes ||
	    cfg->n_planes > MRC_PLANES_MAX || cfg->min_active > cfg->n)
		return -EINVAL;
	memset(s, 0, sizeof(*s));
	mrc_evset_defaults(s, cfg);
	memset(mem, 0, mrc_evset_mem_size(s->n, cfg->counts));
	s->ev = (struct mrc_ev *)mem;
	s->past = (struct mrc_ev_past *)(s->ev + s->n);
	s->count = cfg->counts ? (struct mrc_ev_count *)(s->past + s->n) : NULL;
	s->avoid = cfg->counts ? (u8 *)(s->count + s->n) : (u8 *)(s->past + s->n);

	for (i = 0; i < s->n; i++) {
		if (planes[i] >= s->n_planes || (i && planes[i] < planes[i - 1]))
			return -EINVAL;
		s->ev[i].value = values[i];
		s->ev[i].plane = planes[i] & (MRC_PLANES_MAX - 1u);
		s->ev[i].state = MRC_EV_GOOD;
		s->usable_on[planes[i]]++;
	}
	for (p = 0; p < s->n_planes; p++)
		s->start[p + 1] = (u16)(s->start[p] + s->usable_on[p]);
	mrc_evset_recount(s);
	s->ack_turns_left = s->n_planes;	/* start with a short period, which proves nothing */
	return 0;
}

void mrc_ev_lend(struct mrc_evset *s)
{
	u16 i;

	s->lent = true;
	for (i = 0; s->aside && i < s->n; i++) {
		if (!(s->avoid[i] & MRC_AVOID_ASIDE))
			continue;
		s->avoid[i] = MRC_AVOID_WISH;
		s->aside--;
		mrc_ev_move(s, &s->ev[i], MRC_EV_GOOD);
		mrc_ev_notify(s, &s->ev[i], MRC_EV_WHY_FLOOR);
	}
}

/* @ev is about to be demoted. If too few usable EVs are left then, lend the avoided ones. */
static void mrc_ev_spare(struct mrc_evset *s, const struct mrc_ev *ev)
{
	if (unlikely(s->aside) && s->usable <= s->floor && mrc_evset_plane_in_use(s, (u8)ev->plane))
		mrc_ev_lend(s);
}

/* @ev was demoted: schedule its first probe. */
static void mrc_ev_called_bad(struct mrc_evset *s, struct mrc_ev *ev, u64 now_ns)
{
	/* Rounded up: never early. */
	mrc_ev_past_of(s, ev)->probed = mrc_ev_tick(mrc_tick_up_ns(now_ns));
	s->next_probe_ns = min_t(u64, s->next_probe_ns, now_ns + s->probe_ns);
	if (s->bad_on[ev->plane] == 1)
		s->plane[ev->plane].streak = 0;
}

static void mrc_ev_withdraw(struct mrc_evset *s, struct mrc_ev *ev, enum mrc_ev_why why, u64 now_ns)
{
	bool by_loss = why != MRC_EV_WHY_PEER;

	mrc_ev_spare(s, ev);
	mrc_ev_calm(s, ev, now_ns);
	mrc_ev_move(s, ev, MRC_EV_ASSUMED_BAD);
	s->stats.demotions++;
	ev->by_loss = by_loss;
	s->blamed = (u8)(s->blamed + by_loss);
	mrc_ev_called_bad(s, ev, now_ns);
	mrc_ev_notify(s, ev, why);
}

/* Among a few ASSUMED_BAD EVs of planes in use: the one proven last, if later than @ev; or NULL. */
static struct mrc_ev *mrc_ev_better(struct mrc_evset *s, const struct mrc_ev *ev)
{
	u32 latest = mrc_ev_past_of(s, ev)->proven;
	struct mrc_ev *best = NULL;
	u16 n;

	for (n = min_t(u16, s->n, MRC_FLOOR_LOOK); n; n--) {
		struct mrc_ev *e = &s->ev[s->floor_pos];
		u32 proven = s->past[s->floor_pos].proven;

		s->floor_pos = (u16)(s->floor_pos + 1 < s->n ? s->floor_pos + 1 : 0);
		if (e->state != MRC_EV_ASSUMED_BAD || !e->by_loss || !proven ||
		    !mrc_evset_plane_in_use(s, (u8)e->plane) ||
		    (latest && (s32)(proven - latest) <= 0))
			continue;
		best = e;
		latest = proven;
	}
	return best;
}

/*
 * Demote @ev, unless that would leave fewer usable EVs than the floor. Then an EV that was proven later
 * replaces it, or it stays.
 */
static void mrc_ev_demote(struct mrc_evset *s, struct mrc_ev *ev, bool by_loss, u64 now_ns)
{
	struct mrc_ev *better;

	mrc_ev_spare(s, ev);
	if (mrc_evset_plane_in_use(s, (u8)ev->plane) && s->usable <= s->floor) {
		s->stats.floor_hits++;
		better = mrc_ev_better(s, ev);
		if (!better)
			return;
		mrc_ev_forgive(s, better);
	}
	mrc_ev_withdraw(s, ev, by_loss ? MRC_EV_WHY_LOST : MRC_EV_WHY_PEER, now_ns);
}

/* @ev lost too many packets in a row. @sure: without doubt; then the floor does not protect it. */
void mrc_ev_blame(struct mrc_evset *s, struct mrc_ev *ev, bool sure, u64 now_ns)
{
	if (sure && s->usable > 1)
		mrc_ev_withdraw(s, ev, MRC_EV_WHY_LOST, now_ns);
	else
		mrc_ev_demote(s, ev, true, now_ns);
}

void mrc_ev_put_aside(struct mrc_evset *s, struct mrc_ev *ev, u64 now_ns)
{
	mrc_ev_withdraw(s, ev, MRC_EV_WHY_CORRELATED, now_ns);
	ev->picked = 1;
	ev->again = 1;
	s->next_probe_ns = min_t(u64, s->next_probe_ns, now_ns);
}

/* Demote @ev. @by_loss false: the peer reported it, which a late packet does not undo. */
static void mrc_ev_bad(struct mrc_evset *s, struct mrc_ev *ev, bool by_loss, u64 now_ns)
{
	mrc_ev_unprove(s, ev);
	if (ev->state <= MRC_EV_SKIP)
		mrc_ev_demote(s, ev, by_loss, now_ns);
	else if (ev->state == MRC_EV_ASSUMED_BAD && !by_loss)
		ev->by_loss = ev->picked = 0;
}

static void mrc_ev_readmit(struct mrc_evset *s, struct mrc_ev *ev, u64 now_ns)
{
	if (ev->state != MRC_EV_ASSUMED_BAD)
		return;
	mrc_ev_skip(s, ev, MRC_EV_LEVEL_MAX);
	if (ev->flaps < MRC_EV_FLAPS_MAX)
		ev->flaps = (ev->flaps + 1u) & 3;
	s->stats.readmissions++;
	mrc_ev_notify(s, ev, MRC_EV_WHY_ANSWERED);
	mrc_ev_delivered(s, ev, now_ns);
}

static void mrc_ev_pardon(struct mrc_evset *s, struct mrc_ev *ev, bool whole)
{
	if (whole)
		mrc_ev_move(s, ev, MRC_EV_GOOD);
	else
		mrc_ev_skip(s, ev, MRC_EV_LEVEL_MAX);
	s->stats.forgiven++;
	mrc_ev_notify(s, ev, MRC_EV_WHY_FORGIVEN);
}

void mrc_ev_forgive(struct mrc_evset *s, struct mrc_ev *ev)
{
	mrc_ev_pardon(s, ev, ev->picked);	/* an EV that was put aside has lost nothing */
}

/*
 * A tail probe by @ev was answered. During silence tail probes also use bad EVs (mrc_ctl.c). One that answers is
 * better than the silent ones in use, so it becomes GOOD at once.
 */
static void mrc_ev_awake(struct mrc_evset *s, struct mrc_ev *ev, u64 now_ns)
{
	if (ev->state != MRC_EV_ASSUMED_BAD || !ev->by_loss)
		return;
	mrc_ev_pardon(s, ev, true);
	mrc_ev_delivered(s, ev, now_ns);
	mrc_ev_past_of(s, ev)->proven = mrc_ev_tick(now_ns) | 1;
}

/* A packet declared lost has arrived late: the path is slow, not dead. */
static void mrc_ev_spurious(struct mrc_evset *s, struct mrc_ev *ev)
{
	mrc_ev_no_losses(s, ev);
	if (ev->state != MRC_EV_ASSUMED_BAD || !ev->by_loss)
		return;
	mrc_ev_skip(s, ev, MRC_EV_LEVEL_MAX);
	s->stats.spurious++;
	mrc_ev_notify(s, ev, MRC_EV_WHY_LATE);
}

/*
 * A mark or trim makes @ev SKIP. The level rises if the EV was picked since it was last SKIP. Otherwise the sign
 * is about packets that were sent before that and are accounted for. A trim counts more than a mark: the
 * queue is full, not filling.
 */
static void mrc_ev_congested(struct mrc_evset *s, struct mrc_ev *ev, bool trimmed)
{
	u32 level = ev->level;

	if (ev->state != MRC_EV_GOOD)
		return;
	if (!level || (ev->picked && level < MRC_EV_LEVEL_MAX))
		level++;
	if (trimmed && (ev->picked || !ev->level))
		level = max_t(u32, level, MRC_EV_LEVEL_TRIM);
	mrc_ev_skip(s, ev, level);
	s->stats.skips++;
}

void mrc_evset_sign(struct mrc_evset *s, u16 idx, enum mrc_ev_sign sign, u64 now_ns)
{
	struct mrc_ev *ev;

	if (mrc_assert(idx < s->n))
		return;
	ev = &s->ev[idx];
	switch (sign) {
	case MRC_SIGN_ECN_PLANE:
		s->plane[ev->plane].marks++;
		break;
	case MRC_SIGN_ECN:
		s->plane[ev->plane].marks++;
		mrc_ev_congested(s, ev, false);
		break;
	case MRC_SIGN_TRIMMED:
		s->plane[ev->plane].signs++;
		mrc_ev_congested(s, ev, true);
		break;
	case MRC_SIGN_LOST:
		if (s->count)
			s->count[idx].lost_pkts++;
		mrc_ev_bad(s, ev, true, now_ns);
		break;
	case MRC_SIGN_SPURIOUS:
		if (s->count)
			s->count[idx].lost_pkts--;
		mrc_ev_spurious(s, ev);
		break;
	case MRC_SIGN_PROBE_LOST:
		mrc_ev_bad(s, ev, true, now_ns);
		break;
	case MRC_SIGN_BAD:
		mrc_ev_bad(s, ev, false, now_ns);
		break;
	case MRC_SIGN_PROBE_OK:
		mrc_ev_readmit(s, ev, now_ns);
		break;
	case MRC_SIGN_TAIL_OK:
		mrc_ev_awake(s, ev, now_ns);
		break;
	case MRC_SIGN_DELIVERED:
		mrc_ev_delivered(s, ev, now_ns);
		break;
	}
}

u16 mrc_evset_of_flow(const struct mrc_evset *s, u32 hash)
{
	u16 n = s->n, idx = (u16)((u64)hash * n >> 32), i;

	for (i = s->usable ? 0 : n; i < n; i++, idx = idx + 1 == n ? 0 : idx + 1)
		if (mrc_ev_usable(s, idx))
			return idx;
	return MRC_NONE16;
}

void mrc_evset_info(const struct mrc_evset *s, u16 idx, struct mrc_ev_info *i)
{
	*i = (struct mrc_ev_info) {
		.value = s->ev[idx].value,
		.plane = (u8)s->ev[idx].plane,
		.state = (u8)s->ev[idx].state,
		.aside = s->avoid[idx] & MRC_AVOID_ASIDE,
		.tx_pkts = s->count ? s->count[idx].tx_pkts : 0,
		.lost_pkts = s->count ? s->count[idx].lost_pkts : 0,
	};
}

void mrc_evset_sum_up(const struct mrc_evset *s, struct mrc_evset_sum *sum)
{
	u16 i;

	memset(sum, 0, sizeof(*sum));
	sum->n = s->n;
	sum->usable = READ_ONCE(s->usable);
	sum->aside = READ_ONCE(s->aside);
	for (i = 0; i < s->n; i++) {
		/* a single 8-byte read, since the lock is not held */
		const struct mrc_ev ev = READ_ONCE(s->ev[i]);

		sum->in_state[ev.state]++;
	}
}

bool mrc_evset_take_change(struct mrc_evset *s)
{
	bool changed = s->changed;

	s->changed = false;
	return changed;
}

static int mrc_ev_check(const struct mrc_evset *s, u16 i)
{
	const struct mrc_ev *ev = &s->ev[i];

	if (ev->plane >= s->n_planes || i < s->start[ev->plane] || i >= s->start[ev->plane + 1])
		return __LINE__;
	if (ev->state != MRC_EV_ASSUMED_BAD && (ev->by_loss || ev->out || ev->good || ev->again))
		return __LINE__;
	if (ev->state > MRC_EV_SKIP && (ev->level || ev->losses))
		return __LINE__;
	if (ev->picked && !(ev->state == MRC_EV_GOOD ? ev->level > 0 : ev->by_loss))
		return __LINE__;
	if (ev->state == MRC_EV_SKIP ? ev->passes < 1 || ev->passes > mrc_ev_passes[ev->level] :
				       ev->passes != 0)
		return __LINE__;
	/* A probe is scheduled for each bad EV. */
	if (ev->state == MRC_EV_ASSUMED_BAD && mrc_evset_plane_live(s, ev->plane) &&
	    s->next_probe_ns == MRC_TIME_NEVER)
		return __LINE__;
	return 0;
}

/* The counts of plane @p agree with its entries. */
static int mrc_evset_check_plane(const struct mrc_evset *s, u16 p)
{
	u16 n[MRC_EV_STATES] = { 0 }, i;

	for (i = s->start[p]; i < s->start[p + 1]; i++)
		n[s->ev[i].state]++;
	if (n[MRC_EV_GOOD] + n[MRC_EV_SKIP] != s->usable_on[p] || n[MRC_EV_SKIP] != s->skip_on[p] ||
	    n[MRC_EV_ASSUMED_BAD] != s->bad_on[p])
		return __LINE__;
	if (mrc_evplane_watched(&s->plane[p]) != (s->watched >> p & 1))
		return __LINE__;
	if ((s->plane[p].verify_ev != MRC_NONE16) != (s->verifying >> p & 1) ||
	    (s->plane[p].query_ev != MRC_NONE16) != (s->querying >> p & 1) || s->muted & ~s->verifying)
		return __LINE__;
	if (s->plane[p].suspect && mrc_evset_plane_in_use(s, (u8)p))
		return __LINE__;
	if (s->proven[p] == MRC_NONE16)
		return 0;
	if (s->proven[p] < s->start[p] || s->proven[p] >= s->start[p + 1] ||
	    s->ev[s->proven[p]].state > MRC_EV_SKIP)
		return __LINE__;
	return 0;
}

/* The counts of avoided EVs agree with the entries. */
static int mrc_avoid_check(const struct mrc_evset *s)
{
	u32 avoided = 0, aside = 0, on[MRC_PLANES_MAX] = { 0 }, lent[MRC_PLANES_MAX] = { 0 };
	u16 i;

	for (i = 0; i < s->n; i++) {
		const struct mrc_ev *ev = &s->ev[i];

		if (!s->avoid[i])
			continue;
		avoided++;
		on[ev->plane]++;
		lent[ev->plane] += ev->state <= MRC_EV_SKIP;
		if (!(s->avoid[i] & MRC_AVOID_ASIDE))
			continue;
		aside++;
		if (ev->state != MRC_EV_DENIED || s->lent)
			return __LINE__;
	}
	for (i = 0; i < s->n_planes; i++)
		if (on[i] != s->avoid_on[i] || lent[i] != s->lent_on[i])
			return __LINE__;
	return avoided != s->avoided || aside != s->aside ? __LINE__ : 0;
}

int mrc_evset_check(const struct mrc_evset *s)
{
	u32 bad = 0, usable = 0, open = 0, denied = 0, open_on[MRC_PLANES_MAX] = { 0 };
	u16 i;
	int err;

	for (i = 0; i < s->n; i++) {
		err = mrc_ev_check(s, i);
		if (err)
			return err;
		open += s->ev[i].losses > 0;
		open_on[s->ev[i].plane] += s->ev[i].losses > 0;
		denied += s->ev[i].state == MRC_EV_DENIED;
	}
	for (i = 0; i < s->n_planes; i++) {
		err = mrc_evset_check_plane(s, i);
		if (err)
			return err;
		if (open_on[i] != s->open_on[i])
			return __LINE__;
		bad += s->bad_on[i];
		usable += mrc_evset_plane_in_use(s, (u8)i) ? s->usable_on[i] : 0;
	}
	if (bad != s->bad || usable != s->usable || open != s->open || denied != s->denied)
		return __LINE__;
	if (s->in_use & ~mrc_evset_could_use(s) || (!s->in_use && mrc_evset_could_use(s)))
		return __LINE__;
	return mrc_avoid_check(s);
}
