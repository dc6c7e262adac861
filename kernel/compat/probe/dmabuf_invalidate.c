// { "since": "after 6.12, by 7.2", "what": "dma_buf_attach_ops.move_notify is called invalidate_mappings", "used_by": "mem/mrc_dmabuf.c" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <linux/dma-buf.h>

static void probe(struct dma_buf_attachment *attach)
{
}

const struct dma_buf_attach_ops mrc_probe_ops = { .invalidate_mappings = probe };
