// { "since": "6.14", "what": "crc32_optimizations() says what crc32_le() does by instructions", "used_by": "data/mrc_icrc.c" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <linux/bits.h>
#include <linux/crc32.h>

int mrc_probe(void)
{
	return crc32_optimizations() & CRC32_LE_OPTIMIZATION;
}
