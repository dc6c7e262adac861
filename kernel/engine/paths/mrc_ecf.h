/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_ecf.h - longer planes, and which packets may use them (mrc_ecf.c).
 *
 * Part of the path set (mrc_ev.h). The caller serialises the calls.
 */
#ifndef MRC_ECF_H
#define MRC_ECF_H

#include "base/mrc_types.h"

struct mrc_evplane;
struct mrc_evset;

/* Of several packets by the plane in a row, none was faster than @least_ns. */
void mrc_ecf_look(struct mrc_evplane *pl, u32 least_ns);

/* Lengths, queues, or the planes in use changed: which planes are longer? */
void mrc_ecf_update(struct mrc_evset *s);

/*
 * Planes (mask) that a packet must not take, for it would arrive when the others are done.
 * @more: bytes that may follow it, of its message and of the PSN window; @held: bytes that the shorter
 * planes hold at a time; @spare: the window has room.
 */
u32 mrc_ecf_off(const struct mrc_evset *s, u32 more, u32 held, bool spare);

/* Planes @off are left out now. True: it is time to measure them. */
bool mrc_ecf_left_out(struct mrc_evset *s, u32 off, u64 now_ns);

/* A probe by plane @p took @rtt_ns: is the plane much shorter than it was? */
bool mrc_ecf_shrank(const struct mrc_evset *s, u8 p, u32 rtt_ns);

/* Is plane @p longer, and carries nothing? */
bool mrc_ecf_idle(const struct mrc_evset *s, u8 p);

#endif
