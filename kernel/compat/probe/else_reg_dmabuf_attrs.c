// { "what": "ib_device_ops.reg_user_mr_dmabuf takes struct ib_udata *, where reg_dmabuf_attrs is not", "used_by": "probe.sh" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <rdma/ib_verbs.h>

static struct ib_mr *probe(struct ib_pd *pd, u64 offset, u64 length, u64 iova, int fd, int access,
			   struct ib_udata *udata)
{
	return NULL;
}

const struct ib_device_ops mrc_probe_ops = { .reg_user_mr_dmabuf = probe };
