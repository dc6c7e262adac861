/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_ev.h - entropy values (EVs): the set of paths to one peer, and their states.
 *
 * MRC 1.0 section 3 (9.3.1, 11.2.2). An evset is the path set of a (peer, profile). All QPs to that
 * peer share the EV states, so a loss of one QP informs the others. Each QP has its own EV
 * selection (mrc_spray.h).
 *
 * States: GOOD; SKIP (congested: passed over one or more times); ASSUMED_BAD (lost packets: probed
 * until it answers again); DENIED (by a controller). An EV is usable when it is GOOD or SKIP and
 * its plane is in use: up at both ends, and not suspect (mrc_suspect.c).
 *
 * The level of an EV says how long SKIP lasts. The first mark costs one pass, the first trim more.
 * A signal about packets that were sent since then raises the level, so a slower path gets its
 * share and no more. A pass without a signal lowers the level. An EV that returns from ASSUMED_BAD
 * starts at the highest level: it may be slow, and probes, which do not queue, cannot tell. If more
 * than half of the EVs of a plane are SKIP, the cause is not the paths, and each is passed over
 * only once.
 *
 * min_active is a floor: a demotion that would leave fewer usable EVs is refused and counted, or an
 * EV that was proven later replaces the demoted one. One that is surely dead (mrc_blame.c) goes all the
 * same, unless it is the last.
 *
 * Reverse EVs (section 3.5): acknowledgements prove nothing about their own path, so they leave by
 * EVs that were proven recently, by a delivered packet or an answered probe. One proven EV is kept
 * per plane. While only acknowledgements are sent, one EV per plane is verified by a probe every
 * few round trips.
 *
 * The caller serialises all calls on one evset and on the EV selections that use it.
 */
#ifndef MRC_EV_H
#define MRC_EV_H

#include "base/mrc_types.h"
#include "base/mrc_prng.h"
#include "paths/mrc_plane.h"
#include "paths/mrc_ecf.h"
#include "paths/mrc_evchanges.h"

enum mrc_ev_state {
	MRC_EV_GOOD,
	MRC_EV_SKIP,
	MRC_EV_ASSUMED_BAD,
	MRC_EV_DENIED,
	MRC_EV_STATES
};

/* What was learnt about the path of one EV. */
enum mrc_ev_sign {
	MRC_SIGN_ECN,		/* SACK m = SKIP_ONCE */
	MRC_SIGN_ECN_PLANE,	/* likewise, of a burst that has others: its plane alone hears (mrc_spray_heeds()) */
	MRC_SIGN_TRIMMED,	/* NACK TRIMMED, not at the last hop */
	MRC_SIGN_BAD,		/* SACK m = ALWAYS_SKIP */
	MRC_SIGN_LOST,		/* packet lost without a trim */
	MRC_SIGN_SPURIOUS,	/* the packet called lost had arrived: takes one LOST back */
	MRC_SIGN_PROBE_LOST,
	MRC_SIGN_PROBE_OK,
	MRC_SIGN_TAIL_OK,	/* a tail probe that left by it is answered */
	MRC_SIGN_DELIVERED,	/* proven */
};

/*
 * What choosing reads: 8 bytes, so that a set of 4,096 is walked without leaving the cache.
 * What judging needs besides is in struct mrc_ev_past: 16 bytes an EV in all, and one that says whether it is avoided.
 */
struct mrc_ev {
	u32 value;		/* UDP source port << 16 | flow label [15:0] */
	u32 state : 2;		/* enum mrc_ev_state */
	u32 level : 2;		/* how long a sign of congestion makes it SKIP */
	u32 passes : 4;		/* SKIP: times it will be met before it is GOOD */
	u32 plane : 5;		/* 0-based */
	u32 picked : 1;		/* GOOD, of a level: picked since it was SKIP; ASSUMED_BAD: for its company */
	u32 flaps : 2;		/* readmissions of late, saturating */
	u32 losses : 3;		/* losses since the last delivery, saturating */
	u32 moment : 3;		/* low bits of the set's moment at the latest of them */
	u32 by_loss : 1;	/* ASSUMED_BAD, and for nothing but silence */
	u32 out : 4;		/* ASSUMED_BAD: probes not answered so far, saturating */
	u32 good : 4;		/* ASSUMED_BAD: answers in a row, saturating */
	u32 again : 1;		/* ASSUMED_BAD: one was answered, the next may leave at once */
};

