// SPDX-License-Identifier: GPL-2.0
/*
 * shim_kernel.c - the kernel behind shim_device.c: libmrc's own commands, and the file that says that the
 * device is an MRC one. By LD_PRELOAD, before libc.
 */
#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "rdma/mrc-abi.h"

#define CMD_FD	4711		/* shim_device.c's */
#define ABI_FD	4712

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
		.timeout = 14, .linear_cnt = 7, .exp_cnt = 6,
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
