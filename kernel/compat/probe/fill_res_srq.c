// { "since": "6.6", "what": "ib_device_ops.fill_res_srq_entry", "used_by": "verbs/mrc_verbs.c" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <rdma/ib_verbs.h>

int mrc_probe(const struct ib_device_ops *ops)
{
	return !!ops->fill_res_srq_entry;
}
