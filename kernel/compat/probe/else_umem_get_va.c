// { "what": "ib_umem_get(), where umem_get_va is not", "used_by": "probe.sh" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <rdma/ib_umem.h>

struct ib_umem *mrc_probe(struct ib_device *ibdev)
{
	return ib_umem_get(ibdev, 0ul, 1, 0);
}
