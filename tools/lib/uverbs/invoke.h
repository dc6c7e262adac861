/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * invoke.h - a command of rdma/ib_user_verbs.h, by ioctl().
 *
 * The kernel refuses the same command by write() (EACCES) to whoever has other credentials than who opened
 * the device: after setuid(), and in a child process. ioctl() takes it from anybody. What a command says
 * and answers (UVERBS_ATTR_CORE_*), and the driver's part of both (UVERBS_ATTR_UHW_*), go as attributes:
 *
 *	union mrc_invoke cmd = {};
 *
 *	mrc_invoke_in(&cmd, UVERBS_ATTR_CORE_IN, &core, sizeof(core));
 *	err = mrc_invoke(&cmd, fd, IB_USER_VERBS_CMD_...);
 */
#ifndef MRC_INVOKE_H
#define MRC_INVOKE_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/ioctl.h>
#include "rdma/mrc-abi.h"

#define MRC_INVOKE_ATTRS 5	/* two parts each way, and which command */

union mrc_invoke {
	struct ib_uverbs_ioctl_hdr hdr;
	uint8_t room[sizeof(struct ib_uverbs_ioctl_hdr) +
		     MRC_INVOKE_ATTRS * sizeof(struct ib_uverbs_attr)];
};

/* Its data are the caller's to fill in. */
static inline struct ib_uverbs_attr *mrc_invoke_attr(union mrc_invoke *cmd, uint16_t id, size_t len)
{
	struct ib_uverbs_attr *attr = &cmd->hdr.attrs[cmd->hdr.num_attrs++];

	*attr = (struct ib_uverbs_attr) {
		.attr_id = id, .len = (uint16_t)len, .flags = UVERBS_ATTR_F_MANDATORY,
	};
	return attr;
}

/* What is as small as an address stands in its place: the kernel looks for it there. */
static inline void mrc_invoke_in(union mrc_invoke *cmd, uint16_t id, const void *data, size_t len)
{
	struct ib_uverbs_attr *attr = mrc_invoke_attr(cmd, id, len);

	if (len > sizeof(attr->data))
		attr->data = (uintptr_t)data;
	else
		memcpy(&attr->data, data, len);
}

/* Room for what comes back; an address, however small it is. */
static inline void mrc_invoke_out(union mrc_invoke *cmd, uint16_t id, void *data, size_t len)
{
	mrc_invoke_attr(cmd, id, len)->data = (uintptr_t)data;
}

/* 0 or errno. @command: IB_USER_VERBS_CMD_*, or _EX_CMD_* with its flag. @cmd is used up. */
static inline int mrc_invoke(union mrc_invoke *cmd, int fd, uint64_t command)
{
	struct ib_uverbs_ioctl_hdr *hdr = &cmd->hdr;
	int ret;

	mrc_invoke_in(cmd, UVERBS_ATTR_WRITE_CMD, &command, sizeof(command));
	hdr->length = (uint16_t)(sizeof(*hdr) + hdr->num_attrs * sizeof(*hdr->attrs));
	hdr->object_id = UVERBS_OBJECT_DEVICE;
	hdr->method_id = UVERBS_METHOD_INVOKE_WRITE;
	hdr->driver_id = MRC_DRIVER_ID;
	do {
		ret = ioctl(fd, RDMA_VERBS_IOCTL, cmd);
	} while (ret && errno == EINTR);
	return ret ? errno : 0;
}

#endif
