/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_psn.h - serial arithmetic on the 24-bit packet sequence number (PSN).
 *
 * PSNs wrap, so comparing them with < is wrong. Take mrc_psn_diff() and compare the result with
 * zero. It is correct while the two PSNs are less than 2^23 apart; windows are far smaller
 * (MRC_WINDOW_MAX).
 */
#ifndef MRC_PSN_H
#define MRC_PSN_H

#include "base/mrc_env.h"

#define MRC_PSN_MASK	0xffffffu

static inline u32 mrc_psn_add(u32 psn, s32 n)
{
	return (psn + (u32)n) & MRC_PSN_MASK;
}

/* a - b as a signed distance in (-2^23, 2^23). */
static inline s32 mrc_psn_diff(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

#endif
