// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_exporter.c - dma-bufs as a graphics card's driver would export them, for tests only: some that it can
 * move, some that no CPU can map. Debian's 6.1 has no other exporter.
 *
 * Who lets go of one that is still pinned or mapped is told so (WARN), and the module stays as long as any is left.
 */
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/fs.h>
#include <linux/iosys-map.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include "mrc_exporter.h"

struct exported {
	void *mem;
	size_t len;
	u32 flags;
	int pins, vmaps;
};

static struct sg_table *exp_map(struct dma_buf_attachment *attach, enum dma_data_direction dir)
{
	return ERR_PTR(-EOPNOTSUPP);	/* nobody's DMA comes here */
}

static void exp_unmap(struct dma_buf_attachment *attach, struct sg_table *sgt,
		      enum dma_data_direction dir)
{
}

static int exp_pin(struct dma_buf_attachment *attach)
{
	struct exported *e = attach->dmabuf->priv;

	e->pins++;
	return 0;
}

static void exp_unpin(struct dma_buf_attachment *attach)
{
	struct exported *e = attach->dmabuf->priv;

	WARN_ON(!e->pins--);
}

static int exp_vmap(struct dma_buf *buf, struct iosys_map *map)
{
	struct exported *e = buf->priv;

	if (e->flags & MRC_EXPORTER_IOMEM)
		iosys_map_set_vaddr_iomem(map, (void __iomem *)e->mem);
	else
		iosys_map_set_vaddr(map, e->mem);
	e->vmaps++;
	return 0;
}

static void exp_vunmap(struct dma_buf *buf, struct iosys_map *map)
{
	struct exported *e = buf->priv;

	WARN_ON(!e->vmaps--);
}

static int exp_mmap(struct dma_buf *buf, struct vm_area_struct *vma)
{
	struct exported *e = buf->priv;

	return remap_vmalloc_range(vma, e->mem, vma->vm_pgoff);
}

static void exp_release(struct dma_buf *buf)
{
	struct exported *e = buf->priv;

	WARN_ON(e->pins || e->vmaps);
	vfree(e->mem);
	kfree(e);
}

static const struct dma_buf_ops exp_still = {
	.map_dma_buf = exp_map, .unmap_dma_buf = exp_unmap, .release = exp_release,
	.mmap = exp_mmap, .vmap = exp_vmap, .vunmap = exp_vunmap,
};

static const struct dma_buf_ops exp_dynamic = {
	.pin = exp_pin, .unpin = exp_unpin,
	.map_dma_buf = exp_map, .unmap_dma_buf = exp_unmap, .release = exp_release,
	.mmap = exp_mmap, .vmap = exp_vmap, .vunmap = exp_vunmap,
};

static const struct dma_buf_ops exp_unmapped = {
	.map_dma_buf = exp_map, .unmap_dma_buf = exp_unmap, .release = exp_release,
	.mmap = exp_mmap,
};

static bool is_ours(const struct dma_buf *buf)
{
	return buf->ops == &exp_still || buf->ops == &exp_dynamic || buf->ops == &exp_unmapped;
}

static long exp_new(const struct mrc_exporter_new *arg)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct exported *e;
	struct dma_buf *buf;
	int fd;

	if (!arg->pages || arg->pages > MRC_EXPORTER_MAX_PAGES)
		return -EINVAL;
	e = kzalloc(sizeof(*e), GFP_KERNEL);
	if (!e)
		return -ENOMEM;
	e->flags = arg->flags;
	e->len = (size_t)arg->pages * PAGE_SIZE;
	e->mem = vmalloc_user(e->len);
	if (!e->mem) {
		kfree(e);
		return -ENOMEM;
	}
	info.ops = e->flags & MRC_EXPORTER_DYNAMIC ? &exp_dynamic :
		   e->flags & MRC_EXPORTER_UNMAPPED ? &exp_unmapped : &exp_still;
	info.size = e->len;
	info.flags = e->flags & MRC_EXPORTER_READ_ONLY ? O_RDONLY : O_RDWR;
	info.priv = e;
	buf = dma_buf_export(&info);
	if (IS_ERR(buf)) {
		vfree(e->mem);
		kfree(e);
		return PTR_ERR(buf);
	}
	fd = dma_buf_fd(buf, O_CLOEXEC);
	if (fd < 0)
		dma_buf_put(buf);
	return fd;
}

static long exp_move(int fd)
{
	struct dma_buf *buf = dma_buf_get(fd);
	struct exported *e;
	long err = -EINVAL;

	if (IS_ERR(buf))
		return PTR_ERR(buf);
	if (is_ours(buf)) {
		e = buf->priv;
		dma_resv_lock(buf->resv, NULL);
		dma_buf_move_notify(buf);
		memset(e->mem, MRC_EXPORTER_FILL, e->len);	/* the memory is another's now */
		dma_resv_unlock(buf->resv);
		err = 0;
	}
	dma_buf_put(buf);
	return err;
}

static long exp_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct mrc_exporter_new new;
	int fd;

	switch (cmd) {
	case MRC_EXPORTER_NEW:
		if (copy_from_user(&new, (void __user *)arg, sizeof(new)))
			return -EFAULT;
		return exp_new(&new);
	case MRC_EXPORTER_MOVE:
		if (get_user(fd, (int __user *)arg))
			return -EFAULT;
		return exp_move(fd);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations exp_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = exp_ioctl,
};

static struct miscdevice exp_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "mrc_exporter",
	.fops = &exp_fops,
	.mode = 0600,
};

module_misc_device(exp_misc);
MODULE_DESCRIPTION("dma-bufs for tests of mrc");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(DMA_BUF);
