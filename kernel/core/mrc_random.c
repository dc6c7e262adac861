// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_random.c - the module's random numbers.
 *
 * EV selection, generated EVs, QP numbers and keys of memory regions start at random values. A test
 * in virtual time needs repeatable values: with the module parameter "seed", all of them follow
 * from the seed and from the order of calls. Whoever knows the seed can then guess rkeys, so it is
 * for tests only. It is fixed at module load, readable by root only, and reported in the kernel
 * log.
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
		pr_warn("mrc: parameter seed is set: random numbers and R_Keys are predictable; use it for tests only\n");
}

u64 mrc_random_u64(void)
{
	struct mrc_prng rand;

	if (likely(!mrc_seed))
		return get_random_u64();
	rand.state = mrc_seed + (u64)atomic64_inc_return(&mrc_random_drawn) * 0x9e3779b97f4a7c15ull;
	return mrc_prng_u64(&rand);
}
