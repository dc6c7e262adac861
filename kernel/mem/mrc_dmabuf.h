/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_dmabuf.h - a part of a dma-buf that its exporter maps for the CPU.
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
 * Process context, no lock held. The exporter may take the memory back: then *@dead, which lives as long as the
 * mapping, is set, and nobody may read or write it when the next grace period is over. -errno as a pointer.
 */
struct mrc_dmabuf *mrc_dmabuf_map(struct ib_device *ibdev, const struct mrc_dmabuf_want *want, bool *dead);
void mrc_dmabuf_unmap(struct mrc_dmabuf *b);	/* likewise */

/* The address of the page of @want->offset. Plain memory; its pages must never be referenced. */
void *mrc_dmabuf_addr(const struct mrc_dmabuf *b);

#endif
