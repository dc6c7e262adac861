/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_rot.h - rotation: which EV the next packet takes. One per QP.
 *
 * MRC 1.0 sections 2.7, 3.2 (11.2.2). A QP sprays over an active set: drawn at
 * random from the path set, the same number from every plane. It is walked in a
 * shuffled order in which planes take strict turns, so that every live plane
 * carries its equal share however many of its EVs are usable. The EVs not drawn are
 * the reserve: when the walk meets an EV that is ASSUMED_BAD or DENIED, a usable
 * one of the same plane takes its place.
 */
#ifndef MRC_ROT_H
#define MRC_ROT_H

#include "mrc_types.h"
#include "mrc_rand.h"

struct mrc_evset;

struct mrc_rot {
	struct mrc_rand rand;
	u16 *order;		/* active indices, grouped by plane, shuffled in place */
	u32 gen;		/* of the set when built; rebuilt when it differs */
	u16 n_max;
	u16 quota;		/* active EVs of a plane that has as many */
	u8 plane;		/* the plane whose turn is next */
	u8 ack_plane;		/* likewise, of acknowledgements */
	bool ack_any;		/* this round of planes is not for proven EVs */
	bool even;		/* every plane has as many, and that is not none */
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

/* Once built: the active EVs of plane p are order[start(p) ... start(p + 1)). */
u16 mrc_rot_start(const struct mrc_rot *r, const struct mrc_evset *s, u8 p);

/*
 * The EV for an acknowledgement, planes in turns. Every other time it is the one proven
 * lately on the plane, else as mrc_rot_pick(): if the proven one dies, the peer
 * still hears of every second. @sure: what is said once (NACK, NAK) takes the proven one.
 * No state of an EV changes: an acknowledgement learns nothing.
 */
u16 mrc_rot_pick_ack(struct mrc_rot *r, struct mrc_evset *s, u64 now_ns, bool sure);

#endif
