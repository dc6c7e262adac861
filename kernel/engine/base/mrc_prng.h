/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_prng.h - the engine's pseudo-random number generator (splitmix64).
 *
 * The object that draws numbers owns the state; its caller gives the seed. The engine has no other
 * randomness: the same inputs give the same outputs, bit for bit. It shuffles paths. It must not be
 * used for numbers that an attacker must not guess.
 */
#ifndef MRC_PRNG_H
#define MRC_PRNG_H

#include "base/mrc_env.h"

struct mrc_prng {
	u64 state;
};

static inline u64 mrc_prng_u64(struct mrc_prng *r)
{
	u64 z = (r->state += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* Uniform in [0, n), n > 0; the bias of the multiply is below n / 2^32. */
static inline u32 mrc_prng_below(struct mrc_prng *r, u32 n)
{
	return (u32)(((mrc_prng_u64(r) >> 32) * n) >> 32);
}

#endif
