/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_ev.h - entropy values (EVs): the set of paths to one peer, and their states.
 *
 * MRC 1.0 section 3 (9.3.1, 11.2.2). An evset is the "path set" of a
 * (peer, profile): EV states are shared by all QPs to that peer, so that one
 * QP's loss teaches the others. Each QP owns only a rotation (mrc_rot.h).
 *
 * States: GOOD, SKIP (congested: passed over one time or more), ASSUMED_BAD
 * (lost packets: probed until it answers again), DENIED (controller's word).
 * An EV is usable when it is GOOD or SKIP and its plane is up at both ends.
 *
 * How long SKIP lasts is the EV's level. The first mark costs one passing-over, the first
 * trim more; a sign about what was sent since then costs more, so that a path slower than the others gets its
 * share and no more; a lap without a sign lowers the level again. What comes back
 * from ASSUMED_BAD starts at the top: it is slow as likely as it was dead, and
 * probes, which do not queue, cannot tell. When more than half of a plane's EVs are
 * SKIP, it is not the paths, and each is passed over once only.
 *
 * min_active is a floor: a demotion that would leave fewer usable EVs on live
 * planes is refused and counted.
 *
 * Reverse EVs (3.5): acknowledgements teach nothing about their own path, so they leave by
 * EVs that were proven lately: by a delivered packet or an answered probe. One EV per
 * plane is kept as the proven one; while nothing but acknowledgements is sent, one EV
 * every few round trips is verified by a probe.
 *
 * The caller serialises all calls on one evset (and on the rotations using it).
 */
#ifndef MRC_EV_H
#define MRC_EV_H

#include "mrc_types.h"
#include "mrc_rand.h"

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
	MRC_SIGN_TRIMMED,	/* NACK TRIMMED, not at the last hop */
	MRC_SIGN_BAD,		/* SACK m = ALWAYS_SKIP */
	MRC_SIGN_LOST,		/* packet lost without a trim */
	MRC_SIGN_SPURIOUS,	/* the packet called lost had arrived: takes one LOST back */
	MRC_SIGN_PROBE_LOST,
	MRC_SIGN_PROBE_OK,
	MRC_SIGN_DELIVERED,	/* proven */
};

/* 8 bytes: a set of 4,096 is walked without leaving the cache. */
struct mrc_ev {
	u32 value;		/* UDP source port << 16 | flow label [15:0] */
	u16 tick;		/* ASSUMED_BAD: when to probe next, MRC_EV_TICK_SHIFT;
				 * else: since when it is good, MRC_EV_CALM_SHIFT */
	u8 plane : 5;		/* 0-based */
	u8 state : 2;		/* enum mrc_ev_state */
	u8 by_loss : 1;		/* ASSUMED_BAD for one loss: a SPURIOUS sign takes it back;
				 * usable: low bit of the level */
	u8 asked : 1;		/* ASSUMED_BAD: a probe has not been answered;
				 * usable: high bit of the level */
	u8 flaps : 2;		/* readmissions of late, saturating */
	signed char run : 5;	/* ASSUMED_BAD: probes answered in a row; negative: lost.
				 * SKIP: times it will be met before it is GOOD.
				 * GOOD: 1: picked since it was SKIP */
};
#define MRC_EV_TICK_SHIFT	13	/* 8 us; wraps after 537 ms */
#define MRC_EV_CALM_SHIFT	22	/* 4 ms; wraps after 275 s */

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
};

struct mrc_ev_stats {
	u64 skips, demotions, readmissions, floor_hits, probes, probes_lost, spurious;
};

struct mrc_evset {
	u16 n, min_active;
	u8 n_planes, readmit;
	bool changed;		/* a state changed since mrc_evset_take_change() */
	bool verify_out;	/* a verifying probe is unanswered */
	u8 verify_run;		/* verifying probes answered in a row, saturating */
	u8 verify_acks;		/* acknowledgements since the last one, saturating */
	bool half;		/* every other meeting of an EV of the top level counts */
	u16 verify_idx;
	u32 gen;		/* changes when rotations must be rebuilt */
	u32 local_up, remote_up;
	u16 usable;		/* GOOD + SKIP on planes up at both ends */
	u16 bad;		/* ASSUMED_BAD, any plane */
	u16 usable_on[MRC_PLANES_MAX];	/* GOOD + SKIP, whether or not the plane is up */
	u16 skip_on[MRC_PLANES_MAX];	/* SKIP */
	u16 start[MRC_PLANES_MAX + 1];	/* plane p: ev[start[p] ... start[p + 1]) */
	u16 probe_pos;		/* where the search for an EV to probe goes on */
	u16 proven[MRC_PLANES_MAX];	/* EV proven last, or MRC_NONE16 */
	u32 proven_at[MRC_PLANES_MAX];	/* when, 2^16 ns */
	u64 probe_ns, probe_max_ns;
	u64 probe_rtt_ns;	/* of answered probes, smoothed; 0: none yet */
	u64 verify_ns;		/* verifying probe: next one, or when the last was sent */
	u64 next_probe_ns;	/* no probe is due before; MRC_TIME_NEVER: none */
	struct mrc_ev *ev;	/* n entries, grouped by plane */
	struct mrc_ev_count *count;	/* n entries, or NULL */
	struct mrc_ev_stats stats;
};

