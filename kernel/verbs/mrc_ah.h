/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_ah.h - address handles: ib_core's object for an address vector (data/mrc_av.h).
 */
#ifndef MRC_AH_H
#define MRC_AH_H

#include <rdma/ib_verbs.h>

struct mrc_av;

struct mrc_ah {
	struct ib_ah ibah;	/* first */
	struct mrc_av *av;
	bool counted;			/* a program's: in its limit */
	struct rdma_ah_attr attr;	/* as given; query */
};

/* Called by ib_core; with the flag RDMA_CREATE_AH_SLEEPABLE or not in any context. */
int mrc_ah_create(struct ib_ah *ibah, struct rdma_ah_init_attr *init, struct ib_udata *udata);
int mrc_ah_query(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int mrc_ah_destroy(struct ib_ah *ibah, u32 flags);
/* 0, or -EINVAL: no host that can be reached from its source GID, nor (@groups) multicast group. */
int mrc_ah_check(struct ib_device *ibdev, const struct rdma_ah_attr *attr, bool groups);
/* The number by which requests name it. */
u32 mrc_ah_number(const struct ib_ah *ibah);

#endif
