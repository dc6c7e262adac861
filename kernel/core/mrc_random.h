/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_random.h - the module's random numbers: those of the kernel, or a seeded sequence for tests.
 */
#ifndef MRC_RANDOM_H
#define MRC_RANDOM_H

#include <linux/types.h>

/* When the module starts. Warns if a seed is set. */
void mrc_random_init(void);
u64 mrc_random_u64(void);	/* any context */

static inline u32 mrc_random_u32(void)
{
	return (u32)(mrc_random_u64() >> 32);
}

#endif
