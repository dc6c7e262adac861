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
 * While the EV is SKIP, more signals change nothing. A signal after it was picked again raises the
 * level, so a slower path gets its share and no more. A pass without a signal lowers the level. An
 * EV that returns from ASSUMED_BAD starts at the highest level: it may be slow, and probes, which
 * do not queue, cannot tell. If more than half of the EVs of a plane are SKIP, the cause is not the
 * paths, and each is passed over only once.
 *
 * min_active is a floor (0: a quarter of the EVs): a demotion that would leave fewer usable EVs is
 * refused and counted, or an EV that was proven later replaces the demoted one. An EV that is
 * surely dead (mrc_blame.c) is demoted anyway, unless it is the last. A controller may go below it.
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

/* Evidence about the path of one EV. */
enum mrc_ev_sign {
	MRC_SIGN_ECN,		/* SACK m = SKIP_ONCE */
	MRC_SIGN_ECN_PLANE,	/* the same, of another packet of a burst: counts for the plane only */
	MRC_SIGN_TRIMMED,	/* NACK TRIMMED, not at the last hop */
	MRC_SIGN_BAD,		/* SACK m = ALWAYS_SKIP */
	MRC_SIGN_LOST,		/* packet lost without a trim */
	MRC_SIGN_SPURIOUS,	/* the packet declared lost had arrived: takes one LOST back */
	MRC_SIGN_PROBE_LOST,
	MRC_SIGN_PROBE_OK,
	MRC_SIGN_TAIL_OK,	/* a tail probe that left by it was answered */
	MRC_SIGN_DELIVERED,	/* the EV is proven */
};

/*
 * The state that EV selection reads: 8 bytes, so that a set of 4,096 EVs fits into the cache. Other state
 * is in struct mrc_ev_past (8 bytes) and mrc_evset.avoid (1 byte).
 */
struct mrc_ev {
	u32 value;		/* UDP source port << 16 | flow label [15:0] */
	u32 state : 2;		/* enum mrc_ev_state */
	u32 level : 2;		/* how long a sign of congestion makes it SKIP */
	u32 passes : 4;		/* SKIP: how often it is passed over before it is GOOD */
	u32 plane : 5;		/* 0-based */
	u32 picked : 1;		/* GOOD with a level: picked since it was SKIP; ASSUMED_BAD: put aside */
	u32 flaps : 2;		/* recent readmissions, saturating */
	u32 losses : 3;		/* losses since the last delivery, saturating */
	u32 moment : 3;		/* low bits of the set's moment at the latest of these losses */
	u32 by_loss : 1;	/* ASSUMED_BAD because of losses only, not by a report of the peer */
	u32 out : 4;		/* ASSUMED_BAD: probes not answered so far, saturating */
	u32 good : 4;		/* ASSUMED_BAD: answers in a row, saturating */
	u32 again : 1;		/* ASSUMED_BAD: a probe was answered, the next may leave at once */
};

/* Times of one EV in ticks of MRC_TICK_SHIFT; they wrap after 274 s. */
struct mrc_ev_past {
	u32 probed;		/* latest probe while ASSUMED_BAD; before the first: the demotion */
	u32 proven;		/* latest delivery, recorded only while the set is not in order */
};

/* Counters of one EV, in a separate array: no decision reads them. */
struct mrc_ev_count {
	u32 tx_pkts, lost_pkts;	/* wrap */
};

struct mrc_evset_cfg {
	u16 n;			/* EVs, 1 ... MRC_EVS_MAX */
	u16 min_active;		/* floor of usable EVs; 0: n / 4, at least 1 */
	u8 n_planes;		/* 1 ... MRC_PLANES_MAX */
	u8 readmit;		/* answers in a row that readmit; 0: 2; at most 15. Doubled
				 * after each readmission that did not last */
	bool counts;		/* keep struct mrc_ev_count */
	u32 planes_up;		/* local planes up now */
	u64 probe_ns;		/* first probe interval; 0: 100 us */
	u64 probe_max_ns;	/* cap of its doubling; 0: 100 ms, at most 200 ms */
	const u8 *peer;		/* GID for tracepoints, 16 bytes that outlive the set; or NULL */
	struct mrc_ev_turns *turns; /* events of all path sets of the peer, outlives the set; or NULL */
};

