// { "what": "dma_buf_vmap() takes the buffer's lock, where dmabuf_vmap_unlocked is not", "used_by": "probe.sh" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <linux/dma-buf.h>

int probe(struct dma_buf *buf, struct iosys_map *map)
{
	return dma_buf_vmap(buf, map);
}
