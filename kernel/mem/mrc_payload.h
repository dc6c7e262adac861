/* SPDX-License-Identifier: GPL-2.0 */
/* mrc_payload.h - where the payload of one packet lies. */
#ifndef MRC_PAYLOAD_H
#define MRC_PAYLOAD_H

#include <linux/mm_types.h>
#include <linux/types.h>

struct mrc_payload {
	struct { struct page *page; u32 off, len; } frag[18];
	u8 n;
	bool copy;		/* a packet must not refer to these pages */
	u32 len;
	const void *linear;	/* or bytes to copy (inline, atomic) */
};

#endif
