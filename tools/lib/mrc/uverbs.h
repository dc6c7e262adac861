/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * uverbs.h - uverbs commands that libibverbs does not offer, with the private data of
 * uapi/rdma/mrc-abi.h, on the context's own file.
 */
#ifndef MRC_UVERBS_H
#define MRC_UVERBS_H

#include "object.h"
#include "rdma/mrc-abi.h"

/* Is it a device of our module, with an ABI that this library knows? */
bool mrc_uverbs_is_ours(const struct ibv_context *v);
/* 0 or errno. */
int mrc_uverbs_limits(struct ibv_context *v, struct mrc_uquery_device_resp *limits);
/* 0 or errno. As ibv_modify_qp(), and like that it updates the QP's state. Not for RESET. */
int mrc_uverbs_modify(struct ibv_qp *qp, const struct ibv_qp_attr *attr, int mask,
		      const struct mrc_umodify_qp *ask);

#endif
