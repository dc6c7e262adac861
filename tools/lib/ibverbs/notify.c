// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * notify.c - asks the kernel to tell at once of completions that came before their queue was armed.
 *
 * By ioctl(), which takes the old command from anybody (doorbell.c). It may fail where the device is going;
 * then the queue is armed all the same.
 */
#include <errno.h>
#include <string.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/ioctl.h>
#include "mrc_prov.h"

void mrc_notify(struct ibv_cq *cq, bool solicited_only)
{
	struct ib_uverbs_req_notify_cq core = {
		.cq_handle = cq->handle,
		.solicited_only = solicited_only,
	};
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attrs[2];
	} cmd = {
		.hdr = {
			.length = sizeof(cmd),
			.object_id = UVERBS_OBJECT_DEVICE,
			.method_id = UVERBS_METHOD_INVOKE_WRITE,
			.num_attrs = 2,
			.driver_id = MRC_DRIVER_ID,
		},
		.attrs = {
			{
				.attr_id = UVERBS_ATTR_CORE_IN,
				.len = sizeof(core),
				.flags = UVERBS_ATTR_F_MANDATORY,
				/* Not an address: what is so small is in the attribute itself. */
			},
			{
				.attr_id = UVERBS_ATTR_WRITE_CMD,
				.len = sizeof(uint64_t),
				.flags = UVERBS_ATTR_F_MANDATORY,
				.data = IB_USER_VERBS_CMD_REQ_NOTIFY_CQ,
			},
		},
	};

	memcpy(&cmd.attrs[0].data, &core, sizeof(core));
	while (ioctl(cq->context->cmd_fd, RDMA_VERBS_IOCTL, &cmd) && errno == EINTR)
		;
}
