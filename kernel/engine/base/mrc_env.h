/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_env.h - the engine's only interface to its environment.
 *
 * The engine is compiled unchanged into mrc.ko, the unit tests, the fuzzers
 * and the simulator. Everything it needs from its surroundings comes through
 * this header, in two branches that must offer the same names:
 *
 * Need: u8 u16 u32 u64 s16 s32 s64 bool, __be16 __be32 __be64
 * Need: get/put_unaligned_be{16,32,64}
 * Need: mrc_noinline (keeps a rare path out of the frame of the usual one)
 * Need: mrc_inline (a step of every packet, used in several places)
 * Need: likely unlikely, READ_ONCE WRITE_ONCE, BUILD_BUG_ON
 * Need: min max min_t max_t clamp_t, div_u64
 * Need: mrc_ffs64 (index of lowest set bit, argument non-zero), hweight64
 * Need: memcpy memset memcmp
 * Need: mrc_assert(cond): always evaluated, true when the condition FAILED
 * Need: mrc_trace(event, ...): a tracepoint; evaluates its arguments only if it is enabled
 * Need: EINVAL ENOMEM EAGAIN ENOENT EMSGSIZE EOPNOTSUPP
 *
 * No product structure lives here, and nothing else in engine/ may look at
 * __KERNEL__.
 */
#ifndef MRC_ENV_H
#define MRC_ENV_H

#ifdef __KERNEL__
#include <linux/types.h>
#include <linux/kernel.h>
#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/bug.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "base/mrc_env_kernel.h"
#include "trace/mrc_trace.h"	/* mrc_trace() */

#define mrc_noinline		noinline
#define mrc_inline		__always_inline
#define mrc_assert(cond)	WARN_ON_ONCE(!(cond))
#define mrc_ffs64(x)		((u32)__ffs64(x))
#else
#include "base/mrc_env_user.h"
#endif

#endif