struct mrc_rot;

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

static inline bool mrc_evset_plane_live(const struct mrc_evset *s, u8 plane)
{
	return s->local_up & s->remote_up & (1u << plane);
}

static inline bool mrc_ev_usable(const struct mrc_evset *s, u16 idx)
{
	return s->ev[idx].state <= MRC_EV_SKIP &&
	       mrc_evset_plane_live(s, s->ev[idx].plane);
}

/* The next verifying probe (see mrc_evset_verify_next()) need not wait for long. */
void mrc_evset_verify_soon(struct mrc_evset *s);

/*
 * The peer asks again or resends what was acknowledged: acknowledgements may be dying on
 * their way. The EVs that carried them were proven before that; they are no more.
 */
static inline void mrc_evset_doubt(struct mrc_evset *s)
{
	memset(s->proven, 0xff, s->n_planes * sizeof(s->proven[0]));
	mrc_evset_verify_soon(s);
}

/* Telemetry: one more packet sent by @idx, or one taken back. */
static inline void mrc_evset_count_tx(struct mrc_evset *s, u16 idx, s32 by)
{
	if (s->count)
		s->count[idx].tx_pkts += (u32)by;
}

/* True once after any state changed: time to tell listeners. */
bool mrc_evset_take_change(struct mrc_evset *s);

/*
 * Probes of ASSUMED_BAD EVs (3.5): first after probe_ns, doubling while
 * unanswered to probe_max_ns; `readmit` good answers in a row make it GOOD.
 * Paced: when many are due, a few at once and then one per probe_ns / 64.
 */
bool mrc_evset_probe_next(struct mrc_evset *s, u64 now_ns, u16 *idx);

/*
 * Verification of EVs that only carry acknowledgements (3.5). Every few round trips one EV of
 * the rotation is probed, less often the longer all of them answer; if no answer comes it
 * is ASSUMED_BAD.
 * mrc_evset_verify_next(), called after each acknowledgement from verify_ns on, true: send a
 * probe on *idx, picked from @r.
 */
bool mrc_evset_verify_next(struct mrc_evset *s, struct mrc_rot *r, u64 now_ns, u16 *idx);

/* A probe carries its EV's index as probe_id (below MRC_PROBE_ID_EV_END); unknown
 * or late answers do no harm. */
#define MRC_PROBE_ID_EV_END	MRC_EVS_MAX
void mrc_evset_probe_answer(struct mrc_evset *s, u16 probe_id, bool ecn, u64 now_ns);

/* Between mrc_ev.c, mrc_probe.c and mrc_rot.c. */
static inline u32 mrc_ev_proven_tick(u64 now_ns)
{
	return (u32)(now_ns >> 16);
}

#define MRC_EV_LEVEL_MAX	3	/* two bits */

static inline u8 mrc_ev_level(const struct mrc_ev *ev)
{
	return (u8)(ev->by_loss | ev->asked << 1);
}

static inline void mrc_ev_set_level(struct mrc_ev *ev, u8 level)
{
	ev->by_loss = level & 1u;
	ev->asked = level >> 1 & 1u;
}

/* A GOOD one is picked. Nothing was said since the last time: that was a clean lap. */
static inline void mrc_ev_taken(struct mrc_ev *ev)
{
	u8 level = mrc_ev_level(ev);

	if (likely(!level))
		return;
	if (ev->run)
		mrc_ev_set_level(ev, --level);
	ev->run = level > 0;
}

/* The walk meets one that is SKIP. Returns true if it is GOOD now, only if @may. */
static inline bool mrc_ev_pass_over(struct mrc_evset *s, struct mrc_ev *ev, bool may)
{
	if (ev->run > 1) {
		/* The top level lasts twice as long as `run` can count. */
		s->half ^= mrc_ev_level(ev) == MRC_EV_LEVEL_MAX;
		if (mrc_ev_level(ev) < MRC_EV_LEVEL_MAX || s->half)
			ev->run--;
		if (likely(2u * s->skip_on[ev->plane] <= s->usable_on[ev->plane]))
			return false;
	}
	if (!may)
		return false;
	s->skip_on[ev->plane]--;
	ev->state = MRC_EV_GOOD;
	ev->run = 0;
	return true;
}

u16 mrc_ev_tick_up(u64 ns);
void mrc_ev_probe_at(struct mrc_evset *s, struct mrc_ev *ev, u64 at_ns);
void mrc_evset_reschedule(struct mrc_evset *s, u64 now_ns);

/* 0 when every count agrees with the entries. */
int mrc_evset_check(const struct mrc_evset *s);

#include "mrc_rot.h"

#endif