struct mrc_ev_stats {
	u64 skips, demotions, readmissions, floor_hits, probes, probes_lost, spurious;
	u64 probes_late;	/* answered after the next had left */
	u64 forgiven;		/* usable again without an answer of their own */
	u64 suspicions;		/* planes that became suspect */
	u64 misses;		/* reports of planes without acknowledgements */
};

/*
 * The budget of probes: one per MRC_PROBE_COST packets sent or received, plus ten per second, with a burst
 * saved up. Both ends have a path set, so together probes are at most about 2 % of the packets. `left`
 * counts down to 0, so that the packet that pays for a waiting probe also wakes it
 * (mrc_evset_credit_wake()).
 */
#define MRC_PROBE_COST		92u
#define MRC_PROBE_BURST		32u
#define MRC_PROBE_SPARE		16u	/* credit for so many probes is reserved for bad EVs */
#define MRC_VERIFY_PKTS		56u	/* packets between two routine verifications */
struct mrc_probe_credit {
	s32 left;		/* packets until the waiting probe is paid for */
	s32 from;		/* start value of `left` */
	u32 units;		/* saved credit; a probe costs MRC_PROBE_COST */
	u32 pkts;		/* packets counted in all; wraps */
	u64 at_ns;		/* time up to which credit for time was given */
};

struct mrc_evset {
	u16 n, min_active;
	u8 n_planes, readmit;
	bool changed;		/* a state changed since mrc_evset_take_change() */
	bool wake;		/* other QPs must check whether they can probe: mrc_evset_take_wake() */
	bool half;		/* an EV of the top level counts every other pass only */
	u32 gen;		/* changes when an EV becomes usable: EV selections look again */
	u32 in_use;		/* mask of planes: up at both ends, with usable EVs, not suspect */
	u32 full;		/* those in use with a full share */
	u32 longer;		/* those in use that are longer than others (mrc_ecf.c) */
	u32 measure;		/* those that carry no data now and must be measured */
	u32 short_ns;		/* length of the shortest plane */
	u32 stood_ns;		/* shortest standing queue of the planes that are not longer */
	u16 usable;		/* GOOD + SKIP on planes in use */
	u16 floor;		/* min_active, reduced by the part of suspect planes and avoided EVs */
	union {
		struct {
			u16 bad;	/* ASSUMED_BAD, any plane */
			u16 open;	/* sum of open_on[] */
			u32 watched;	/* mask of planes: mrc_evplane_watched() */
		};
		u64 abnormal;	/* all three at once: tested by each delivery */
	};
	u16 denied;		/* DENIED, any plane */
	bool lent;		/* avoided EVs are in use: too few others are usable */
	u16 avoided;		/* EVs to avoid, any plane (mrc_avoid.c) */
	u16 aside;		/* DENIED only because they are avoided */
	u32 verifying;		/* mask of planes with an unanswered verify_ev */
	u32 querying;		/* mask of planes with an unanswered query_ev */
	u32 muted;		/* those of verifying on which the peer misses acknowledgements */
	u32 answered;		/* mask of planes whose bad EVs answered since a probe was lost */
	u32 local_up, remote_up;
	u16 walks;		/* EV selections started on this set (mrc_spray.c) */
	u16 share[MRC_PLANES_MAX];	/* turns taken, of MRC_SHARE_FULL; 0: not in use */
	u16 usable_on[MRC_PLANES_MAX];	/* GOOD + SKIP, whether or not the plane is up */
	u16 skip_on[MRC_PLANES_MAX];	/* SKIP */
	u16 bad_on[MRC_PLANES_MAX];	/* ASSUMED_BAD */
	u16 avoid_on[MRC_PLANES_MAX];	/* to avoid */
	u16 lent_on[MRC_PLANES_MAX];	/* to avoid, but usable */
	u16 open_on[MRC_PLANES_MAX];	/* usable, with losses since the last delivery */
	u16 start[MRC_PLANES_MAX + 1];	/* plane p: ev[start[p] ... start[p + 1]) */
	u16 proven[MRC_PLANES_MAX];	/* EV proven last, or MRC_NONE16 */
	u32 proven_at[MRC_PLANES_MAX];	/* when, 2^16 ns */
	u8 probe_plane;		/* where the search for an EV to probe continues */
	u8 verify_plane;	/* where the search for a plane to verify continues */
	u8 ack_turns_left;		/* acknowledgements until the period of ack_planes ends */
	u8 extra;		/* additional losses in a row before an EV is demoted (mrc_blame.c) */
	u8 need;		/* losses in a row that the latest loss required for a demotion */
	u8 moment;		/* counts moments at which losses were detected */
	u8 blamed;		/* counts EVs that were demoted for losses */
	u16 floor_pos;		/* where the search for an EV to keep continues */
	u16 guess_pos;		/* where the search for an EV that the peer names continues */
	u32 rx_tick;		/* time of the peer's latest packet */
	u32 rx_pkts;		/* packets of the peer; wraps */
	u8 ack_by;		/* plane of the latest acknowledgement */
	u16 chance_ev;		/* the latest EV that delivered after a loss (mrc_blame.c) */
	u32 chance_tick;	/* and when; 0: never */
	u32 ack_planes;		/* mask of planes with acknowledgements in this period (mrc_no_acks.h) */
	u32 no_acks_reported;	/* mask of planes without, reported to the peer */
	u32 no_acks_tick;		/* time of the latest report */
	u32 acks_tick;		/* when the period of ack_planes began */
	u32 acks_missing;	/* mask of planes on which the peer misses our acknowledgements */
	u64 extra_ns;		/* when `extra` changed */
	u64 moment_ns;		/* when `moment` changed */
	u64 probe_ns, probe_max_ns;
	u64 patience_most_ns;	/* upper bound of mrc_evset_patience_ns() */
	u64 verify_ns;		/* no work for verification before */
	u64 verify_from_ns;	/* no routine verification before */
	u32 verify_pkts;	/* packets since the latest verification, up to the last settling */
	u64 measure_ns;		/* no measurement of a longer plane before */
	u64 next_probe_ns;	/* no probe is due before; MRC_TIME_NEVER: none */
	const void *asker;	/* the QP whose timer waits for next_probe_ns, or NULL */
	u64 asker_ns;		/* deadline of that timer */
	struct mrc_probe_credit credit;
	struct mrc_evplane plane[MRC_PLANES_MAX];
	struct mrc_ev *ev;	/* n entries, grouped by plane */
	struct mrc_ev_past *past;	/* n entries */
	struct mrc_ev_count *count;	/* n entries, or NULL */
	u8 *avoid;		/* n entries, of MRC_AVOID_* */
	const u8 *peer;		/* of the configuration; or NULL */
	struct mrc_ev_stats stats;
	struct mrc_ev_turns *turns;	/* of the configuration; or NULL */
};

