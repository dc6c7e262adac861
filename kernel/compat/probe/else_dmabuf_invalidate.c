// { "what": "dma_buf_attach_ops.move_notify, where dmabuf_invalidate is not", "used_by": "probe.sh" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <linux/dma-buf.h>

static void probe(struct dma_buf_attachment *attach)
{
}

const struct dma_buf_attach_ops mrc_probe_ops = { .move_notify = probe };
