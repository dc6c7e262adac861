// { "since": "after 6.12, by 7.2", "what": "ib_device_ops.counter_init, which ib_core calls without asking whether it is there", "used_by": "verbs/mrc_counters_qp.c, verbs/mrc_verbs.c" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <rdma/ib_verbs.h>

void mrc_probe(const struct ib_device_ops *ops, struct rdma_counter *counter)
{
	ops->counter_init(counter);
}