/* Times of one EV in ticks of MRC_TICK_SHIFT; they wrap after 274 s. */
struct mrc_ev_past {
	u32 probed;		/* latest probe for being bad; before the first: called bad */
	u32 proven;		/* latest sign of life, noted while something is wrong */
};

/* Telemetry of one EV, in an array of its own: not on the way of a decision. */
struct mrc_ev_count {
	u32 tx_pkts, lost_pkts;	/* wrap */
};

struct mrc_evset_cfg {
	u16 n;			/* EVs, 1 ... MRC_EVS_MAX */
	u16 min_active;		/* floor of usable EVs; 0: n / 4, at least 1 */
	u8 n_planes;		/* 1 ... MRC_PLANES_MAX */
	u8 readmit;		/* good answers that readmit; 0: 2; at most 15. Twice as
				 * many after each readmission that did not last */
	bool counts;		/* keep struct mrc_ev_count */
	u32 planes_up;		/* local planes up now */
	u64 probe_ns;		/* first probe interval; 0: 100 us */
	u64 probe_max_ns;	/* cap of its doubling; 0: 100 ms, at most 200 ms */
	const u8 *peer;		/* what onlookers know it by, 16 bytes that stay; or NULL */
	struct mrc_ev_turns *turns; /* of all sets of the peer, which come and go; or NULL */
};

struct mrc_ev_stats {
	u64 skips, demotions, readmissions, floor_hits, probes, probes_lost, spurious;
	u64 probes_late;	/* answered after the next had left */
	u64 forgiven;		/* called good again without an answer of their own */
	u64 suspicions;		/* of planes */
	u64 misses;		/* planes by which acknowledgements were missed */
};

/*
 * What probes may cost, in packets of data: one for each MRC_PROBE_COST sent or received, ten a
 * second, and a burst saved up. Both ends have a path set: together they stay below 2 in 100.
 * Packets are counted down, so that the one that pays for a
 * probe that waits wakes it (mrc_evset_credit_wake()).
 */
#define MRC_PROBE_COST		92u
#define MRC_PROBE_BURST		32u
#define MRC_PROBE_SPARE		16u	/* left for bad EVs by questions that only hasten a finding */
#define MRC_VERIFY_PKTS		56u	/* between verifications of mere routine */
struct mrc_probe_credit {
	s32 left;		/* packets until the next probe is paid for */
	s32 from;		/* what `left` began with when last looked at */
	u32 units;		/* saved, MRC_PROBE_COST for each probe */
	u32 pkts;		/* all that were counted; wraps */
	u64 at_ns;		/* up to when time has been counted */
};

