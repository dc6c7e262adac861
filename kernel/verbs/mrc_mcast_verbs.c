// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_mcast_verbs.c - see mrc_mcast_verbs.h.
 */
#include "data/mrc_mcast.h"
#include "data/mrc_qp.h"
#include "verbs/mrc_mcast_verbs.h"

static struct mrc_ud *ud_of(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct mrc_ibqp, ibqp)->ud;
}

int mrc_mcast_verbs_attach(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	return mrc_mcast_attach(ud_of(ibqp), gid);
}

int mrc_mcast_verbs_detach(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	return mrc_mcast_detach(ud_of(ibqp), gid);
}
