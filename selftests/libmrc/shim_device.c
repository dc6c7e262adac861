// SPDX-License-Identifier: GPL-2.0
/*
 * shim_device.c - libibverbs with one MRC device that does nothing, behind mrc_shim.so and libmrc: it
 * writes down what reaches it. For shim_client.c, by LD_PRELOAD.
 */
#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <infiniband/verbs.h>
#include "rdma/mrc-abi.h"

#define CMD_FD	4711
#define ABI_FD	4712

static struct ibv_device device = { .name = "mrc0", .ibdev_path = "/sys/class/infiniband/mrc0" };
static struct verbs_context context;
static struct ibv_qp *qps[8];

static void tell(const char *format, ...)
{
	char text[200];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	printf("%s\n", text);
	fflush(stdout);
}

/* ---- the device ---- */

static struct ibv_qp *make_qp(struct ibv_cq *send, struct ibv_cq *recv, void *qp_context, enum ibv_qp_type type)
{
	static uint32_t n;
	struct ibv_qp *qp = calloc(1, sizeof(*qp));

	qp->context = &context.context;
	qp->send_cq = send;
	qp->recv_cq = recv;
	qp->qp_context = qp_context;
	qp->qp_type = type;
	qp->handle = qp->qp_num = n + 1;
	qps[n++ % 8] = qp;
	return qp;
}

static struct ibv_qp *create_qp_ex(struct ibv_context *v, struct ibv_qp_init_attr_ex *ex)
{
	(void)v;
	tell("create_qp_ex type %d operations 0x%llx", ex->qp_type, (unsigned long long)ex->send_ops_flags);
	ex->cap.max_inline_data = 256;
	return make_qp(ex->send_cq, ex->recv_cq, ex->qp_context, ex->qp_type);
}

struct ibv_device **ibv_get_device_list(int *n)
{
	struct ibv_device **list = calloc(2, sizeof(*list));

	list[0] = &device;
	if (n)
		*n = 1;
	return list;
}

const char *ibv_get_device_name(struct ibv_device *d)
{
	return d->name;
}

struct ibv_context *ibv_open_device(struct ibv_device *d)
{
	context.sz = sizeof(context);
	context.create_qp_ex = create_qp_ex;
	context.context.device = d;
	context.context.cmd_fd = CMD_FD;
	context.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	return &context.context;
}

int ibv_close_device(struct ibv_context *v)
{
	(void)v;
	tell("close");
	return 0;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *v)
{
	static struct ibv_pd pd;

	pd.context = v;
	return &pd;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *v, int cqe, void *cq_context, struct ibv_comp_channel *channel,
			     int vector)
{
	struct ibv_cq *cq = calloc(1, sizeof(*cq));

	tell("create_cq %d vector %d channel %s", cqe, vector, channel ? "yes" : "no");
	cq->context = v;
	cq->channel = channel;
	cq->cq_context = cq_context;
	return cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	tell("destroy_cq");
	free(cq);
	return 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *a)
{
	(void)pd;
	tell("create_qp type %d", a->qp_type);
	a->cap.max_inline_data = 256;
	return make_qp(a->send_cq, a->recv_cq, a->qp_context, a->qp_type);
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int mask)
{
	tell("modify_qp %u mask 0x%x state %d", qp->qp_num, mask, a->qp_state);
	if (mask & IBV_QP_STATE)
		qp->state = a->qp_state;
	return 0;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	tell("destroy_qp %u", qp->qp_num);
	free(qp);
	return 0;
}

/* ---- the kernel: libmrc's own commands ---- */

/* What is longer than an address stands elsewhere. */
static void *part(struct ib_uverbs_ioctl_hdr *hdr, uint16_t id, size_t len)
{
	struct ib_uverbs_attr *attr;

	for (attr = hdr->attrs; attr < hdr->attrs + hdr->num_attrs; attr++)
		if (attr->attr_id == id && attr->len == len)
			return len > sizeof(attr->data) ? (void *)(uintptr_t)attr->data : &attr->data;
	tell("a command without its attribute 0x%x of %zu bytes", id, len);
	exit(1);
}

static void query_device(struct ib_uverbs_ioctl_hdr *hdr)
{
	static const struct mrc_uquery_device_resp drv = {
		.max_wimm = 128, .max_wimm_dest = 64, .max_mpr = 8,
	};

	memcpy(part(hdr, UVERBS_ATTR_UHW_OUT, sizeof(drv)), &drv, sizeof(drv));
}

static void modify_qp(struct ib_uverbs_ioctl_hdr *hdr)
{
	const struct ib_uverbs_ex_modify_qp *core = part(hdr, UVERBS_ATTR_CORE_IN, sizeof(*core));
	const struct mrc_umodify_qp *drv = part(hdr, UVERBS_ATTR_UHW_IN, sizeof(*drv));

	tell("mrc_modify_qp %u to state %d: 0x%x cc %llu wimm %u %u mpr %u %u timeout %u retries %u %u",
	     core->base.qp_handle, core->base.qp_state, drv->comp_mask,
	     (unsigned long long)drv->cc_profile_id, drv->wimm, drv->wimm_dest, drv->mpr,
	     drv->mpr_dest, drv->timeout, drv->linear_cnt, drv->exp_cnt);
}

static bool sound(const struct ib_uverbs_ioctl_hdr *hdr)
{
	return hdr->length == sizeof(*hdr) + hdr->num_attrs * sizeof(*hdr->attrs) &&
	       hdr->object_id == UVERBS_OBJECT_DEVICE && hdr->method_id == UVERBS_METHOD_INVOKE_WRITE &&
	       hdr->driver_id == MRC_DRIVER_ID && !hdr->reserved1 && !hdr->reserved2;
}

static int refuse(int err)
{
	errno = err;
	return -1;
}

int ioctl(int fd, unsigned long request, ...)
{
	struct ib_uverbs_ioctl_hdr *hdr;
	va_list args;

	va_start(args, request);
	hdr = va_arg(args, void *);
	va_end(args);
	if (fd != CMD_FD)
		return (int)syscall(SYS_ioctl, fd, request, hdr);
	if (request != RDMA_VERBS_IOCTL || !sound(hdr))
		return refuse(EINVAL);
	switch (*(uint64_t *)part(hdr, UVERBS_ATTR_WRITE_CMD, sizeof(uint64_t))) {
	case IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_QUERY_DEVICE:
		query_device(hdr);
		return 0;
	case IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_QP:
		modify_qp(hdr);
		return 0;
	}
	return refuse(EOPNOTSUPP);
}

int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	if (!strcmp(path, "/sys/class/infiniband/mrc0/mrc_abi"))
		return ABI_FD;
	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

ssize_t read(int fd, void *buf, size_t room)
{
	if (fd != ABI_FD)
		return syscall(SYS_read, fd, buf, room);
	return snprintf(buf, room, "%d\n", MRC_UVERBS_ABI_VERSION);
}
