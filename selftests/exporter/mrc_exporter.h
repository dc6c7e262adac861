/* SPDX-License-Identifier: GPL-2.0 */
/* mrc_exporter.h - ioctls of /dev/mrc_exporter: dma-bufs made and moved, for tests only. */
#ifndef MRC_EXPORTER_H
#define MRC_EXPORTER_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define MRC_EXPORTER_DYNAMIC	1	/* may be moved */
#define MRC_EXPORTER_IOMEM	2	/* says that it is in a device's memory */
#define MRC_EXPORTER_UNMAPPED	4	/* has no mapping for the CPU */
#define MRC_EXPORTER_READ_ONLY	8	/* its file descriptor is */

#define MRC_EXPORTER_MAX_PAGES	1024
#define MRC_EXPORTER_FILL	0xa5	/* what a moved one holds */

struct mrc_exporter_new {
	__u32 pages;
	__u32 flags;
};

/* A new file descriptor. */
#define MRC_EXPORTER_NEW	_IOW('M', 1, struct mrc_exporter_new)
/* Takes the dma-buf of this file descriptor back, from all who have it attached, and fills it. */
#define MRC_EXPORTER_MOVE	_IOW('M', 2, int)

#endif
