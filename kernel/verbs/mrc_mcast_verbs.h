/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_mcast_verbs.h - ib_core's calls to attach a QP to a multicast group and to detach it. Process
 * context, no rtnl.
 */
#ifndef MRC_MCAST_VERBS_H
#define MRC_MCAST_VERBS_H

#include <rdma/ib_verbs.h>

/*
 * ib_core has checked that it is a UD QP and a multicast address. RoCE ignores the LID. Errors:
 * data/mrc_mcast.h.
 */
int mrc_mcast_verbs_attach(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int mrc_mcast_verbs_detach(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);

#endif
