/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_compat_crc32.h - part of mrc_compat.h: names the method of the kernel's crc32_le().
 */
#ifndef MRC_COMPAT_CRC32_H
#define MRC_COMPAT_CRC32_H

#include <linux/bits.h>
#include <linux/crc32.h>
#ifdef CONFIG_ARM64
#include <linux/cpufeature.h>
#endif
#include "mrc_have.h"

/*
 * A name for users: instructions of the processor, or tables of the library. arm64 used its
 * instructions before the kernel had crc32_optimizations().
 */
static inline const char *mrc_crc32_le_by(void)
{
#if defined(CONFIG_ARM64)
	return cpu_have_named_feature(CRC32) ? "crc32-arm64" : "crc32_le";
#elif defined(MRC_HAVE_CRC32_OPTIMIZATIONS)
	return crc32_optimizations() & CRC32_LE_OPTIMIZATION ? "crc32-arch" : "crc32_le";
#else
	return "crc32_le";
#endif
}

#endif
