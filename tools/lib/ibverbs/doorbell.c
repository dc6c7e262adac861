// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * doorbell.c - the only system call of the data path: wakes a QP that the kernel has put to sleep.
 *
 * write() is shorter. If the kernel refuses it (EACCES), ioctl() works: uverbs/invoke.h.
 */
#include <errno.h>
#include <unistd.h>
#include "mrc_prov.h"
#include "../uverbs/invoke.h"

/* A POST_SEND without a work request: the kernel wakes the QP. */
static void post_nothing(struct ib_uverbs_post_send *core, const struct ibv_qp *qp, void *resp)
{
	*core = (struct ib_uverbs_post_send) {
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
	};
	ssize_t n;

	post_nothing(&cmd.core, qp, &resp);
	do {
		n = write(qp->context->cmd_fd, &cmd, sizeof(cmd));
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(cmd) ? 0 : n < 0 ? errno : EIO;
}

static int ring_by_ioctl(const struct ibv_qp *qp)
{
	struct ib_uverbs_post_send_resp resp;
	struct ib_uverbs_post_send core;
	union mrc_invoke cmd = {};

	post_nothing(&core, qp, &resp);
	mrc_invoke_in(&cmd, UVERBS_ATTR_CORE_IN, &core, sizeof(core));
	mrc_invoke_out(&cmd, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	return mrc_invoke(&cmd, qp->context->cmd_fd, IB_USER_VERBS_CMD_POST_SEND);
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
