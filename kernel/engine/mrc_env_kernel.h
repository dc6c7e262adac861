/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* mrc_env_kernel.h - kernel headers whose place differs between versions. */
#ifndef MRC_ENV_KERNEL_H
#define MRC_ENV_KERNEL_H

#if __has_include(<linux/unaligned.h>)
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#endif
