/* SPDX-License-Identifier: GPL-2.0 */
/* mrc_crc.h - CRC-32 of the invariant CRC (IBTA A17.3.3), bit by bit: for programs that share no code with the engine. */
#ifndef MRC_CRC_H
#define MRC_CRC_H

#include <stddef.h>
#include <stdint.h>

static inline uint32_t crc(uint32_t c, const uint8_t *p, size_t len)
{
	int i;

	while (len--) {
		c ^= *p++;
		for (i = 0; i < 8; i++)
			c = c >> 1 ^ (c & 1 ? 0xedb88320 : 0);
	}
	return c;
}

#endif
