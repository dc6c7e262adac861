// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ring.c - maps the rings.
 *
 * Sizes from the kernel are checked before use: a plug-in and a module of different builds must
 * fail, not crash.
 */
#include <errno.h>
#include <sys/mman.h>
#include "mrc_prov.h"

int mrc_ring_map(struct mrc_uring *r, int fd, uint64_t key, uint64_t len, uint32_t entries,
		 uint32_t stride)
{
	void *p;

	if (!entries || (entries & (entries - 1)) || !stride || stride % 8 ||
	    len < MRC_RING_HDR_SIZE + (uint64_t)entries * stride)
		return EPROTO;

	p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)key);
	if (p == MAP_FAILED)
		return errno;

	r->hdr = p;
	r->slots = (uint8_t *)p + MRC_RING_HDR_SIZE;
	r->entries = entries;
	r->stride = stride;
	r->bytes = len;
	return 0;
}

void mrc_ring_unmap(struct mrc_uring *r)
{
	if (r->hdr)
		munmap(r->hdr, r->bytes);
	r->hdr = NULL;
}
