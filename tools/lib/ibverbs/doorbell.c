// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * doorbell.c - the one system call of the data path: it wakes a QP that the kernel has left asleep.
 *
 * write() is the shorter way. The kernel refuses it (EACCES) to whoever has other credentials than who
 * opened the device: after setuid(), and in a child process. ioctl() takes the same command and asks nothing.
 */
#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "mrc_prov.h"

/* The kernel answers a POST_SEND with no work request by waking the QP. */
static struct ib_uverbs_post_send post_nothing(const struct ibv_qp *qp, void *resp)
{
	return (struct ib_uverbs_post_send) {
		.response = (uintptr_t)resp,
		.qp_handle = qp->handle,
		.wqe_size = sizeof(struct ib_uverbs_send_wr),
	};
}

static int ring_by_write(const struct ibv_qp *qp)
{
	struct ib_uverbs_post_send_resp resp;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_post_send core;
	} cmd = {
		.hdr.command = IB_USER_VERBS_CMD_POST_SEND,
		.hdr.in_words = sizeof(cmd) / 4,
		.hdr.out_words = sizeof(resp) / 4,
		.core = post_nothing(qp, &resp),
	};
	ssize_t n;

	do {
		n = write(qp->context->cmd_fd, &cmd, sizeof(cmd));
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(cmd) ? 0 : n < 0 ? errno : EIO;
}

static struct ib_uverbs_attr attr(uint16_t id, uint16_t len, uint64_t data)
{
	return (struct ib_uverbs_attr) {
		.attr_id = id, .len = len, .flags = UVERBS_ATTR_F_MANDATORY, .data = data,
	};
}

static int ring_by_ioctl(const struct ibv_qp *qp)
{
	struct ib_uverbs_post_send_resp resp;
	struct ib_uverbs_post_send core = post_nothing(qp, &resp);
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attrs[3];
	} cmd = {
		.hdr = {
			.length = sizeof(cmd),
			.object_id = UVERBS_OBJECT_DEVICE,
			.method_id = UVERBS_METHOD_INVOKE_WRITE,
			.num_attrs = 3,
			.driver_id = MRC_DRIVER_ID,
		},
		.attrs = {
			attr(UVERBS_ATTR_CORE_IN, sizeof(core), (uintptr_t)&core),
			attr(UVERBS_ATTR_CORE_OUT, sizeof(resp), (uintptr_t)&resp),
			attr(UVERBS_ATTR_WRITE_CMD, sizeof(uint64_t), IB_USER_VERBS_CMD_POST_SEND),
		},
	};
	int ret;

	do {
		ret = ioctl(qp->context->cmd_fd, RDMA_VERBS_IOCTL, &cmd);
	} while (ret && errno == EINTR);
	return ret ? errno : 0;
}

int mrc_doorbell(struct ibv_qp *qp)
{
	bool *refused = &to_mctx(qp->context)->no_write;
	int ret = EACCES;

	if (!__atomic_load_n(refused, __ATOMIC_RELAXED))
		ret = ring_by_write(qp);
	if (ret != EACCES)
		return ret;
	__atomic_store_n(refused, true, __ATOMIC_RELAXED);
	return ring_by_ioctl(qp);
}