struct mrc_evset {
	u16 n, min_active;
	u8 n_planes, readmit;
	bool changed;		/* a state changed since mrc_evset_take_change() */
	bool wake;		/* other QPs are to look whether they can ask: mrc_evset_take_wake() */
	bool half;		/* every other meeting of an EV of the top level counts */
	u32 gen;		/* changes when an EV becomes usable: rotations look again */
	u32 in_use;		/* planes: up at both ends, with usable EVs, and not suspect */
	u32 full;		/* those of them that have each turn */
	u32 longer;		/* those of them that are longer than others (mrc_ecf.c) */
	u32 measure;		/* those that are left out and to be measured */
	u32 short_ns;		/* the length of the shortest */
	u32 stood_ns;		/* the least queue that stands on those that are not longer */
	u16 usable;		/* GOOD + SKIP on planes in use */
	u16 floor;		/* min_active, less what suspect planes and avoided EVs would have of it */
	union {
		struct {
			u16 bad;	/* ASSUMED_BAD, any plane */
			u16 open;	/* sum of open_on[] */
			u32 watched;	/* planes of which something is not as usual: mrc_evplane_watched() */
		};
		u64 abnormal;	/* any of these: asked by each delivery */
	};
	u16 denied;		/* DENIED, any plane */
	bool lent;		/* avoided EVs are in use: too few others are usable */
	u16 avoided;		/* to be avoided, any plane (mrc_avoid.c) */
	u16 aside;		/* DENIED for that and nothing else */
	u32 verifying;		/* planes with an open question: verify_ev */
	u32 querying;		/* likewise: query_ev */
	u32 muted;		/* of those verified: the peer misses our acknowledgements by them */
	u32 answered;		/* by which bad EVs answered, and none of late did not */
	u32 local_up, remote_up;
	u16 walks;		/* begun on it so far (mrc_spray.c) */
	u16 share[MRC_PLANES_MAX];	/* turns taken, of MRC_SHARE_FULL; 0: not in use */
	u16 usable_on[MRC_PLANES_MAX];	/* GOOD + SKIP, whether or not the plane is up */
	u16 skip_on[MRC_PLANES_MAX];	/* SKIP */
	u16 bad_on[MRC_PLANES_MAX];	/* ASSUMED_BAD */
	u16 avoid_on[MRC_PLANES_MAX];	/* to be avoided */
	u16 lent_on[MRC_PLANES_MAX];	/* those of them that are usable */
	u16 open_on[MRC_PLANES_MAX];	/* usable, with losses since the last delivery */
	u16 start[MRC_PLANES_MAX + 1];	/* plane p: ev[start[p] ... start[p + 1]) */
	u16 proven[MRC_PLANES_MAX];	/* EV proven last, or MRC_NONE16 */
	u32 proven_at[MRC_PLANES_MAX];	/* when, 2^16 ns */
	u8 probe_plane;		/* where the search for an EV to probe goes on */
	u8 verify_plane;	/* likewise, for one to verify */
	u8 ack_turns_left;		/* acknowledgements until these turns are over */
	u8 extra;		/* losses in a row that blame needs besides (mrc_blame.c) */
	u8 need;		/* losses in a row that the latest one needed for blame */
	u8 moment;		/* counts moments at which losses were found */
	u8 blamed;		/* counts EVs that were called bad for losses */
	u16 floor_pos;		/* where the search for one to keep goes on */
	u16 guess_pos;		/* likewise, for one that the peer names */
	u32 rx_tick;		/* the peer's latest packet */
	u32 rx_pkts;		/* packets of the peer; wraps */
	u8 ack_by;		/* the plane that brought the latest acknowledgement */
	u32 ack_planes;		/* planes that brought acknowledgements in these turns (mrc_no_acks.h) */
	u32 no_acks_reported;	/* planes that brought none, of which the peer was told */
	u32 no_acks_tick;		/* when lately */
	u32 acks_missing;	/* planes by which the peer says that ours are missed */
	u64 extra_ns;		/* when `extra` changed */
	u64 moment_ns;		/* when `moment` changed */
	u64 probe_ns, probe_max_ns;
	u64 patience_most_ns;	/* at least that of any plane; exact when last asked */
	u64 verify_ns;		/* nothing is to be done for verification before */
	u64 verify_from_ns;	/* no verifying probe of mere routine leaves before */
	u32 verify_pkts;	/* sent and received since the latest one; settled */
	u64 measure_ns;		/* no plane that is left out is measured before */
	u64 next_probe_ns;	/* no probe is due before; MRC_TIME_NEVER: none */
	const void *asker;	/* the one QP whose timer waits for that, or NULL */
	u64 asker_ns;		/* and until when */
	struct mrc_probe_credit credit;
	struct mrc_evplane plane[MRC_PLANES_MAX];
	struct mrc_ev *ev;	/* n entries, grouped by plane */
	struct mrc_ev_past *past;	/* n entries */
	struct mrc_ev_count *count;	/* n entries, or NULL */
	u8 *avoid;		/* n entries, of MRC_AVOID_* */
	const u8 *peer;		/* for onlookers, as given; or NULL */
	struct mrc_ev_stats stats;
	struct mrc_ev_turns *turns;	/* as given; or NULL */
};

