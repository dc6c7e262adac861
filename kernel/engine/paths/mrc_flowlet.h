/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_flowlet.h - chooses the EV of a datagram, and whether it is sent twice.
 *
 * Datagrams are not acknowledged, so they prove nothing about paths. Datagrams that are close
 * together take one EV while it is usable, because programs take reordered datagrams as lost. A
 * datagram after a pause (MRC_FLOWLET_GAP_NS) takes another plane. A program that waited longer for
 * an answer retries by another plane, so a dead plane does not swallow both datagrams.
 *
 * A datagram that must not be lost is sent twice, by two planes. That holds for all management
 * packets: losing one costs a connection manager four seconds. It also holds for the first
 * datagrams of a program after a pause (MRC_FLOWLET_COPIES), unless connections have proven the
 * plane recently. A long stream is not sent twice: it has no promise of delivery, and bytes cost.
 * The receiver drops the later copy (peer/mrc_dup.h).
 *
 * One object per destination, zeroed at first. The lock of the path set protects it. The path set
 * may be replaced at any time.
 */
#ifndef MRC_FLOWLET_H
#define MRC_FLOWLET_H

#include "paths/mrc_spray.h"

/* Longer than the difference of planes, shorter than retransmission timers of programs. */
#define MRC_FLOWLET_GAP_NS	(10u * 1000000u)
#define MRC_FLOWLET_COPIES	16u	/* datagrams after a pause that are sent twice */

struct mrc_flowlet {
	const struct mrc_evset *set;	/* the set of idx; only compared */
	u64 last_ns;			/* when the last datagram left */
	u16 idx;
	u32 planes;			/* mask with the plane of idx; 0: none yet */
	u32 copied;			/* mask: planes of the copies */
	u32 before;			/* mask: all planes of the previous flowlet */
	u16 copy;			/* the EV of copies; MRC_NONE16: none yet */
	u8 n;				/* datagrams of this flowlet so far, saturating */
	u32 left;			/* mask: planes left since a datagram was sent */
};

/* The EV for a datagram. @gap_ns: a longer pause starts a new flowlet. MRC_NONE16: none is usable. */
u16 mrc_flowlet_pick(struct mrc_flowlet *f, struct mrc_spray *r, struct mrc_evset *s, u64 now_ns,
		     u64 gap_ns);
/**
 * mrc_flowlet_copy - the EV for a copy of the datagram of the latest mrc_flowlet_pick()
 * @must: always copy, even by another EV of the same plane if there is no other plane
 *
 * Copies of one flowlet stay on one EV as well. Planes that were used just before are avoided.
 * Return: index, or MRC_NONE16 when no copy is wanted or possible.
 */
u16 mrc_flowlet_copy(struct mrc_flowlet *f, struct mrc_spray *r, struct mrc_evset *s, u64 now_ns, bool must);

/*
 * The datagram could not be sent by the picked EV. The EV's state does not change. The next pick avoids all planes that
 * were left since the last datagram was sent; if those are all, only the latest. The caller bounds its tries.
 */
void mrc_flowlet_leave(struct mrc_flowlet *f);

#endif
