/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_dup.h - duplicate filter for datagrams that are sent twice.
 *
 * A sender that cannot know which planes work sends a datagram by two planes (paths/mrc_flowlet.h).
 * The receiver delivers the first to arrive and drops the other.
 *
 * The two share a 64-bit digest over the source address and all bytes that they have in common
 * (mrc_deth_alike()), PSN included. The caller keys the digest with a secret, so nobody can
 * construct two different datagrams with the same digest. A repeated request of a program or of a
 * connection manager has another PSN.
 *
 * Memory is bounded: MRC_DUP_SETS sets of MRC_DUP_WAYS digests, each kept for MRC_DUP_NS. A young
 * digest is never replaced. A full set refuses copies and passes originals. So a flood costs the
 * copies only. It never costs an original, and no datagram is delivered twice within MRC_DUP_NS.
 *
 * The caller serialises all calls. All zero is an empty filter.
 */
#ifndef MRC_DUP_H
#define MRC_DUP_H

#include "base/mrc_types.h"

#define MRC_DUP_SETS	256u
#define MRC_DUP_WAYS	8u
#define MRC_DUP_SHIFT	20			/* a tick is about a millisecond */
#define MRC_DUP_TICKS	512u
#define MRC_DUP_NS	((u64)MRC_DUP_TICKS << MRC_DUP_SHIFT)	/* planes differ by less */

struct mrc_dup_set {
	u64 digest[MRC_DUP_WAYS];	/* 0: free */
	u32 tick[MRC_DUP_WAYS];		/* when it arrived */
	u32 blind_tick;			/* when an original passed without being recorded */
	bool blind;			/* blind_tick is valid */
};

struct mrc_dup {
	struct mrc_dup_set set[MRC_DUP_SETS];
};

/**
 * mrc_dup_take - may this datagram be delivered
 * @copy: the datagram is marked as the copy
 *
 * Return: true if it is the first of the two; the other one will be refused.
 */
bool mrc_dup_take(struct mrc_dup *t, u64 digest, bool copy, u64 now_ns);

/* The datagram that was accepted could not be delivered: accept the other one. */
void mrc_dup_untake(struct mrc_dup *t, u64 digest);

#endif