struct mrc_spray;

/* Bytes that mrc_evset_init() needs as @mem for @n EVs. */
size_t mrc_evset_mem_size(u16 n, bool counts);

/**
 * mrc_evset_init - a set with all EVs GOOD
 * @mem: mrc_evset_mem_size(cfg->n, cfg->counts) bytes, 8-byte aligned, owned by the
 *	caller, which frees it after the last rotation is gone
 * @values, @planes: n each, planes ascending; values may repeat (a profile may
 *	weight a path)
 *
 * Return: 0, or -EINVAL (n, n_planes or a plane out of range or order).
 */
int mrc_evset_init(struct mrc_evset *s, void *mem, const struct mrc_evset_cfg *cfg,
		   const u32 *values, const u8 *planes);

/* A local port, or the peer's (Port Status Update), changed. Planes that return
 * come back with their ASSUMED_BAD EVs forgiven: the port was the fault. */
void mrc_evset_local_planes(struct mrc_evset *s, u32 up_mask, u64 now_ns);
void mrc_evset_remote_planes(struct mrc_evset *s, u32 up_mask, u64 now_ns);

/* Apply one sign (section 3.1's state machine). @idx < n. */
void mrc_evset_sign(struct mrc_evset *s, u16 idx, enum mrc_ev_sign sign, u64 now_ns);

/* The controller sets GOOD or DENIED. Return: 0 or -EINVAL. */
int mrc_evset_set_state(struct mrc_evset *s, u16 idx, u8 state, u64 now_ns);

/*
 * EV @idx (< n) crosses a link that is to be avoided, or no longer. It is set aside as long as
 * enough others are usable. mrc_evset_avoid_apply() is due after the last of these calls, in the same
 * turn.
 */
void mrc_evset_avoid(struct mrc_evset *s, u16 idx, bool avoid);
void mrc_evset_avoid_apply(struct mrc_evset *s, u64 now_ns);

static inline bool mrc_evset_plane_live(const struct mrc_evset *s, u8 plane)
{
	return s->local_up & s->remote_up & (1u << plane);
}

/* Up, with usable EVs, and not suspect. Of planes that are up, one always is, if any could. */
static inline bool mrc_evset_plane_in_use(const struct mrc_evset *s, u8 plane)
{
	return s->in_use >> plane & 1;
}

/* Planes that are suspect, as a mask. */
static inline u32 mrc_evset_suspects(const struct mrc_evset *s)
{
	u32 mask = 0;
	u8 p;

	for (p = 0; p < s->n_planes; p++)
		mask |= s->plane[p].suspect ? 1u << p : 0;
	return mask;
}

static inline bool mrc_ev_usable(const struct mrc_evset *s, u16 idx)
{
	return s->ev[idx].state <= MRC_EV_SKIP && mrc_evset_plane_in_use(s, s->ev[idx].plane);
}

/*
 * The peer asks again or resends what was acknowledged: acknowledgements may be dying on
 * their way. The EVs that carried them were proven before that; they are no more.
 */
static inline void mrc_evset_doubt(struct mrc_evset *s)
{
	memset(s->proven, 0xff, s->n_planes * sizeof(s->proven[0]));
	s->verify_ns = 0;
	s->verify_from_ns = 0;
	s->verify_pkts = MRC_VERIFY_PKTS;
}

/*
 * A question came by @plane, by the path that the peer calls @value. Where nothing is proven, ours of that name is taken
 * for well: cables and switches most often die both ways.
 */
