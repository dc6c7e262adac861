/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_payload.h - the pages and offsets of the payload of one packet. It holds no references: the
 * caller does, until the packet has its own.
 */
#ifndef MRC_PAYLOAD_H
#define MRC_PAYLOAD_H

#include <linux/mm_types.h>
#include <linux/types.h>
#include "rdma/mrc-abi.h"

/* As the offset of a fragment: it is an address, not a page. */
#define MRC_PAYLOAD_AT	U32_MAX

struct mrc_payload {
	/*
	 * A packet takes at most 4096 bytes from one SGE, in at most two pages, so every request fits. Payload with too
	 * many fragments for an skb is copied.
	 */
	struct {
		union {
			struct page *page;
			const void *at;	/* with off MRC_PAYLOAD_AT, and copy set */
		};
		u32 off, len;
	} frag[2 * MRC_MAX_SGE];
	u8 n;
	bool copy;		/* copy the bytes: a packet must not refer to these pages */
	u32 len;
	const void *linear;	/* instead of fragments, bytes to copy (inline, atomic); or NULL */
};

#endif
