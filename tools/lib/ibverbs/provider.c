// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * provider.c - how libibverbs finds the plug-in and opens a device with it.
 *
 * Installed files: libmrc-rdmav34.so in <libdir>/libibverbs/, and mrc.driver (one line) in
 * /etc/libibverbs.d/. From a build tree nothing needs to be installed: IBV_DRIVERS=/abs/path/libmrc
 * ibv_devices (libibverbs appends -rdmav34.so).
 *
 * The module marks its devices by its driver id in netlink, and by the attribute mrc_abi in their
 * sysfs directory. The name of a device has no meaning.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "mrc_prov.h"

static const struct verbs_context_ops mrc_ctx_ops = {
	.alloc_dm = mrc_alloc_dm,
	.alloc_mw = mrc_alloc_mw,
	.alloc_parent_domain = mrc_alloc_parent_domain,
	.alloc_pd = mrc_alloc_pd,
	.alloc_td = mrc_alloc_td,
	.attach_mcast = ibv_cmd_attach_mcast,
	.bind_mw = mrc_bind_mw,
	.create_ah = mrc_create_ah,
	.create_cq = mrc_create_cq,
	.create_cq_ex = mrc_create_cq_ex,
	.create_qp = mrc_create_qp,
	.create_qp_ex = mrc_create_qp_ex,
	.create_srq = mrc_create_srq,
	.dealloc_mw = mrc_dealloc_mw,
	.dealloc_pd = mrc_dealloc_pd,
	.dealloc_td = mrc_dealloc_td,
	.dereg_mr = mrc_dereg_mr,
	.destroy_ah = mrc_destroy_ah,
	.destroy_cq = mrc_destroy_cq,
	.destroy_qp = mrc_destroy_qp,
	.destroy_srq = mrc_destroy_srq,
	.detach_mcast = ibv_cmd_detach_mcast,
	.free_context = mrc_free_context,
	.free_dm = mrc_free_dm,
	.import_mr = mrc_import_mr,
	.import_pd = mrc_import_pd,
	.modify_cq = mrc_modify_cq,
	.modify_qp = mrc_modify_qp,
	.modify_srq = mrc_modify_srq,
	.poll_cq = mrc_poll_cq,
	.post_recv = mrc_post_recv,
	.post_send = mrc_post_send,
	.post_srq_recv = mrc_post_srq_recv,
	.query_device_ex = mrc_query_device_ex,
	.query_port = mrc_query_port,
	.query_qp = mrc_query_qp,
	.query_rt_values = mrc_query_rt_values,
	.query_srq = mrc_query_srq,
	.reg_dm_mr = mrc_reg_dm_mr,
	.reg_dmabuf_mr = mrc_reg_dmabuf_mr,
	.reg_mr = mrc_reg_mr,
	.req_notify_cq = mrc_req_notify_cq,
	.rereg_mr = mrc_rereg_mr,
	.resize_cq = mrc_resize_cq,
	.unimport_mr = mrc_unimport_mr,
	.unimport_pd = mrc_unimport_pd,
};

static const struct verbs_match_ent mrc_match_table[] = {
	{ .u.driver_id = MRC_DRIVER_ID, .kind = VERBS_MATCH_DRIVER_ID },
	{ .kind = VERBS_MATCH_SENTINEL },
};

/* libibverbs calls this for every device, after its match table, whatever the table decided. */
static bool mrc_match_device(struct verbs_sysfs_dev *sysfs_dev)
{
	char value[16];

	if (sysfs_dev->match)
		return true;
	return ibv_read_sysfs_file(sysfs_dev->ibdev_path, "mrc_abi", value, sizeof(value)) > 0;
}

static struct verbs_device *mrc_alloc_device(struct verbs_sysfs_dev *sysfs_dev)
{
	struct mrc_device *dev = calloc(1, sizeof(*dev));

	(void)sysfs_dev;
	return dev ? &dev->vdev : NULL;
}

static void mrc_uninit_device(struct verbs_device *vdev)
{
	free(vdev);
}

/*
 * A context before the first command to the kernel. Consumes @cmd_fd in any case, as libibverbs
 * does.
 */
static struct mrc_context *mrc_new_context(struct ibv_device *device, int cmd_fd,
					   uint32_t driver_id)
{
	return _verbs_init_and_alloc_context(device, cmd_fd, sizeof(struct mrc_context),
					     &((struct mrc_context *)NULL)->vctx, driver_id);
}

static struct mrc_context *mrc_no_context(struct mrc_context *ctx, int ret)
{
	verbs_uninit_context(&ctx->vctx);
	free(ctx);
	errno = ret > 0 ? ret : EIO;
	return NULL;
}

