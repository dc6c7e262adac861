// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * notify.c - asks the kernel to report completions that preceded the arming of their queue.
 *
 * By ioctl(), which accepts the old command from any process (uverbs/invoke.h). It may fail while
 * the device is being removed; the queue is armed nevertheless.
 */
#include "mrc_prov.h"
#include "../uverbs/invoke.h"

void mrc_notify(struct ibv_cq *cq, bool solicited_only)
{
	struct ib_uverbs_req_notify_cq core = {
		.cq_handle = cq->handle,
		.solicited_only = solicited_only,
	};
	union mrc_invoke cmd = {};

	mrc_invoke_in(&cmd, UVERBS_ATTR_CORE_IN, &core, sizeof(core));
	mrc_invoke(&cmd, cq->context->cmd_fd, IB_USER_VERBS_CMD_REQ_NOTIFY_CQ);
}
