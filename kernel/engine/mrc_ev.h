/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_ev.h - entropy values (EVs): the set of paths to one peer, and rotation.
 *
 * MRC 1.0 section 3 (9.3.1, 11.2.2). An evset is the "path set" of a
 * (peer, profile): EV states are shared by all QPs to that peer, so that one
 * QP's loss teaches the others. Each QP owns only a rotation (struct mrc_rot):
 * a shuffled walk in which planes take strict turns, so that every live plane
 * carries its equal share however many of its EVs are usable.
 *
 * States: GOOD, SKIP (congested once: passed over one time), ASSUMED_BAD
 * (lost packets: probed until it answers again), DENIED (controller's word).
 * An EV is usable when it is GOOD or SKIP and its plane is up at both ends.
 * min_active is a floor: a demotion that would leave fewer usable EVs on live
 * planes is refused and counted.
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
	MRC_SIGN_PROBE_LOST,
	MRC_SIGN_PROBE_OK,
	MRC_SIGN_DELIVERED,
};

struct mrc_ev {
	u32 value;		/* UDP source port << 16 | flow label [15:0] */
	u8 plane;		/* 0-based */
	u8 state;		/* enum mrc_ev_state */
	u8 answers;		/* good probe answers in a row */
	u8 backoff;		/* probe interval = probe_ns << backoff */
	u32 tx_pkts;		/* statistics; wrap */
	u32 lost_pkts;
	u64 probe_at_ns;	/* ASSUMED_BAD: when to probe next */
};

struct mrc_evset_cfg {
	u16 n;			/* EVs, 1 ... MRC_EVS_MAX */
	u16 min_active;		/* floor of usable EVs; 0: n / 4, at least 1 */
	u8 n_planes;		/* 1 ... MRC_PLANES_MAX */
	u8 readmit;		/* good answers that readmit; 0: 2 */
	u32 planes_up;		/* local planes up now */
	u64 probe_ns;		/* first probe interval; 0: 100 us */
	u64 probe_max_ns;	/* cap of its doubling; 0: 100 ms */
};

struct mrc_ev_stats {
	u64 skips, demotions, readmissions, floor_hits, probes, probes_lost;
};

struct mrc_evset {
	u16 n, min_active;
	u8 n_planes, readmit;
	bool changed;		/* a state changed since mrc_evset_take_change() */
	bool verify_out;	/* a verifying probe is unanswered */
	u16 verify_idx;
	u32 gen;		/* changes when rotations must be rebuilt */
	u32 local_up, remote_up;
	u16 usable;		/* GOOD + SKIP on planes up at both ends */
	u16 bad;		/* ASSUMED_BAD, any plane */
	u16 usable_on[MRC_PLANES_MAX];	/* GOOD + SKIP, whether or not the plane is up */
	u64 probe_ns, probe_max_ns;
	u64 probe_rtt_ns;	/* of answered probes, smoothed; 0: none yet */
	u64 verify_ns;		/* verifying probe: next one, or when the last was sent */
	u64 next_probe_ns;	/* no probe is due before; MRC_TIME_NEVER: none */
	struct mrc_ev *ev;	/* n entries */
	u16 *hash;		/* value -> index, open addressing */
	u32 hash_mask;
	struct mrc_ev_stats stats;
};

struct mrc_rot;

/* Bytes that mrc_evset_init() needs as @mem for @n EVs. */
size_t mrc_evset_mem_size(u16 n);

/**
 * mrc_evset_init - a set with all EVs GOOD
 * @mem: mrc_evset_mem_size(cfg->n) bytes, 8-byte aligned, owned by the caller,
 *	which frees it after the last rotation is gone
 * @values, @planes: n each; values may repeat (a profile may weight a path)
 *
 * Return: 0, or -EINVAL (n, n_planes or a plane out of range).
 */
int mrc_evset_init(struct mrc_evset *s, void *mem, const struct mrc_evset_cfg *cfg,
		   const u32 *values, const u8 *planes);

/* A local port, or the peer's (Port Status Update), changed. Planes that return
 * come back with their ASSUMED_BAD EVs forgiven: the port was the fault. */
void mrc_evset_local_planes(struct mrc_evset *s, u32 up_mask, u64 now_ns);
void mrc_evset_remote_planes(struct mrc_evset *s, u32 up_mask, u64 now_ns);

/* Index of the EV with this value, or MRC_NONE16. With duplicates, one of them. */
u16 mrc_evset_find(const struct mrc_evset *s, u32 value);

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

/* True once after any state changed: time to tell listeners. */
bool mrc_evset_take_change(struct mrc_evset *s);

/*
 * Probes of ASSUMED_BAD EVs (3.5): first after probe_ns, doubling while
 * unanswered to probe_max_ns; `readmit` good answers in a row make it GOOD.
 */
bool mrc_evset_probe_next(struct mrc_evset *s, u64 now_ns, u16 *idx);

/*
 * Verification of EVs that only carry acknowledgements (3.5): nothing else
 * would ever tell that such a path is dead. About once a round trip one EV of
 * the rotation is probed; if no answer comes it is ASSUMED_BAD.
 * mrc_evset_verify_next() true: send a probe on *idx, picked from @r.
 */
bool mrc_evset_verify_next(struct mrc_evset *s, struct mrc_rot *r, u64 now_ns, u16 *idx);

/* A probe carries its EV's index as probe_id (below MRC_PROBE_ID_EV_END); unknown
 * or late answers do no harm. */
#define MRC_PROBE_ID_EV_END	MRC_EVS_MAX
void mrc_evset_probe_answer(struct mrc_evset *s, u16 probe_id, bool ecn, u64 now_ns);

/* 0 when every count agrees with the entries. */
int mrc_evset_check(const struct mrc_evset *s);

/* ---- rotation, one per QP ---- */

struct mrc_rot {
	struct mrc_rand rand;
	u32 gen;		/* of the set when built; rebuilt when it differs */
	u8 plane;		/* the plane whose turn is next */
	u16 *order;		/* n indices, grouped by plane, shuffled in place */
	u16 n_max;
	u16 start[MRC_PLANES_MAX + 1];	/* plane p: order[start[p] ... start[p + 1]) */
	u16 pos[MRC_PLANES_MAX];	/* next position in plane p's pass */
};

/* @order: room for @n_max indices, owned by the caller. */
void mrc_rot_init(struct mrc_rot *r, u16 *order, u16 n_max, u64 seed);

/**
 * mrc_rot_pick - the EV for the next packet
 * @avoid: an index not to use if there is another choice, or MRC_NONE16
 *
 * Planes take turns; within a plane each EV once per pass, reshuffled between
 * passes; a SKIP EV met on the way becomes GOOD, at most one per packet.
 * Return: index, or MRC_NONE16 when no EV is usable.
 */
u16 mrc_rot_pick(struct mrc_rot *r, struct mrc_evset *s, u16 avoid);

#endif
