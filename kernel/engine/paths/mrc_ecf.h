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

/* A look at the plane: @least_ns is the shortest of its latest samples. */
void mrc_ecf_look(struct mrc_evplane *pl, u32 least_ns);

/* Recompute which planes are longer, after lengths, queues, or the planes in use changed. */
void mrc_ecf_update(struct mrc_evset *s);

/*
 * Planes (mask) that a packet must not take, because shorter planes would finish the message earlier.
 * @more: bytes that may follow it, limited by its message and the PSN window; @held: bytes that the
 * shorter planes hold at a time; @spare: the window has room.
 */
u32 mrc_ecf_off(const struct mrc_evset *s, u32 more, u32 held, bool spare);

/* Planes @off carry no data now. True: a measurement of them is due. */
bool mrc_ecf_left_out(struct mrc_evset *s, u32 off, u64 now_ns);

/* A probe by plane @p took @rtt_ns: is the plane much shorter than it was? */
bool mrc_ecf_shrank(const struct mrc_evset *s, u8 p, u32 rtt_ns);

/* Is plane @p longer, and carries no data? */
bool mrc_ecf_idle(const struct mrc_evset *s, u8 p);

#endif
