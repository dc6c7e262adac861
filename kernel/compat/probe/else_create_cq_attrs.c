// { "what": "ib_device_ops.create_cq takes struct ib_udata *, where create_cq_attrs is not", "used_by": "probe.sh" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <rdma/ib_verbs.h>

static int probe(struct ib_cq *cq, const struct ib_cq_init_attr *attr, struct ib_udata *udata)
{
	return 0;
}

const struct ib_device_ops mrc_probe_ops = { .create_cq = probe };
