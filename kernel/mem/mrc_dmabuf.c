// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_dmabuf.c - see mrc_dmabuf.h.
 *
 * The CPU copies our bytes, so the exporter maps the buffer for the CPU, once, and all copies use
 * that mapping with the caching that the exporter chose. Packets never refer to the pages behind
 * it, because they belong to the exporter. Device memory (iomem) is refused.
 *
 * An exporter that can move its buffer is asked to pin it. It may still revoke the buffer when its
 * device goes away: it calls dmabuf_revoke() under the lock of the buffer. Copies run in softirq
 * with BH off and check *dead first, and revocation waits for them. The mapping itself stays until
 * mrc_dmabuf_unmap(), because kernels up to 6.1 do not allow unmapping under that lock. An exporter
 * that cannot move its buffer needs no attachment.
 *
 * Caches: begin_cpu_access() is called once, at the beginning. On machines with coherent devices,
 * which includes all with RoCE, no packet needs more.
 */
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/iosys-map.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include "compat/mrc_compat_dmabuf.h"
#include "mem/mrc_dmabuf.h"

struct mrc_dmabuf {
	struct dma_buf *buf;
	struct dma_buf_attachment *attach;	/* NULL: the buffer cannot move */
	struct iosys_map map;
	u64 page_off;				/* offset in the buffer of the first byte's page */
	bool *dead;
};

/* Called by the exporter under the lock of the buffer. */
static void dmabuf_revoke(struct dma_buf_attachment *attach)
{
	const struct mrc_dmabuf *b = attach->importer_priv;

	WRITE_ONCE(*b->dead, true);
	synchronize_rcu();	/* copies under way */
}

static const struct dma_buf_attach_ops dmabuf_attach_ops = {
	MRC_DMABUF_MOVES(dmabuf_revoke)
};

/* Pins the buffer, and waits until it is in place. */
static int dmabuf_pin(struct mrc_dmabuf *b, struct device *dev)
{
	struct dma_resv *lock = b->buf->resv;
	long left;
	int err;

	b->attach = dma_buf_dynamic_attach(b->buf, dev, &dmabuf_attach_ops, b);
	if (IS_ERR(b->attach))
		return PTR_ERR(b->attach);
	dma_resv_lock(lock, NULL);
	err = dma_buf_pin(b->attach);
	if (!err) {
		left = dma_resv_wait_timeout(lock, DMA_RESV_USAGE_KERNEL, true, MAX_SCHEDULE_TIMEOUT);
		err = left < 0 ? (int)left : 0;
		if (err)
			dma_buf_unpin(b->attach);
	}
	dma_resv_unlock(lock);
	if (err)
		dma_buf_detach(b->buf, b->attach);
	return err;
}

static void dmabuf_unpin(struct mrc_dmabuf *b)
{
	dma_resv_lock(b->buf->resv, NULL);
	dma_buf_unpin(b->attach);
	dma_resv_unlock(b->buf->resv);
	dma_buf_detach(b->buf, b->attach);
}

/* Maps the buffer. Refuses device memory, and a mapping that does not begin at a page. */
static int dmabuf_vmap(struct mrc_dmabuf *b)
{
	int err = mrc_dma_buf_vmap(b->buf, &b->map);

	if (err)
		return err;
	if (!b->map.is_iomem && PAGE_ALIGNED(b->map.vaddr))
		return 0;
	mrc_dma_buf_vunmap(b->buf, &b->map);
	return -EOPNOTSUPP;
}

static int dmabuf_check(const struct dma_buf *buf, const struct mrc_dmabuf_want *want)
{
	if (!want->length || want->offset > buf->size || want->length > buf->size - want->offset)
		return -EINVAL;
	if (want->write && !(buf->file->f_mode & FMODE_WRITE))
		return -EACCES;
	return 0;
}

static int dmabuf_map(struct mrc_dmabuf *b, struct ib_device *ibdev)
{
	int err;

	if (b->buf->ops->pin) {
		err = dmabuf_pin(b, &ibdev->dev);
		if (err)
			return err;
	}
	err = dmabuf_vmap(b);
	if (err) {
		ibdev_notice_ratelimited(ibdev, "a dma-buf of %s cannot be mapped for the CPU: %pe\n",
					 b->buf->exp_name, ERR_PTR(err));
		err = err == -ENOMEM ? err : -EOPNOTSUPP;
		goto err_pin;
	}
	err = dma_buf_begin_cpu_access(b->buf, DMA_BIDIRECTIONAL);
	if (!err)
		return 0;
	mrc_dma_buf_vunmap(b->buf, &b->map);
err_pin:
	if (b->attach)
		dmabuf_unpin(b);
	return err;
}

struct mrc_dmabuf *mrc_dmabuf_map(struct ib_device *ibdev, const struct mrc_dmabuf_want *want, bool *dead)
{
	struct mrc_dmabuf *b = kzalloc(sizeof(*b), GFP_KERNEL_ACCOUNT);
	int err;

	if (!b)
		return ERR_PTR(-ENOMEM);
	b->dead = dead;
	b->page_off = want->offset & PAGE_MASK;
	b->buf = dma_buf_get(want->fd);
	if (IS_ERR(b->buf)) {
		err = PTR_ERR(b->buf);
		goto err_free;
	}
	err = dmabuf_check(b->buf, want);
	if (!err)
		err = dmabuf_map(b, ibdev);
	if (!err)
		return b;
	dma_buf_put(b->buf);
err_free:
	kfree(b);
	return ERR_PTR(err);
}

void mrc_dmabuf_unmap(struct mrc_dmabuf *b)
{
	dma_buf_end_cpu_access(b->buf, DMA_BIDIRECTIONAL);
	mrc_dma_buf_vunmap(b->buf, &b->map);
	if (b->attach)
		dmabuf_unpin(b);
	dma_buf_put(b->buf);
	kfree(b);
}

void *mrc_dmabuf_addr(const struct mrc_dmabuf *b)
{
	return b->map.vaddr + b->page_off;
}

MRC_IMPORT_NS(DMA_BUF);
