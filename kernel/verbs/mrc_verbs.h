/* SPDX-License-Identifier: GPL-2.0 */
/* mrc_verbs.h - what the device tells ib_core about itself. */
#ifndef MRC_VERBS_H
#define MRC_VERBS_H

#include <rdma/ib_verbs.h>

/* Before ib_register_device(): operations, command mask, node type, ports, vectors. */
void mrc_verbs_setup(struct ib_device *ibdev);

#endif
