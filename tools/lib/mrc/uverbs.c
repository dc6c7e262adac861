// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * uverbs.c - see uverbs.h. The file has been opened by libibverbs, whose lock is not needed: the
 * kernel orders commands of one object.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rdma/ib_user_verbs.h>
#include "uverbs.h"

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
	return n > 0 && atoi(text) == MRC_UVERBS_ABI_VERSION;
}

/* A whole command of @len bytes. */
static int uverbs_write(const struct ibv_context *v, const void *cmd, size_t len)
{
	ssize_t n;

	do {
		n = write(v->cmd_fd, cmd, len);
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)len ? 0 : n < 0 ? errno : EIO;
}

int mrc_uverbs_limits(struct ibv_context *v, struct mrc_uquery_device_resp *limits)
{
	struct {
		union {
			struct ib_uverbs_ex_query_device_resp core;
			uint64_t words[(sizeof(struct ib_uverbs_ex_query_device_resp) + 7) / 8];
		};
		struct mrc_uquery_device_resp drv;
	} resp;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_ex_cmd_hdr ex;
		struct ib_uverbs_ex_query_device core;
	} cmd = {
		.hdr.command = IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_QUERY_DEVICE,
		.hdr.in_words = sizeof(cmd.core) / 8,
		.hdr.out_words = sizeof(resp.words) / 8,
		.ex.response = (uintptr_t)&resp,
		.ex.provider_out_words = sizeof(resp.drv) / 8,
	};
	int err;

	memset(&resp, 0, sizeof(resp));
	err = uverbs_write(v, &cmd, sizeof(cmd));
	if (!err)
		*limits = resp.drv;
	return err;
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
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_ex_cmd_hdr ex;
		struct ib_uverbs_ex_modify_qp core;
		struct mrc_umodify_qp drv;
	} cmd = {
		.hdr.command = IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_QP,
		.hdr.in_words = sizeof(cmd.core) / 8,
		.hdr.out_words = sizeof(struct ib_uverbs_ex_modify_qp_resp) / 8,
		.ex.provider_in_words = sizeof(cmd.drv) / 8,
		.core.base.qp_handle = qp->handle,
		.drv = *ask,
	};
	struct ib_uverbs_ex_modify_qp_resp resp;
	int err;

	cmd.ex.response = (uintptr_t)&resp;
	uverbs_attr(&cmd.core.base, attr, mask);
	err = uverbs_write(qp->context, &cmd, sizeof(cmd));
	if (!err && mask & IBV_QP_STATE)
		qp->state = attr->qp_state;
	return err;
}