void mrc_evset_guess(struct mrc_evset *s, u8 plane, u32 value, u64 now_ns);

/* A probe leaves. Tail probes may always, and take of the same credit. */
static inline void mrc_credit_spend(struct mrc_evset *s)
{
	s->credit.units -= min_t(u32, s->credit.units, MRC_PROBE_COST);
}

/* What packets have earned so far; time may have, too. */
static inline u32 mrc_credit_units(const struct mrc_evset *s)
{
	return s->credit.units + ((u32)s->credit.from - (u32)s->credit.left);
}

/* A probe waited for so many packets. */
void mrc_evset_credit_wake(struct mrc_evset *s);

static inline void mrc_evset_earn(struct mrc_evset *s, s32 pkts)
{
	s->credit.left = (s32)((u32)s->credit.left - (u32)pkts);
	if (unlikely(s->credit.left <= 0))
		mrc_evset_credit_wake(s);
}

/* Smoothed round trip of plane @p, and its base (shortest of late); 0: none known. */
static inline u32 mrc_evset_srtt_ns(const struct mrc_evset *s, u8 p)
{
	return s->plane[p].srtt_ns;
}

static inline u32 mrc_evset_base_ns(const struct mrc_evset *s, u8 p)
{
	return s->plane[p].base_ns == ~0u ? 0 : s->plane[p].base_ns;
}

/* Of a plane whose weight is not full. */
u32 mrc_share_of(const struct mrc_evset *s, u8 p);

/*
 * The share of a full turn that plane @p gets, of MRC_SHARE_FULL. Less than full: the plane is
 * slower than others, which is answered by its share and is no business of the window.
 */
static inline u32 mrc_evset_share(const struct mrc_evset *s, u8 p)
{
	return likely(s->plane[p].weight == MRC_SHARE_FULL) ? MRC_SHARE_FULL : mrc_share_of(s, p);
}

/* One more packet sent by @idx, or one taken back. */
static inline void mrc_evset_count_tx(struct mrc_evset *s, u16 idx, s32 by)
{
	if (s->count)
		s->count[idx].tx_pkts += (u32)by;
}

/* True once after any state changed: time to tell listeners. */
bool mrc_evset_take_change(struct mrc_evset *s);

/* Would it be? May be asked without the lock. */
static inline bool mrc_evset_changed(const struct mrc_evset *s)
{
	return READ_ONCE(s->changed);
}

/* How many EVs and planes; both fixed. */
static inline u16 mrc_evset_n(const struct mrc_evset *s)
{
	return s->n;
}

static inline u8 mrc_evset_n_planes(const struct mrc_evset *s)
{
	return s->n_planes;
}

/*
 * When plane @p (< n_planes) was last known to deliver; another value each time, but for some that are close. May
 * be asked without the lock.
 */
static inline u32 mrc_evset_proven_at(const struct mrc_evset *s, u8 p)
{
	return READ_ONCE(s->proven_at[p]);
}

/* Has @plane EVs in the set, whatever their state? Any plane number. */
static inline bool mrc_evset_plane_has_evs(const struct mrc_evset *s, u8 plane)
{
	return plane < s->n_planes && s->start[plane + 1] > s->start[plane];
}

/* An EV of @plane, whatever its state; each @n another one in turn. MRC_NONE16: it has none. */
static inline u16 mrc_evset_nth_of(const struct mrc_evset *s, u8 plane, u32 n)
{
	if (!mrc_evset_plane_has_evs(s, plane))
		return MRC_NONE16;
	return (u16)(s->start[plane] + n % (u32)(s->start[plane + 1] - s->start[plane]));
}

/* The value and the plane of EV @idx; both fixed. */
static inline u32 mrc_evset_value(const struct mrc_evset *s, u16 idx)
{
	return s->ev[idx].value;
}

static inline u8 mrc_evset_plane(const struct mrc_evset *s, u16 idx)
{
	return (u8)s->ev[idx].plane;
}

