/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_pages.h - zeroed memory in exactly as many pages as it needs.
 *
 * Beyond two pages kmalloc() rounds up to a power of two: 36 KiB would take 64.
 */
#ifndef MRC_PAGES_H
#define MRC_PAGES_H

#include <linux/types.h>

/* Process context. Charged to the caller's cgroup. NULL: no memory. */
void *mrc_pages_alloc(size_t bytes);
/* Process context. @bytes as in the allocation. NULL is ignored. */
void mrc_pages_free(void *p, size_t bytes);

#endif
