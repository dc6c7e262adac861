// { "since": "after 6.12, by 7.2", "what": "ib_device_ops.resize_cq is called resize_user_cq and takes an unsigned size", "used_by": "mem/mrc_cq_modify.c, verbs/mrc_verbs.c" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <rdma/ib_verbs.h>

static int probe(struct ib_cq *cq, unsigned int cqe, struct ib_udata *udata)
{
	return 0;
}

const struct ib_device_ops mrc_probe_ops = { .resize_user_cq = probe };