/* For ordinary IP: one EV for each flow as long as it is usable; MRC_NONE16 when none is. */
u16 mrc_evset_of_flow(const struct mrc_evset *s, u32 hash);

/* What mrcctl shows: of one EV; and of all, which may be asked without the lock. */
struct mrc_ev_info {
	u32 value;
	u8 plane, state;
	bool aside;		/* DENIED because it is avoided, by nobody else */
	u32 tx_pkts, lost_pkts;
};
void mrc_evset_info(const struct mrc_evset *s, u16 idx, struct mrc_ev_info *i);

struct mrc_evset_sum {
	u32 n, usable;
	u32 in_state[MRC_EV_STATES];
	u32 aside;		/* of those DENIED: they are avoided only */
};
void mrc_evset_sum_up(const struct mrc_evset *s, struct mrc_evset_sum *sum);

/*
 * True once after the QP that asks by probes had reason to doubt that it is answered at all, or
 * failed: all QPs that use the set are to be called (mrc_conn_tx_next(), deadline), for
 * those that sleep do not know that something is to be asked.
 */
bool mrc_evset_take_wake(struct mrc_evset *s);

/* Without the lock of the set: is there anything to take? Has anybody to ask about its EVs? */
static inline bool mrc_evset_wants_wake(const struct mrc_evset *s)
{
	return READ_ONCE(s->wake);
}

static inline bool mrc_evset_probes_pending(const struct mrc_evset *s)
{
	return READ_ONCE(s->next_probe_ns) != MRC_TIME_NEVER;
}

/* Likewise: does mrc_conn_deadline_ns() need the lock? */
static inline bool mrc_evset_waits(const struct mrc_evset *s)
{
	return READ_ONCE(s->asker) || mrc_evset_probes_pending(s);
}

/*
 * Probes of ASSUMED_BAD EVs (3.5): the first after probe_ns, then each as long after the one
 * before as an answer takes on that plane, doubling while none comes; `readmit` answers
 * in a row make it GOOD. They cost what the credit covers, and next_probe_ns says when it does.
 */
bool mrc_evset_probe_next(struct mrc_evset *s, u64 now_ns, u16 *idx);

/*
 * Verification of planes that only carry acknowledgements (3.5). About every two round trips
 * an EV of each is probed; without an answer no acknowledgement leaves by the plane, and
 * another EV is asked: whose answer tells the EV from the plane.
 * mrc_evset_verify_next(), called after each acknowledgement from verify_ns on, true: send a
 * probe on *idx.
 */
bool mrc_evset_verify_next(struct mrc_evset *s, struct mrc_spray *r, u64 now_ns, u16 *idx);

/*
 * Is it worth to ask that? A question is open, something is in doubt, or there were packets
 * enough since the latest one. Each SACK asks.
 */
static inline bool mrc_evset_verify_due(const struct mrc_evset *s, u64 now_ns)
{
	u32 pkts = s->verify_pkts + (u32)s->credit.from - (u32)s->credit.left;

	return now_ns >= s->verify_ns && (s->verifying | s->watched | s->acks_missing | s->measure || pkts >= MRC_VERIFY_PKTS);
}

/*
 * The peer misses our acknowledgements by plane @p: that one is verified next, and has none
 * meanwhile; any plane.
 */
void mrc_evset_acks_missing(struct mrc_evset *s, u8 p);

/* A probe carries its EV's index as probe_id (below MRC_PROBE_ID_EV_END). A late answer is an
 * answer; each counts once, and one to nothing that was asked does no harm. */
#define MRC_PROBE_ID_EV_END	MRC_EVS_MAX
void mrc_evset_probe_answer(struct mrc_evset *s, u16 probe_id, bool ecn, u64 now_ns);

/* Between mrc_ev.c, mrc_probe.c and mrc_spray.c. */
static inline u32 mrc_ev_proven_tick(u64 now_ns)
{
	return (u32)(now_ns >> 16);
}

