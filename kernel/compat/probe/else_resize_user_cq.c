// { "what": "ib_device_ops.resize_cq, where resize_user_cq is not", "used_by": "probe.sh" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <rdma/ib_verbs.h>

static int probe(struct ib_cq *cq, int cqe, struct ib_udata *udata)
{
	return 0;
}

const struct ib_device_ops mrc_probe_ops = { .resize_cq = probe };
