// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_pages.c - see mrc_pages.h.
 *
 * Contiguous pages if possible, because every packet reads this memory and should need few TLB
 * entries; otherwise any pages. The OOM killer is not invoked. kmemleak does not scan pages by
 * itself, so they are registered with it: they contain references.
 */
#include <linux/gfp.h>
#include <linux/kmemleak.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>
#include "mem/mrc_pages.h"

void *mrc_pages_alloc(size_t bytes)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN;
	void *p;

	p = alloc_pages_exact(bytes, gfp | (bytes > PAGE_SIZE ? __GFP_NORETRY : __GFP_RETRY_MAYFAIL));
	if (p)
		kmemleak_alloc(p, bytes, 1, GFP_KERNEL);
	else if (bytes > PAGE_SIZE)
		p = __vmalloc(bytes, gfp | __GFP_RETRY_MAYFAIL);
	return p;
}

void mrc_pages_free(void *p, size_t bytes)
{
	if (is_vmalloc_addr(p)) {
		vfree(p);
	} else if (p) {
		kmemleak_free(p);
		free_pages_exact(p, bytes);
	}
}
