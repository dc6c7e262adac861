// { "what": "ib_device_ops.counter_bind_qp(counter, qp), where counter_port is not", "used_by": "probe.sh" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <rdma/ib_verbs.h>

int mrc_probe(const struct ib_device_ops *ops, struct rdma_counter *counter, struct ib_qp *qp)
{
	return ops->counter_bind_qp(counter, qp) ?: ops->counter_unbind_qp(qp);
}
