/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_dup.h - duplicates: which datagrams have come already.
 *
 * A sender that cannot know which planes are sound sends a datagram twice (paths/mrc_flowlet.h). The receiver
 * delivers whichever arrives first and drops the other.
 *
 * The two are recognised by a digest of 64 bits over the source address and every byte that both share
 * (mrc_deth_alike()), PSN included. The caller keys the digest with a secret, so nobody can make two different
 * datagrams look alike. A request that a program or a connection manager repeats has another PSN.
 *
 * The memory is bounded: MRC_DUP_SETS sets of MRC_DUP_WAYS digests, each kept for MRC_DUP_NS. Nothing young is
 * ever replaced. A set that is full refuses copies and lets originals pass. So a flood costs the copies, which is
 * the service without copies. It never costs an original, and never delivers a datagram twice within MRC_DUP_NS.
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
	u32 tick[MRC_DUP_WAYS];		/* when it came */
	u32 blind_tick;			/* when an original passed that found no place */
	bool blind;			/* one did */
};

struct mrc_dup {
	struct mrc_dup_set set[MRC_DUP_SETS];
};

/**
 * mrc_dup_take - may this datagram be delivered
 * @copy: the copy of the two
 *
 * Return: true if neither of the two came before; the other one will be refused.
 */
bool mrc_dup_take(struct mrc_dup *t, u64 digest, bool copy, u64 now_ns);

/* The datagram that was taken last could not be delivered: the other one may be. */
void mrc_dup_untake(struct mrc_dup *t, u64 digest);

#endif
