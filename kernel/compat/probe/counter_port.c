// { "since": "6.15", "what": "ib_device_ops.counter_bind_qp(counter, qp, port), size_rdma_counter", "used_by": "verbs/mrc_counters_qp.c, verbs/mrc_verbs.c" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <rdma/ib_verbs.h>

int mrc_probe(const struct ib_device_ops *ops, struct rdma_counter *counter, struct ib_qp *qp)
{
	return ops->size_rdma_counter ? ops->counter_bind_qp(counter, qp, 1u) :
					ops->counter_unbind_qp(qp, 1u);
}