struct mrc_spray;

/* Bytes that mrc_evset_init() needs as @mem for @n EVs. */
size_t mrc_evset_mem_size(u16 n, bool counts);

/**
 * mrc_evset_init - a set with all EVs GOOD
 * @mem: mrc_evset_mem_size(cfg->n, cfg->counts) bytes, 8-byte aligned, owned by the
 *	caller, which frees it after the last EV selection (mrc_spray.h) is gone
 * @values, @planes: n each, planes ascending; values may repeat (a profile may
 *	weight a path)
 *
 * Return: 0, or -EINVAL (n, n_planes or a plane out of range or order).
 */
int mrc_evset_init(struct mrc_evset *s, void *mem, const struct mrc_evset_cfg *cfg,
		   const u32 *values, const u8 *planes);

/*
 * The state of local ports or of the peer's ports (Port Status Update) changed. When a plane returns, its
 * ASSUMED_BAD EVs become GOOD, since the port was at fault.
 */
void mrc_evset_local_planes(struct mrc_evset *s, u32 up_mask, u64 now_ns);
void mrc_evset_remote_planes(struct mrc_evset *s, u32 up_mask, u64 now_ns);

/* Apply one sign (section 3.1's state machine). @idx < n. */
void mrc_evset_sign(struct mrc_evset *s, u16 idx, enum mrc_ev_sign sign, u64 now_ns);

/* A controller sets GOOD or DENIED. Return: 0 or -EINVAL. */
int mrc_evset_set_state(struct mrc_evset *s, u16 idx, u8 state, u64 now_ns);

