// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * uverbs.c - see uverbs.h.
 *
 * Commands go by ioctl() to the file that libibverbs opened, so it does not matter which process
 * opened it. The lock of libibverbs is not needed: the kernel orders commands of one object.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rdma/ib_user_verbs.h>
#include "uverbs.h"
#include "../uverbs/invoke.h"

bool mrc_uverbs_is_ours(const struct ibv_context *v)
{
	char path[IBV_SYSFS_PATH_MAX + 16], text[16] = "";
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/mrc_abi", v->device->ibdev_path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	return n > 0 && atoi(text) >= MRC_UVERBS_ABI_OLDEST && atoi(text) <= MRC_UVERBS_ABI_VERSION;
}

static int uverbs_invoke(union mrc_invoke *cmd, const struct ibv_context *v, uint32_t extended)
{
	return mrc_invoke(cmd, v->cmd_fd, IB_USER_VERBS_CMD_FLAG_EXTENDED | extended);
}

int mrc_uverbs_limits(struct ibv_context *v, struct mrc_uquery_device_resp *limits)
{
	struct ib_uverbs_ex_query_device core = {};
	struct ib_uverbs_ex_query_device_resp resp;
	union mrc_invoke cmd = {};

	memset(limits, 0, sizeof(*limits));	/* an older module fills in less */
	mrc_invoke_in(&cmd, UVERBS_ATTR_CORE_IN, &core, sizeof(core));
	mrc_invoke_out(&cmd, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	mrc_invoke_out(&cmd, UVERBS_ATTR_UHW_OUT, limits, sizeof(*limits));
	return uverbs_invoke(&cmd, v, IB_USER_VERBS_EX_CMD_QUERY_DEVICE);
}

static void uverbs_dest(struct ib_uverbs_qp_dest *to, const struct ibv_ah_attr *ah)
{
	memcpy(to->dgid, ah->grh.dgid.raw, sizeof(to->dgid));
	to->flow_label = ah->grh.flow_label;
	to->dlid = ah->dlid;
	to->sgid_index = ah->grh.sgid_index;
	to->hop_limit = ah->grh.hop_limit;
	to->traffic_class = ah->grh.traffic_class;
	to->sl = ah->sl;
	to->src_path_bits = ah->src_path_bits;
	to->static_rate = ah->static_rate;
	to->is_global = ah->is_global;
	to->port_num = ah->port_num;
}

static void uverbs_attr(struct ib_uverbs_modify_qp *to, const struct ibv_qp_attr *a, int mask)
{
	if (mask & IBV_QP_AV)
		uverbs_dest(&to->dest, &a->ah_attr);
	to->attr_mask = mask;
	to->rq_psn = a->rq_psn;
	to->sq_psn = a->sq_psn;
	to->dest_qp_num = a->dest_qp_num;
	to->qp_access_flags = a->qp_access_flags;
	to->pkey_index = a->pkey_index;
	to->qp_state = a->qp_state;
	to->cur_qp_state = a->cur_qp_state;
	to->path_mtu = a->path_mtu;
	to->max_rd_atomic = a->max_rd_atomic;
	to->max_dest_rd_atomic = a->max_dest_rd_atomic;
	to->min_rnr_timer = a->min_rnr_timer;
	to->port_num = a->port_num;
	to->timeout = a->timeout;
	to->retry_cnt = a->retry_cnt;
	to->rnr_retry = a->rnr_retry;
}

int mrc_uverbs_modify(struct ibv_qp *qp, const struct ibv_qp_attr *attr, int mask,
		      const struct mrc_umodify_qp *ask)
{
	struct ib_uverbs_ex_modify_qp core = { .base.qp_handle = qp->handle };
	struct ib_uverbs_ex_modify_qp_resp resp;
	union mrc_invoke cmd = {};
	int err;

	uverbs_attr(&core.base, attr, mask);
	mrc_invoke_in(&cmd, UVERBS_ATTR_CORE_IN, &core, sizeof(core));
	mrc_invoke_out(&cmd, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	mrc_invoke_in(&cmd, UVERBS_ATTR_UHW_IN, ask, sizeof(*ask));
	err = uverbs_invoke(&cmd, qp->context, IB_USER_VERBS_EX_CMD_MODIFY_QP);
	if (!err && mask & IBV_QP_STATE)
		qp->state = attr->qp_state;
	return err;
}
