/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_compat_dmabuf.h - part of mrc_compat.h that only dma-bufs need.
 */
#ifndef MRC_COMPAT_DMABUF_H
#define MRC_COMPAT_DMABUF_H

#include <linux/dma-buf.h>
#include <linux/module.h>
#include "mrc_have.h"

/* Called without the buffer's lock. */
static inline int mrc_dma_buf_vmap(struct dma_buf *buf, struct iosys_map *map)
{
#ifdef MRC_HAVE_DMABUF_VMAP_UNLOCKED
	return dma_buf_vmap_unlocked(buf, map);
#else
	return dma_buf_vmap(buf, map);
#endif
}

static inline void mrc_dma_buf_vunmap(struct dma_buf *buf, struct iosys_map *map)
{
#ifdef MRC_HAVE_DMABUF_VMAP_UNLOCKED
	dma_buf_vunmap_unlocked(buf, map);
#else
	dma_buf_vunmap(buf, map);
#endif
}

/* In a table of dma_buf_attach_ops: the buffer moves, or its exporter revokes it. */
#ifdef MRC_HAVE_DMABUF_INVALIDATE
#define MRC_DMABUF_MOVES(fn) .invalidate_mappings = (fn),
#else
#define MRC_DMABUF_MOVES(fn) .move_notify = (fn),
#endif

#ifdef MRC_HAVE_IMPORT_NS_BARE
#define MRC_IMPORT_NS(ns) MODULE_IMPORT_NS(ns)
#else
#define MRC_IMPORT_NS(ns) MODULE_IMPORT_NS(#ns)
#endif

#endif