#define MRC_PROVEN_FRESH	1526u	/* 100 ms */

/* Does @at, of mrc_evset_proven_at(), still say something of the way there? */
static inline bool mrc_evset_proof_fresh(u32 at, u64 now_ns)
{
	return mrc_ev_proven_tick(now_ns) - at <= MRC_PROVEN_FRESH;
}

#define MRC_EV_LEVEL_MAX	3	/* two bits */

static inline u32 mrc_ev_tick(u64 now_ns)
{
	return (u32)(now_ns >> MRC_TICK_SHIFT);
}

static inline u64 mrc_tick_up_ns(u64 ns)
{
	return (ns + (1u << MRC_TICK_SHIFT) - 1) >> MRC_TICK_SHIFT << MRC_TICK_SHIFT;
}

/* Time since @tick. CPUs differ by a little: what lies ahead is now. */
static inline u64 mrc_ev_age_ns(u64 now_ns, u32 tick)
{
	u32 age = mrc_ev_tick(now_ns) - tick;

	return age > 0xff000000u ? 0 : (u64)age << MRC_TICK_SHIFT;
}

/* A GOOD one is picked. Nothing was said since the last time: that was a clean lap. */
static inline void mrc_ev_taken(struct mrc_ev *ev)
{
	if (likely(!ev->level))
		return;
	if (ev->picked)
		ev->level = (ev->level - 1u) & 3;
	ev->picked = ev->level > 0;
}

/* An answer names it: proven. */
static inline void mrc_ev_delivered(struct mrc_evset *s, struct mrc_ev *ev, u64 now_ns)
{
	if (ev->state > MRC_EV_SKIP)
		return;		/* sent long ago: its probes will tell */
	s->proven[ev->plane] = (u16)(ev - s->ev);
	s->proven_at[ev->plane] = mrc_ev_proven_tick(now_ns);
}

/* The walk meets one that is SKIP. Returns true if it is GOOD now, only if @may. */
static inline bool mrc_ev_pass_over(struct mrc_evset *s, struct mrc_ev *ev, bool may)
{
	if (ev->passes > 1) {
		/* The top level lasts twice as long as `passes` can count. */
		s->half ^= ev->level == MRC_EV_LEVEL_MAX;
		if (ev->level < MRC_EV_LEVEL_MAX || s->half)
			ev->passes = (ev->passes - 1u) & 15;
		if (likely(2u * s->skip_on[ev->plane] <= s->usable_on[ev->plane]))
			return false;
	}
	if (!may)
		return false;
	s->skip_on[ev->plane]--;
	ev->state = MRC_EV_GOOD;
	ev->passes = 0;
	ev->picked = 0;
	return true;
}

/* Something of it is odd: deliveries have to look closer. */
static inline bool mrc_evplane_watched(const struct mrc_evplane *pl)
{
	return pl->suspect || pl->lost_ev != MRC_NONE16 || pl->doubt_ev != MRC_NONE16;
}

static inline struct mrc_ev_past *mrc_ev_past_of(const struct mrc_evset *s, const struct mrc_ev *ev)
{
	return &s->past[ev - s->ev];
}

/* The question to plane @p is answered, or given up. */
static inline void mrc_verify_closed(struct mrc_evset *s, u8 p)
{
	s->plane[p].verify_ev = MRC_NONE16;
	s->verifying &= ~(1u << p);
	s->muted &= ~(1u << p);
}

#define MRC_CREDIT_SLEEP	0x40000000	/* nothing waits for it */

/* Between mrc_ev.c, mrc_avoid.c and who changes what is usable. */
#define MRC_AVOID_WISH	1u	/* to be avoided */
#define MRC_AVOID_ASIDE	2u	/* and DENIED for nothing else */
/* Too few others are usable: avoided EVs are GOOD for now. */
void mrc_ev_lend(struct mrc_evset *s);
/* Sets avoided EVs aside if enough others are usable, or lends them. */
void mrc_avoid_settle(struct mrc_evset *s);
/* A controller sets @state of @idx. True: nothing else is to be done. */
bool mrc_avoid_state(struct mrc_evset *s, u16 idx, u8 state);

