/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_flowlet.h - chooses the EV of a datagram, and whether it is sent twice.
 *
 * Datagrams are not acknowledged, so they prove nothing about paths. Datagrams that are close
 * together take one EV while it is usable, because programs take reordered datagrams as lost. A
 * datagram after a pause takes another plane. A program that retries because it got no answer has
 * paused, so it does not lose the second datagram on the same dead plane.
 *
 * A datagram that must not be lost is sent twice, by two planes. That holds for all management
 * packets: losing one costs a connection manager four seconds. It also holds for the first
 * datagrams of a program after a pause, unless connections have proven the plane recently. A long
 * stream is not sent twice: it has no promise of delivery, and bytes cost. The receiver drops the
 * later copy (peer/mrc_dup.h).
 *
 * One object per destination, zeroed at first. The lock of the path set protects it.
 */
#ifndef MRC_FLOWLET_H
#define MRC_FLOWLET_H

#include "paths/mrc_spray.h"

/* Planes differ by less, and retransmission timers of programs are longer. */
#define MRC_FLOWLET_GAP_NS	(10u * 1000000u)
#define MRC_FLOWLET_COPIES	16u	/* datagrams after a pause that are sent twice */

struct mrc_flowlet {
	const struct mrc_evset *set;	/* that idx is of; compared only */
	u64 last_ns;			/* when the last datagram left */
	u16 idx;
	u32 planes;			/* mask: of the last EV; 0: none yet */
	u32 copied;			/* mask: of its copies */
	u32 before;			/* mask: of both, of the flowlet before */
	u16 copy;			/* the EV of copies; MRC_NONE16: none yet */
	u8 n;				/* datagrams of this flowlet so far, saturating */
	u32 left;			/* mask: those left since a datagram was sent */
};

/* The EV for a datagram now; @gap_ns: 0 takes another plane each time. MRC_NONE16: none is usable. */
u16 mrc_flowlet_pick(struct mrc_flowlet *f, struct mrc_spray *r, struct mrc_evset *s, u64 now_ns,
		     u64 gap_ns);
/**
 * mrc_flowlet_copy - the EV for a copy of the datagram that was picked for last
 * @must: it must not be lost, and a copy may take another EV of the same plane where there is no other plane
 *
 * Copies of one flowlet stay on one EV as well. Planes that were used just before are avoided.
 * Return: index, or MRC_NONE16 when no copy is wanted or possible.
 */
u16 mrc_flowlet_copy(struct mrc_flowlet *f, struct mrc_spray *r, struct mrc_evset *s, u64 now_ns, bool must);

/*
 * What was picked leads nowhere just now, which its EV need not know: nobody would find out when
 * that of a group is good again. The next pick is another plane's than all that were left in a row.
 */
void mrc_flowlet_leave(struct mrc_flowlet *f);

#endif