static struct mrc_context *mrc_have_context(struct mrc_context *ctx, uint32_t max_inline,
					    uint32_t max_sge)
{
	ctx->max_inline = max_inline;
	ctx->max_sge = max_sge;
	pthread_mutex_init(&ctx->qp_lock, NULL);
	verbs_set_ops(&ctx->vctx, &mrc_ctx_ops);
	return ctx;
}

static struct mrc_context *mrc_try_open(struct ibv_device *device, int cmd_fd, uint32_t driver_id)
{
	/* The core's struct ends in a flexible array, so it may only overlap. */
	union {
		struct ib_uverbs_get_context_resp core;
		struct {
			uint64_t room[sizeof(struct ib_uverbs_get_context_resp) / 8];
			struct mrc_ualloc_ucontext_resp drv;
		} all;
	} resp = {};
	struct mrc_context *ctx = mrc_new_context(device, cmd_fd, driver_id);
	struct ibv_get_context cmd = {};
	int ret;

	if (!ctx)
		return NULL;
	ret = ibv_cmd_get_context(&ctx->vctx, &cmd, sizeof(cmd), NEW_ARG(NULL) &resp.core, sizeof(resp));
	if (ret)
		return mrc_no_context(ctx, ret);
	return mrc_have_context(ctx, resp.all.drv.max_inline, resp.all.drv.max_sge);
}

/* Imports a context that another process opened. The limits are those of this ABI. */
static struct mrc_context *mrc_try_import(struct ibv_device *device, int cmd_fd,
					  uint32_t driver_id)
{
	struct mrc_context *ctx = mrc_new_context(device, cmd_fd, driver_id);
	int ret;

	if (!ctx)
		return NULL;
	ret = ibv_cmd_query_context(&ctx->vctx.context, NULL);
	if (ret)
		return mrc_no_context(ctx, ret);
	return mrc_have_context(ctx, MRC_MAX_INLINE, MRC_MAX_SGE);
}

/*
 * uverbs refuses calls whose driver id is not the module's. Netlink reports the id. If libibverbs
 * had to use sysfs, the id reads 0, which may be right or wrong. So both values are tried.
 */
static struct verbs_context *mrc_try_ids(struct ibv_device *device, int cmd_fd,
					 struct mrc_context *(*try)(struct ibv_device *, int,
								    uint32_t))
{
	const struct verbs_device *vdev = (struct verbs_device *)device;
	uint32_t id = vdev->sysfs->driver_id;
	struct mrc_context *ctx;
	int fd2;

	fd2 = fcntl(cmd_fd, F_DUPFD_CLOEXEC, 0);
	ctx = try(device, cmd_fd, id);
	if (ctx || fd2 < 0 || errno != EINVAL) {
		int saved = errno;

		if (fd2 >= 0)
			close(fd2);
		errno = saved;
		return ctx ? &ctx->vctx : NULL;
	}

	ctx = try(device, fd2, id ? 0 : MRC_DRIVER_ID);
	return ctx ? &ctx->vctx : NULL;
}

static struct verbs_context *mrc_alloc_context(struct ibv_device *device, int cmd_fd,
					       void *private_data)
{
	(void)private_data;
	return mrc_try_ids(device, cmd_fd, mrc_try_open);
}

static struct verbs_context *mrc_import_context(struct ibv_device *device, int cmd_fd)
{
	return mrc_try_ids(device, cmd_fd, mrc_try_import);
}

void mrc_free_context(struct ibv_context *context)
{
	struct mrc_context *ctx = to_mctx(context);

	verbs_uninit_context(&ctx->vctx);
	pthread_mutex_destroy(&ctx->qp_lock);
	free(ctx);
}

static_assert(MRC_UVERBS_ABI_VERSION - MRC_UVERBS_ABI_OLDEST <= 1, "this number and the one before");

static const struct verbs_device_ops mrc_dev_ops = {
	.name = "mrc",
	.match_min_abi_version = MRC_UVERBS_ABI_OLDEST,
	.match_max_abi_version = MRC_UVERBS_ABI_VERSION,
	.match_table = mrc_match_table,
	.match_device = mrc_match_device,
	.alloc_context = mrc_alloc_context,
	.import_context = mrc_import_context,
	.alloc_device = mrc_alloc_device,
	.uninit_device = mrc_uninit_device,
};

static __attribute__((constructor)) void mrc_register(void)
{
	VERBS_REGISTER_DRIVER(&mrc_dev_ops);
}