/*
 * EV @idx (< n) crosses a link that a controller avoids, or no longer avoids. The EV is set aside as long
 * as enough others are usable. Call mrc_evset_avoid_apply() after the last of these calls, under the
 * same lock.
 */
void mrc_evset_avoid(struct mrc_evset *s, u16 idx, bool avoid);
void mrc_evset_avoid_apply(struct mrc_evset *s, u64 now_ns);

static inline bool mrc_evset_plane_live(const struct mrc_evset *s, u8 plane)
{
	return s->local_up & s->remote_up & (1u << plane);
}

/* Up, with usable EVs, and not suspect. Never are all planes that are up and have usable EVs suspect. */
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
 * The peer probes or retransmits packets that were acknowledged, so acknowledgements may have been lost.
 * Proven EVs may have carried them and no longer count as proven.
 */
static inline void mrc_evset_doubt(struct mrc_evset *s)
{
	memset(s->proven, 0xff, s->n_planes * sizeof(s->proven[0]));
	s->verify_ns = 0;
	s->verify_from_ns = 0;
	s->verify_pkts = MRC_VERIFY_PKTS;
}

/*
 * A probe arrived by @plane with entropy value @value. If no EV of the plane is proven, the own EV of that
 * value counts as proven: cables and switches usually fail in both directions.
 */
void mrc_evset_guess(struct mrc_evset *s, u8 plane, u32 value, u64 now_ns);

/* A probe leaves. Tail probes never wait for credit, but cost it, too. */
static inline void mrc_credit_spend(struct mrc_evset *s)
{
	s->credit.units -= min_t(u32, s->credit.units, MRC_PROBE_COST);
}

/* Credit earned by packets so far; without the part that time earned since the last settling. */
static inline u32 mrc_credit_units(const struct mrc_evset *s)
{
	return s->credit.units + ((u32)s->credit.from - (u32)s->credit.left);
}

/* Enough packets were counted for the waiting probe. */
void mrc_evset_credit_wake(struct mrc_evset *s);

static inline void mrc_evset_earn(struct mrc_evset *s, s32 pkts)
{
	s->credit.left = (s32)((u32)s->credit.left - (u32)pkts);
	if (unlikely(s->credit.left <= 0))
		mrc_evset_credit_wake(s);
}

/* Smoothed round trip of plane @p, and its base (recent minimum); 0: not known. */
static inline u32 mrc_evset_srtt_ns(const struct mrc_evset *s, u8 p)
{
	return s->plane[p].srtt_ns;
}

static inline u32 mrc_evset_base_ns(const struct mrc_evset *s, u8 p)
{
	return s->plane[p].base_ns == ~0u ? 0 : s->plane[p].base_ns;
}

/* mrc_evset_share() of a plane whose weight is not full. */
u32 mrc_share_of(const struct mrc_evset *s, u8 p);

/*
 * The share of turns of plane @p, of MRC_SHARE_FULL. Less than full: the plane is slower than others. The
 * share accounts for that, so the congestion window must not react.
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

/* True once after any state changed: time to notify listeners. */
bool mrc_evset_take_change(struct mrc_evset *s);

/* The same without clearing it. May be called without the lock. */
static inline bool mrc_evset_changed(const struct mrc_evset *s)
{
	return READ_ONCE(s->changed);
}

/* Number of EVs and of planes; neither changes. */
static inline u16 mrc_evset_n(const struct mrc_evset *s)
{
	return s->n;
}

static inline u8 mrc_evset_n_planes(const struct mrc_evset *s)
{
	return s->n_planes;
}

/*
 * When plane @p (< n_planes) was last known to deliver, in units of 2^16 ns. May be called without the lock.
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

/* EV number @n (modulo their number) of @plane, whatever its state. MRC_NONE16: it has none. */
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

/* For ordinary IP: a flow keeps its EV as long as it is usable. MRC_NONE16: none is usable. */
u16 mrc_evset_of_flow(const struct mrc_evset *s, u32 hash);

