/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_flowlet.h - which EV a datagram takes.
 *
 * Nobody acknowledges datagrams, so they teach nothing about paths. What can be done without:
 * those close together take one EV as long as it is usable, for programs take reordered ones for
 * lost; one that comes after a pause takes another plane. Whoever sends again because no answer came
 * has paused, and does not lose the second one on the same dead plane.
 *
 * One object per destination, zeroed at first. Under the lock of the set.
 */
#ifndef MRC_FLOWLET_H
#define MRC_FLOWLET_H

#include "paths/mrc_rot.h"

/* Planes differ by less, and retransmission timers of programs are longer. */
#define MRC_FLOWLET_GAP_NS	(10u * 1000000u)

struct mrc_flowlet {
	const struct mrc_evset *set;	/* that idx is of; compared only */
	u64 last_ns;			/* when the last datagram left */
	u16 idx;
	u32 planes;			/* mask: of the last EV; 0: none yet */
	u32 left;			/* mask: those left since a datagram was sent */
};

/* The EV for a datagram now; @gap_ns: 0 takes another plane each time. MRC_NONE16: none is usable. */
u16 mrc_flowlet_pick(struct mrc_flowlet *f, struct mrc_rot *r, struct mrc_evset *s, u64 now_ns,
		     u64 gap_ns);
/*
 * What was picked leads nowhere just now, which its EV need not know: nobody would find out when
 * that of a group is good again. The next pick is another plane's than all that were left in a row.
 */
void mrc_flowlet_leave(struct mrc_flowlet *f);

#endif
