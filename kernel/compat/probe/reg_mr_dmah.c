// { "since": "after 6.12, by 7.2", "what": "ib_device_ops.reg_user_mr and reg_user_mr_dmabuf take struct ib_dmah *", "used_by": "mem/mrc_mr_reg.c" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <rdma/ib_verbs.h>

static struct ib_mr *probe(struct ib_pd *pd, u64 start, u64 length, u64 iova, int access,
			   struct ib_dmah *dmah, struct ib_udata *udata)
{
	return NULL;
}

const struct ib_device_ops mrc_probe_ops = { .reg_user_mr = probe };