/* For mrcctl: one EV; and a summary, which may be read without the lock. */
struct mrc_ev_info {
	u32 value;
	u8 plane, state;
	bool aside;		/* DENIED only because it is avoided */
	u32 tx_pkts, lost_pkts;
};
void mrc_evset_info(const struct mrc_evset *s, u16 idx, struct mrc_ev_info *i);

struct mrc_evset_sum {
	u32 n, usable;
	u32 in_state[MRC_EV_STATES];
	u32 aside;		/* those of DENIED that are only avoided */
};
void mrc_evset_sum_up(const struct mrc_evset *s, struct mrc_evset_sum *sum);

/*
 * True once after the QP that sends the set's probes failed, or got no answer to several. Then call all QPs
 * of the set (mrc_conn_tx_next(), mrc_conn_deadline_ns()): idle ones do not know that a probe is due.
 */
bool mrc_evset_take_wake(struct mrc_evset *s);

/* Without the lock of the set: would mrc_evset_take_wake() return true? Are probes pending? */
static inline bool mrc_evset_wants_wake(const struct mrc_evset *s)
{
	return READ_ONCE(s->wake);
}

static inline bool mrc_evset_probes_pending(const struct mrc_evset *s)
{
	return READ_ONCE(s->next_probe_ns) != MRC_TIME_NEVER;
}

/* Without the lock: does mrc_conn_deadline_ns() need it? */
static inline bool mrc_evset_waits(const struct mrc_evset *s)
{
	return READ_ONCE(s->asker) || mrc_evset_probes_pending(s);
}

/*
 * Probes of ASSUMED_BAD EVs (section 3.5). The first leaves after probe_ns, the next after the time that an
 * answer takes on that plane, which doubles while none arrives. `readmit` answers in a row make the EV
 * usable. Probes cost credit; next_probe_ns is the time when the next one is due and paid for.
 */
bool mrc_evset_probe_next(struct mrc_evset *s, u64 now_ns, u16 *idx);

/*
 * Verification of planes that carry only acknowledgements (section 3.5, mrc_verify.c). Called after each
 * acknowledgement. True: send a probe by EV *idx. Without an answer, acknowledgements avoid the plane,
 * and another EV of it is probed, which shows whether the EV or the plane is at fault.
 */
bool mrc_evset_verify_next(struct mrc_evset *s, struct mrc_spray *r, u64 now_ns, u16 *idx);

/*
 * May mrc_evset_verify_next() have work to do? A probe is unanswered, a plane is in doubt, or enough packets
 * were counted since the latest probe. Called for each SACK.
 */
static inline bool mrc_evset_verify_due(const struct mrc_evset *s, u64 now_ns)
{
	u32 pkts = s->verify_pkts + (u32)s->credit.from - (u32)s->credit.left;

	return now_ns >= s->verify_ns && (s->verifying | s->watched | s->acks_missing | s->measure || pkts >= MRC_VERIFY_PKTS);
}

/*
 * The peer misses our acknowledgements by plane @p (any number). The plane is verified next and carries no
 * acknowledgements until it answers.
 */
void mrc_evset_acks_missing(struct mrc_evset *s, u8 p);

/*
 * A probe carries its EV's index as probe_id (below MRC_PROBE_ID_EV_END). Late answers count. Each answer
 * counts once; an answer without a probe is ignored.
 */
#define MRC_PROBE_ID_EV_END	MRC_EVS_MAX
void mrc_evset_probe_answer(struct mrc_evset *s, u16 probe_id, bool ecn, u64 now_ns);

/* Between mrc_ev.c, mrc_probe.c and mrc_spray.c. */
static inline u32 mrc_ev_proven_tick(u64 now_ns)
{
	return (u32)(now_ns >> 16);
}

#define MRC_PROVEN_FRESH	1526u	/* 100 ms */

/* Is @at, from mrc_evset_proven_at(), recent enough to trust the path? */
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

/* Time since @tick. Clocks of CPUs differ slightly: a tick in the future has age 0. */
static inline u64 mrc_ev_age_ns(u64 now_ns, u32 tick)
{
	u32 age = mrc_ev_tick(now_ns) - tick;

	return age > 0xff000000u ? 0 : (u64)age << MRC_TICK_SHIFT;
}

