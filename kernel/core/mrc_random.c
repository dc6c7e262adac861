// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_random.c - where the module draws its random numbers.
 *
 * The walk of a QP over its EVs, generated EVs, and the numbers of QPs and memory
 * regions begin at random. A test in virtual time is repeatable only if they do not: with
 * the parameter "seed" all of them follow from it and from the order in which they are
 * drawn. Then rkeys can be guessed by whoever knows the seed, so it is for tests only: it
 * is fixed when the module is loaded, root alone reads it, and the log says it.
 */
#include <linux/atomic.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>
#include <linux/random.h>
#include "engine/base/mrc_prng.h"
#include "core/mrc_random.h"

static unsigned long mrc_seed;
module_param_named(seed, mrc_seed, ulong, 0400);
MODULE_PARM_DESC(seed, "for tests: all random choices follow from it, rkeys too (0: none do)");

static atomic64_t mrc_random_drawn = ATOMIC64_INIT(0);

void mrc_random_init(void)
{
	if (mrc_seed)
		pr_warn("mrc: random numbers follow from a seed, rkeys too: for tests only\n");
}

u64 mrc_random_u64(void)
{
	struct mrc_prng rand;

	if (likely(!mrc_seed))
		return get_random_u64();
	rand.state = mrc_seed + (u64)atomic64_inc_return(&mrc_random_drawn) * 0x9e3779b97f4a7c15ull;
	return mrc_prng_u64(&rand);
}
