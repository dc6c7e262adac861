/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_bth.h - the fields that BTHs of connections and of datagrams share, for wire/ alone.
 */
#ifndef MRC_BTH_H
#define MRC_BTH_H

#include "base/mrc_types.h"

#define BTH_SE		0x80	/* byte 1 */
#define BTH_MIGRATED	0x40	/* 0 in MRC; other stacks set it always, and ignore it in datagrams */
#define BTH_PAD_SHIFT	4
#define BTH_PAD_MASK	0x3
#define BTH_TVER_MASK	0x0f
#define BTH_A		0x80	/* byte 8 */
#define BTH_RTX		0x20
#define BTH_TS		0x10

/*
 * Every 24-bit field is the tail of an aligned word, so it is read and written
 * with the byte before it: one load, and never outside the header.
 */
static inline u32 get_low24(const u8 *word)
{
	return get_unaligned_be32(word) & 0xffffff;
}

#endif