/* A GOOD EV is picked. If there was no sign of congestion since its last pick, the level falls. */
static inline void mrc_ev_taken(struct mrc_ev *ev)
{
	if (likely(!ev->level))
		return;
	if (ev->picked)
		ev->level = (ev->level - 1u) & 3;
	ev->picked = ev->level > 0;
}

/* An acknowledgement names the EV: it is proven. */
static inline void mrc_ev_delivered(struct mrc_evset *s, struct mrc_ev *ev, u64 now_ns)
{
	if (ev->state > MRC_EV_SKIP)
		return;		/* the packet left before the demotion; probes decide */
	s->proven[ev->plane] = (u16)(ev - s->ev);
	s->proven_at[ev->plane] = mrc_ev_proven_tick(now_ns);
}

/* The selection meets a SKIP EV. True: it is GOOD now, which is allowed only if @may. */
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

/* Must deliveries on this plane be examined closely? */
static inline bool mrc_evplane_watched(const struct mrc_evplane *pl)
{
	return pl->suspect || pl->lost_ev != MRC_NONE16 || pl->doubt_ev != MRC_NONE16;
}

static inline struct mrc_ev_past *mrc_ev_past_of(const struct mrc_evset *s, const struct mrc_ev *ev)
{
	return &s->past[ev - s->ev];
}

/* The verification of plane @p is answered, or given up. */
static inline void mrc_verify_closed(struct mrc_evset *s, u8 p)
{
	s->plane[p].verify_ev = MRC_NONE16;
	s->verifying &= ~(1u << p);
	s->muted &= ~(1u << p);
}

#define MRC_CREDIT_SLEEP	0x40000000	/* no probe waits for credit */

/* For mrc_ev.c, mrc_avoid.c and the files that change usable EVs. */
#define MRC_AVOID_WISH	1u	/* a controller avoids it */
#define MRC_AVOID_ASIDE	2u	/* and it is DENIED only for that reason */
/* Too few other EVs are usable: make avoided EVs GOOD for now. */
void mrc_ev_lend(struct mrc_evset *s);
/* Set avoided EVs aside if enough others are usable, else lend them. */
void mrc_avoid_settle(struct mrc_evset *s);
/* A controller sets @state of @idx. True: the call has done all there is to do. */
bool mrc_avoid_state(struct mrc_evset *s, u16 idx, u8 state);

/* Make @ev usable without an answer of its own: other evidence shows that it was not at fault. */
void mrc_ev_forgive(struct mrc_evset *s, struct mrc_ev *ev);
void mrc_evset_reschedule(struct mrc_evset *s, u64 now_ns);
void mrc_credit_wait(struct mrc_evset *s);
bool mrc_credit_has(struct mrc_evset *s, u32 keep, u64 now_ns);
bool mrc_evset_verified(struct mrc_evset *s, u16 idx, u64 now_ns);

/* Recompute the planes in use, the usable EVs and the floor. */
void mrc_evset_recount(struct mrc_evset *s);
void mrc_ev_move(struct mrc_evset *s, struct mrc_ev *ev, u8 state);
/* Queue an event: @ev has just become usable or unusable. */
void mrc_ev_notify(struct mrc_evset *s, const struct mrc_ev *ev, enum mrc_ev_why why);
void mrc_ev_unprove(struct mrc_evset *s, const struct mrc_ev *ev);
void mrc_ev_blame(struct mrc_evset *s, struct mrc_ev *ev, bool sure, u64 now_ns);
/* Demote @ev because of correlated losses of other EVs (mrc_correlate.c); it is probed at once. */
void mrc_ev_put_aside(struct mrc_evset *s, struct mrc_ev *ev, u64 now_ns);

/* For mrc_plane.c, mrc_share.c, mrc_correlate.c, mrc_suspect.c, mrc_blame.c and mrc_probe.c. */
void mrc_plane_allow(struct mrc_evplane *pl, u64 late_ns, u64 now_ns);
void mrc_share_update(struct mrc_evset *s);
#define MRC_SHARE_SAMPLES	8	/* round-trip samples whose minimum reveals a standing queue */
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

/* Checks that all counts agree with the entries. 0 or a line number. */
int mrc_evset_check(const struct mrc_evset *s);

#include "paths/mrc_spray.h"
#include "paths/mrc_suspect.h"

#endif
