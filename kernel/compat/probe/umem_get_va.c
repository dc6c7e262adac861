// { "since": "after 6.12, by 7.2", "what": "ib_umem_get() is called ib_umem_get_va()", "used_by": "mem/mrc_mr_reg.c" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <rdma/ib_umem.h>

struct ib_umem *mrc_probe(struct ib_device *ibdev)
{
	return ib_umem_get_va(ibdev, 0ul, 1, 0);
}
