// SPDX-License-Identifier: GPL-2.0
/*
 * pyverbs_dmabuf.c - where rdma-core's tests get their dma-bufs: udmabuf instead of a graphics card.
 *
 *	LD_PRELOAD=pyverbs_dmabuf.so python3 mrc_pyverbs.py ...
 *
 * pyverbs allocates by five functions of its own, which Debian builds without any card behind them. These
 * take their place. The size is rounded up to pages, because a udmabuf consists of pages.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

struct dmabuf;

struct dmabuf *dmabuf_alloc(uint64_t size, int unit, int gtt);
void dmabuf_free(struct dmabuf *dmabuf);
int dmabuf_get_drm_fd(struct dmabuf *dmabuf);
int dmabuf_get_fd(struct dmabuf *dmabuf);
uint64_t dmabuf_get_offset(struct dmabuf *dmabuf);

struct dmabuf {
	int fd;
};

static int make(uint64_t size)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	int memfd = memfd_create("pyverbs", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	struct udmabuf_create ask = {
		.memfd = (uint32_t)memfd, .flags = UDMABUF_FLAGS_CLOEXEC,
		.size = (size + page - 1) / page * page,
	};
	int ctl = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), fd = -1;

	if (memfd >= 0 && ctl >= 0 && !ftruncate(memfd, (off_t)ask.size) &&
	    !fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		fd = ioctl(ctl, UDMABUF_CREATE, &ask);
	if (ctl >= 0)
		close(ctl);
	if (memfd >= 0)
		close(memfd);
	return fd;
}

struct dmabuf *dmabuf_alloc(uint64_t size, int unit, int gtt)
{
	struct dmabuf *b = malloc(sizeof(*b));

	(void)unit;
	(void)gtt;
	if (!b)
		return NULL;
	b->fd = make(size);
	if (b->fd >= 0)
		return b;
	free(b);
	return NULL;
}

void dmabuf_free(struct dmabuf *dmabuf)
{
	if (!dmabuf)
		return;
	close(dmabuf->fd);
	free(dmabuf);
}

/* What pyverbs maps, from dmabuf_get_offset() on. */
int dmabuf_get_drm_fd(struct dmabuf *dmabuf)
{
	return dmabuf->fd;
}

int dmabuf_get_fd(struct dmabuf *dmabuf)
{
	return dmabuf->fd;
}

uint64_t dmabuf_get_offset(struct dmabuf *dmabuf)
{
	(void)dmabuf;
	return 0;
}
