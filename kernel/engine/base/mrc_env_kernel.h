/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_env_kernel.h - kernel headers whose place differs between kernel versions.
 *
 * Included by mrc_env.h when the engine is compiled into mrc.ko.
 */
#ifndef MRC_ENV_KERNEL_H
#define MRC_ENV_KERNEL_H

#include <linux/unaligned.h>	/* before 6.12: compat/include */

#endif