/* Usable again though it has not answered: it was called bad in bad company. */
void mrc_ev_forgive(struct mrc_evset *s, struct mrc_ev *ev);
void mrc_evset_reschedule(struct mrc_evset *s, u64 now_ns);
void mrc_credit_wait(struct mrc_evset *s);
bool mrc_credit_has(struct mrc_evset *s, u32 keep, u64 now_ns);
bool mrc_evset_verified(struct mrc_evset *s, u16 idx, u64 now_ns);

/* What planes are in use, and how much of it is left, after any change of that. */
void mrc_evset_recount(struct mrc_evset *s);
void mrc_ev_move(struct mrc_evset *s, struct mrc_ev *ev, u8 state);
/* @ev has just become unusable, or usable, for onlookers. */
void mrc_ev_notify(struct mrc_evset *s, const struct mrc_ev *ev, enum mrc_ev_why why);
void mrc_ev_unprove(struct mrc_evset *s, const struct mrc_ev *ev);
void mrc_ev_blame(struct mrc_evset *s, struct mrc_ev *ev, bool sure, u64 now_ns);
/* Bad for its company only, and probed at once. */
void mrc_ev_put_aside(struct mrc_evset *s, struct mrc_ev *ev, u64 now_ns);

/* Between mrc_plane.c, mrc_share.c, mrc_correlate.c, mrc_suspect.c, mrc_blame.c and mrc_probe.c. */
void mrc_plane_allow(struct mrc_evplane *pl, u64 late_ns, u64 now_ns);
void mrc_share_update(struct mrc_evset *s);
#define MRC_SHARE_SAMPLES	8	/* round trips that tell of a queue that stands */
void mrc_share_round(struct mrc_evset *s, struct mrc_evplane *pl, u64 now_ns);
bool mrc_correlate_lost(struct mrc_evset *s, u8 p, u64 now_ns);
void mrc_correlate_judge(struct mrc_evset *s, u8 p, u64 now_ns);
void mrc_correlate_delivered(struct mrc_evset *s, u16 idx);
bool mrc_correlate_answered(struct mrc_evset *s, u16 idx, u64 now_ns);
void mrc_correlate_refuted(struct mrc_evset *s, u8 p);
bool mrc_suspect_others(const struct mrc_evset *s, u8 p, u32 tick, u64 now_ns);
void mrc_suspect_make(struct mrc_evset *s, u8 p, u32 tick, u64 now_ns);
void mrc_suspect_clear(struct mrc_evset *s, u8 p);
void mrc_suspect_over(struct mrc_evset *s, u8 p, u64 now_ns);
void mrc_suspect_refuted(struct mrc_evset *s, u8 p, u32 tick);
bool mrc_suspect_lost(struct mrc_evset *s, u8 p, u16 idx, u32 tick, u64 now_ns);
bool mrc_suspect_answered(struct mrc_evset *s, u16 idx, u64 now_ns);
void mrc_suspect_mute(struct mrc_evset *s, u8 p, u16 idx, u32 tick, u64 now_ns);
u64 mrc_suspect_next_ns(const struct mrc_evset *s);
u16 mrc_suspect_probe(struct mrc_evset *s, u64 now_ns);
void mrc_blame_refuted(struct mrc_evset *s, u64 now_ns);

static inline void mrc_ev_no_losses(struct mrc_evset *s, struct mrc_ev *ev)
{
	u16 had = ev->losses > 0;

	s->open = (u16)(s->open - had);
	s->open_on[ev->plane] = (u16)(s->open_on[ev->plane] - had);
	ev->losses = 0;
}

/* 0 when every count agrees with the entries. */
int mrc_evset_check(const struct mrc_evset *s);

#include "paths/mrc_spray.h"
#include "paths/mrc_suspect.h"

#endif
