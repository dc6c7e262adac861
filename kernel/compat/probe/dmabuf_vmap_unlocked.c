// { "since": "6.2", "what": "dma_buf_vmap() wants the buffer's lock, dma_buf_vmap_unlocked() takes it", "used_by": "mem/mrc_dmabuf.c" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <linux/dma-buf.h>

int probe(struct dma_buf *buf, struct iosys_map *map)
{
	return dma_buf_vmap_unlocked(buf, map);
}
