/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernels before 6.12 keep this in asm/. The kernel's own directories are searched
 * before ours: where it has linux/unaligned.h this file is never seen.
 */
#include <asm/unaligned.h>
