/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_dmabuf.h - a part of a dma-buf that its exporter maps for the CPU. The memory region of the
 * dma-buf (mrc_mr.h) owns the mapping.
 */
#ifndef MRC_DMABUF_H
#define MRC_DMABUF_H

#include <linux/types.h>

struct ib_device;
struct mrc_dmabuf;

/* The requested part of the dma-buf of @fd. */
struct mrc_dmabuf_want {
	int fd;
	u64 offset, length;
	bool write;
};

/*
 * Process context, no lock held. The exporter may revoke the memory: then *@dead, which must live
 * as long as the mapping, is set, and nobody may read or write the memory after the next RCU grace
 * period. ERR_PTR: -EINVAL: not inside the buffer; -EACCES: the buffer is read-only; -EOPNOTSUPP:
 * it cannot be mapped for the CPU; errors of the exporter.
 */
struct mrc_dmabuf *mrc_dmabuf_map(struct ib_device *ibdev, const struct mrc_dmabuf_want *want, bool *dead);
void mrc_dmabuf_unmap(struct mrc_dmabuf *b);	/* likewise */

/* The address of the page of @want->offset. Plain memory; its pages must never be referenced. */
void *mrc_dmabuf_addr(const struct mrc_dmabuf *b);

#endif
