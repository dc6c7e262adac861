/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_verbs.h - the device's attributes and operations for ib_core.
 */
#ifndef MRC_VERBS_H
#define MRC_VERBS_H

#include <rdma/ib_verbs.h>

/*
 * Process context, before ib_register_device(). Sets operations, command mask, node type, ports and
 * vectors.
 */
void mrc_verbs_setup(struct ib_device *ibdev);

#endif
