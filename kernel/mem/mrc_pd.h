/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_pd.h - a protection domain: a number that a QP and the memory regions it uses must have in
 * common.
 */
#ifndef MRC_PD_H
#define MRC_PD_H

#include <rdma/ib_verbs.h>

struct mrc_pd {
	struct ib_pd ibpd;	/* first */
	u32 pdn;
};

static inline struct mrc_pd *to_mrc_pd(struct ib_pd *ibpd)
{
	return container_of(ibpd, struct mrc_pd, ibpd);
}

#endif
